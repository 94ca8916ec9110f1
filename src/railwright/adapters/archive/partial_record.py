"""
A node record of the few files that another tool collected: what is not there is said to be not there.

The format is that of the node script; only sections that are a file as it is can be had this way.
"""

from collections.abc import Mapping

from railwright.adapters.archive.limits import MAX_RECORD_BYTES
from railwright.adapters.archive.tree import Tree, read_whole
from railwright.core.node_record import HEADER, SECTIONS
from railwright.ports.node import NodeAnswer


def partial_record(
    tree: Tree, node: str, files: Mapping[str, str], via: str, meta: Mapping[str, str] | None = None
) -> NodeAnswer:
    """
    Put a record together.

    Args:
        files: path by section.
        meta: what else is known of the node, by the keys of the section "meta".
    """
    known = {"record_version": "1", "hostname": node, "netns": "unknown", **(meta or {})}
    parts = [f"{HEADER}meta", *(f"{key}\t{value}" for key, value in known.items())]
    for section, path in sorted(files.items()):
        text = read_whole(tree, path, MAX_RECORD_BYTES).decode(errors="replace")
        lines = [line for line in text.splitlines() if not line.startswith(HEADER)]
        parts += [f"{HEADER}{section}", *lines]
    missing = [section for section in SECTIONS if section not in files and section != "meta"]
    parts += [f"{HEADER}problems", *(f"{section}\tnot collected" for section in missing), f"{HEADER}end"]
    there = ", ".join(sorted(files)) or "nothing"
    return NodeAnswer("\n".join(parts) + "\n", via, f"only a part of it was collected: {there}")
