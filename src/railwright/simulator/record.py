"""
Print the node record of a simulated node, from its hardware and from what operators did to it.

The format is the one of railwright.facts.sources. Pure: machine and objects in, text out.
"""

from collections.abc import Iterable

from railwright.simulator.hardware import Machine
from railwright.simulator.running import Running, running_on
from railwright.simulator.sections import net, pci, rdma, system
from railwright.standins.model import Objects


def node_record(machine: Machine, world: Objects) -> str:
    """Print the whole record of one node."""
    running = running_on(machine, world)
    problems = [] if machine.routes_readable else ["route4\t/proc/net/route: permission denied"]
    if machine.settings.dmesg is None:
        problems.append("dmesg\tthe kernel log can't be read")
    sections = [
        *_kernel(machine, running),
        *_network(machine, running),
        *_devices(machine, running),
        *_settings(machine, running),
        ("problems", problems),
    ]
    lines: list[str] = []
    for name, body in sections:
        if name in {"route4", "route4_tables"} and not machine.routes_readable:
            continue
        lines += [f"=== railwright {name}", *body]
    return "\n".join([*lines, "=== railwright end", ""])


_Sections = list[tuple[str, Iterable[str]]]


def _kernel(machine: Machine, running: Running) -> _Sections:
    locked = "none [integrity] confidentiality" if machine.secure_boot else "[none] integrity confidentiality"
    return [
        ("meta", system.meta(machine)),
        ("os-release", machine.os_release),
        ("cmdline", [running.kernel_arguments]),
        ("modules", system.modules(machine, running)),
        ("lockdown", [locked]),
        ("mounts", ["overlay / overlay rw,relatime 0 0", *machine.mounts]),
        ("nvidia-version", system.nvidia_version(running)),
    ]


def _network(machine: Machine, running: Running) -> _Sections:
    return [
        ("route4", net.routes(machine)),
        ("route6", net.routes6(machine)),
        ("route4_tables", net.route_tables(machine)),
        ("route6_tables", net.route_tables6(machine)),
        ("rules", [f"4\t{line}" for line in machine.settings.rules]),
        ("net", net.net(machine, running)),
        ("addr", net.addresses(machine, running)),
        ("vf-links", pci.vf_links(machine, running)),
        ("qos", net.qos(machine)),
        ("ethtool", net.ethtool(machine)),
        ("sysctl", system.sysctls(machine)),
    ]


def _devices(machine: Machine, running: Running) -> _Sections:
    return [
        ("pci", pci.pci(machine, running)),
        ("pci-config", pci.pci_config(machine)),
        ("vpd", pci.vital_product_data(machine)),
        ("iommu", pci.iommu(machine, running)),
        ("eswitch", pci.eswitch(machine)),
        ("infiniband", rdma.infiniband(machine, running)),
        ("gids", rdma.gids(machine)),
        ("pkeys", rdma.pkeys(machine)),
        ("counters", rdma.counters(machine)),
        ("nvme", ["nvme0\tpcie\t", *machine.nvme]),
        ("iscsi", machine.iscsi),
        ("storage", machine.block_devices),
        ("sockets", [f"{address}\t{port}" for address, port in machine.connections]),
        ("ovs", net.tunnels(machine)),
    ]


def _settings(machine: Machine, running: Running) -> _Sections:
    settings = machine.settings
    return [
        ("values", system.values(machine, running)),
        ("runtime", system.runtime(machine, running)),
        ("kernel-config", system.kernel_config(machine)),
        ("module-parameters", system.module_parameters(machine, running)),
        ("modprobe", system.modprobe(machine, running)),
        ("devices", system.devices(machine, running)),
        ("memory-peers", settings.memory_peers),
        ("cni", system.cni(machine)),
        ("nvidia-params", system.nvidia_parameters(machine, running)),
        ("nvidia-gpus", pci.nvidia_gpus(machine, running)),
        ("mofed", settings.mofed_inventories),
        ("cpu", system.processor(machine)),
        ("numa", system.numa(machine)),
        ("hugepages", system.huge_pages(machine)),
        ("dmi", system.chassis(machine)),
        ("dmesg", settings.dmesg or ()),
    ]
