"""Ports and links of rails: up, managed, as fast as their peers, and without errors."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from railwright.core.ids import NodeName, RuleId
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
from railwright.doctor.needs import BY_OPERATORS, INSIDE, WHO_WANTS_RDMA, reads_rails
from railwright.doctor.rails import RailHere
from railwright.doctor.seen import Seen
from railwright.doctor.showing import capped, on_host, on_node
from railwright.doctor.subjects import INFINIBAND_RAILS, RAILS
from railwright.doctor.wanted import rdma_wanted
from railwright.facts.model import LinkLayer, NicPort, NodeHardware
from railwright.intent.model import Fabric

_LAYER = {Fabric.ROCE: LinkLayer.ETHERNET, Fabric.INFINIBAND: LinkLayer.INFINIBAND}
_NO_LID = frozenset({0, 0xFFFF})
_WAITING = frozenset({"INIT", "ARMED"})

PORT_DOWN = RuleInfo(
    name=RuleId("rail-port-not-up"),
    title="A rail's port is not up, or speaks the wrong protocol",
    layer=Layer.LINK,
    severity=Severity.WARNING,
    text="The port has no carrier, is disabled, or is set to the other link type than the fabric: cable, transceiver, switch port, or "
    "LINK_TYPE in firmware. An error where RDMA is wanted. InfiniBand ports that wait for a subnet manager are another rule's.",
    source="Linux Documentation/ABI/stable/sysfs-class-infiniband, state and phys_state (v6.12); NVIDIA ConnectX firmware docs, "
    "LINK_TYPE_P1 (2026-11)",
    needs=(
        INSIDE,
        reads_rails(),
    ),
    uses=(WHO_WANTS_RDMA, BY_OPERATORS),
    covers=("B109",),
    leads_to=(Condition.PORT_DOWN, Condition.RDMA_FAILS),
    subject=RAILS,
)


def judge_ports(seen: Seen) -> Iterator[Finding]:
    """Look at state, carrier and link type of every rail."""
    wanted = rdma_wanted(seen)
    evidence: list[Evidence] = []
    wrong_layer = False
    for name, rails in seen.rails.items():
        for rail in rails:
            expected = _LAYER[rail.fabric] if rail.fabric is not None else None
            if expected is not None and rail.port.link_layer not in {expected, LinkLayer.UNKNOWN}:
                wrong_layer = True
                evidence.append(
                    on_node(name, f"{rail.name} {rail.where}", f"{rail.port.link_layer}, planned {expected.value}")
                )
            elif _is_down(rail.port):
                evidence.append(on_node(name, f"{rail.name} {rail.where}", _state(rail.port)))
    if not evidence:
        return
    nodes = [item.node for item in evidence if item.node]
    yield conclude(
        PORT_DOWN,
        "The link type is not the fabric's." if wrong_layer else "There is no link: cable, transceiver or switch port.",
        evidence=capped(evidence),
        remedy=_bring_up(evidence[0], wrong_layer=wrong_layer),
        nodes=nodes,
        severity=Severity.ERROR if wanted & set(nodes) else None,
    )


def _is_down(port: NicPort) -> bool:
    if port.netdev is None and port.rdma is None:
        return False  # held by a pod: nothing is seen of it here
    return port.state == "DOWN" or port.carrier is False or port.phys_state in {"Disabled", "Polling"}


def _state(port: NicPort) -> str:
    carrier = {True: "carrier", False: "no carrier", None: "carrier not known"}[port.carrier]
    words = (port.state, port.phys_state, carrier)
    return ", ".join(word for word in words if word)


def _bring_up(first: Evidence, *, wrong_layer: bool) -> Remedy:
    node = first.node or NodeName("NODE")
    pci = first.field.partition("(")[2].partition(")")[0] or "PCI"
    if wrong_layer:
        return Remedy(
            "Set the port's link type in firmware (1 InfiniBand, 2 Ethernet) and restart the node, or plan the other fabric.",
            (on_host(node, f"mstconfig -d {pci} -y set LINK_TYPE_P1=2"),),
        )
    return Remedy(
        "Look at cable, transceiver and switch port; see that the port is not switched off on either side.",
        (on_host(node, f"ip -d link show; dmesg | grep {pci}"),),
    )


NOT_MANAGED = RuleInfo(
    name=RuleId("infiniband-port-not-managed"),
    title="No subnet manager cares for an InfiniBand port, or two do",
    layer=Layer.LINK,
    severity=Severity.ERROR,
    text="Without a subnet manager a port stays in INIT and has no LID. A virtual function without a LID, below a port that has one, "
    "means that the manager does not support virtualization. The same rail under two masters on two nodes is two fabrics, or a "
    "second manager that took over with other settings.",
    source="OpenSM docs 3.3, virt_enabled; InfiniBand Architecture 1.7, volume 1, subnet management (2026-11)",
    needs=(
        INSIDE,
        reads_rails(),
    ),
    covers=("B109", "B113", "B122"),
    leads_to=(Condition.PORT_DOWN, Condition.RDMA_FAILS),
    subject=INFINIBAND_RAILS,
)


def judge_management(seen: Seen) -> Iterator[Finding]:
    """Look at states, LIDs and masters of InfiniBand ports."""
    unmanaged: list[Evidence] = []
    functions: list[Evidence] = []
    masters: dict[int, Counter[int]] = {}
    where: dict[tuple[int, int], list[tuple[NodeName, RailHere]]] = {}
    for name, rails in seen.rails.items():
        functions += _functions_without_lid(name, seen.inside[name])
        for rail in rails:
            port = rail.port
            if not rail.is_infiniband or port.carrier is False or port.state == "DOWN" or not port.state:
                continue
            if port.state in _WAITING or port.lid in _NO_LID or port.sm_lid in _NO_LID:
                words = f"{port.state}, LID {port.lid}, subnet manager LID {port.sm_lid}"
                unmanaged.append(on_node(name, f"{rail.name} {rail.where}", words))
            elif port.sm_lid is not None:
                masters.setdefault(rail.index, Counter())[port.sm_lid] += 1
                where.setdefault((rail.index, port.sm_lid), []).append((name, rail))
    if unmanaged:
        yield _managed("No subnet manager has brought these ports up.", unmanaged, _START_MANAGER)
    if functions:
        cause = "The subnet manager does not support virtual functions: they get no LID of their own."
        yield _managed(cause, functions, _VIRTUALIZE)
    yield from _split(masters, where)


_START_MANAGER = Remedy(
    "Start a subnet manager on a switch or host, or see that it reaches this switch.", ("sminfo", "ibswitches")
)
_VIRTUALIZE = Remedy(
    "Set virt_enabled 2 in opensm.conf (or use UFM) and restart it; set linkState enable in the SriovIBNetwork.",
    ("sminfo",),
)
_ONE_MASTER = Remedy(
    "Keep one master a fabric: switch the other off, or give both the same configuration.", ("sminfo",)
)


def _managed(cause: str, evidence: list[Evidence], remedy: Remedy) -> Finding:
    nodes = (item.node for item in evidence if item.node)
    return conclude(NOT_MANAGED, cause, evidence=capped(evidence), remedy=remedy, nodes=nodes)


def _functions_without_lid(name: NodeName, hardware: NodeHardware) -> Iterator[Evidence]:
    up = {port.pci for port in hardware.ports if port.state == "ACTIVE" and port.link_layer is LinkLayer.INFINIBAND}
    for port in hardware.ports:
        if port.parent in up and port.rdma is not None and port.lid == 0xFFFF:
            yield on_node(name, f"VF {port.rdma} ({port.pci})", f"{port.state or 'no state'}, LID 65535")


def _split(
    masters: Mapping[int, Counter[int]], where: Mapping[tuple[int, int], list[tuple[NodeName, RailHere]]]
) -> Iterator[Finding]:
    evidence: list[Evidence] = []
    for index, counts in masters.items():
        if len(counts) > 1:
            common = counts.most_common(1)[0][0]
            evidence += (
                on_node(name, f"{rail.name} {rail.where} subnet manager LID", f"{lid}, elsewhere {common}")
                for lid in counts
                if lid != common
                for name, rail in where[index, lid]
            )
    if evidence:
        yield conclude(
            NOT_MANAGED,
            "The same rail answers to different subnet managers on different nodes.",
            evidence=capped(evidence),
            remedy=_ONE_MASTER,
            nodes=(item.node for item in evidence if item.node),
            severity=Severity.WARNING,
        )


LINK_ERRORS = RuleInfo(
    name=RuleId("link-errors-or-flaps"),
    title="A rail's link is slower than its peers, flaps, has errors, or loses packets",
    layer=Layer.LINK,
    severity=Severity.WARNING,
    text="The port is up whenever somebody looks, and its counters tell that it was not, or that packets were damaged, came out of order, "
    "were dropped for want of buffers, or had to be asked for again. Counters add up since the driver was loaded, so only what is more "
    "than a start leaves behind is reported; what counts is whether they grow under load. A link that came up at a lower speed, or with "
    "fewer lanes, works and slows every collective down to it; ports are compared with those of the same device id on all nodes, "
    "since what a card can do at most depends on its part number.",
    source="Linux Documentation/ABI/stable/sysfs-class-infiniband, counters and hw_counters (v6.12); NVIDIA NIC counters, "
    "understanding mlx5 ethtool counters. Limits: estimates of the authors (2026-11-30)",
    needs=(
        INSIDE,
        reads_rails("counters", "ethtool", "dmesg"),
    ),
    covers=("B111", "B114"),
    leads_to=(Condition.RDMA_FAILS, Condition.RDMA_SLOW),
    subject=RAILS,
)
_PHYSICAL: Mapping[str, int] = {
    "link_downed": 5,
    "link_error_recovery": 5,
    "symbol_error": 100,
    "port_rcv_errors": 10,
    "local_link_integrity_errors": 10,
    "rx_crc_errors_phy": 10,
    "rx_symbol_err_phy": 100,
    "link_down_events_phy": 5,
}
_LOSS: Mapping[str, int] = {
    "out_of_sequence": 1000,
    "packet_seq_err": 1000,
    "local_ack_timeout_err": 50,
    "rnr_nak_retry_err": 10,
    "rx_discards_phy": 1000,
    "tx_discards_phy": 1000,
    "rx_out_of_buffer": 1000,
    "port_xmit_discards": 1000,
    "roce_adp_retrans": 1000,
    "req_transport_retries_exceeded": 1,
}
_MANY_CARRIER_CHANGES = 20
_MANY_LINK_DOWN_LINES = 3


def judge_links(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look for rates below those of peers, and for counters that are beyond what a start leaves behind."""
    yield from _rates(seen)
    yield from _counters(seen)


def _counters(seen: Seen) -> Iterator[Finding | Unknown]:
    physical: list[Evidence] = []
    lost: list[Evidence] = []
    unread: list[NodeName] = []
    for name, rails in seen.rails.items():
        hardware = seen.inside[name]
        for rail in rails:
            port = rail.port
            if not port.counters and not port.hw_counters and port.rdma is not None:
                unread.append(name)
            counts = {**port.counters, **port.ethtool, **port.hw_counters}
            physical += _over(name, rail, counts, _PHYSICAL)
            physical += _flaps(name, rail, hardware)
            lost += _over(name, rail, counts, _LOSS)
    if physical:
        yield conclude(
            LINK_ERRORS,
            "The link itself is bad: it went down again and again, or damages packets.",
            evidence=capped(physical),
            remedy=Remedy(
                "Clean or replace cable and transceiver, then watch whether the counters stand still under load; keep jobs off the node "
                "until they do.",
                _watch(physical[0]),
            ),
            nodes=(item.node for item in physical if item.node),
        )
    if lost:
        yield conclude(
            LINK_ERRORS,
            "Packets were lost on the way: on RoCE priority flow control and ECN do not hold from end to end.",
            evidence=capped(lost),
            remedy=Remedy(
                "Give RDMA one lossless priority on every hop (PFC and ECN, DSCP trusted, the same on NICs and switches), or NVIDIA's "
                "settings for lossy fabrics; compare with the switch's counters.",
                _watch(lost[0]),
            ),
            nodes=(item.node for item in lost if item.node),
        )
    if unread:
        yield Unknown(
            LINK_ERRORS.name,
            "counters of ports",
            "the kernel showed none",
            "read the node again as root",
            tuple(sorted(set(unread))),
        )


def _rates(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare the rate of each rail with the most common one of its kind."""
    rates: dict[str, Counter[float]] = {}
    unread: list[NodeName] = []
    for name, rails in seen.rails.items():
        for rail in rails:
            if rail.port.rate_gbps:
                rates.setdefault(rail.port.device_id, Counter())[rail.port.rate_gbps] += 1
            elif rail.port.state == "ACTIVE":
                unread.append(name)
    usual = {device: counts.most_common(1)[0][0] for device, counts in rates.items()}
    slow = [
        on_node(
            name, f"{rail.name} {rail.where}", f"{rail.port.rate_gbps:g} Gb/s, others {usual[rail.port.device_id]:g}"
        )
        for name, rails in seen.rails.items()
        for rail in rails
        if rail.port.rate_gbps
        and rail.port.state in {"ACTIVE", ""}
        and rail.port.rate_gbps < usual[rail.port.device_id]
    ]
    if slow:
        slower = conclude(
            LINK_ERRORS,
            "The link was negotiated lower than on the same ports elsewhere: a cable or transceiver of another speed, a breakout, or a "
            "switch port that is set to it.",
            evidence=capped(slow),
            remedy=Remedy(
                "Compare cable and switch port with a rail that runs at full rate, and set both ends to the same speed."
            ),
            nodes=(item.node for item in slow if item.node),
        )
        yield replace(slower, leads_to=(Condition.RDMA_SLOW,))
    if unread:
        yield Unknown(LINK_ERRORS.name, "rate of ports", "the kernel did not say", "read the node again", tuple(unread))


def _over(name: NodeName, rail: RailHere, counts: Mapping[str, int], limits: Mapping[str, int]) -> Iterator[Evidence]:
    for counter, limit in limits.items():
        value = counts.get(counter, 0)
        if value >= limit:
            yield on_node(name, f"{rail.name} {rail.where} {counter}", value)


def _flaps(name: NodeName, rail: RailHere, hardware: NodeHardware) -> Iterator[Evidence]:
    netdev = next((item for item in hardware.netdevs if item.name == rail.port.netdev), None)
    if netdev is not None and (netdev.carrier_changes or 0) >= _MANY_CARRIER_CHANGES:
        yield on_node(name, f"{rail.name} {rail.where} carrier changes", netdev.carrier_changes)
    downs = [
        line
        for line in hardware.system.dmesg or ()
        if ("link down" in line.lower() or "lost carrier" in line.lower())
        and (rail.port.pci in line or (rail.port.netdev or "\n") in line)
    ]
    if len(downs) >= _MANY_LINK_DOWN_LINES:
        yield on_node(name, f"{rail.name} {rail.where} kernel log", f"{len(downs)} times: {downs[-1][:120]}")


def _watch(first: Evidence) -> tuple[str, ...]:
    device = first.field.split(" (")[0].split()[-1]
    return (on_host(first.node or NodeName("NODE"), f"grep . /sys/class/infiniband/{device}/ports/1/*counters/*"),)


RULES = (
    Rule(PORT_DOWN, judge_ports),
    Rule(NOT_MANAGED, judge_management),
    Rule(LINK_ERRORS, judge_links),
)
