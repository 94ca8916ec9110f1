"""Open an archive as a World; what kind of archive it is shows in what is in it, never in its name."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from railwright.adapters.archive import gpu_gather, loose, must_gather, netop_sosreport, node_sos, own, records
from railwright.adapters.archive.clock import ArchiveClock
from railwright.adapters.archive.cluster import ArchiveCluster
from railwright.adapters.archive.holdings import Holdings, together
from railwright.adapters.archive.node import ArchiveNode
from railwright.adapters.archive.share import share
from railwright.adapters.archive.tree import Tree, open_tree
from railwright.core.errors import UsageError
from railwright.core.marks import VIRTUAL_VARIANT, named_virtual
from railwright.ports.world import World

_VIRTUAL_NODE = re.compile(rf'^VARIANT_ID="?{re.escape(VIRTUAL_VARIANT)}"?$', re.MULTILINE)


def open_archive(path: str | Path, name: str = "") -> World:
    """
    Open an archive; close the world to let go of it.

    Args:
        name: what the person called it; the path when left out. The virtual cluster's name is put behind it where
            the archive is of that.

    Raises:
        UsageError: nothing is there, nothing in it is known, or it is damaged or beyond a limit.
    """
    if not str(path):
        message = f"{name or 'bundle:'} names no file"
        raise UsageError(message, hint="bundle:PATH, where PATH is a railwright archive, a must-gather, a sosreport")
    tree = open_tree(Path(path), share)
    try:
        holdings = _holdings(tree)
        called = name or f"bundle:{path}"
        cluster = ArchiveCluster(named_virtual(called) if _is_virtual(holdings) else called, holdings)
        clock = ArchiveClock(_time(holdings.taken_at, Path(path)))
    except BaseException:
        tree.close()
        raise

    async def close() -> None:
        tree.close()

    notes = _notes(str(path), tree, holdings, clock.taken_at)
    return World(cluster, ArchiveNode(holdings), clock, close, notes, read_only=True)


def _holdings(tree: Tree) -> Holdings:
    """Read an archive of ours; else every layout that is in there, together; else what lies about."""
    top = own.folder_of(tree)
    if top is not None:
        return own.holdings_of(tree, top)
    found = [must_gather.holdings_of(tree)] if must_gather.is_there(tree) else []
    found += [
        layout.holdings_of(tree, folder)
        for layout in (gpu_gather, netop_sosreport, node_sos)
        if (folder := layout.folder_of(tree)) is not None
    ]
    if not found:
        found = [part for part in (records.holdings_of(tree), loose.holdings_of(tree)) if part is not None]
        if any(part.shelves or part.nodes for part in found):
            return together(found)
        said = "".join(f"; {note}" for part in found for note in part.notes)
        message = f"{tree.where}: nothing in it is known{said}"
        hint = "give an archive of `railwright collect`, a must-gather, a sosreport, a node record, or objects as YAML"
        raise UsageError(message, hint=hint)
    return together(found)


def _is_virtual(holdings: Holdings) -> bool:
    """Whether it is of the virtual cluster: it says so, or the first node that was read is one of its."""
    if holdings.virtual:
        return True
    for read in holdings.nodes.values():
        with suppress(UsageError):  # damaged: whoever reads that node is told
            if text := read().text:
                return _VIRTUAL_NODE.search(text) is not None
    return False


def _notes(where: str, tree: Tree, holdings: Holdings, taken_at: datetime) -> tuple[str, ...]:
    """Say what kind of archive it is, from when, and what in it was not looked at."""
    said = f"{where}: {'; '.join(holdings.notes)}, as of {taken_at:%Y-%m-%dT%H:%M:%SZ}"
    aside = (
        f"{number} with a {why}" if "path" in why else f"{number} {why}{'s' * (number > 1)}"
        for why, number in sorted(tree.left_aside.items())
    )
    listed = ", ".join(aside)
    return (said, f"{where}: not looked at in it: {listed}") if listed else (said,)


def _time(text: str, path: Path) -> datetime:
    """Read when it was collected; where nothing says, when the file was made: it cannot have been later."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
