"""Document -> text, JSON or YAML; whatever stands in it, nothing of it is obeyed by a terminal."""

import json

import yaml

from railwright.core.foreign_text import inert, inert_json, is_inert
from railwright.core.marks import VIRTUAL
from railwright.core.redaction import redact
from railwright.report.model import Document

SIMULATED = "SIMULATED: no real cluster was read or changed"


class _Dumper(yaml.SafeDumper):
    """Puts strings in double quotes that hold what must be escaped: only there an escape keeps its meaning."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if is_inert(value) else '"')


_Dumper.add_representer(str, _text)


def to_json(document: Document) -> str:
    """Indented JSON; keys in the order in which people read them, secrets redacted."""
    return inert_json(json.dumps(redact(document.as_data()), indent=2, ensure_ascii=False)) + "\n"


def to_yaml(document: Document) -> str:
    """The same as YAML."""
    return inert(yaml.dump(redact(document.as_data()), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))


def to_text(document: Document) -> str:
    """The text for people; a result of a simulated or a virtual cluster says so in its first line."""
    where = f" ({document.cluster})" if document.cluster else ""
    said = f"[{SIMULATED}{where}]\n" if document.simulated else ""
    if document.virtual:
        said = f"[{VIRTUAL}]\n"
    head = f"# {said}" if said and document.is_yaml else said
    return inert(head + document.text).rstrip("\n") + "\n"
