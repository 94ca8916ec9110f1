"""Scalars of YAML without quotes -> values, as JSON has them: no dates, no "yes". Pure."""

import re
from typing import Any

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {"null": None, "Null": None, "NULL": None, "~": None, "": None, "true": True, "false": False}


def plain_scalar(text: str) -> Any:
    """Read one. Source: YAML 1.2.2, chapter 10.2 (JSON schema)."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "-0123456789":
        if _NUMBER.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text):
            return float(text)
    return text
