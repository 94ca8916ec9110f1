"""What the lab's machine is made of; its hash names the cache folder, so that a changed recipe never meets an old image."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

SUITES = ("trixie", "trixie-backports")
KERNEL_PACKAGE = "linux-image-amd64/trixie-backports"
"""
Soft-RoCE works between network namespaces only on new kernels: on 6.1 and 6.12 its UDP sockets live in the first
namespace alone. Measured: 6.1.192 no, 6.12.95 no, 7.3.4 yes (2026-11-30).
"""
USERLAND = (
    "busybox-static",
    "coreutils",
    "dash",
    "ethtool",
    "ibverbs-providers",
    "ibverbs-utils",
    "iproute2",
    "libgcc-s1",
    "perftest",
    "python3",
    "rdmacm-utils",
)
PROGRAMS = (
    "dash",
    "timeout",
    "ibv_devices",
    "ibv_devinfo",
    "ib_write_bw",
    "ib_read_bw",
    "ib_send_bw",
    "ib_write_lat",
    "ib_read_lat",
    "ib_send_lat",
    "ip",
    "rdma",
    "tc",
    "ss",
    "ethtool",
    "rping",
    "python3",
)
MODULE_PATTERNS = tuple(
    f"*/kernel/{part}/*"
    for part in (
        "drivers/infiniband",
        "drivers/net",
        "drivers/dca",
        "drivers/i2c/algos",
        "drivers/virtio",
        "net",
        "lib",
        "crypto",
        "arch",
        "fs/configfs",
    )
)
MODULES = (
    *("virtio_net", "veth", "dummy", "macvlan", "bridge", "igb", "igbvf"),
    *("sch_netem", "sch_ingress", "cls_u32", "act_gact"),
    *("ib_core", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm", "rdma_rxe"),
)
SRIOV_QEMU_SUITE = "bookworm-backports"
SRIOV_QEMU_PACKAGES = ("qemu-system-x86", "qemu-system-data", "qemu-system-common", "seabios")
"""The igb device, a NIC with VFs, came with QEMU 8.0; where this machine's is older a newer one is unpacked aside."""


def cache_root(environment: Mapping[str, str], home: Path) -> Path:
    """Choose where images are kept: RAILWRIGHT_CACHE, else XDG_CACHE_HOME, else ~/.cache."""
    own = environment.get("RAILWRIGHT_CACHE")
    root = Path(own) if own else Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "railwright"
    return root / "lab"


def recipe_hash() -> str:
    """Hash everything that decides what the image is, the code that puts it together included."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for name in ("recipe.py", "cpio.py", "elf.py", "kernel.py", "image.py", "packages.py", "guest/init"):
        digest.update(name.encode() + b"\0" + (here / name).read_bytes())
    return digest.hexdigest()[:16]
