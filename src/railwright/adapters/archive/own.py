"""The layout of our own archives: what record.py and write.py make, read back."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from railwright.adapters.archive.holdings import Holdings, LogKey, Shelf
from railwright.adapters.archive.limits import MAX_OBJECT_BYTES, MAX_RECORD_BYTES
from railwright.adapters.archive.objects import from_json, lines, whole
from railwright.adapters.archive.tree import Tree, read_whole
from railwright.core.archive import FORMAT, FORMAT_FILE, MANIFEST_FILE, ArchiveManifest, CollectedNode
from railwright.core.errors import UsageError
from railwright.core.ids import NodeName
from railwright.core.marks import is_virtual
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.ports.cluster import ServedKind
from railwright.ports.node import NodeAnswer

SINGLES_FILE = "objects/by-name.jsonl"
SERVED_FILE = "served-kinds.json"
_MANIFEST_BYTES = 64 << 20


def folder_of(tree: Tree) -> str | None:
    """Find the folder that is an archive of ours; None when there is none."""
    found = sorted(path for path in tree.sizes if path == FORMAT_FILE or path.endswith(f"/{FORMAT_FILE}"))
    return found[0].removesuffix(FORMAT_FILE) if found and found[0].count("/") <= 1 else None


def read_manifest(tree: Tree, top: str) -> ArchiveManifest:
    """
    Read what the archive says of itself.

    Raises:
        UsageError: written in a format that this version does not know, cut short, or damaged.
    """
    said = from_json(read_whole(tree, f"{top}{FORMAT_FILE}", MAX_OBJECT_BYTES), f"{tree.where}: {FORMAT_FILE}")
    written = said.get("format") if isinstance(said, dict) else None
    if written != FORMAT:
        message = f"{tree.where} is a railwright archive in the format {written!r}, expected {FORMAT!r}"
        raise UsageError(message, hint="read it with the version of railwright that wrote it, or a newer one")
    path = f"{top}{MANIFEST_FILE}"
    if path not in tree.sizes:
        message = f"{tree.where}: {MANIFEST_FILE}, the last file of an archive, is not there: it was cut short"
        raise UsageError(message, hint="get it again, and compare its checksum")
    try:
        return msgspec.json.decode(read_whole(tree, path, _MANIFEST_BYTES), type=ArchiveManifest)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        message = f"{tree.where}: {MANIFEST_FILE} cannot be read: {error}"
        raise UsageError(message, hint="get it again, and compare its checksum") from error


def holdings_of(tree: Tree, top: str) -> Holdings:
    """Read an archive of ours, all but the objects and logs themselves."""
    manifest = read_manifest(tree, top)
    singles, absent = _singles(tree, top)
    shelves = [
        Shelf(
            Kind(item.api_version, item.kind),
            partial(_objects, tree, f"{top}{item.file}", Kind(item.api_version, item.kind), item.objects),
            item.namespace,
            item.labels,
            item.name,
            size_bytes=tree.sizes.get(f"{top}{item.file}", 0),
        )
        for item in manifest.lists
    ]
    return Holdings(
        shelves=(*shelves, *singles),
        absent=absent,
        served=_served(tree, top, manifest),
        version=manifest.kubernetes_version,
        problems=_problems(manifest),
        logs={
            LogKey(item.namespace, item.pod, item.container, item.previous): partial(_text, tree, f"{top}{item.file}")
            for item in manifest.logs
        },
        nodes={NodeName(item.node): partial(_answer, tree, top, item) for item in manifest.nodes},
        node_problem="this node was not asked for when the archive was made",
        taken_at=manifest.taken_at,
        simulated=manifest.simulated,
        virtual=is_virtual(manifest.cluster),
        notes=(_about(manifest),),
    )


def _about(manifest: ArchiveManifest) -> str:
    redacted = "redacted" if manifest.redacted else "not redacted"
    return f"railwright archive of {manifest.cluster}, {redacted}, by railwright {manifest.railwright}"


def _objects(tree: Tree, path: str, kind: Kind, expected: int) -> Iterator[KubeObject]:
    """Read a list of ours. Raises UsageError when it does not hold exactly what the manifest says."""
    _there(tree, path)
    number = 0
    for number, line in enumerate(lines(tree, path), start=1):
        obj = whole(from_json(line, f"{tree.where}: {path} line {number}"), kind)
        if obj is None:
            message = f"{tree.where}: {path} line {number} is no {kind.kind}"
            raise UsageError(message, hint="get it again, and compare its checksum")
        yield obj
    if number != expected:
        message = f"{tree.where}: {path} holds {number} objects, and the manifest says {expected}"
        raise UsageError(message, hint="get it again, and compare its checksum")


def _singles(tree: Tree, top: str) -> tuple[list[Shelf], frozenset[Ref]]:
    """Read the objects that were asked for by name, and which of them did not exist."""
    path, shelves, absent = f"{top}{SINGLES_FILE}", [], []
    for number, line in enumerate(lines(tree, path) if path in tree.sizes else (), start=1):
        said = from_json(line, f"{tree.where}: {path} line {number}")
        ref = _ref(said.get("ref")) if isinstance(said, dict) else None
        if ref is None:
            continue
        obj = whole(said.get("object"), ref.kind)
        if obj is None:
            absent.append(ref)
        else:
            shelves.append(Shelf(ref.kind, partial(_one, obj), ref.namespace, name=ref.name, size_bytes=len(line)))
    return shelves, frozenset(absent)


def _one(obj: KubeObject) -> Iterator[KubeObject]:
    yield obj


def _ref(value: Any) -> Ref | None:
    if not isinstance(value, dict):
        return None
    names = [value.get(key) for key in ("apiVersion", "kind", "namespace", "name")]
    if not all(isinstance(name, str) for name in names):
        return None
    api_version, kind, namespace, name = map(str, names)
    return Ref(Kind(api_version, kind), namespace, name)


def _served(tree: Tree, top: str, manifest: ArchiveManifest) -> tuple[ServedKind, ...] | None:
    if manifest.served_kinds is None:
        return None
    path = f"{top}{SERVED_FILE}"
    _there(tree, path)
    try:
        rows = msgspec.json.decode(read_whole(tree, path, MAX_OBJECT_BYTES), type=list[tuple[str, str, str, bool]])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        message = f"{tree.where}: {path} cannot be read: {error}"
        raise UsageError(message, hint="get it again, and compare its checksum") from error
    return tuple(ServedKind(Kind(api_version, kind), plural, scoped) for api_version, kind, plural, scoped in rows)


def _problems(manifest: ArchiveManifest) -> Mapping[tuple[Kind, str], str]:
    return {(Kind(item.api_version, item.kind), item.namespace): item.why for item in manifest.missing if item.kind}


def _text(tree: Tree, path: str) -> str:
    _there(tree, path)
    return read_whole(tree, path, MAX_RECORD_BYTES).decode("utf-8", errors="replace")


def _answer(tree: Tree, top: str, item: CollectedNode) -> NodeAnswer:
    if not item.file:
        return NodeAnswer("", item.via, item.problem or "it printed nothing")
    return NodeAnswer(_text(tree, f"{top}{item.file}"), item.via, item.problem)


def _there(tree: Tree, path: str) -> None:
    if path not in tree.sizes:
        message = f"{tree.where}: {path} is in the manifest, but not in the archive"
        raise UsageError(message, hint="get it again, and compare its checksum")
