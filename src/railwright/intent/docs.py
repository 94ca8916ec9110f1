"""The table of every key, for docs/rails-yaml.md."""

from railwright.intent.keys import KEYS, KeyDoc

_SECTIONS = (
    ("The document", ("apiVersion", "kind", "metadata", "spec.method", "spec.fabric")),
    ("Nodes", ("spec.nodes", "spec.tolerations")),
    ("Rails", ("spec.rails", "spec.groups")),
    ("Networks", ("spec.network",)),
    ("Drivers", ("spec.driver",)),
    ("Operators and roll-outs", ("spec.operators", "spec.upgrade")),
)
_REST = "Pods, resources and images"


def keys_markdown() -> str:
    """Write one section a part of the document, one row a key."""
    rows: dict[str, list[KeyDoc]] = {title: [] for title in (*dict(_SECTIONS), _REST)}
    for key in KEYS:
        if key.path != "spec":
            rows[_section(key.path)].append(key)
    return "\n".join(_table(title, keys) for title, keys in rows.items())


def _section(path: str) -> str:
    for title, starts in _SECTIONS:
        if any(path == start or path.startswith((f"{start}.", f"{start}[")) for start in starts):
            return title
    return _REST


def _table(title: str, keys: list[KeyDoc]) -> str:
    lines = [f"### {title}", "", "| key | type | allowed | default | meaning | example |", "|---|---|---|---|---|---|"]
    for key in keys:
        allowed = f"{key.allowed_text}{f' ({key.unit})' if key.unit and key.allowed_text else ''}"
        default = "**required**" if key.required else f"{key.default}: {key.why}" if key.default else ""
        example = f"`{key.example}`" if key.example else ""
        cells = (f"`{key.path}`", key.type, allowed, default, key.meaning, example)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
