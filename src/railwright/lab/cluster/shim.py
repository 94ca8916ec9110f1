"""Build the kernel module that lets soft-RoCE look like a NIC's own (guest/shim.c), with the compiler of that kernel."""

import os
import shutil
from pathlib import Path

from railwright.lab.cluster.recipe import COMPILER
from railwright.lab.rdma.packages import PackageView, run, unpack

_SOURCE = Path(__file__).parent / "guest" / "shim.c"
_NAME = "railwright_shim"
_LINKS = ("bin", "sbin", "lib", "lib64")


async def built_shim(view: PackageView, work: Path, kernel_version: str) -> bytes:
    """
    Build the module in a root of unpacked packages (90 MB to fetch, some seconds); nothing is installed here.

    Raises:
        UsageError: packages cannot be had, or it does not compile; the message has the last words.
    """
    root = work / "compiler"
    for name in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "proc", "dev", "tmp", "src"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in _LINKS:
        (root / name).symlink_to(f"usr/{name}")
    for package in await view.download_with_dependencies((f"linux-headers-{kernel_version}", *COMPILER)):
        await unpack(package, root)
    for name, target in (("sh", "dash"), ("gcc", "gcc-14"), ("awk", "gawk")):
        (root / "usr/bin" / name).unlink(missing_ok=True)
        (root / "usr/bin" / name).symlink_to(target)
    source = root / "src"
    shutil.copy(_SOURCE, source / f"{_NAME}.c")
    (source / "Makefile").write_text(f"obj-m := {_NAME}.o\n")
    # objtool reads /proc; a mount namespace of its own takes the mounts with it.
    inside = f"/usr/bin/make -C /usr/src/linux-headers-{kernel_version} M=/src CONFIG_DEBUG_INFO_BTF_MODULES= modules"
    text = f'mount -t proc proc "$1/proc" && touch "$1/dev/null" && mount --bind /dev/null "$1/dev/null" && exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/usr/sbin {inside}'
    await run(*with_own_mounts(), "--pid", "--fork", "sh", "-c", text, "sh", str(root))
    return (source / f"{_NAME}.ko").read_bytes()


def with_own_mounts() -> tuple[str, ...]:
    """Give the command that runs a program with mounts of its own; as root of its own where we are not root."""
    own_root = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return ("unshare", *own_root, "--mount")
