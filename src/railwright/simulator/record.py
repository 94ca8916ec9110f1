"""
Print the node record of a simulated node, from its hardware and from what operators did to it.

The format is the one of railwright.facts.sources. Pure: machine and objects in, text out.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from railwright.core.kinds import MACHINE_CONFIG, NODE, POD, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import KubeObject, dig
from railwright.simulator.hardware import Machine, Nic
from railwright.standins.kinds.gpu_operator import DRIVER_VERSION
from railwright.standins.kinds.mco import CURRENT
from railwright.standins.model import Objects
from railwright.standins.view import find, is_pod_ready, name_of, node_of, of_kind

_DOCA = re.compile(r"doca\d[\w.]*-(\d+\.\d+-\d+\.\d+\.\d+)")
_LINK = ("32.0 GT/s PCIe", "16")


@dataclass(frozen=True)
class _Running:
    """What runs on the node because of objects."""

    kernel_arguments: str
    unlimited_memlock: bool
    mlx5_version: str
    gpu_driver: str
    peermem: bool
    vfs: Mapping[str, tuple[Mapping[str, Any], ...]]
    mtu: Mapping[str, int]
    rdma_mode: str


def node_record(machine: Machine, world: Objects) -> str:
    """Print the whole record of one node."""
    running = _running(machine, world)
    sections: list[tuple[str, Iterable[str]]] = [
        ("meta", _meta(machine)),
        ("os-release", machine.os_release),
        ("cmdline", [running.kernel_arguments]),
        ("modules", _modules(machine, running)),
        (
            "lockdown",
            ["none [integrity] confidentiality" if machine.secure_boot else "[none] integrity confidentiality"],
        ),
        ("mounts", ["overlay / overlay rw,relatime 0 0", *machine.mounts]),
        ("nvidia-version", _nvidia_version(running)),
        ("route4", _routes(machine)),
        ("route6", []),
        ("pci", _pci(machine, running)),
        ("net", _net(machine, running)),
        ("addr", _addresses(machine)),
        ("infiniband", _infiniband(machine)),
        ("gids", _gids(machine)),
        ("nvme", ["nvme0\tpcie\t"]),
        ("iscsi", []),
        ("values", _values(machine, running)),
        ("problems", [] if machine.routes_readable else ["route4\t/proc/net/route: permission denied"]),
    ]
    lines: list[str] = []
    for name, body in sections:
        if name == "route4" and not machine.routes_readable:
            continue
        lines += [f"=== railwright {name}", *body]
    return "\n".join([*lines, "=== railwright end", ""])


def _running(machine: Machine, world: Objects) -> _Running:
    pods = [pod for pod in of_kind(world, POD) if node_of(pod) == machine.name and is_pod_ready(pod)]
    doca = next((pod for pod in pods if name_of(pod).startswith("mofed-")), None)
    gpu = next((pod for pod in pods if name_of(pod).startswith("nvidia-driver-daemonset")), None)
    node = find(world, NODE, machine.name)
    rendered = find(world, MACHINE_CONFIG, str(dig(node, "metadata", "annotations", CURRENT, default="")))
    arguments = " ".join([machine.kernel_arguments, *dig(rendered, "spec", "kernelArguments", default=[])])
    files = dig(rendered, "spec", "config", "storage", "files", default=())
    texts = [_file_text(str(dig(item, "contents", "source", default=""))) for item in files]
    state = next((obj for obj in of_kind(world, SRIOV_NETWORK_NODE_STATE) if name_of(obj) == machine.name), None)
    interfaces = dig(state, "status", "interfaces", default=())
    names = {item["name"] for item in dig(gpu, "spec", "containers", default=())}
    return _Running(
        kernel_arguments=arguments,
        unlimited_memlock=any("memlock=-1:-1" in text for text in texts),
        mlx5_version=_doca_version(doca) if doca is not None else "",
        gpu_driver=_gpu_driver(gpu) if gpu is not None else "",
        peermem="nvidia-peermem-ctr" in names,
        vfs={str(item["pciAddress"]): tuple(item.get("Vfs", ())) for item in interfaces},
        mtu={str(item["name"]): int(item["mtu"]) for item in interfaces if item.get("mtu")},
        rdma_mode=str(dig(state, "spec", "system", "rdmaMode", default="shared")),
    )


def _file_text(source: str) -> str:
    """Read the data URL of a file in a MachineConfig; empty when it is none."""
    head, _, body = source.partition(",")
    if not head.startswith("data:"):
        return ""
    try:
        return base64.b64decode(body).decode() if head.endswith(";base64") else unquote(body)
    except ValueError:
        return ""


def _doca_version(pod: KubeObject) -> str:
    image = str(dig(pod, "spec", "containers", 0, "image", default=""))
    found = _DOCA.search(image)
    return found[1] if found else "26.04-1.1.0"


def _gpu_driver(pod: KubeObject) -> str:
    env = dig(pod, "spec", "containers", 0, "env", default=())
    kind = next((item["value"] for item in env if item["name"] == "KERNEL_MODULE_TYPE"), "auto")
    tag = str(dig(pod, "spec", "containers", 0, "image", default="")).rpartition(":")[2]
    version = tag.partition("-")[0] if tag[:1].isdigit() else DRIVER_VERSION
    return f"{'proprietary' if kind == 'proprietary' else 'open'} {version}"


def _meta(machine: Machine) -> list[str]:
    return [
        "record_version\t1",
        f"hostname\t{machine.name}",
        f"kernel\t{machine.kernel}",
        f"architecture\t{machine.architecture}",
        f"page_size_bytes\t{machine.page_size_bytes}",
        "netns\thost",
    ]


def _modules(machine: Machine, running: _Running) -> list[str]:
    loaded = set(machine.modules)
    if "module_blacklist=irdma" in running.kernel_arguments:
        loaded.discard("irdma")
    if running.gpu_driver:
        loaded |= {"nvidia", "nvidia_uvm", "nvidia_modeset"}
    if running.peermem:
        loaded.add("nvidia_peermem")
    if running.mlx5_version:
        loaded |= {"mlx_compat", "ib_umad", "rdma_ucm", "ib_ipoib"}
    users = {"ib_core": 6, "ib_uverbs": 2, "nvidia": 40}
    return [f"{name} 1000 {users.get(name, 0)} - Live 0x0000000000000000" for name in sorted(loaded)]


def _nvidia_version(running: _Running) -> list[str]:
    if not running.gpu_driver:
        return []
    kind, version = running.gpu_driver.split()
    text = "NVIDIA UNIX Open Kernel Module for x86_64" if kind == "open" else "NVIDIA UNIX x86_64 Kernel Module"
    return [
        f"NVRM version: {text}  {version}  Release Build  (dvs-builder@U22-I3)",
        "GCC version:  gcc version 11.5.0 (GCC)",
    ]


def _routes(machine: Machine) -> list[str]:
    gateway = "".join(f"{int(part):02X}" for part in reversed(machine.gateway.split(".")))
    network = "".join(f"{int(part):02X}" for part in reversed([*machine.gateway.split(".")[:3], "0"]))
    device = machine.default_route
    lines = [
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT",
        f"{device}\t00000000\t{gateway}\t0003\t0\t0\t48\t00000000\t0\t0\t0",
        f"{device}\t{network}\t00000000\t0001\t0\t0\t48\t00FFFFFF\t0\t0\t0",
    ]
    for nic in machine.nics:
        for address in nic.ips:
            octets = address.partition("/")[0].split(".")
            net = "".join(f"{int(part):02X}" for part in reversed([*octets[:3], "0"]))
            lines.append(f"{nic.netdev}\t{net}\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0")
    return lines


def _pci(machine: Machine, running: _Running) -> list[str]:
    lines = [
        "\t".join(
            [
                gpu.pci,
                "vendor=10de",
                f"device={gpu.device_id}",
                "class=030200",
                "subsystem_vendor=10de",
                "subsystem_device=18be",
                f"numa={gpu.numa}",
                f"driver={'nvidia' if running.gpu_driver else ''}",
                f"path={gpu.path}",
                *_link_fields(),
            ]
        )
        for gpu in machine.gpus
    ]
    for nic in machine.nics:
        vfs = running.vfs.get(nic.pci, ())
        lines.append(_nic_line(nic, len(vfs)))
        for vf in vfs:
            path = f"{nic.path.rpartition('/')[0]}/{vf['pciAddress']}"
            fields = [
                "vendor=15b3",
                "device=101e",
                "class=" + _class(nic),
                "subsystem_vendor=15b3",
                "subsystem_device=0051",
            ]
            lines.append(
                "\t".join(
                    [
                        str(vf["pciAddress"]),
                        *fields,
                        f"numa={nic.numa}",
                        "driver=mlx5_core",
                        f"path={path}",
                        *_link_fields(),
                        f"physfn={nic.pci}",
                    ]
                )
            )
    return lines


def _class(nic: Nic) -> str:
    return "020700" if nic.is_ib else "020000"


def _link_fields() -> list[str]:
    speed, width = _LINK
    return [f"link_speed={speed}", f"link_width={width}", f"max_link_speed={speed}", f"max_link_width={width}"]


def _nic_line(nic: Nic, vfs: int) -> str:
    fields = [
        nic.pci,
        f"vendor={nic.vendor_id}",
        f"device={nic.device_id}",
        f"class={_class(nic)}",
        f"subsystem_vendor={nic.vendor_id}",
        "subsystem_device=0051",
        f"numa={nic.numa}",
        f"driver={nic.driver}",
        f"path={nic.path}",
        *_link_fields(),
    ]
    if nic.total_vfs:
        fields += [f"sriov_totalvfs={nic.total_vfs}", f"sriov_numvfs={vfs}"]
    return "\t".join(fields)


def _net(machine: Machine, running: _Running) -> list[str]:
    lines = [
        "lo\ttype=772\tmtu=65536\taddress=00:00:00:00:00:00\toperstate=unknown\tcarrier=1\tspeed=\tmaster=\tpci=\tlowers=\tkind="
    ]
    for nic in machine.nics:
        lines.append(
            "\t".join(
                [
                    nic.netdev,
                    f"type={32 if nic.is_ib else 1}",
                    f"mtu={running.mtu.get(nic.netdev, nic.mtu)}",
                    f"address={_hardware_address(nic)}",
                    f"operstate={'up' if nic.carrier else 'down'}",
                    f"carrier={int(nic.carrier)}",
                    f"speed={nic.rate_gbps * 1000 if nic.carrier else -1}",
                    f"master={nic.master}",
                    f"pci={nic.pci}",
                    "lowers=",
                    f"kind={'ipoib' if nic.is_ib else ''}",
                ]
            )
        )
        lines += [_vf_netdev(nic, vf) for vf in running.vfs.get(nic.pci, ())]
    lines += [
        f"{item.name}\ttype=1\tmtu={item.mtu}\taddress=0c:42:a1:00:00:01\toperstate=up\tcarrier=1\tspeed=\tmaster={item.master}\tpci=\tlowers={','.join(item.lowers)}\tkind={item.kind}"
        for item in machine.virtuals
    ]
    return lines


def _vf_netdev(nic: Nic, vf: Mapping[str, Any]) -> str:
    return (
        f"{vf['name']}\ttype={32 if nic.is_ib else 1}\tmtu={vf['mtu']}\taddress={vf['mac']}\toperstate=down"
        f"\tcarrier=0\tspeed=-1\tmaster=\tpci={vf['pciAddress']}\tlowers=\tkind="
    )


def _hardware_address(nic: Nic) -> str:
    if not nic.is_ib:
        return nic.mac
    return f"00:00:10:49:fe:80:00:00:00:00:00:00:{_guid_bytes(nic)}"


def _guid_bytes(nic: Nic) -> str:
    parts = nic.mac.split(":")
    return ":".join([*parts[:3], "03", "00", *parts[3:]])


def _guid(nic: Nic) -> str:
    text = _guid_bytes(nic).replace(":", "")
    return ":".join(text[start : start + 4] for start in range(0, 16, 4))


def _addresses(machine: Machine) -> list[str]:
    lines = ["1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever"]
    devices = [(nic.netdev, nic.ips) for nic in machine.nics] + [(item.name, item.ips) for item in machine.virtuals]
    for number, (name, addresses) in enumerate(devices, start=2):
        lines += [
            f"{number}: {name}    inet {address} brd + scope global {name}\\       valid_lft forever preferred_lft forever"
            for address in addresses
        ]
    return lines


def _infiniband(machine: Machine) -> list[str]:
    lines = []
    for nic in machine.nics:
        if not nic.rdma:
            continue
        waiting = nic.is_ib and not nic.sm_lid
        state = "1: DOWN" if not nic.carrier else "2: INIT" if waiting else "4: ACTIVE"
        generation = {400: "4X NDR", 200: "4X HDR", 100: "4X EDR", 800: "4X XDR"}.get(nic.rate_gbps, "4X EDR")
        lines.append(
            "\t".join(
                [
                    nic.rdma,
                    "1",
                    f"pci={nic.pci}",
                    f"link_layer={nic.link_layer}",
                    f"state={state}",
                    f"phys_state={'5: LinkUp' if nic.carrier else '3: Disabled'}",
                    f"rate={nic.rate_gbps} Gb/sec ({generation})",
                    f"node_guid={_guid(nic)}",
                    f"lid=0x{nic.lid if nic.is_ib and not waiting else 0:x}",
                    f"sm_lid=0x{nic.sm_lid if nic.is_ib else 0:x}",
                    "fw_ver=28.43.2026",
                    "board_id=MT_0000000838",
                ]
            )
        )
    return lines


def _gids(machine: Machine) -> list[str]:
    lines = []
    for nic in machine.nics:
        if not nic.rdma:
            continue
        guid = _guid(nic)
        if nic.is_ib:
            lines.append(f"{nic.rdma}\t1\t0\tIB/RoCE v1\t\tfe80:0000:0000:0000:{guid}")
            continue
        local = _link_local(nic.mac)
        pairs = [local] + [_mapped(address) for address in nic.ips]
        index = 0
        for gid in pairs:
            for kind in ("IB/RoCE v1", "RoCE v2"):
                lines.append(f"{nic.rdma}\t1\t{index}\t{kind}\t{nic.netdev}\t{gid}")
                index += 1
    return lines


def _link_local(mac: str) -> str:
    parts = [int(part, 16) for part in mac.split(":")]
    parts[0] ^= 2
    text = "".join(f"{part:02x}" for part in [*parts[:3], 0xFF, 0xFE, *parts[3:]])
    return "fe80:0000:0000:0000:" + ":".join(text[start : start + 4] for start in range(0, 16, 4))


def _mapped(address: str) -> str:
    parts = [int(part) for part in address.partition("/")[0].split(".")]
    return f"0000:0000:0000:0000:0000:ffff:{parts[0]:02x}{parts[1]:02x}:{parts[2]:02x}{parts[3]:02x}"


def _values(machine: Machine, running: _Running) -> list[str]:
    return [
        f"rdma_netns_mode\t{running.rdma_mode}",
        f"secure_boot\t{int(machine.secure_boot)}",
        f"memlock\t{'unlimited' if running.unlimited_memlock else '8192'}",
        f"mlx5_version\t{running.mlx5_version}",
        f"nvidia_peermem\t{int(running.peermem)}",
    ]
