"""What runs on a simulated node because of objects: drivers, kernel arguments, virtual functions. Pure."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from railwright.core.kinds import MACHINE_CONFIG, NODE, POD, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import KubeObject, dig
from railwright.simulator.hardware import Machine
from railwright.standins.kinds.gpu_operator import DRIVER_VERSION
from railwright.standins.kinds.mco import CURRENT
from railwright.standins.model import Objects
from railwright.standins.view import find, is_pod_ready, name_of, node_of, of_kind

_MTU_RULE = re.compile(r'KERNELS=="([^"]+)", ATTR\{mtu\}="(\d+)"')
_DOCA = re.compile(r"doca\d[\w.]*-(\d+\.\d+-\d+\.\d+\.\d+)")
_RUNTIME_FILES = ("/etc/crio/", "/etc/containerd/")
_MODPROBE_FILES = ("/etc/modprobe.d/",)


@dataclass(frozen=True)
class Running:
    """
    What runs on the node.

    Attributes:
        files: files that MachineConfigs wrote: text by path.
        vfs: virtual functions by the address of their physical function, as the SR-IOV operator's state lists them.
    """

    kernel_arguments: str
    files: Mapping[str, str]
    mlx5_version: str
    gpu_driver: str
    peermem: bool
    vfs: Mapping[str, tuple[Mapping[str, Any], ...]]
    mtu: Mapping[str, int]
    rdma_mode: str

    @property
    def memlock(self) -> str:
        """What a MachineConfig makes of the container runtime's limit; empty when none does."""
        lines = [line for path, line in self.lines_of(_RUNTIME_FILES) if "memlock=-1:-1" in line]
        return "unlimited" if lines else ""

    @property
    def modprobe(self) -> tuple[str, ...]:
        """Lines that MachineConfigs added to modprobe.d, as in the record."""
        return tuple(f"{path}: {line}" for path, line in self.lines_of(_MODPROBE_FILES))

    def lines_of(self, folders: tuple[str, ...]) -> list[tuple[str, str]]:
        """Lines of the files below some folders, with their paths."""
        return [
            (path, line.strip())
            for path, text in sorted(self.files.items())
            if path.startswith(folders)
            for line in text.splitlines()
            if line.strip() and not line.startswith("#")
        ]


def running_on(machine: Machine, world: Objects) -> Running:
    """Find out what objects make of a node."""
    pods = [pod for pod in of_kind(world, POD) if node_of(pod) == machine.name and is_pod_ready(pod)]
    doca = next((pod for pod in pods if name_of(pod).startswith("mofed-")), None)
    gpu = next((pod for pod in pods if name_of(pod).startswith("nvidia-driver-daemonset")), None)
    node = find(world, NODE, machine.name)
    rendered = find(world, MACHINE_CONFIG, str(dig(node, "metadata", "annotations", CURRENT, default="")))
    files = dig(rendered, "spec", "config", "storage", "files", default=())
    state = next((obj for obj in of_kind(world, SRIOV_NETWORK_NODE_STATE) if name_of(obj) == machine.name), None)
    interfaces = dig(state, "status", "interfaces", default=())
    names = {item["name"] for item in dig(gpu, "spec", "containers", default=())}
    settings = machine.settings
    texts = {str(item["path"]): _file_text(str(dig(item, "contents", "source", default=""))) for item in files}
    made_by_operator = {
        str(item["name"]): int(item["mtu"]) for item in interfaces if item.get("mtu") and item.get("Vfs")
    }
    return Running(
        kernel_arguments=" ".join([machine.kernel_arguments, *dig(rendered, "spec", "kernelArguments", default=[])]),
        files=texts,
        mlx5_version=_doca_version(doca) if doca is not None else settings.mlx5_version,
        gpu_driver=_gpu_driver(gpu) if gpu is not None else settings.gpu_driver,
        peermem="nvidia-peermem-ctr" in names and settings.peermem_loads,
        vfs={str(item["pciAddress"]): tuple(item.get("Vfs", ())) for item in interfaces},
        mtu=_mtu_by_rules(machine, texts) | made_by_operator,
        rdma_mode=settings.netns_mode or str(dig(state, "spec", "system", "rdmaMode", default="shared")),
    )


def _mtu_by_rules(machine: Machine, files: Mapping[str, str]) -> dict[str, int]:
    """Find the MTU that udev rules give to ports, by netdev."""
    rules = "\n".join(text for path, text in sorted(files.items()) if path.startswith("/etc/udev/rules.d/"))
    by_pci = dict(_MTU_RULE.findall(rules))
    return {nic.netdev: int(by_pci[nic.pci]) for nic in machine.nics if nic.pci in by_pci}


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
