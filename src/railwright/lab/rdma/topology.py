"""
Nodes and pods as network namespaces, wired as each method wires them; nothing runs here, it is all shell text.

Each rail is a switch (a bridge, or a hub of the emulator for `sriov`) with one NIC of each node. A pod has `net1`,
`net2`, ... on the rails and `eth0` on a network of its own, over which the halves of a probe meet, so that a broken
rail does not also keep the halves from talking.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from railwright.core.ids import NetDevice, NodeName, RailName, RdmaDevice
from railwright.ports.endpoint import HeldRail

Method = Literal["shared", "host-device", "sriov"]
METHODS: tuple[Method, ...] = ("shared", "host-device", "sriov")
OURS = "rw-"
"""In front of every name, because a lab may run on a host that has namespaces and bridges of its own."""
MTU_BYTES = 4200
"""Room for a path MTU of 4096 and its headers."""
_CARRIER_LIMIT_STEPS = 100


@dataclass(frozen=True)
class Shape:
    """How big the lab is."""

    method: Method
    nodes: int = 2
    rails: int = 2


@dataclass(frozen=True)
class Pod:
    """One pod: its namespace, its node's, and what it holds."""

    number: int
    node: NodeName
    namespace: str
    meeting_address: str
    rails: tuple[HeldRail, ...]


def pods(shape: Shape) -> tuple[Pod, ...]:
    """Name every pod."""
    return tuple(
        Pod(
            number=node,
            node=NodeName(f"node-{node}"),
            namespace=f"{OURS}pod-{node}",
            meeting_address=f"10.99.0.{node}",
            rails=tuple(
                HeldRail(
                    rail=RailName(f"rail-{rail}"),
                    netdev=NetDevice(f"net{rail}"),
                    device=device_name(node, rail),
                    address=f"10.{rail}.0.{node}",
                )
                for rail in range(1, shape.rails + 1)
            ),
        )
        for node in range(1, shape.nodes + 1)
    )


def device_name(node: int, rail: int) -> RdmaDevice:
    """Name an RDMA device; in the shared mode of the kernel the name is the same everywhere, so it holds the node."""
    return RdmaDevice(f"rxe_n{node}r{rail}")


def build_script(shape: Shape) -> str:
    """Write the shell text that builds everything, from nothing but QEMU's NICs."""
    return "\n".join(
        [
            *_batch(_namespaces(shape)),
            *_batch(_meeting_network(shape)),
            *(_virtual_functions(shape) if shape.method == "sriov" else _batch(_rails(shape))),
            *_devices(shape),
        ]
    )


def remove_script() -> str:
    """Write the shell text that removes every namespace, bridge and device of a lab, whatever is left of it."""
    return f"""
for device in $(rdma link | sed -n 's|^link \\(rxe_n[0-9]*r[0-9]*\\)/.*|\\1|p'); do rdma link delete "$device"; done
for name in $(ip netns list | cut -d' ' -f1 | grep '^{OURS}'); do ip netns delete "$name"; done
for name in $(ip -br link show type bridge | cut -d' ' -f1 | grep '^{OURS}'); do ip link delete "$name"; done
"""


def _batch(lines: Iterator[str]) -> list[str]:
    """One process for many commands: each costs 30 ms on the emulated processor."""
    return ["ip -batch - <<'END'", *lines, "END"]


def _namespaces(shape: Shape) -> Iterator[str]:
    for pod in pods(shape):
        yield f"netns add {pod.namespace}"
        if shape.method == "shared":
            yield f"netns add {OURS}{pod.node}"


def _meeting_network(shape: Shape) -> Iterator[str]:
    yield f"link add {OURS}meet type bridge"
    yield f"link set {OURS}meet up"
    for pod in pods(shape):
        yield f"link add {OURS}m{pod.number} type veth peer name eth0 netns {pod.namespace}"
        yield f"link set {OURS}m{pod.number} master {OURS}meet up"


def _rails(shape: Shape) -> Iterator[str]:
    for rail in range(1, shape.rails + 1):
        yield f"link add {bridge_name(rail)} mtu {MTU_BYTES} type bridge"
        yield f"link set {bridge_name(rail)} up"
        for pod in pods(shape):
            port = port_name(pod.number, rail)
            inside = f"netns {OURS}{pod.node}" if shape.method == "shared" else f"netns {pod.namespace}"
            name = f"rail{rail}" if shape.method == "shared" else f"net{rail}"
            yield f"link add {port} mtu {MTU_BYTES} type veth peer name {name} mtu {MTU_BYTES} {inside}"
            yield f"link set {port} master {bridge_name(rail)} up"


def port_name(node: int, rail: int) -> str:
    """Name the switch's side of a node's NIC."""
    return f"{OURS}n{node}r{rail}"


def bridge_name(rail: int) -> str:
    """Name a rail's switch."""
    return f"{OURS}rail{rail}"


def _devices(shape: Shape) -> Iterator[str]:
    """Bring everything up inside, a batch a namespace, and give each rail its RDMA device."""
    for pod in pods(shape):
        if shape.method == "shared":
            yield f"ip -n {OURS}{pod.node} -batch - <<'END'"
            for rail in range(1, shape.rails + 1):
                yield f"link set rail{rail} up"
                yield (
                    f"link add link rail{rail} name net{rail} mtu {MTU_BYTES} netns {pod.namespace} type macvlan mode bridge"
                )
            yield "END"
        yield f"ip -n {pod.namespace} -batch - <<'END'"
        yield "link set lo up"
        yield "link set eth0 up"
        yield f"addr add {pod.meeting_address}/24 dev eth0"
        for held in pod.rails:
            yield f"link set {held.netdev} mtu {MTU_BYTES} up"
            yield f"addr add {held.address}/24 dev {held.netdev}"
        yield "END"
    for pod in pods(shape):
        added = " && ".join(f"rdma link add {held.device} type rxe netdev {held.netdev}" for held in pod.rails)
        yield f"ip netns exec {pod.namespace} /bin/sh -c '{added}'"


def _virtual_functions(shape: Shape) -> Iterator[str]:
    """
    Make one VF of each PF and move it into its pod.

    A PF must have carrier before its VFs are made: they have none for nine seconds otherwise (measured 2026-11-30).
    """
    yield "cards=$(for each in /sys/class/net/*/device/sriov_totalvfs; do echo $each | cut -d/ -f5; done | sort -V)"
    yield f'[ $(echo $cards | wc -w) -ge {shape.nodes * shape.rails} ] || {{ echo "PFs: $cards" >&2; exit 1; }}'
    yield f"for card in $cards; do ip link set $card mtu {MTU_BYTES} up; done"
    yield (
        f"for card in $cards; do for step in $(seq {_CARRIER_LIMIT_STEPS}); do "
        "grep -q 1 /sys/class/net/$card/carrier && break; sleep 0.1; done; done"
    )
    yield "for card in $cards; do echo 1 > /sys/class/net/$card/device/sriov_numvfs; done"
    yield "set -- $cards"
    for pod in pods(shape):
        for held in pod.rails:
            yield "vf=$(ls /sys/class/net/$1/device/virtfn0/net)"
            yield f"ip link set $vf netns {pod.namespace} name {held.netdev}"
            yield "shift"


def emulator_arguments(shape: Shape) -> tuple[str, ...]:
    """Give QEMU the NICs that the method needs: for `sriov` one igb a node and rail, on a hub a rail."""
    if shape.method != "sriov":
        return ()
    found: list[str] = []
    for node in range(1, shape.nodes + 1):
        for rail in range(1, shape.rails + 1):
            name = port_name(node, rail)
            found += ["-device", f"pcie-root-port,id=root-{name},slot={len(found) // 6 + 1}"]
            found += ["-netdev", f"hubport,hubid={rail},id=hub-{name}"]
            found += ["-device", f"igb,bus=root-{name},netdev=hub-{name},mac=02:00:00:01:{rail:02x}:{node:02x}"]
    return tuple(found)


def carrier_script(shape: Shape) -> str:
    """Write the shell text that waits until every rail of every pod has carrier."""
    checks = [
        f"for step in $(seq {_CARRIER_LIMIT_STEPS}); do ip -n {pod.namespace} -br link show {held.netdev} "
        f"| grep -q LOWER_UP && break; sleep 0.05; done"
        for pod in pods(shape)
        for held in pod.rails
    ]
    return "\n".join(checks)
