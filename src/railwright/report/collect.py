"""How a collected archive reads: what is in it, what could not be had."""

from collections import Counter

from railwright.core.archive import ArchiveManifest
from railwright.report.model import Document
from railwright.report.plain import plain
from railwright.report.tables import count, table


def collect_document(manifest: ArchiveManifest, file: str, size_bytes: int) -> Document:
    """Show a manifest; exit code 6 when something could not be had."""
    unread = [node for node in manifest.nodes if node.problem]
    payload = {"file": file, "size_bytes": size_bytes, "manifest": plain(manifest)}
    return Document(
        "collect/v1alpha1",
        manifest.cluster,
        manifest.simulated,
        payload,
        _text(manifest, file, size_bytes),
        exit_code=6 if manifest.missing or unread else 0,
    )


def _text(manifest: ArchiveManifest, file: str, size_bytes: int) -> str:
    objects: Counter[str] = Counter()
    for item in manifest.lists:
        objects[item.kind] += item.objects
    read = [node for node in manifest.nodes if not node.problem]
    unread = [node for node in manifest.nodes if node.problem]
    log_bytes = sum(item.size_bytes for item in manifest.logs)
    rows = [
        ("objects", f"{sum(objects.values())} of {count(sum(1 for kind in objects if objects[kind]), 'kind')}"),
        ("nodes", f"the inside of {len(read)} of {len(manifest.nodes)}"),
        ("logs", f"the end of {len(manifest.logs)}, {_size(log_bytes)}"),
        ("redacted", "yes" if manifest.redacted else "no: only Secrets were left out"),
    ]
    parts = [f"{file}: {_size(size_bytes)}, from {manifest.cluster}", table(("what", "in it"), rows)]
    gone = [f"  node {node.node}: {node.problem}" for node in unread]
    gone += [f"  {item.what}: {item.why}" for item in manifest.missing]
    if gone:
        parts.append("could not be had\n" + "\n".join(gone))
    parts.append(f"look at it before you send it: tar -tzf {file}\nread it: railwright doctor --cluster bundle:{file}")
    return "\n\n".join(parts)


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.1f} MiB" if size_bytes >= 1 << 20 else f"{size_bytes / 2**10:.0f} KiB"
