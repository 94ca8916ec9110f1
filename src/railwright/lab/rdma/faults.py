"""
What can be broken in the lab: each breaks the real thing, at the last node's side, and says nothing to who measures.

A fault is shell text before the lab is built (`first`) and after (`then`), and what happens to halves in one pod.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

from railwright.core.errors import UsageError
from railwright.dataplane.model import EngineRequest, Fault, PerftestRequest, Request
from railwright.lab.rdma.endpoints import Spoiling
from railwright.lab.rdma.topology import OURS, Shape, bridge_name, port_name

_SMALL_MEMLOCK_BYTES = 65536


@dataclass(frozen=True)
class Breaking:
    """Shell text, and what is done to the halves in a pod, by the pod's number; `undo` is for when the lab is gone."""

    first: str = ""
    then: str = ""
    undo: str = ""
    spoiling: dict[int, Spoiling] = field(default_factory=dict)


def no_fault() -> Breaking:
    """Break nothing."""
    return Breaking()


def _loss(shape: Shape) -> Breaking:
    return Breaking(then=f"ip netns exec {OURS}pod-{shape.nodes} tc qdisc add dev net1 root netem loss 20%")


def _mtu(shape: Shape) -> Breaking:
    """The switch takes 1500 bytes, the NICs send 4096: what a forgotten jumbo setting does."""
    return Breaking(then=f"ip link set {port_name(shape.nodes, 1)} mtu 1500")


def _gid(shape: Shape) -> Breaking:
    """The pod's address on the rail is gone, and its RoCE v2 GID with it: an IPAM that gave nothing."""
    return Breaking(then=f"ip -n {OURS}pod-{shape.nodes} addr flush dev net1 scope global")


def _gid_index(shape: Shape) -> Breaking:
    """Somebody fixed a GID index that is empty here."""
    return Breaking(spoiling={shape.nodes: Spoiling(change=_with_fixed_index)})


def _with_fixed_index(request: Request) -> Request:
    if isinstance(request, EngineRequest | PerftestRequest):
        return dataclasses.replace(request, rail=dataclasses.replace(request.rail, gid_index=7))
    return request


def _memlock(shape: Shape) -> Breaking:
    """A pod that is not root and has the usual limit."""
    return Breaking(spoiling={shape.nodes: Spoiling(place={"user_id": 1000, "memlock_bytes": _SMALL_MEMLOCK_BYTES})})


def _netns(_: Shape) -> Breaking:
    """RDMA devices stay in the first namespace: the mode is exclusive, and nobody moves them into pods."""
    # The kernel changes its mode only while no namespace is left, and those of a lab go one by one.
    back = "for step in $(seq 100); do rdma system set netns shared 2>/dev/null && exit 0; sleep 0.1; done; exit 1"
    return Breaking(first="rdma system set netns exclusive", undo=back)


def _link_down(shape: Shape) -> Breaking:
    return Breaking(spoiling={shape.nodes: Spoiling(change=lambda request: _with_fault(request, "cut-midway"))})


def _peer_killed(shape: Shape) -> Breaking:
    return Breaking(spoiling={shape.nodes: Spoiling(change=lambda request: _with_fault(request, "die-midway"))})


def _corruption(shape: Shape) -> Breaking:
    return Breaking(spoiling={shape.nodes: Spoiling(change=lambda request: _with_fault(request, "corrupt-arrival"))})


def _with_fault(request: Request, fault: Fault) -> Request:
    if isinstance(request, EngineRequest):
        return dataclasses.replace(request, fault=fault)
    return request


def _one_direction(shape: Shape) -> Breaking:
    """What the last node sends is dropped at its own port from 256 bytes on: what acknowledges or asks still passes."""
    port = port_name(shape.nodes, 1)
    to_rdma = f"tc filter add dev {port} parent ffff: protocol ip prio {{}} u32 match ip dport 4791 0xffff"
    return Breaking(
        then=(
            f"tc qdisc add dev {port} ingress\n"
            f"{to_rdma.format(1)} match u16 0x0000 0xff00 at 2 action ok\n"
            f"{to_rdma.format(2)} action drop"
        )
    )


def _swapped_rails(shape: Shape) -> Breaking:
    """Two cables of the last node are in each other's switch."""
    first, second = port_name(shape.nodes, 1), port_name(shape.nodes, 2)
    return Breaking(then=f"ip link set {first} master {bridge_name(2)} && ip link set {second} master {bridge_name(1)}")


def _slow_node(shape: Shape) -> Breaking:
    rails = range(1, shape.rails + 1)
    lines = (
        f"ip netns exec {OURS}pod-{shape.nodes} tc qdisc add dev net{rail} root netem rate 1mbit" for rail in rails
    )
    return Breaking(then="\n".join(lines))


@dataclass(frozen=True)
class LabFault:
    """
    One way of breaking it.

    Attributes:
        meaning: what is broken, at the last node.
        fewest_rails, fewest_nodes: with less there is nothing to break, or nobody to tell it by.
        at_switch: it is done to a switch's port, which `sriov` keeps inside the emulator.
    """

    meaning: str
    breaking: Callable[[Shape], Breaking]
    fewest_rails: int = 1
    fewest_nodes: int = 2
    at_switch: bool = False


FAULTS: dict[str, LabFault] = {
    "loss": LabFault("one packet in five is lost", _loss),
    "mtu": LabFault("the switch's port takes 1,500 bytes, the NIC sends 4,096", _mtu, at_switch=True),
    "gid": LabFault("the pod's address on the rail is gone, and its RoCE v2 GID with it", _gid),
    "gid-index": LabFault("somebody fixed a GID index that is empty here", _gid_index),
    "memlock": LabFault("the pod is not root and may lock 64 KiB", _memlock),
    "netns": LabFault("RDMA devices are exclusive to namespaces, and nobody moved them into the pods", _netns),
    "link-down": LabFault("the rail goes down in the middle of a transfer", _link_down),
    "peer-killed": LabFault("the half in the pod is killed in the middle", _peer_killed),
    "corruption": LabFault("a byte is changed in the buffer in which it arrived", _corruption),
    "one-direction": LabFault(
        "what the pod sends is dropped, but for acknowledgements and requests", _one_direction, at_switch=True
    ),
    "swapped-rails": LabFault("two cables are in each other's switch", _swapped_rails, fewest_rails=2, at_switch=True),
    "slow-node": LabFault("every rail of the node is slow", _slow_node),
}
"""Every fault by the name that --fault takes."""


def check_fault(name: str, shape: Shape) -> None:
    """
    Make sure, before anything is started, that a lab of this shape can be broken like that; "" breaks nothing.

    Raises:
        UsageError: there is no such fault, or the shape has nothing for it to break.
    """
    if not name:
        return
    fault = FAULTS.get(name)
    if fault is None:
        raise UsageError(f"no fault {name!r} in the lab", hint=f"one of: {', '.join(FAULTS)}")
    if shape.rails < fault.fewest_rails:
        raise UsageError(f"{name} needs {fault.fewest_rails} rails", hint=f"--rails {fault.fewest_rails}")
    if shape.nodes < fault.fewest_nodes:
        raise UsageError(f"{name} needs {fault.fewest_nodes} nodes", hint=f"--nodes {fault.fewest_nodes}")
    if fault.at_switch and shape.method == "sriov":
        raise UsageError(
            f"{name} breaks a switch's port, and the switch of sriov is inside the emulator",
            hint="--method shared or --method host-device",
        )
