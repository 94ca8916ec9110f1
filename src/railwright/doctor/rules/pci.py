"""The way between GPU and NIC inside a server: redirection, translation, links, settings of the functions."""

from collections.abc import Iterable, Iterator, Mapping

from railwright.core import kinds
from railwright.core.ids import NodeName, PciAddress, RuleId
from railwright.core.risk import Risk
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
from railwright.doctor.needs import INSIDE, objects, reads_rails
from railwright.doctor.rails import RailHere
from railwright.doctor.seen import Seen
from railwright.doctor.showing import capped, on_host, on_node, one_a_node, set_kernel_arguments
from railwright.doctor.subjects import RAILS
from railwright.facts.detours import bridges_between, is_bare_x86, is_spared, is_translated, redirects
from railwright.facts.model import Gpu, NodeHardware
from railwright.facts.node_model import AcsState, PciBridge

_READ_CONFIG = "read the node as root with CAP_SYS_ADMIN: config space above 64 bytes is hidden from others"
_ENCODING = {8.0: 128 / 130, 16.0: 128 / 130, 32.0: 128 / 130, 64.0: 242 / 256}
"""Share of bits that carry data, by GT/s; 8b/10b below. Source: PCI Express Base 6.0, 4.2."""

_POOLS = objects(kinds.MACHINE_CONFIG_POOL)

ACS_REDIRECTS = RuleInfo(
    name=RuleId("pcie-acs-redirects-gpu-nic-path"),
    title="Access Control Services send traffic between GPU and NIC up to the root complex",
    layer=Layer.HARDWARE,
    severity=Severity.WARNING,
    text="Below a common switch GPU and NIC could reach each other directly. With request or completion redirect "
    "switched on in one of the bridges between them and their common bridge, every packet makes a detour through "
    "the root complex: half the bandwidth, sometimes a hang. Bridges elsewhere do not matter, so they are not looked at. Redirect "
    "is right where ATS is on at the NIC and the bridges let translated requests pass (virtual machines, Grace).",
    source="Linux drivers/pci/p2pdma.c, calc_map_type_and_dist (v6.12); NVIDIA NCCL docs 2.30, troubleshooting, PCI access control "
    "services (2026-11)",
    needs=(
        INSIDE,
        reads_rails("pci-config", relies_on=("cpu",)),
    ),
    uses=(_POOLS,),
    covers=("B126", "B130"),
    leads_to=(Condition.RDMA_SLOW,),
    subject=RAILS,
)


def judge_acs(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look at the bridges on which the paths of each rail's GPU and NIC differ."""
    evidence: list[Evidence] = []
    bridges: dict[NodeName, dict[PciAddress, None]] = {}
    unread: dict[NodeName, None] = {}
    for name, rails in seen.rails.items():
        hardware = seen.inside[name]
        if hardware.processor.under_hypervisor:
            continue
        for rail in rails:
            for pci in bridges_between(rail.gpu, rail.port) if rail.gpu is not None else ():
                bridge = hardware.bridge(pci)
                config = bridge.config if bridge is not None else None
                if config is None or not config.extended_read:
                    unread[name] = None
                elif config.acs is not None and redirects(config.acs) and not is_spared(config.acs, rail.port):
                    what = f"bridge {pci} between {rail.where} and GPU {rail.gpu.pci if rail.gpu else ''}"
                    evidence.append(on_node(name, what, f"ACS control {_bits(config.acs)}"))
                    bridges.setdefault(name, {})[pci] = None
    if bridges:
        yield conclude(
            ACS_REDIRECTS,
            "Bridges between a GPU and its NIC redirect peer-to-peer traffic to the root complex.",
            evidence=capped(evidence),
            remedy=_without_acs(seen, bridges),
            nodes=bridges,
        )
    if unread:
        yield Unknown(ACS_REDIRECTS.name, "config space of bridges", "not readable", _READ_CONFIG, tuple(unread))


def _bits(acs: AcsState) -> str:
    names = {
        "SrcValid": acs.source_validation,
        "ReqRedir": acs.request_redirect,
        "CmpltRedir": acs.completion_redirect,
        "UpstreamFwd": acs.upstream_forwarding,
        "DirectTrans": acs.direct_translated,
    }
    return " ".join(f"{name}{'+' if on else '-'}" for name, on in names.items())


def _without_acs(seen: Seen, bridges: Mapping[NodeName, Iterable[PciAddress]]) -> Remedy:
    every = ";".join(dict.fromkeys(pci for found in bridges.values() for pci in found))
    at_boot = [
        (node, set_kernel_arguments(seen.pools, node, "acs-redirect-off", f"pci=disable_acs_redir={every}"))
        for node in bridges
    ]
    until_boot = [
        (node, on_host(node, f"for b in {' '.join(found)}; do setpci -s $b ECAP_ACS+0x6.w=0:0c; done"))
        for node, found in bridges.items()
    ]
    return Remedy(
        "Switch ACS off in the BIOS, or redirect off at boot for these bridges by a kernel argument; setpci does it until the next boot.",
        (*one_a_node(at_boot), *one_a_node(until_boot)),
        risk=Risk.REBOOT,
        disrupts="the nodes of the pool, one after the other; virtual machines that were given single functions of these switches "
        "are no longer kept apart",
    )


IOMMU_TRANSLATES = RuleInfo(
    name=RuleId("iommu-translates-gpu-nic-traffic"),
    title="The IOMMU translates what GPU and NIC exchange",
    layer=Layer.KERNEL,
    severity=Severity.WARNING,
    text="With translation on, addresses between GPU and NIC are virtual: they can only be resolved at the root complex, so traffic "
    "takes the detour, faults, or works in one direction. Bare-metal x86 servers want passthrough (iommu=pt) or no IOMMU. Not "
    "judged in virtual machines and on Grace, where translation is meant.",
    source="NVIDIA GPUDirect RDMA docs 13.0, supported systems (IOMMU); Linux Documentation/admin-guide/kernel-parameters.txt, "
    "iommu (v6.12)",
    needs=(
        INSIDE,
        reads_rails("iommu", relies_on=("meta", "cpu")),
    ),
    uses=(_POOLS,),
    covers=("B133", "B135"),
    leads_to=(Condition.RDMA_SLOW, Condition.RDMA_FAILS),
    subject=RAILS,
)


def judge_iommu(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look at the type of the IOMMU groups on nodes that have rails."""
    evidence: list[Evidence] = []
    unread: list[NodeName] = []
    for name in seen.rails:
        hardware = seen.inside[name]
        if not is_bare_x86(hardware):
            continue
        state = hardware.iommu
        if state.present is None or (state.present and not state.default_type):
            unread.append(name)
        elif is_translated(hardware):
            evidence.append(on_node(name, "IOMMU groups of GPUs and NICs", state.default_type))
            evidence.append(on_node(name, "kernel arguments", _iommu_arguments(hardware)))
    if evidence:
        nodes = [item.node for item in evidence if item.node]
        vendor = seen.inside[nodes[0]].processor.vendor
        turn_on = "amd_iommu=on" if "AMD" in vendor else "intel_iommu=on"
        yield conclude(
            IOMMU_TRANSLATES,
            "The kernel runs the IOMMU with translation: nothing in its arguments asks for passthrough.",
            evidence=capped(evidence),
            remedy=Remedy(
                "Add iommu=pt to the kernel arguments with a MachineConfig; translation for virtual machines stays possible.",
                (set_kernel_arguments(seen.pools, nodes[0], "iommu-passthrough", "iommu=pt", turn_on),),
                risk=Risk.REBOOT,
                disrupts="each node of the pool, one after the other",
            ),
            nodes=nodes,
        )
    if unread:
        yield Unknown(
            IOMMU_TRANSLATES.name, "IOMMU groups", "sysfs did not say", "read the node again as root", tuple(unread)
        )


def _iommu_arguments(hardware: NodeHardware) -> str:
    words = [word for word in hardware.kernel_arguments.split() if "iommu" in word]
    return " ".join(words) or ("none that speaks of the IOMMU" if hardware.kernel_arguments else "not read")


LINK_BELOW_CAPABILITY = RuleInfo(
    name=RuleId("pcie-link-below-capability"),
    title="A PCIe link is narrower or slower than the card can do",
    layer=Layer.HARDWARE,
    severity=Severity.WARNING,
    text="A card that trained with fewer lanes or in a lower generation, or sits in a slot that has fewer, moves a fraction of its "
    "rate. NICs are judged by speed and width, GPUs by width alone, since idle GPUs lower their speed. A slot that is still faster "
    "than the port is silent.",
    source="PCI Express Base 6.0, link training; Linux drivers/pci/pci.c, pcie_print_link_status (v6.12)",
    needs=(
        INSIDE,
        reads_rails(),
    ),
    covers=("B131",),
    leads_to=(Condition.RDMA_SLOW,),
    subject=RAILS,
)


def judge_links(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare what links run at with what both ends can do, and with the rate of the port."""
    evidence: list[Evidence] = []
    unread: dict[NodeName, None] = {}
    for name, rails in seen.rails.items():
        hardware = seen.inside[name]
        for rail in rails:
            port = rail.port
            if port.link_speed_gts is None or port.link_width_lanes is None:
                unread[name] = None
            else:
                evidence += _slow_port(name, rail, hardware)
        evidence += (item for gpu in hardware.gpus for item in _narrow_gpu(name, gpu, hardware))
    if evidence:
        yield conclude(
            LINK_BELOW_CAPABILITY,
            "The link came up with less than the card can do: a slot with fewer lanes, a riser or bifurcation setting, or a card that "
            "is not seated.",
            evidence=capped(evidence),
            remedy=Remedy(
                "Reseat card and riser, look at bifurcation and link speed in the BIOS, or move the card to a full slot.",
                tuple(
                    on_host(item.node, f"lspci -vv -s {item.field.split()[-1]} | grep -E LnkCap:\\|LnkSta:")
                    for item in evidence[:2]
                    if item.node
                ),
                risk=Risk.REBOOT,
                disrupts="the server, which is opened",
            ),
            nodes=(item.node for item in evidence if item.node),
        )
    if unread:
        yield Unknown(
            LINK_BELOW_CAPABILITY.name, "PCIe links of NICs", "sysfs did not say", _READ_CONFIG, tuple(unread)
        )


def _slow_port(node: NodeName, rail: RailHere, hardware: NodeHardware) -> Iterator[Evidence]:
    port = rail.port
    speed, width = port.link_speed_gts or 0, port.link_width_lanes or 0
    above = _bridge_above(hardware, port.pci_path)
    possible_speed = _least(port.max_link_speed_gts, above.max_link_speed_gts if above else None)
    possible_width = _least(port.max_link_width_lanes, above.max_link_width_lanes if above else None)
    trained_low = (possible_speed or 0) > speed or (possible_width or 0) > width
    carries = speed * width * _ENCODING.get(speed, 0.8)
    too_slow = port.rate_gbps is not None and carries < port.rate_gbps
    if trained_low or too_slow:
        wanted = f"{port.max_link_speed_gts:g} GT/s x{port.max_link_width_lanes}" if port.max_link_speed_gts else "more"
        rate = f", port {port.rate_gbps:g} Gb/s" if port.rate_gbps else ""
        yield on_node(
            node,
            f"link of {rail.port.rdma or rail.port.netdev or 'NIC'} {port.pci}",
            f"{speed:g} GT/s x{width} carries {carries:.0f} Gb/s, the card can do {wanted}{rate}",
        )


def _narrow_gpu(node: NodeName, gpu: Gpu, hardware: NodeHardware) -> Iterator[Evidence]:
    above = _bridge_above(hardware, gpu.pci_path)
    possible = _least(gpu.max_link_width_lanes, above.max_link_width_lanes if above else None)
    if gpu.link_width_lanes and possible and gpu.link_width_lanes < possible:
        yield on_node(node, f"link of GPU {gpu.pci}", f"x{gpu.link_width_lanes}, both ends can do x{possible}")


def _bridge_above(hardware: NodeHardware, path: tuple[PciAddress, ...]) -> PciBridge | None:
    return hardware.bridge(path[-2]) if len(path) > 1 else None


def _least(one: float | None, other: float | None) -> float | None:
    return min((item for item in (one, other) if item is not None), default=None)


FUNCTION_SETTINGS = RuleInfo(
    name=RuleId("pcie-settings-throttle-nic"),
    title="PCIe settings of a NIC hold it back: relaxed ordering, payload, read request size",
    layer=Layer.HARDWARE,
    severity=Severity.WARNING,
    text="Without relaxed ordering some processors pass a third of the rate to host memory. Small payloads and read requests cost "
    "bandwidth, the more the faster the port. Judged against what the function itself can do.",
    source="UCX v1.20 docs, UCX_IB_PCI_RELAXED_ORDERING; PCI Express Base 6.0, Device Control register; "
    "https://github.com/openucx/ucx/pull/10955 (2025-10)",
    needs=(
        INSIDE,
        reads_rails("pci-config"),
    ),
    covers=("B134",),
    leads_to=(Condition.RDMA_SLOW,),
    subject=RAILS,
)
_FAST_GBPS = 200.0
_SMALL_READ_BYTES = 512


def judge_settings(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look at the control register of every rail."""
    evidence: list[Evidence] = []
    only_reads = True
    unread: dict[NodeName, None] = {}
    for name, rails in seen.rails.items():
        for rail in rails:
            config = rail.port.config
            if config is None or config.relaxed_ordering is None:
                unread[name] = None
                continue
            if config.relaxed_ordering is False:
                only_reads = False
                evidence.append(on_node(name, f"{rail.where} relaxed ordering", "off"))
            payload, possible = config.max_payload_bytes, config.max_payload_supported_bytes
            if payload is not None and possible is not None and payload < min(possible, 256):
                only_reads = False
                evidence.append(on_node(name, f"{rail.where} max payload", f"{payload} of {possible} bytes"))
            read = config.max_read_request_bytes
            is_fast = (rail.port.rate_gbps or 0) >= _FAST_GBPS
            if read is not None and (read < _SMALL_READ_BYTES or (is_fast and read <= _SMALL_READ_BYTES)):
                evidence.append(on_node(name, f"{rail.where} max read request", f"{read} bytes"))
    if evidence:
        first = next(item.node for item in evidence if item.node)
        pci = evidence[0].field.partition("(")[2].partition(")")[0]
        yield conclude(
            FUNCTION_SETTINGS,
            "The BIOS or the firmware left the NIC's PCIe settings below what it can do.",
            evidence=capped(evidence),
            remedy=Remedy(
                "Set PCI_WR_ORDERING=1 in the NIC's firmware and relaxed ordering in the BIOS; raise the read request to 4096 bytes; "
                "UCX_IB_PCI_RELAXED_ORDERING=y and NCCL_IB_PCI_RELAXED_ORDERING=1 ask for it in the libraries.",
                (
                    on_host(first, f"mstconfig -d {pci} -y set PCI_WR_ORDERING=1"),
                    on_host(first, f"setpci -s {pci} CAP_EXP+8.w=5000:7000"),
                ),
                risk=Risk.REBOOT,
                disrupts="the node, for the firmware setting",
            ),
            nodes=(item.node for item in evidence if item.node),
            severity=Severity.INFO if only_reads else None,
        )
    if unread:
        yield Unknown(FUNCTION_SETTINGS.name, "config space of NICs", "not readable", _READ_CONFIG, tuple(unread))


RULES = (
    Rule(ACS_REDIRECTS, judge_acs),
    Rule(IOMMU_TRANSLATES, judge_iommu),
    Rule(LINK_BELOW_CAPABILITY, judge_links),
    Rule(FUNCTION_SETTINGS, judge_settings),
)
