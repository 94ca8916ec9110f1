"""A catalog that offers a newer NVIDIA Network Operator from some moment on, in a simulated world."""

from support.others import now_is, store

from railwright.core import kinds
from railwright.core.objects import Ref, dig
from railwright.ports.world import World
from railwright.simulator.ownership import Manager

NNO = NAMESPACE = "nvidia-network-operator"
SUBSCRIPTION = Ref(kinds.SUBSCRIPTION, NAMESPACE, NNO)
NEXT = f"{NNO}.v26.4.9"
MOVE = "  operators: {upgrade: true}\n"
"""For rails.yaml: take what the channel offers."""


def catalog_offers(world: World, csv: str, channel: str = "stable") -> None:
    """The catalog has a newer version in one channel from now on; a channel that was not there is added."""
    (ref,) = [ref for ref in store(world).objects if ref.kind == kinds.PACKAGE_MANIFEST and ref.name == NNO]
    channels = [dict(item) for item in dig(now_is(world, ref), "status", "channels")]
    others = [item for item in channels if item["name"] != channel]
    entry = {"name": channel, "currentCSV": csv, "entries": [{"name": csv}]}
    catalog = Manager("catalog", "Update", "status")
    store(world).merge(ref, {"status": {"channels": [*others, entry]}}, catalog, world.clock.now(), status=True)


def installed(world: World) -> str:
    """Name the CSV that is installed."""
    return str(dig(now_is(world, SUBSCRIPTION), "status", "installedCSV"))
