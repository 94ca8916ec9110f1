"""PCI devices of a simulated node, with their registers, as the node script prints them."""

from collections.abc import Iterator

from railwright.simulator.addresses import vf_guid
from railwright.simulator.hardware import LINK_SPEEDS_GTS, Gpu, Machine, Nic, PciRegisters
from railwright.simulator.running import Running

_SPEEDS = {speed: code for code, speed in enumerate(LINK_SPEEDS_GTS, start=1)}
"""Codes of link speeds in GT/s. Source: Linux include/uapi/linux/pci_regs.h, PCI_EXP_LNKSTA_CLS_*."""
_TYPES = {"endpoint": 0x0, "root-port": 0x4, "switch-upstream": 0x5, "switch-downstream": 0x6}
"""Source: Linux include/uapi/linux/pci_regs.h, PCI_EXP_TYPE_*."""
_GPU_MODELS = {"2335": "NVIDIA H200", "2330": "NVIDIA H100 80GB HBM3", "2941": "NVIDIA GB200"}
_H200_WINDOWS = (16 << 20, 256 << 30, 32 << 20)


def pci(machine: Machine, running: Running) -> list[str]:
    """Print the `pci` section."""
    groups = iommu_groups(machine, running)
    lines = [_bridge(machine, path) for path in machine.bridge_paths]
    lines += [_gpu(gpu, running) for gpu in machine.gpus]
    for nic in machine.nics:
        vfs = running.vfs.get(nic.pci, ())
        used_by_host = sum(other.physfn == nic.pci for other in machine.nics)
        lines.append(_nic(nic, len(vfs) + used_by_host))
        lines += [_vf(nic, str(vf["pciAddress"])) for vf in vfs]
    return [
        line + (f"\tiommu_group={groups[key]}" if (key := line.partition("\t")[0]) in groups else "") for line in lines
    ]


def _bridge(machine: Machine, path: str) -> str:
    address = path.rpartition("/")[2]
    return "\t".join(
        [
            address,
            "vendor=8086" if path.count("/") == 1 else "vendor=1000",
            "device=1576" if path.count("/") == 1 else "device=c030",
            "class=060400",
            f"numa={_numa(machine, path)}",
            "driver=pcieport",
            f"path={path}",
            *_link(machine.bridge(address)),
        ]
    )


def _numa(machine: Machine, path: str) -> int:
    return next(item.numa for item in machine.cards if item.path.startswith(f"{path}/"))


def _gpu(gpu: Gpu, running: Running) -> str:
    bound = gpu.driver if gpu.driver is not None else "nvidia" if running.gpu_driver else ""
    return "\t".join(
        [
            gpu.pci,
            "vendor=10de",
            f"device={gpu.device_id}",
            "class=030200",
            "subsystem_vendor=10de",
            "subsystem_device=18be",
            f"numa={gpu.numa}",
            f"driver={bound}",
            f"path={gpu.path}",
            *_link(gpu.registers),
            f"bars={','.join(map(str, _H200_WINDOWS))}",
        ]
    )


def _nic(nic: Nic, vfs: int) -> str:
    fields = [
        nic.pci,
        f"vendor={nic.vendor_id}",
        f"device={nic.device_id}",
        f"class={_class(nic)}",
        f"subsystem_vendor={nic.vendor_id}",
        f"subsystem_device={nic.subsystem_id}",
        f"numa={nic.numa}",
        f"driver={nic.driver}",
        f"path={nic.path}",
        *_link(nic.registers),
    ]
    if nic.total_vfs:
        fields += [f"sriov_totalvfs={nic.total_vfs}", f"sriov_numvfs={vfs}"]
    if nic.physfn:
        fields.append(f"physfn={nic.physfn}")
    return "\t".join(fields)


def _vf(nic: Nic, address: str) -> str:
    return "\t".join(
        [
            address,
            "vendor=15b3",
            "device=101e",
            f"class={_class(nic)}",
            "subsystem_vendor=15b3",
            f"subsystem_device={nic.subsystem_id}",
            f"numa={nic.numa}",
            "driver=mlx5_core",
            f"path={nic.path.rpartition('/')[0]}/{address}",
            *_link(nic.registers),
            f"physfn={nic.pci}",
        ]
    )


def _class(nic: Nic) -> str:
    return "020700" if nic.is_ib else "020000"


def _link(registers: PciRegisters) -> list[str]:
    return [
        f"link_speed={registers.link_speed_gts:.1f} GT/s PCIe",
        f"link_width={registers.link_width_lanes}",
        f"max_link_speed={registers.max_link_speed_gts:.1f} GT/s PCIe",
        f"max_link_width={registers.max_link_width_lanes}",
    ]


def pci_config(machine: Machine) -> list[str]:
    """Print the `pci-config` section: registers as 32-bit words."""
    return [_config(address, kind, registers) for address, kind, registers in _functions(machine)]


def _functions(machine: Machine) -> Iterator[tuple[str, str, PciRegisters]]:
    for path in machine.bridge_paths:
        address = path.rpartition("/")[2]
        depth = path.count("/")
        kind = "root-port" if depth == 1 else "switch-upstream" if depth % 2 == 0 else "switch-downstream"
        yield address, kind, machine.bridge(address)
    for device in machine.cards:
        yield device.pci, "endpoint", device.registers


def _config(address: str, kind: str, registers: PciRegisters) -> str:
    if not registers.readable:
        return f"{address}\tsize=64"
    payload = registers.max_payload_bytes.bit_length() - 8
    request = registers.max_read_request_bytes.bit_length() - 8
    control = registers.relaxed_ordering << 4 | payload << 5 | registers.no_snoop << 11 | request << 12
    words = [
        0x0002_0010 | _TYPES[kind] << 20,
        registers.max_payload_supported_bytes.bit_length() - 8,
        control,
        _SPEEDS[registers.max_link_speed_gts] | registers.max_link_width_lanes << 4,
        (_SPEEDS[registers.link_speed_gts] | registers.link_width_lanes << 4) << 16,
    ]
    fields = [address, "size=4096", "exp=" + _hex(words)]
    if registers.acs_capability:
        fields.append("acs=" + _hex([0x0001_000D, registers.acs_control << 16 | registers.acs_capability]))
    if registers.ats is not None:
        fields.append("ats=" + _hex([0x0001_000F, registers.ats << 31]))
    return "\t".join(fields)


def _hex(words: list[int]) -> str:
    return ",".join(f"{word:08x}" for word in words)


def iommu_groups(machine: Machine, running: Running) -> dict[str, int]:
    """Number the IOMMU groups: one a function, since worlds have ACS on every bridge that splits groups."""
    if not machine.iommu:
        return {}
    addresses = [path.rpartition("/")[2] for path in machine.bridge_paths]
    addresses += [item.pci for item in machine.cards]
    addresses += [str(vf["pciAddress"]) for nic in machine.nics for vf in running.vfs.get(nic.pci, ())]
    return {address: number for number, address in enumerate(addresses)}


def iommu(machine: Machine, running: Running) -> list[str]:
    """Print the `iommu` section."""
    groups = iommu_groups(machine, running).values()
    return [f"unit\tdmar{number}" for number in range(4) if machine.iommu] + [
        f"group\t{number}\t{machine.iommu}" for number in groups
    ]


def eswitch(machine: Machine) -> list[str]:
    """Print the `eswitch` section, as `devlink dev eswitch show` words it."""
    return [
        f"pci/{nic.pci}: mode {nic.eswitch_mode} inline-mode none encap-mode basic"
        for nic in machine.nics
        if nic.total_vfs and nic.driver == "mlx5_core" and nic.eswitch_mode
    ]


def vital_product_data(machine: Machine) -> list[str]:
    """Print the `vpd` section: letters as hex digits."""
    return [
        f"{nic.pci}\tname={nic.card.encode().hex()}\tpart={nic.part_number.encode().hex()}\trevision={b'A5'.hex()}"
        for nic in machine.nics
        if nic.vendor_id == "15b3"
    ]


def nvidia_gpus(machine: Machine, running: Running) -> list[str]:
    """Print the `nvidia-gpus` section, as the GPU driver shows it once it runs."""
    if not running.gpu_driver:
        return []
    version = running.gpu_driver.split()[1]
    return [
        f"{gpu.pci}\tmodel={_GPU_MODELS.get(gpu.device_id, 'NVIDIA Graphics Device')}\tvbios={gpu.vbios}\tfirmware={version}"
        for gpu in machine.gpus
    ]


def vf_links(machine: Machine, running: Running) -> list[str]:
    """Print the `vf-links` section: `ip -o -d link show` of ports with virtual functions."""
    lines = []
    for index, nic in enumerate(machine.nics, start=2):
        vfs = running.vfs.get(nic.pci, ())
        if vfs:
            parts = [f"{index}: {nic.netdev}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu {nic.mtu} state UP "]
            parts += [_vf_words(nic, number, str(vf["mac"])) for number, vf in enumerate(vfs)]
            lines.append("\\".join(parts))
    return lines


def _vf_words(nic: Nic, number: int, mac: str) -> str:
    trust = "on" if nic.vf_trust else "off"
    if nic.is_ib:
        guid = vf_guid(nic, number)
        return (
            f"    vf {number}     link/infiniband {'00:' * 19}00 brd {'ff:' * 19}ff, NODE_GUID {guid}, "
            f"PORT_GUID {guid}, spoof checking off, link-state {nic.vf_link_state}, trust {trust}, query_rss off"
        )
    return (
        f"    vf {number}     link/ether {mac} brd ff:ff:ff:ff:ff:ff, spoof checking off, "
        f"link-state {nic.vf_link_state}, trust {trust}, query_rss off"
    )
