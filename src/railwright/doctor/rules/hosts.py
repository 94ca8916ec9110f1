"""Nodes as a whole: unlike their group, with uplinks that a driver would cut, with interfaces that somebody left changed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from railwright.core import kinds
from railwright.core.ids import NodeName, PciAddress, RuleId
from railwright.core.objects import Ref
from railwright.core.risk import Risk
from railwright.doctor.commands import oc_patch
from railwright.doctor.model import (
    Condition,
    Evidence,
    Finding,
    Layer,
    Remedy,
    Rule,
    RuleInfo,
    Severity,
    Unknown,
    conclude,
)
from railwright.doctor.needs import INSIDE, objects, reads, reads_rails
from railwright.doctor.nic_policy import NAME
from railwright.doctor.rails import RailHere, is_admitted
from railwright.doctor.seen import Seen
from railwright.doctor.showing import capped, on_host, on_node
from railwright.doctor.subjects import GPUS, NIC_DRIVER_CONTAINERS
from railwright.doctor.wanted import driver_policy, nic_driver_wanted
from railwright.facts.model import NodeHardware

NODE_UNLIKE_GROUP = RuleInfo(
    name=RuleId("node-unlike-its-group"),
    title="A node is not like the others of its kind: devices, chassis, firmware, driver, kernel, BIOS",
    layer=Layer.HARDWARE,
    severity=Severity.WARNING,
    text="Nodes with the same GPUs and as many rails are compared, and nodes of one chassis by how many GPUs and ports more than half of them have: a "
    "device that fell off its bus is in no list. One with another chassis, NIC firmware, driver, kernel or BIOS fails, or "
    "slows, in ways that no setting explains, and its jobs take the others along. BIOS, mainboard and VBIOS are compared "
    "within one chassis. During a roll-out this is as it should be.",
    source="decision of the authors: compared with the majority of like nodes (2026-11-30)",
    needs=(
        INSIDE,
        reads_rails("cpu", "dmi", "values", "nvidia-version", relies_on=("pci",)),
    ),
    covers=(),
    leads_to=(Condition.RDMA_SLOW,),
    subject=GPUS,
)
_MIN_GROUP = 2


def judge_likeness(seen: Seen) -> Iterator[Finding]:
    """Name what differs from the majority of a group."""
    groups: dict[tuple[object, ...], list[NodeName]] = {}
    for name, rails in seen.rails.items():
        hardware = seen.inside[name]
        gpus = tuple(sorted(Counter(gpu.device_id for gpu in hardware.gpus).items()))
        kind = (gpus, len(rails), hardware.architecture, is_admitted(seen.node_by_name[name]))
        groups.setdefault(kind, []).append(name)
    evidence = [item for names in groups.values() for item in _unlike(seen, names)]
    short = list(_short_of_devices(seen))
    if short:
        yield _short(short)
    if evidence:
        yield conclude(
            NODE_UNLIKE_GROUP,
            "These nodes differ from the others of their kind.",
            evidence=capped(evidence),
            remedy=Remedy(
                "Bring the node to the versions of its group: finish the roll-out that is under way, or update its firmware (NicFirmwareTemplate) "
                "and BIOS.",
            ),
            nodes=(item.node for item in evidence if item.node),
        )


def _short(evidence: list[Evidence]) -> Finding:
    nodes = list(dict.fromkeys(item.node for item in evidence if item.node))
    return conclude(
        NODE_UNLIKE_GROUP,
        "These nodes have fewer devices than most others in the same chassis: what fell off its bus, or was never put in, is in "
        "no list.",
        evidence=capped(evidence),
        remedy=Remedy(
            "Look for the device in the kernel's log and in the BMC's inventory: where the BMC does not see it either, reseat or "
            "replace it; where it does, power the node off and on.",
            tuple(on_host(name, "dmesg | grep -i -e pcie -e pciehp -e 'fallen off'") for name in nodes[:4]),
        ),
        nodes=nodes,
    )


def _short_of_devices(seen: Seen) -> Iterator[Evidence]:
    """Name nodes with fewer GPUs or ports than a strict majority in the same chassis has."""
    machines: dict[tuple[str, ...], list[NodeName]] = {}
    for name, hardware in seen.inside.items():
        chassis = hardware.chassis
        models = sorted({gpu.device_id for gpu in hardware.gpus})
        if chassis.product and hardware.gpus and hardware.processor.under_hypervisor is False:
            machines.setdefault((chassis.vendor, chassis.product, *models), []).append(name)
    for names in machines.values():
        for key, counts in (
            ("GPUs", {name: len(seen.inside[name].gpus) for name in names}),
            ("ConnectX ports", {name: _ports(seen.inside[name]) for name in names}),
        ):
            usual, others = Counter(counts.values()).most_common(1)[0]
            if 2 * others <= len(names):
                continue
            for name, count in counts.items():
                if count < usual:
                    yield on_node(name, key, f"{count}; {others} of {len(names)} in the same chassis have {usual}")


def _ports(hardware: NodeHardware) -> int:
    return sum(port.vendor_id == "15b3" and port.parent is None for port in hardware.ports)


def _unlike(seen: Seen, names: list[NodeName]) -> Iterator[Evidence]:
    """Compare the nodes of one kind, and what goes with a chassis within each chassis: of another one it is another."""
    yield from _differences({name: _traits(seen.inside[name], seen.rails[name]) for name in names})
    by_chassis: dict[str, list[NodeName]] = {}
    for name in names:
        by_chassis.setdefault(_chassis(seen.inside[name]), []).append(name)
    for same in by_chassis.values():
        yield from _differences({name: _traits_of_chassis(seen.inside[name]) for name in same})


def _differences(traits: Mapping[NodeName, Mapping[str, str]]) -> Iterator[Evidence]:
    for key in sorted({key for values in traits.values() for key in values}):
        counts = Counter(values[key] for values in traits.values() if values.get(key))
        if len(counts) < _MIN_GROUP:
            continue
        usual = max(counts, key=lambda value: (counts[value], value))
        for name, values in traits.items():
            value = values.get(key, "")
            if value and value != usual:
                yield on_node(name, key, f"{value}; {counts[usual]} of {len(traits)} have {usual}")


def _chassis(hardware: NodeHardware) -> str:
    return f"{hardware.chassis.vendor} {hardware.chassis.product}".strip()


def _traits(hardware: NodeHardware, rails: tuple[RailHere, ...]) -> Mapping[str, str]:
    firmware = sorted({rail.port.firmware for rail in rails if rail.port.firmware})
    boards = sorted({rail.port.psid for rail in rails if rail.port.psid})
    parts = sorted({rail.port.part_number for rail in rails if rail.port.part_number})
    return {
        "chassis": _chassis(hardware),
        "NIC firmware": " and ".join(firmware),
        "NIC board id": " and ".join(boards),
        "NIC part number": " and ".join(parts),
        "mlx5 driver": hardware.mlx5_driver,
        "GPU driver": hardware.nvidia_driver,
        "kernel": hardware.kernel_version,
    }


def _traits_of_chassis(hardware: NodeHardware) -> Mapping[str, str]:
    chassis = hardware.chassis
    return {
        "BIOS": chassis.bios_version,
        "mainboard": f"{chassis.board} {chassis.board_version}".strip(),
        "GPU VBIOS": " and ".join(sorted({gpu.vbios for gpu in hardware.gpus if gpu.vbios})),
    }


UPLINK_IN_DANGER = RuleInfo(
    name=RuleId("nic-driver-cuts-node-uplink"),
    title="The NIC driver's restart would cut the node's own traffic",
    layer=Layer.DRIVERS,
    severity=Severity.ERROR,
    text="Swapping the mlx5 driver takes every ConnectX port of the node down, whatever it is used for. When default route, API server, "
    "cluster network or mounted storage go over one of them, the node drops off the network, may not come back by itself, and the driver "
    "pod tries again after the reboot. A warning once the container's driver runs: the next upgrade does it again.",
    source="https://github.com/Mellanox/network-operator/issues/2176; Mellanox/network-operator-docs 0c0ecad, release notes, known "
    "limitations (2026-05-21)",
    needs=(INSIDE, reads_rails("values"), objects(kinds.NIC_CLUSTER_POLICY)),
    covers=("B018", "B159"),
    leads_to=(Condition.NIC_DRIVER_NOT_READY, Condition.ROLLOUT_STUCK),
    subject=NIC_DRIVER_CONTAINERS,
)


def judge_uplinks(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look for traffic of nodes that goes over ports of the driver which a policy brings."""
    if driver_policy(seen) is None:
        return
    evidence: list[Evidence] = []
    running: set[NodeName] = set()
    unread: list[NodeName] = []
    for name in nic_driver_wanted(seen):
        hardware = seen.inside.get(name)
        if hardware is None:
            continue
        if not hardware.uplinks_known:
            unread.append(name)
        found = list(_over_mlx5(name, hardware))
        evidence += found
        if found and hardware.mlx5_driver:
            running.add(name)
    if evidence:
        nodes = {item.node for item in evidence if item.node}
        yield conclude(
            UPLINK_IN_DANGER,
            "The NicClusterPolicy's driver container reaches nodes whose own traffic goes over a ConnectX port.",
            evidence=capped(evidence),
            remedy=Remedy(
                "Leave the driver container out (in-box driver with dma-buf), or keep these nodes out of it with nodeAffinity; else restart "
                "the driver at boot only (upgradePolicy.safeLoad) and have the console at hand.",
                (
                    oc_patch(
                        Ref(kinds.NIC_CLUSTER_POLICY, "", NAME),
                        spec={"ofedDriver": {"upgradePolicy": {"autoUpgrade": True, "safeLoad": True}}},
                    ),
                ),
                risk=Risk.DRIVER_RELOAD,
                disrupts="the network of these nodes, each time the driver is loaded",
            ),
            nodes=nodes,
            severity=Severity.WARNING if nodes <= running else None,
        )
    if unread:
        yield Unknown(
            UPLINK_IN_DANGER.name,
            "what carries the node's own traffic",
            seen.inside[unread[0]].uplinks_problem,
            "read the node as root in the host's network namespace",
            tuple(unread),
        )


def _over_mlx5(name: NodeName, hardware: NodeHardware) -> Iterator[Evidence]:
    drivers: dict[PciAddress | None, str] = {port.pci: port.driver for port in hardware.ports}
    for item in hardware.carried:
        if drivers.get(item.pci, "") == "mlx5_core":
            yield on_node(name, item.what, f"{' over '.join(item.path)} ({item.pci})")


LEFT_CHANGED = RuleInfo(
    name=RuleId("host-interface-left-changed"),
    title="An interface on the host is not as it was before pods had it",
    layer=Layer.NETWORKS,
    severity=Severity.WARNING,
    text="A network plugin moves a device into a pod and puts its name back when the pod ends. When the pod is deleted by force, or its namespace "
    "goes first, the device comes back under the pod's name, and selectors by name lose it. NetworkManager that is not told otherwise asks for "
    "addresses on idle virtual functions, and brings routes along.",
    source="containernetworking/plugins v1.9, host-device; https://github.com/containernetworking/plugins/issues/773; "
    "https://github.com/openshift/sriov-network-operator/issues/414 (2025-05)",
    needs=(
        INSIDE,
        reads("pci", "net", "addr"),
    ),
    covers=("B076", "B085", "B170"),
    leads_to=(Condition.RESOURCE_MISSING, Condition.NETWORK_MISSING),
)
_POD_NAME = re.compile(r"(?:net\d+(?:-\d+)?|temp_?\w*|dev[0-9a-f]{6,})")


def judge_interfaces(seen: Seen) -> Iterator[Finding]:
    """Look for pods' names on hardware, and for addresses on virtual functions."""
    renamed: list[Evidence] = []
    addressed: list[Evidence] = []
    for name, hardware in seen.inside.items():
        functions = {port.pci for port in hardware.ports if port.parent is not None}
        hardware_ports = {port.pci for port in hardware.ports if port.vendor_id == "15b3"}
        for netdev in hardware.netdevs:
            if netdev.pci not in hardware_ports:
                continue
            if _POD_NAME.fullmatch(netdev.name):
                alias = f", its own name may be {netdev.alias}" if netdev.alias else ""
                renamed.append(on_node(name, f"network device of {netdev.pci}", f"{netdev.name}{alias}"))
            dynamic = netdev.dynamic_addresses
            if netdev.pci in functions and dynamic:
                addressed.append(on_node(name, f"virtual function {netdev.name}", f"got {', '.join(dynamic)}"))
    if renamed:
        yield _left("A device came back from a pod under the pod's name.", renamed, _RENAME)
    if addressed:
        yield _left(
            "Idle virtual functions were given addresses by DHCP or router advertisements.", addressed, _UNMANAGE
        )


_RENAME = Remedy(
    "Rename the device after its PCI address, then restart the device plugin's pod; do not delete such pods with --grace-period=0.",
    ("ip link set net1 down; ip link set net1 name OLD_NAME; ip link set OLD_NAME up",),
    risk=Risk.NONE,
)
_UNMANAGE = Remedy(
    "Tell NetworkManager to leave virtual functions alone (unmanaged-devices, by a MachineConfig), or take an SR-IOV operator whose udev rule "
    "also covers moved devices.",
    ("nmcli device set DEVICE managed no",),
)


def _left(cause: str, evidence: list[Evidence], remedy: Remedy) -> Finding:
    first = next(item.node for item in evidence if item.node)
    commands = tuple(on_host(first, command) for command in remedy.commands)
    return conclude(
        LEFT_CHANGED,
        cause,
        evidence=capped(evidence),
        remedy=Remedy(remedy.text, commands),
        nodes=(item.node for item in evidence if item.node),
    )


RULES = (
    Rule(NODE_UNLIKE_GROUP, judge_likeness),
    Rule(UPLINK_IN_DANGER, judge_uplinks),
    Rule(LEFT_CHANGED, judge_interfaces),
)
