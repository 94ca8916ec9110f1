"""From the text that the node script printed to what the node is: the one entry to the parsers of a node record."""

from dataclasses import replace
from functools import lru_cache

from railwright.core.ids import PciAddress
from railwright.core.node_record import SECTIONS
from railwright.facts.model import Gpu, IommuState, NicPort, NodeHardware, Unseen
from railwright.facts.ports import Parts, bridges_of, data_direct_of, gpus_of, ports_of
from railwright.facts.record import Record, split_record
from railwright.facts.sources.counters import parse_counters
from railwright.facts.sources.identity import parse_identity
from railwright.facts.sources.infiniband import parse_infiniband
from railwright.facts.sources.kernel import System, parse_system
from railwright.facts.sources.machine import MachineFacts, parse_machine
from railwright.facts.sources.net import parse_net
from railwright.facts.sources.pci import PciDevice, parse_pci
from railwright.facts.sources.pci_config import parse_pci_config
from railwright.facts.sources.qos import parse_qos
from railwright.facts.sources.routes import parse_routes
from railwright.facts.sources.rules import parse_rules
from railwright.facts.sources.settings import parse_runtime, parse_settings
from railwright.facts.sources.sockets import parse_sockets
from railwright.facts.sources.storage import parse_storage
from railwright.facts.sources.virtual_functions import parse_virtual_functions
from railwright.facts.tables import routes_in_use
from railwright.facts.uplinks import Surroundings, Traffic, Uplinks, find_uplinks

DEPTH_SECTIONS = (
    "route4_tables",
    "route6_tables",
    "storage",
    "sockets",
    "ovs",
    "rules",
    "vf-links",
    "qos",
    "ethtool",
    "sysctl",
    "pci-config",
    "iommu",
    "eswitch",
    "pkeys",
    "counters",
    "runtime",
    "kernel-config",
    "module-parameters",
    "modprobe",
    "devices",
    "memory-peers",
    "cni",
    "nvidia-params",
    "mofed",
    "cpu",
    "numa",
    "hugepages",
    "dmi",
    "dmesg",
)
"""What records have since format 2."""
OPTIONAL_SECTIONS = ("sriov", "vpd", "nvidia-gpus", "problems")
"""What records of every format may lack: the driver has nothing to show there, or their script did not ask yet."""
_FORMATS = {"1": SECTIONS, "2": (*SECTIONS, *DEPTH_SECTIONS)}
_ALONE: Surroundings = Surroundings()
_KEPT_RECORDS = 256
"""Texts whose meaning is kept: gates and stages read nodes again and again, and most say what they said before."""


@lru_cache(maxsize=_KEPT_RECORDS)
def parse_node_record(text: str, around: Surroundings = _ALONE) -> NodeHardware:
    """
    Parse a node record; never raises, whatever the text is.

    Args:
        text: what the node script printed.
        around: what the cluster knows of the node's surroundings, for following its traffic.

    Returns:
        What could be read; what could not is in `unseen`, and makes `uplinks_known` False where it matters there.
    """
    record = split_record(text)
    system, system_unseen = parse_system(record)
    parts, parts_unseen, net_unseen = _parts(record)
    if system.netns_is_host is False:
        # A pod's interfaces are not the node's, whatever they are called.
        parts = replace(parts, netdevs=())
    machine, machine_unseen = parse_machine(record)
    settings, settings_unseen = parse_settings(record, gpu_driver=system.nvidia_driver)
    uplinks, uplinks_unseen = _uplinks(record, system, parts, around, misread=bool(net_unseen))
    gpus, ports = gpus_of(parts), ports_of(parts)
    runtime = parse_runtime(record)
    return NodeHardware(
        netns_is_host=system.netns_is_host,
        gpus=gpus,
        ports=ports,
        netdevs=parts.netdevs,
        carried=uplinks.carried,
        uplinks_known=not uplinks.problem,
        uplinks_problem=uplinks.problem,
        modules=system.modules,
        kernel_arguments=system.kernel_arguments,
        kernel_version=system.kernel_version,
        architecture=system.architecture,
        page_size_bytes=system.page_size_bytes,
        os_release=system.os_release,
        rdma_netns_mode=system.rdma_netns_mode,
        lockdown=system.lockdown,
        secure_boot=system.secure_boot,
        memlock_limit=system.memlock_limit or runtime.memlock or None,
        nvidia_driver=system.nvidia_driver,
        mlx5_driver=system.mlx5_driver,
        bridges=bridges_of(parts),
        data_direct=data_direct_of(parts),
        iommu=_iommu(machine, parts.devices, gpus, ports),
        processor=machine.processor,
        numa_nodes=machine.numa_nodes,
        huge_pages=machine.huge_pages,
        chassis=machine.chassis,
        runtime=runtime,
        system=settings,
        module_users=system.module_users,
        unseen=(
            *_gaps(record),
            *_foreign_network(system.netns_is_host),
            *system_unseen,
            *parts_unseen,
            *net_unseen,
            *uplinks_unseen,
            *machine_unseen,
            *settings_unseen,
        ),
    )


def _uplinks(
    record: Record, system: System, parts: Parts, around: Surroundings, *, misread: bool
) -> tuple[Uplinks, tuple[Unseen, ...]]:
    """Follow the node's own traffic over its devices; `misread` when a line about those was not understood."""
    routes, route_unseen = parse_routes(record)
    storage, storage_unseen = parse_storage(record)
    connections, socket_unseen = parse_sockets(record)
    unseen = (*route_unseen, *storage_unseen, *socket_unseen)
    traffic = Traffic(
        netdevs=parts.netdevs,
        routes=routes_in_use(routes, parse_rules(record), parts.netdevs),
        storage=storage,
        connections=connections,
        parent_of={device.address: device.parent for device in parts.devices if device.parent is not None},
        pci_of_rdma={port.device: port.pci for port in parts.rdma_ports if port.pci is not None},
        netns_is_host=system.netns_is_host,
        kubelet_seen=system.kubelet_seen,
        misread=misread or bool(unseen),
    )
    return find_uplinks(record, traffic, around), unseen


def _parts(record: Record) -> tuple[Parts, tuple[Unseen, ...], tuple[Unseen, ...]]:
    """Read everything that devices are made of; what is wrong with network devices apart, for it hides uplinks."""
    devices, pci_unseen = parse_pci(record)
    configs, config_unseen = parse_pci_config(record)
    netdevs, net_unseen = parse_net(record)
    rdma_ports, rdma_unseen = parse_infiniband(record)
    virtual, virtual_unseen = parse_virtual_functions(record)
    counters, counter_unseen = parse_counters(record)
    qos, qos_unseen = parse_qos(record)
    names, name_unseen = parse_identity(record)
    parts = Parts(devices, netdevs, rdma_ports, configs, virtual, counters, qos, names)
    unseen = (*pci_unseen, *config_unseen, *rdma_unseen, *virtual_unseen, *counter_unseen, *qos_unseen, *name_unseen)
    return parts, unseen, net_unseen


def _iommu(
    machine: MachineFacts, devices: tuple[PciDevice, ...], gpus: tuple[Gpu, ...], ports: tuple[NicPort, ...]
) -> IommuState:
    groups: dict[PciAddress, int] = {
        device.address: device.iommu_group for device in devices if device.iommu_group is not None
    }
    addresses = [*(gpu.pci for gpu in gpus), *(port.pci for port in ports)]
    types = {machine.group_types.get(groups[address], "") if address in groups else "" for address in addresses}
    common = next(iter(types)) if len(types) == 1 else "mixed"
    return IommuState(
        present=machine.has_iommu,
        default_type=common if types and "" not in types else "",
        groups=groups,
        group_types=machine.group_types,
    )


def _foreign_network(netns_is_host: bool | None) -> tuple[Unseen, ...]:
    """Say that nothing is known of the node's network where another one was seen, or it is not known which."""
    if netns_is_host:
        return ()
    why = "it is not known whether the node's own network namespace was read"
    if netns_is_host is False:
        why = "read in another network namespace than the node's"
    return (Unseen(NODE_NETWORK, why),)


def _gaps(record: Record) -> tuple[Unseen, ...]:
    """Name everything that is missing from the record as a whole."""
    gaps = [] if record.is_complete else [Unseen("node record", "cut short: its last line is missing")]
    line = next((line for line in record.lines("meta") if line.startswith("record_version\t")), "")
    version = line.partition("\t")[2].strip()
    expected = _FORMATS.get(version, SECTIONS)
    gaps.extend(Unseen(section, record.missing(section)) for section in expected if record.missing(section))
    gaps.extend(Unseen(section, why) for section, why in record.problems.items() if section not in expected)
    known = {*SECTIONS, *DEPTH_SECTIONS, *OPTIONAL_SECTIONS}
    gaps.extend(
        Unseen(name, "a section that this version does not know") for name in record.sections if name not in known
    )
    if version == "1":
        gaps.append(Unseen(PCI_AND_SETTINGS, "the record is of format 1, which did not ask for them"))
    elif record.lines("meta") and version not in _FORMATS:
        gaps.append(Unseen("node record", f"format {version or 'unknown'}, not {' or '.join(_FORMATS)}"))
    return tuple(gaps)


NODE_NETWORK = "network devices, addresses and routes of the node"
PCI_AND_SETTINGS = "PCI registers, IOMMU, counters, settings"
