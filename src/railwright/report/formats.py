"""Document -> text, JSON or YAML."""

import json

import yaml

from railwright.core.marks import VIRTUAL
from railwright.core.redaction import redact
from railwright.report.model import Document

SIMULATED = "SIMULATED: no real cluster was read or changed"


def to_json(document: Document) -> str:
    """Indented JSON; keys in the order in which people read them, secrets redacted."""
    return json.dumps(redact(document.as_data()), indent=2, ensure_ascii=False) + "\n"


def to_yaml(document: Document) -> str:
    """The same as YAML."""
    text: str = yaml.safe_dump(redact(document.as_data()), sort_keys=False, allow_unicode=True, width=120)
    return text


def to_text(document: Document) -> str:
    """The text for people; a result of a simulated or a virtual cluster says so in its first line."""
    where = f" ({document.cluster})" if document.cluster else ""
    said = f"[{SIMULATED}{where}]\n" if document.simulated else ""
    if document.virtual:
        said = f"[{VIRTUAL}]\n"
    head = f"# {said}" if said and document.is_yaml else said
    return head + document.text.rstrip("\n") + "\n"
