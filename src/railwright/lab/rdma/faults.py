"""
What can be broken in the lab: each breaks the real thing, at the last node's side, and says nothing to who measures.

A fault is shell text before the lab is built (`first`) and after (`then`), and what happens to halves in one pod.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

from railwright.dataplane.model import EngineRequest, Fault, PerftestRequest, Request
from railwright.lab.rdma.endpoints import Spoiling
from railwright.lab.rdma.machine import Link
from railwright.lab.rdma.topology import OURS, Shape, bridge_name, port_name

_SMALL_MEMLOCK_BYTES = 65536


@dataclass(frozen=True)
class Breaking:
    """Shell text, and what is done to the halves in a pod, by the pod's number."""

    first: str = ""
    then: str = ""
    spoiling: dict[int, Spoiling] = field(default_factory=dict)


def no_fault() -> Breaking:
    """Break nothing."""
    return Breaking()


def _loss(_: Link, shape: Shape) -> Breaking:
    return Breaking(then=f"ip netns exec {OURS}pod-{shape.nodes} tc qdisc add dev net1 root netem loss 20%")


def _mtu(_: Link, shape: Shape) -> Breaking:
    """The switch takes 1500 bytes, the NICs send 4096: what a forgotten jumbo setting does."""
    return Breaking(then=f"ip link set {port_name(shape.nodes, 1)} mtu 1500")


def _gid(_: Link, shape: Shape) -> Breaking:
    """The pod's address on the rail is gone, and its RoCE v2 GID with it: an IPAM that gave nothing."""
    return Breaking(then=f"ip -n {OURS}pod-{shape.nodes} addr flush dev net1 scope global")


def _gid_index(_: Link, shape: Shape) -> Breaking:
    """Somebody fixed a GID index that is empty here."""
    return Breaking(spoiling={shape.nodes: Spoiling(change=_with_fixed_index)})


def _with_fixed_index(request: Request) -> Request:
    if isinstance(request, EngineRequest | PerftestRequest):
        return dataclasses.replace(request, rail=dataclasses.replace(request.rail, gid_index=7))
    return request


def _memlock(_: Link, shape: Shape) -> Breaking:
    """A pod that is not root and has the usual limit."""
    return Breaking(spoiling={shape.nodes: Spoiling(place={"user_id": 1000, "memlock_bytes": _SMALL_MEMLOCK_BYTES})})


def _netns(_: Link, __: Shape) -> Breaking:
    """RDMA devices stay in the first namespace: the mode is exclusive, and nobody moves them into pods."""
    return Breaking(first="rdma system set netns exclusive")


def _link_down(_: Link, shape: Shape) -> Breaking:
    return Breaking(spoiling={shape.nodes: Spoiling(change=lambda request: _with_fault(request, "cut-midway"))})


def _peer_killed(_: Link, shape: Shape) -> Breaking:
    return Breaking(spoiling={shape.nodes: Spoiling(change=lambda request: _with_fault(request, "die-midway"))})


def _corruption(_: Link, shape: Shape) -> Breaking:
    return Breaking(spoiling={shape.nodes: Spoiling(change=lambda request: _with_fault(request, "corrupt-arrival"))})


def _with_fault(request: Request, fault: Fault) -> Request:
    if isinstance(request, EngineRequest):
        return dataclasses.replace(request, fault=fault)
    return request


def _one_direction(_: Link, shape: Shape) -> Breaking:
    """What the last node sends is dropped at its own port when it has 4096 bytes or more: acknowledgements still pass."""
    port = port_name(shape.nodes, 1)
    return Breaking(
        then=(
            f"tc qdisc add dev {port} ingress && "
            f"tc filter add dev {port} parent ffff: protocol ip u32 match ip dport 4791 0xffff "
            "match u16 0x1000 0xf000 at 2 action drop"
        )
    )


def _swapped_rails(_: Link, shape: Shape) -> Breaking:
    """Two cables of the last node are in each other's switch."""
    first, second = port_name(shape.nodes, 1), port_name(shape.nodes, 2)
    return Breaking(then=f"ip link set {first} master {bridge_name(2)} && ip link set {second} master {bridge_name(1)}")


def _slow_node(_: Link, shape: Shape) -> Breaking:
    rails = range(1, shape.rails + 1)
    lines = (
        f"ip netns exec {OURS}pod-{shape.nodes} tc qdisc add dev net{rail} root netem rate 4mbit" for rail in rails
    )
    return Breaking(then="\n".join(lines))


FAULTS: dict[str, Callable[[Link, Shape], Breaking]] = {
    "loss": _loss,
    "mtu": _mtu,
    "gid": _gid,
    "gid-index": _gid_index,
    "memlock": _memlock,
    "netns": _netns,
    "link-down": _link_down,
    "peer-killed": _peer_killed,
    "corruption": _corruption,
    "one-direction": _one_direction,
    "swapped-rails": _swapped_rails,
    "slow-node": _slow_node,
}
"""Every fault by the name that --fault takes."""
