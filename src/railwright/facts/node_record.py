"""From the text that the node script printed to what the node is: the one entry to the parsers of a node record."""

from railwright.core.ids import PciAddress
from railwright.facts.model import NodeHardware, Unseen
from railwright.facts.ports import gpus_of, ports_of
from railwright.facts.record import Record, split_record
from railwright.facts.sources.infiniband import parse_infiniband
from railwright.facts.sources.kernel import parse_system
from railwright.facts.sources.net import parse_net
from railwright.facts.sources.pci import parse_pci
from railwright.facts.sources.routes import parse_routes
from railwright.facts.sources.storage import parse_storage
from railwright.facts.uplinks import Surroundings, find_uplinks

SECTIONS = (
    "meta",
    "os-release",
    "cmdline",
    "modules",
    "lockdown",
    "mounts",
    "nvidia-version",
    "route4",
    "route6",
    "pci",
    "net",
    "addr",
    "infiniband",
    "gids",
    "nvme",
    "iscsi",
    "values",
)
OPTIONAL_SECTIONS = ("route4_tables", "problems")
_RECORD_VERSION = "1"
_ALONE: Surroundings = Surroundings()


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
    devices, pci_unseen = parse_pci(record)
    links, net_unseen = parse_net(record)
    rdma_ports, rdma_unseen = parse_infiniband(record)
    routes, route_unseen = parse_routes(record)
    storage, storage_unseen = parse_storage(record)
    parents: dict[PciAddress, PciAddress] = {
        device.address: device.parent for device in devices if device.parent is not None
    }
    uplinks = find_uplinks(
        record,
        netdevs=links.netdevs,
        routes=routes,
        storage=storage,
        parent_of=parents,
        around=around,
        netns_is_host=system.netns_is_host,
        misread=bool(net_unseen or route_unseen or storage_unseen),
    )
    return NodeHardware(
        netns_is_host=system.netns_is_host,
        gpus=gpus_of(devices),
        ports=ports_of(devices, links, rdma_ports),
        netdevs=links.netdevs,
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
        memlock_limit=system.memlock_limit,
        nvidia_driver=system.nvidia_driver,
        mlx5_driver=system.mlx5_driver,
        unseen=(
            *_gaps(record),
            *system_unseen,
            *pci_unseen,
            *net_unseen,
            *rdma_unseen,
            *route_unseen,
            *storage_unseen,
        ),
    )


def _gaps(record: Record) -> tuple[Unseen, ...]:
    """Name everything that is missing from the record as a whole."""
    gaps = [] if record.is_complete else [Unseen("node record", "cut short: its last line is missing")]
    gaps.extend(Unseen(section, record.missing(section)) for section in SECTIONS if record.missing(section))
    gaps.extend(Unseen(section, why) for section, why in record.problems.items() if section not in SECTIONS)
    known = {*SECTIONS, *OPTIONAL_SECTIONS}
    gaps.extend(
        Unseen(name, "a section that this version does not know") for name in record.sections if name not in known
    )
    version = next((line for line in record.lines("meta") if line.startswith("record_version\t")), "")
    if record.lines("meta") and version.partition("\t")[2].strip() != _RECORD_VERSION:
        gaps.append(Unseen("node record", f"format {version.partition(chr(9))[2] or 'unknown'}, not {_RECORD_VERSION}"))
    return tuple(gaps)
