"""Addresses, MTU, priorities and partitions of rails: what a packet needs besides a link."""

from collections import Counter
from collections.abc import Iterator

from railwright.core import kinds
from railwright.core.ids import NodeName, RuleId
from railwright.core.objects import dig
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
from railwright.doctor.needs import BY_OPERATORS, INSIDE, WHO_WANTS_RDMA, objects, reads_rails
from railwright.doctor.rails import RailHere, is_admitted
from railwright.doctor.seen import Seen
from railwright.doctor.showing import capped, on_host, on_node
from railwright.doctor.subjects import ETHERNET_RAILS, INFINIBAND_RAILS, RAILS
from railwright.doctor.wanted import rdma_wanted
from railwright.facts.node_model import QosState

_V2 = "RoCE v2"
_AGAIN = "read the node again as root"

GID_MISSING = RuleInfo(
    name=RuleId("roce-address-missing"),
    title="An Ethernet rail has no RoCE v2 address",
    layer=Layer.LINK,
    severity=Severity.WARNING,
    text="A RoCE v2 packet needs a GID of that type, which the kernel makes from the addresses of the port's network device. There is none "
    "when the device is not up, when IPv6 is switched off and no IPv4 address is set, when the card is in RoCE v1 mode, or when the "
    "address sits on another device (a bond, a bridge). Ports that pods hold are not judged.",
    source="Linux drivers/infiniband/core/cache.c and roce_gid_mgmt.c (v6.12)",
    needs=(
        INSIDE,
        reads_rails(relies_on=("gids", "infiniband", "net")),
    ),
    uses=(WHO_WANTS_RDMA, BY_OPERATORS),
    covers=("B070", "B106"),
    leads_to=(Condition.PORT_DOWN, Condition.RDMA_FAILS),
    subject=ETHERNET_RAILS,
)


def judge_gids(seen: Seen) -> Iterator[Finding]:
    """Look for a RoCE v2 entry of each active Ethernet rail, on its own device."""
    wanted = rdma_wanted(seen)
    evidence: list[Evidence] = []
    for rails in seen.rails.values():
        for rail in rails:
            port = rail.port
            if not rail.is_ethernet or port.rdma is None or port.netdev is None or port.state != "ACTIVE":
                continue
            types = sorted({gid.type for gid in port.gids})
            if _V2 not in types:
                evidence.append(
                    on_node(rail.node, f"{rail.name} {rail.where} GID types", ", ".join(types) or "no GID at all")
                )
    if evidence:
        nodes = [item.node for item in evidence if item.node]
        yield conclude(
            GID_MISSING,
            "The port's network device has no address of which a RoCE v2 GID could be made.",
            evidence=capped(evidence),
            remedy=Remedy(
                "Set the network device up and leave IPv6 link-local addresses on (net.ipv6.conf.DEVICE.disable_ipv6=0), or give it an "
                "address; pods get theirs from the rail's secondary network.",
                (on_host(nodes[0], "grep -H . /sys/class/infiniband/*/ports/1/gid_attrs/types/* 2>/dev/null"),),
            ),
            nodes=nodes,
            severity=Severity.ERROR if wanted & set(nodes) else None,
        )


MTU_DIFFERS = RuleInfo(
    name=RuleId("rail-mtu-differs"),
    title="A rail's MTU is not the same on all nodes",
    layer=Layer.LINK,
    severity=Severity.WARNING,
    text="Two ports of one rail with unlike MTUs talk at the smaller one at best; where a switch passes less than both, small messages arrive "
    "and large ones vanish. A virtual function cannot exceed its physical function.",
    source="rdma-core v57, ibv_query_port active_mtu; Linux drivers/infiniband/core/addr.c, iboe_get_mtu (v6.12)",
    needs=(
        INSIDE,
        reads_rails(),
    ),
    covers=("B116",),
    leads_to=(Condition.RDMA_FAILS, Condition.RDMA_SLOW),
    subject=RAILS,
)


def judge_mtu(seen: Seen) -> Iterator[Finding]:
    """Compare each rail's MTU with its peers'."""
    sizes: dict[tuple[str, int, bool], Counter[int]] = {}
    admitted = {name: is_admitted(seen.node_by_name[name]) for name in seen.rails}
    for name, rails in seen.rails.items():
        for rail in rails:
            if rail.port.mtu_bytes:
                key = (rail.port.link_layer, rail.index, admitted[name])
                sizes.setdefault(key, Counter())[rail.port.mtu_bytes] += 1
    usual = {key: _usual(counts) for key, counts in sizes.items() if len(counts) > 1}
    odd = [
        on_node(name, f"{rail.name} {rail.where} MTU", f"{rail.port.mtu_bytes}, on most nodes {usual[key]}")
        for name, rails in seen.rails.items()
        for rail in rails
        if (key := (rail.port.link_layer, rail.index, admitted[name])) in usual
        and rail.port.mtu_bytes
        and rail.port.mtu_bytes != usual[key]
    ]
    if odd:
        yield conclude(
            MTU_DIFFERS,
            "The MTU of these ports is not that of the same rail on the other nodes.",
            evidence=capped(odd),
            remedy=Remedy(
                "Set one MTU for the rail everywhere: switch ports, physical functions (SriovNetworkNodePolicy or NodeNetworkConfigurationPolicy), "
                "networks of pods.",
            ),
            nodes=(item.node for item in odd if item.node),
        )


def _usual(counts: Counter[int]) -> int:
    """The most common value; of two that are equally common the larger."""
    return max(counts, key=lambda value: (counts[value], value))


PRIORITY_NOT_LOSSLESS = RuleInfo(
    name=RuleId("roce-priority-not-lossless"),
    title="RDMA traffic does not travel in the priority that is kept lossless",
    layer=Layer.LINK,
    severity=Severity.WARNING,
    text="A port sorts packets by DSCP or by VLAN priority, and flow control holds for some priorities only. When the forced traffic class "
    "maps to another priority, when DSCP is not trusted, or when one rail is set up unlike the others, RDMA is dropped under load. DSCP is "
    "the upper six bits of the traffic class: 106 and 104 are both DSCP 26. Queue pairs made by the GPU or through DevX do not take the "
    "forced class: they need NCCL_IB_TC and its like.",
    source="Linux Documentation/ABI/testing, sysfs-class-infiniband tc; mlnx_qos and dcb-dscp(8); "
    "https://github.com/NVIDIA/nccl/issues/2383 (2026-09)",
    needs=(
        INSIDE,
        reads_rails("qos"),
    ),
    uses=(WHO_WANTS_RDMA, BY_OPERATORS),
    covers=("B111", "B120", "B125"),
    leads_to=(Condition.RDMA_SLOW, Condition.RDMA_FAILS),
    subject=ETHERNET_RAILS,
)


def judge_priorities(seen: Seen) -> Iterator[Finding | Unknown]:
    """Follow the forced traffic class of each rail into its priority, and compare rails."""
    lossy: list[Evidence] = []
    usual: Counter[tuple[tuple[int, ...] | None, str]] = Counter()
    unread: dict[NodeName, None] = {}
    for name, rails in seen.rails.items():
        for rail in rails:
            qos = rail.port.qos
            if not rail.is_ethernet or rail.port.netdev is None:
                continue
            if qos is None or qos.pfc_priorities is None:
                unread[name] = None
                continue
            usual[qos.pfc_priorities, qos.trust] += 1
            lossy += _lossy(name, rail, qos)
    if lossy:
        yield conclude(
            PRIORITY_NOT_LOSSLESS,
            "The traffic class that RDMA is forced into maps to a priority without flow control.",
            evidence=capped(lossy),
            remedy=Remedy(
                "Let traffic class, DSCP map, trust and flow control name one priority on NICs and switches (traffic class 106, DSCP 26, "
                "priority 3), and set NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS and NVSHMEM_IB_TRAFFIC_CLASS to the same.",
                (on_host(next(item.node for item in lossy if item.node), "dcb app show; dcb pfc show"),),
            ),
            nodes=(item.node for item in lossy if item.node),
        )
    hidden = tuple(name for name in unread if name in rdma_wanted(seen))
    if hidden:
        how = "have dcb (iproute2) on the node, and read it again as root"
        yield Unknown(
            PRIORITY_NOT_LOSSLESS.name, "flow control of ports", "neither kernel nor dcb showed it", how, hidden
        )
    if len(usual) > 1:
        yield from _unlike(seen, usual.most_common(1)[0][0])


def _lossy(name: NodeName, rail: RailHere, qos: QosState) -> Iterator[Evidence]:
    forced = qos.traffic_class if qos.traffic_class is not None else qos.default_roce_tos
    if not forced or qos.pfc_priorities is None:
        return
    dscp = forced >> 2
    priority = qos.dscp_to_priority.get(dscp, dscp >> 3)
    if qos.trust == "pcp":
        yield on_node(name, f"{rail.name} {rail.where}", f"traffic class {forced} (DSCP {dscp}), but trust is pcp")
    elif priority not in qos.pfc_priorities:
        on = ", ".join(map(str, qos.pfc_priorities)) or "none"
        yield on_node(
            name,
            f"{rail.name} {rail.where}",
            f"traffic class {forced} (DSCP {dscp}) is priority {priority}; flow control on {on}",
        )


def _unlike(seen: Seen, usual: tuple[tuple[int, ...] | None, str]) -> Iterator[Finding]:
    odd = [
        on_node(
            name,
            f"{rail.name} {rail.where}",
            f"flow control {rail.port.qos.pfc_priorities}, trust {rail.port.qos.trust}",
        )
        for name, rails in seen.rails.items()
        for rail in rails
        if rail.is_ethernet
        and rail.port.qos is not None
        and rail.port.qos.pfc_priorities is not None
        and (rail.port.qos.pfc_priorities, rail.port.qos.trust) != usual
    ]
    yield conclude(
        PRIORITY_NOT_LOSSLESS,
        f"Rails are set up unlike each other: most have flow control on {usual[0]} and trust {usual[1] or 'not known'}.",
        evidence=capped(odd),
        remedy=Remedy("Set all rails up the same, with a NicConfigurationTemplate (roceOptimized) or at boot."),
        nodes=(item.node for item in odd if item.node),
    )


PARTITION_MISSING = RuleInfo(
    name=RuleId("infiniband-partition-missing"),
    title="An InfiniBand port is not in the partition that is used",
    layer=Layer.LINK,
    severity=Severity.WARNING,
    text="A port talks in the partitions that the subnet manager put it into. An IPoIB device of a partition that is not in the port's table "
    "stays down (LOWERLAYERDOWN); two limited members of a partition cannot talk to each other.",
    source="InfiniBand Architecture 1.7, volume 1, 10.9 partitioning; Linux Documentation/infiniband/ipoib.rst (v6.12)",
    needs=(INSIDE, reads_rails("pkeys"), objects(kinds.SRIOV_IB_NETWORK)),
    uses=(WHO_WANTS_RDMA, BY_OPERATORS),
    covers=("B083",),
    leads_to=(Condition.PORT_DOWN, Condition.RDMA_FAILS),
    subject=INFINIBAND_RAILS,
)
_FULL = 0x8000


def judge_partitions(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare partition tables of ports with what IPoIB devices and networks use."""
    wanted = {
        number & 0x7FFF
        for item in seen.of_kind(kinds.SRIOV_IB_NETWORK)
        if (number := _pkey(dig(item, "spec", "pKey", default="") or dig(item, "spec", "pkey", default=""))) is not None
    }
    evidence: list[Evidence] = []
    unread: dict[NodeName, None] = {}
    for name, rails in seen.rails.items():
        hardware = seen.inside[name]
        for rail in rails:
            keys = rail.port.pkeys
            if not rail.is_infiniband or rail.port.rdma is None:
                continue
            if not keys:
                unread[name] = None
                continue
            used = {item.pkey for item in hardware.netdevs if item.pci == rail.port.pci and item.pkey is not None}
            member = {key & 0x7FFF for key in keys}
            table = " ".join(f"0x{key:04x}" for key in keys)
            missing = sorted(({key & 0x7FFF for key in used} | wanted) - member)
            evidence += (
                on_node(name, f"{rail.name} {rail.where}", f"0x{key:04x} is not in {table}") for key in missing
            )
            if not any(key & _FULL for key in keys):
                evidence.append(on_node(name, f"{rail.name} {rail.where}", f"limited member only: {table}"))
    if evidence:
        nodes = [item.node for item in evidence if item.node]
        yield conclude(
            PARTITION_MISSING,
            "The subnet manager has not made these ports full members of the partition that is used on them.",
            evidence=capped(evidence),
            remedy=Remedy(
                "Add the ports' GUIDs as full members to the partition (partitions.conf of OpenSM, or UFM); give IPoIB children the partition "
                "of their parent.",
                ("smpquery pkeys LID 1",),
            ),
            nodes=nodes,
            severity=Severity.ERROR if rdma_wanted(seen) & set(nodes) else None,
        )
    if unread:
        yield Unknown(PARTITION_MISSING.name, "partition keys of ports", "the record lacks them", _AGAIN, tuple(unread))


def _pkey(text: object) -> int | None:
    try:
        return int(str(text), 0)
    except ValueError:
        return None


RULES = (
    Rule(GID_MISSING, judge_gids),
    Rule(MTU_DIFFERS, judge_mtu),
    Rule(PRIORITY_NOT_LOSSLESS, judge_priorities),
    Rule(PARTITION_MISSING, judge_partitions),
)
