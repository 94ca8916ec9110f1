r"""
Sections on how the node is set up.

They are kernel-config, module-parameters, modprobe, sysctl, rules, devices, memory-peers, cni, nvidia-params, mofed,
dmesg, runtime.

Samples: "CONFIG_PCI_P2PDMA=y", "# CONFIG_HMM_MIRROR is not set", "ib_core\tnetns_mode\tN",
"/etc/modprobe.d/ib.conf: options ib_core netns_mode=0", "net.ipv4.conf.all.arp_ignore\t0",
"4\t32766:\tfrom all lookup main", "rdma\tuverbs0", "/opt/cni/bin\tmacvlan", "EnableStreamMemOPs: 0",
"limit\tMax locked memory\t8388608 8388608".
"""

import re
from collections.abc import Mapping

from railwright.facts.model import Unseen
from railwright.facts.node_model import ContainerRuntime, NodeSystem
from railwright.facts.record import Record, leading_decimal, wrong_line

_CONFIG = re.compile(r"(CONFIG_\w+)=(.*)")
_CONFIG_UNSET = re.compile(r"# (CONFIG_\w+) is not set")
_EXPORTS = "CONFIG_DMA_SHARED_BUFFER"
"""
What a kernel needs so that the open GPU driver can hand GPU memory to a NIC as dma-buf.

Source: NVIDIA/open-gpu-kernel-modules kernel-open/nvidia/nv-dmabuf.c, all of which is under it; only the open modules
export: NVIDIA GPU Operator documentation, "GPUDirect RDMA and GPUDirect Storage", prerequisites.
"""
_MEMLOCK = re.compile(r"unlimited|\d+")


def parse_settings(record: Record, *, gpu_driver: str) -> tuple[NodeSystem, tuple[Unseen, ...]]:
    """
    Read how the node is set up; a line that can't be read is named.

    Args:
        gpu_driver: "open 580.95.05", "proprietary ...", or "" when none is loaded.
    """
    unseen: list[Unseen] = []
    config = _kernel_config(record, unseen)
    return NodeSystem(
        uptime_s=_uptime(record),
        kernel_config=config,
        module_parameters=_module_parameters(record, unseen),
        modprobe=record.lines("modprobe"),
        sysctls=_pairs(record, "sysctl", "\t"),
        rules=tuple(line.replace("\t", " ") for line in record.lines("rules")),
        rdma_char_devices=_devices(record, "rdma"),
        gpu_char_devices=_devices(record, "gpu"),
        memory_peers=None if record.missing("memory-peers") else record.lines("memory-peers"),
        cni_plugins=_cni(record),
        cni_configs=tuple(name for folder, name in _rows(record, "cni") if folder == "config"),
        nvidia_parameters=_pairs(record, "nvidia-params", ":"),
        dma_buf=_exports_dma_buf(config, gpu_driver),
        dmesg=None if record.missing("dmesg") else record.lines("dmesg"),
        mofed_inventories=record.lines("mofed"),
    ), tuple(unseen)


def parse_runtime(record: Record) -> ContainerRuntime:
    """Read the container runtime's settings."""
    settings: list[str] = []
    limits: dict[str, str] = {}
    single: dict[str, str] = {}
    for key, rest in _rows(record, "runtime"):
        if key == "setting":
            settings.append(rest)
        elif key == "limit":
            name, _, value = rest.partition("\t")
            limits[name.strip()] = value.strip()
        else:
            single[key] = rest
    memlock = single.get("memlock", "")
    return ContainerRuntime(
        name=single.get("name", ""),
        version=single.get("version", ""),
        settings=tuple(settings),
        limits=limits,
        memlock=memlock if _MEMLOCK.fullmatch(memlock) else "",
        memlock_origin=single.get("memlock_origin", ""),
    )


def _rows(record: Record, section: str) -> list[tuple[str, str]]:
    rows = (line.partition("\t") for line in record.lines(section))
    return [(key.strip(), value.strip()) for key, found, value in rows if found]


def _pairs(record: Record, section: str, between: str) -> dict[str, str]:
    rows = (line.partition(between) for line in record.lines(section))
    return {key.strip(): value.strip() for key, found, value in rows if found}


def _uptime(record: Record) -> float | None:
    return leading_decimal(_pairs(record, "values", "\t").get("uptime_s"))


def _kernel_config(record: Record, unseen: list[Unseen]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in record.lines("kernel-config"):
        if match := _CONFIG.fullmatch(line.strip()):
            found[match[1]] = match[2].strip('"')
        elif match := _CONFIG_UNSET.fullmatch(line.strip()):
            found[match[1]] = "n"
        else:
            unseen.append(wrong_line("kernel-config", line, "is no option"))
    return found


def _exports_dma_buf(config: Mapping[str, str], gpu_driver: str) -> bool | None:
    """Tell whether GPU memory can be exported; None where neither driver nor kernel configuration is known."""
    if not gpu_driver or not config:
        return None
    return gpu_driver.startswith("open ") and config.get(_EXPORTS) == "y"


def _module_parameters(record: Record, unseen: list[Unseen]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in record.lines("module-parameters"):
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) != 3:
            unseen.append(wrong_line("module-parameters", line, "not module, parameter, value"))
        else:
            found[f"{parts[0]}.{parts[1]}"] = parts[2]
    return found


def _devices(record: Record, kind: str) -> tuple[str, ...] | None:
    if record.missing("devices"):
        return None
    return tuple(sorted(name for found, name in _rows(record, "devices") if found == kind))


def _cni(record: Record) -> dict[str, tuple[str, ...]]:
    folders: dict[str, list[str]] = {}
    for folder, name in _rows(record, "cni"):
        if folder != "config":
            folders.setdefault(folder, []).append(name)
    return {folder: tuple(sorted(names)) for folder, names in folders.items()}
