"""Objects as YAML text: the same bytes for the same object, long strings as blocks, nothing folded."""

import re
from typing import Any

import yaml

from railwright.core.objects import KubeObject

_EXPONENT = re.compile(r"[-+]?[0-9][0-9_.]*[eE][-+]?[0-9]+")


class _Dumper(yaml.SafeDumper):
    """Indents lists under their key, as people write manifests, and never uses anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the base class passes it
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - as above
        super().increase_indent(flow, indentless=False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    """Represent a string: several lines as a literal block; "10e7" quoted, which other YAML readers take for a number."""
    style = "|" if "\n" in value.rstrip("\n") else ("'" if _EXPONENT.fullmatch(value) else None)
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)

_NO_FOLDING = 10**6


def to_yaml(obj: KubeObject) -> str:
    """Write one object, keys in the order in which they were put in; a final newline."""
    return yaml.dump(obj, Dumper=_Dumper, sort_keys=False, width=_NO_FOLDING, allow_unicode=True)
