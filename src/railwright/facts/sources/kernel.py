r"""
The sections that describe the system: meta, os-release, cmdline, modules, lockdown, nvidia-version, values.

Samples: "mlx5_core 2158592 1 mlx5_ib, Live 0x0000000000000000"; "none [integrity] confidentiality";
"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder)".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from railwright.facts.model import Unseen
from railwright.facts.record import Record, whole_number, wrong_line

IN_TREE_MLX5_VERSIONS = frozenset({"", "5.0-0"})
"""What the kernel's own mlx5_core says: nothing; until Linux 5.17 "5.0-0". Source: Linux mlx5 driver, DRIVER_VERSION."""
_LOCKDOWN = re.compile(r"\[(none|integrity|confidentiality)\]")
_NVIDIA = re.compile(r"NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s")
_TRUE, _FALSE = frozenset({"true", "1", "yes", "enabled"}), frozenset({"false", "0", "no", "disabled"})


@dataclass(frozen=True)
class System:
    """The node's kernel and operating system, as far as the record says."""

    netns_is_host: bool | None
    modules: Mapping[str, int]
    module_users: Mapping[str, tuple[str, ...]]
    kernel_arguments: str
    kernel_version: str
    architecture: str
    page_size_bytes: int | None
    os_release: Mapping[str, str]
    rdma_netns_mode: str | None
    lockdown: str | None
    secure_boot: bool | None
    memlock_limit: str | None
    nvidia_driver: str
    mlx5_driver: str
    kubelet_seen: bool
    """Whether a kubelet was among the processes, so that what it mounted was read too."""


def parse_system(record: Record) -> tuple[System, tuple[Unseen, ...]]:
    """Read what there is; what can't be understood is named."""
    meta = _pairs(record, "meta", "\t")
    values = _pairs(record, "values", "\t")
    modules, unseen = _modules(record)
    nvidia, nvidia_unseen = _nvidia(record)
    mlx5 = values.get("mlx5_version", "")
    lockdown = _LOCKDOWN.search(" ".join(record.lines("lockdown")))
    mode = values.get("rdma_netns_mode")
    return System(
        netns_is_host={"host": True, "other": False}.get(meta.get("netns", "")),
        modules=modules,
        module_users=_module_users(record),
        kernel_arguments=" ".join(record.lines("cmdline")),
        kernel_version=meta.get("kernel", ""),
        architecture=meta.get("architecture", ""),
        page_size_bytes=whole_number(meta.get("page_size_bytes")),
        os_release={key: value.strip("\"'") for key, value in _pairs(record, "os-release", "=").items()},
        rdma_netns_mode=mode if mode in {"shared", "exclusive"} else None,
        lockdown=lockdown[1] if lockdown else None,
        secure_boot=_boolean(values.get("secure_boot", "")),
        memlock_limit=_memlock(values.get("memlock", "")),
        nvidia_driver=nvidia,
        mlx5_driver="" if mlx5 in IN_TREE_MLX5_VERSIONS else mlx5,
        kubelet_seen=meta.get("kubelet") == "seen",
    ), (*unseen, *nvidia_unseen)


def _pairs(record: Record, section: str, between: str) -> dict[str, str]:
    rows = (line.partition(between) for line in record.lines(section) if not line.startswith("#"))
    return {key.strip(): value.strip() for key, found, value in rows if found}


_USERS = 3
"""Where a line of /proc/modules names the modules that use this one."""
_NO_COUNT = "-"
"""What /proc/modules holds on a kernel without CONFIG_MODULE_UNLOAD. Measured: Linux 6.18, 2026-11-30."""


def _boolean(text: str) -> bool | None:
    return True if text.lower() in _TRUE else False if text.lower() in _FALSE else None


def _memlock(text: str) -> str | None:
    return text if text == "unlimited" or text.isdecimal() else None


def _modules(record: Record) -> tuple[dict[str, int], list[Unseen]]:
    modules: dict[str, int] = {}
    unseen: list[Unseen] = []
    for line in record.lines("modules"):
        words = line.split()
        count = whole_number(words[2]) if len(words) > 2 else None
        if len(words) > 2 and words[2] == _NO_COUNT:
            # Loaded all the same: a module that is left out would pass for one that is absent.
            modules[words[0]] = 0
            uncounted = Unseen("module reference counts", "this kernel cannot unload modules and counts none")
            unseen.extend([] if uncounted in unseen else [uncounted])
        elif count is None:
            unseen.append(wrong_line("modules", line, "holds no reference count"))
        else:
            modules[words[0]] = count
    return modules, unseen


def _module_users(record: Record) -> Mapping[str, tuple[str, ...]]:
    """Read who uses each module: the fourth word, "mlx5_ib,rdma_ucm," or "-"."""
    rows = (line.split() for line in record.lines("modules"))
    named = {words[0]: words[3] for words in rows if len(words) > _USERS and words[3] != "-"}
    return {name: tuple(user for user in users.split(",") if user) for name, users in named.items()}


def _nvidia(record: Record) -> tuple[str, list[Unseen]]:
    text = " ".join(record.lines("nvidia-version"))
    if not text:
        return "", []
    version = _NVIDIA.search(f"{text} ")
    if version is None:
        return "", [wrong_line("nvidia-version", text, "holds no driver version")]
    return f"{'open' if 'Open Kernel Module' in text else 'proprietary'} {version[1]}", []
