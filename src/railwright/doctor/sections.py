"""
Sections of a node record: what each tells, how to get it, and which of a node's could not be read whole. Pure.

A fact that a section did not give looks like one that is not so: without the section `net` no port has a network device,
without `modules` nothing is loaded. So each rule names the sections that it goes by (needs.py, `reads`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from railwright.core.node_record import SECTIONS
from railwright.facts.model import NodeHardware, Unseen
from railwright.facts.node_record import DEPTH_SECTIONS, NODE_NETWORK, PCI_AND_SETTINGS

_AGAIN = "read the node again as root in the host's namespaces (--via ssh, --allow-debug-pod)"
SECURE_BOOT = "secure-boot"
"""The one line of `values` that is often hidden alone: EFI variables are seldom mounted in a pod."""


@dataclass(frozen=True)
class Section:
    """What a section tells, in words, and what it takes."""

    tells: str
    wants: str = ""
    """What must be on the node for it."""


TOLD: Mapping[str, Section] = {
    "meta": Section("kernel and architecture"),
    "os-release": Section("operating system"),
    "cmdline": Section("kernel arguments"),
    "modules": Section("loaded modules"),
    "lockdown": Section("kernel lockdown"),
    "mounts": Section("mounts"),
    "nvidia-version": Section("GPU driver"),
    "route4": Section("IPv4 routes"),
    "route6": Section("IPv6 routes"),
    "pci": Section("PCI devices"),
    "net": Section("network devices"),
    "addr": Section("addresses", "ip (iproute2)"),
    "infiniband": Section("RDMA devices"),
    "gids": Section("GIDs"),
    "nvme": Section("NVMe over fabrics"),
    "iscsi": Section("iSCSI sessions"),
    "values": Section("RDMA mode and NIC driver version"),
    SECURE_BOOT: Section("Secure Boot"),
    "route4_tables": Section("IPv4 routes of all tables", "ip (iproute2)"),
    "route6_tables": Section("IPv6 routes of all tables", "ip (iproute2)"),
    "storage": Section("remote storage"),
    "sockets": Section("connections"),
    "rules": Section("routing rules", "ip (iproute2)"),
    "qos": Section("flow control and priorities", "dcb (iproute2)"),
    "ethtool": Section("counters of network devices", "ethtool"),
    "sysctl": Section("ARP settings"),
    "pci-config": Section("PCI config space"),
    "iommu": Section("IOMMU groups"),
    "pkeys": Section("partition keys"),
    "counters": Section("counters of RDMA ports"),
    "runtime": Section("container runtime"),
    "kernel-config": Section("kernel options", "the kernel's config in /boot or /proc/config.gz"),
    "devices": Section("device files"),
    "memory-peers": Section("memory peers"),
    "cni": Section("CNI plugins"),
    "mofed": Section("stored driver builds"),
    "cpu": Section("processors"),
    "dmi": Section("chassis and BIOS"),
    "dmesg": Section("kernel log"),
}
"""Sections that rules go by."""

_EVERY = (*SECTIONS, *DEPTH_SECTIONS, SECURE_BOOT)
_OF_NETWORK = (
    *("net", "addr", "route4", "route6", "route4_tables", "route6_tables", "rules", "sockets"),
    *("vf-links", "qos", "ethtool", "sysctl"),
)
"""What is another one in another network namespace."""


def unread_sections(hardware: NodeHardware) -> Mapping[str, str]:
    """Say of each section that cannot be trusted whole why; empty for a node that was read whole."""
    found: dict[str, str] = {}
    for item in hardware.unseen:
        for section in _hidden_by(item):
            found.setdefault(section, item.why)
    return found


def _hidden_by(item: Unseen) -> Iterable[str]:
    if item.what == "node record":
        return _EVERY
    if item.what == NODE_NETWORK:
        return _OF_NETWORK
    if item.what == PCI_AND_SETTINGS:
        return DEPTH_SECTIONS
    if item.what == "values" and item.why.startswith("secure_boot:"):
        return (SECURE_BOOT,)
    if item.what.startswith("pci-config "):
        return ()  # one function's: its fields are None, and rules that need them say so
    section = item.what.partition(":")[0]
    return (section, SECURE_BOOT) if section == "values" else (section,)


def in_words(sections: Iterable[str]) -> str:
    """Name sections for people: "network devices (net), addresses (addr)"."""
    return ", ".join(f"{TOLD[name].tells} ({name})" for name in sections)


def ways_to(sections: Iterable[str]) -> str:
    """Say how to get sections."""
    wanted = dict.fromkeys(TOLD[name].wants for name in sections if TOLD[name].wants)
    return f"{_AGAIN}, with {' and '.join(wanted)} on it" if wanted else _AGAIN
