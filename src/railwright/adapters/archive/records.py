"""Node records without a cluster around them: single files that the node script printed."""

import re
from collections.abc import Iterator
from functools import partial

from railwright.adapters.archive.holdings import Holdings, Shelf
from railwright.adapters.archive.limits import MAX_RECORD_BYTES
from railwright.adapters.archive.tree import Tree, read_whole
from railwright.core.ids import NodeName
from railwright.core.kinds import NODE
from railwright.core.node_record import HEADER
from railwright.core.objects import KubeObject
from railwright.ports.node import NodeAnswer

_MARK = HEADER.encode()
_HEAD_BYTES = 64 << 10
_HOSTNAME = re.compile(rb"^hostname\t([^\t\r\n]+)$", re.MULTILINE)


def holdings_of(tree: Tree) -> Holdings | None:
    """Find records; None when there is none. Each names its node; the file's name does where it does not."""
    found: dict[str, str] = {}
    for path in sorted(tree.sizes):
        if path.endswith((".yaml", ".yml", ".json")) or tree.sizes[path] > MAX_RECORD_BYTES:
            continue
        head = next(iter(tree.chunks(path)), b"")[:_HEAD_BYTES]
        if re.search(rb"^" + _MARK, head, re.MULTILINE):
            match = _HOSTNAME.search(head)
            name = match[1].decode(errors="replace") if match else path.rpartition("/")[2].rpartition(".")[0]
            found.setdefault(name or "node", path)
    if not found:
        return None
    return Holdings(
        shelves=(node_shelf(tuple(found)),),
        nodes={NodeName(name): partial(_answer, tree, path) for name, path in found.items()},
        notes=(f"node records of {', '.join(found)}",),
    )


def node_shelf(names: tuple[str, ...]) -> Shelf:
    """Make the nodes that records are of: their names are known, and nothing else that an API server would say."""
    return Shelf(NODE, partial(_nodes, names), is_complete=False)


def _nodes(names: tuple[str, ...]) -> Iterator[KubeObject]:
    for name in names:
        yield {"apiVersion": NODE.api_version, "kind": NODE.kind, "metadata": {"name": name}}


def _answer(tree: Tree, path: str) -> NodeAnswer:
    return NodeAnswer(read_whole(tree, path, MAX_RECORD_BYTES).decode(errors="replace"), f"file {path}")
