"""The only file that picks the world: a kubeconfig's cluster, a simulator, or an archive."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from railwright.core.errors import UsageError
from railwright.core.objects import KubeObject
from railwright.pipeline.roles import Surroundings
from railwright.ports.access import DEFAULT_ACCESS, NodeAccess
from railwright.ports.clock import Clock
from railwright.ports.node import Node
from railwright.ports.world import World

if TYPE_CHECKING:
    from railwright.adapters.archive.collect import Collection
    from railwright.adapters.archive.record import Redaction

SIMULATOR = "sim:"
ARCHIVE = "bundle:"


def open_world(cluster: str | None, access: NodeAccess = DEFAULT_ACCESS) -> World:
    """
    Open what `--cluster` names.

    Args:
        cluster: a kubeconfig context; None or "" for the current one; "sim:WORLD[+FAULT...][@STATE.json]";
            "bundle:PATH" for an archive, whatever kind it is.
        access: how the inside of a live cluster's nodes may be reached; the others have one way only.

    Raises:
        UsageError: no such world, or an archive that cannot be read; ssh into what has no nodes.
        ClusterUnreachable: no kubeconfig, or no such context.
    """
    # Each world is imported when it is asked for: `--help` must not pay for any of them.
    if access.via == "ssh" and cluster and cluster.startswith((SIMULATOR, ARCHIVE)):
        message = f"there is no node of {cluster} to log in to"
        raise UsageError(message, hint="leave --via ssh out")
    if cluster and cluster.startswith(SIMULATOR):
        from railwright.simulator.open import open_simulator

        return open_simulator(cluster.removeprefix(SIMULATOR))
    if cluster and cluster.startswith(ARCHIVE):
        from railwright.adapters.archive.open import open_archive

        return open_archive(cluster.removeprefix(ARCHIVE), name=cluster)
    from railwright.adapters.live import open_live

    return open_live(cluster or None, access)


def machine_clock() -> Clock:
    """Give this machine's own clock, for what runs without a world."""
    from railwright.adapters.clock import RealClock

    return RealClock()


def machine_node() -> Node:
    """Give a way into this machine itself."""
    from railwright.adapters.local import LocalNode

    return LocalNode()


def recording(
    world: World, path: Path, *, keep: Callable[[KubeObject], KubeObject], redaction: "Redaction | None"
) -> "AbstractAsyncContextManager[Collection]":
    """Wrap a world so that everything that is read through it goes into an archive; `keep` cuts objects down."""
    from railwright.adapters.archive.collect import collecting

    return collecting(world, path, keep=keep, redaction=redaction)


def surroundings() -> Surroundings:
    """Say what talking to a live cluster takes, before any object is meant."""
    from railwright.adapters.needs import asking_needs, client_needs, door_needs

    return Surroundings(client_needs(), asking_needs(), door_needs())


def worlds() -> tuple[tuple[str, str], ...]:
    """Names and descriptions of the simulated worlds."""
    from railwright.simulator.worlds import WORLDS

    return tuple((world.name, world.description) for world in WORLDS)


def faults() -> tuple[tuple[str, str], ...]:
    """Names of the faults that a simulated world can have; what each breaks, and where that shows."""
    from railwright.simulator.faults import FAULTS

    return tuple((fault.name, f"{fault.description} ({fault.matters})") for fault in FAULTS)
