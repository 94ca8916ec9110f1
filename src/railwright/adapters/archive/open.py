"""Open an archive as a World; what kind of archive it is shows in what is in it, never in its name."""

from datetime import UTC, datetime
from pathlib import Path

from railwright.adapters.archive import own
from railwright.adapters.archive.clock import ArchiveClock
from railwright.adapters.archive.cluster import ArchiveCluster
from railwright.adapters.archive.holdings import Holdings
from railwright.adapters.archive.node import ArchiveNode
from railwright.adapters.archive.tree import Tree, open_tree
from railwright.core.errors import UsageError
from railwright.ports.world import World


def open_archive(path: str | Path, name: str = "") -> World:
    """
    Open an archive; close the world to let go of it.

    Args:
        name: what the person called it; the path when left out.

    Raises:
        UsageError: nothing is there, nothing in it is known, or it is damaged or beyond a limit.
    """
    tree = open_tree(Path(path), _share)
    try:
        holdings = _holdings(tree)
        cluster = ArchiveCluster(name or f"bundle:{path}", holdings)
        clock = ArchiveClock(_time(holdings.taken_at))
    except BaseException:
        tree.close()
        raise

    async def close() -> None:
        tree.close()

    return World(cluster, ArchiveNode(holdings), clock, close)


def _share(path: str, size_bytes: int) -> int:
    del path
    return size_bytes


def _holdings(tree: Tree) -> Holdings:
    top = own.folder_of(tree)
    if top is not None:
        return own.holdings_of(tree, top)
    message = f"{tree.where}: nothing in it is known"
    raise UsageError(message, hint="give a railwright archive, a must-gather or a sosreport")


def _time(text: str) -> datetime:
    """Read a time stamp; the beginning of time for none, so that nothing looks younger than it is."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
