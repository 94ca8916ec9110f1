"""
Build the kernel modules of a node that no package has, with the compiler of its kernel.

One lets soft-RoCE look like a NIC's own (guest/shim.c); the others stand for drivers of NVIDIA's (guest/driver.c), which
load and drive nothing.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from railwright.lab.cluster.recipe import COMPILER
from railwright.lab.rdma.packages import PackageView, run, unpack

_GUEST = Path(__file__).parent / "guest"
_LINKS = ("bin", "sbin", "lib", "lib64")


@dataclass(frozen=True)
class Module:
    """
    One module.

    Attributes:
        place: its file on a node, below /usr/lib/railwright.
        name: as the kernel lists it.
        defines: for the compiler, name -> text.
    """

    place: str
    source: str
    name: str
    defines: tuple[tuple[str, str], ...] = ()


DOCA_VERSION = "26.04-0"
GPU_DRIVER_VERSION = "580.95.05"
"""What stand-ins of drivers say of themselves; nothing is behind it."""
MODULES = (
    Module("shim.ko", "shim.c", "railwright_shim"),
    Module("drivers/in-box/mlx5_core.ko", "driver.c", "mlx5_core"),
    Module("drivers/in-box/mlx5_ib.ko", "driver.c", "mlx5_ib"),
    Module("drivers/doca/mlx5_core.ko", "driver.c", "mlx5_core", (("STANDS_FOR_VERSION", DOCA_VERSION),)),
    Module(
        "drivers/nvidia/nvidia.ko",
        "driver.c",
        "nvidia",
        (("STANDS_FOR_VERSION", GPU_DRIVER_VERSION), ("SHOWS_VERSION_IN_PROC", GPU_DRIVER_VERSION)),
    ),
)


async def built_modules(view: PackageView, work: Path, kernel_version: str) -> dict[str, bytes]:
    """
    Build the modules in a root of unpacked packages (90 MB to fetch, some seconds); nothing is installed here.

    Returns:
        Place on a node, below /usr/lib/railwright -> the module.

    Raises:
        UsageError: packages cannot be had, or one does not compile; the message has the last words.
    """
    root = work / "compiler"
    for name in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "proc", "dev", "tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in _LINKS:
        (root / name).symlink_to(f"usr/{name}")
    for package in await view.download_with_dependencies((f"linux-headers-{kernel_version}", *COMPILER)):
        await unpack(package, root)
    for name, target in (("sh", "dash"), ("gcc", "gcc-14"), ("awk", "gawk")):
        (root / "usr/bin" / name).unlink(missing_ok=True)
        (root / "usr/bin" / name).symlink_to(target)
    return {module.place: await _built(root, module, number, kernel_version) for number, module in enumerate(MODULES)}


async def _built(root: Path, module: Module, number: int, kernel_version: str) -> bytes:
    source = root / f"src-{number}"
    source.mkdir()
    shutil.copy(_GUEST / module.source, source / f"{module.name}.c")
    (source / "Makefile").write_text(makefile(module))
    # objtool reads /proc; a mount namespace of its own takes the mounts with it.
    headers = f"/usr/src/linux-headers-{kernel_version}"
    inside = f"/usr/bin/make -C {headers} M=/{source.name} CONFIG_DEBUG_INFO_BTF_MODULES= modules"
    text = (
        'mount -t proc proc "$1/proc" && touch "$1/dev/null" && mount --bind /dev/null "$1/dev/null" && '
        f'exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/usr/sbin {inside}'
    )
    await run(*with_own_mounts(), "--pid", "--fork", "sh", "-c", text, "sh", str(root))
    return (source / f"{module.name}.ko").read_bytes()


def makefile(module: Module) -> str:
    """Write what the kernel's build reads of one module."""
    flags = " ".join(f'-D{name}=\\"{text}\\"' for name, text in module.defines)
    return f"obj-m := {module.name}.o\nccflags-y := {flags}\n"


def with_own_mounts() -> tuple[str, ...]:
    """Give the command that runs a program with mounts of its own; as root of its own where we are not root."""
    own_root = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return ("unshare", *own_root, "--mount")
