"""
Text that anybody on the cluster may have written: JSON and YAML in annotations, NADs, ConfigMaps, policies; names, logs.

JSON and YAML fail in more ways than as wrong syntax: five thousand brackets exhaust Python's stack, and a date that is
none is no error of YAML's. Here each of them is a ValueError, so that nobody's annotation ends a command for everybody.

What is shown must stay text: a terminal obeys control characters (it can be told to clear, to hide, to answer), and
characters that turn the direction of text show another order than there is.
"""

import json
import re
from typing import Any

import yaml

_MOST_DIGITS = 32
"""Python itself refuses to read some thousand; "²" is a digit to str.isdigit, and none to int."""
_TOO_DEEP = "it is nested too deeply"
_OBEYED = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff\\ufff9-\\ufffb\\ud800-\\udfff"
    "\\U000e0000-\\U000e007f]"
)
"""
Control characters but line ends and tabs, directions, line separators, marks that nobody sees, halves of pairs.

Source: Unicode 17.0, general categories Cc, Zl, Zp, Cs; UAX #9 "Unicode Bidirectional Algorithm", table 4 (2026-11-30).
"""


def parse_json(text: str) -> Any:
    """Read JSON. Raises ValueError for what is none, or is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


def parse_yaml(text: str) -> Any:
    """Read YAML; None for empty text. Raises ValueError for what is none, or is nested too deeply to be read."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, AttributeError, LookupError, TypeError) as error:
        # PyYAML ends so where a tag does not fit its value: "!!bool x", "!!int ''", "!!timestamp x".
        raise ValueError(f"{type(error).__name__}: {error}") from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error


def whole_number(text: str) -> int | None:
    """Read a number of ASCII digits; None for anything else, and for more digits than anything here has."""
    return int(text) if len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit() else None


def inert(text: str) -> str:
    r"""Write what a terminal would obey, and what turns the direction of text, as an escape: "\x1b", "\u202e"."""
    return _OBEYED.sub(_escape, text)


def inert_json(text: str) -> str:
    """Do the same in JSON, whose strings hold such characters only as its own escapes then; its values stay."""
    return _OBEYED.sub(_json_escape, text)


def is_inert(text: str) -> bool:
    """Whether a text holds nothing that `inert` would write as an escape."""
    return _OBEYED.search(text) is None


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _json_escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] >= " " and match[0] != "\x7f" else f"\\u{ord(match[0]):04x}"
