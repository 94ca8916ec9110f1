"""A QEMU with the igb device, unpacked aside from Debian's backports where this machine's own is older than 8.0."""

import os
import tempfile
from pathlib import Path

from railwright.lab.rdma import recipe
from railwright.lab.rdma.packages import PackageView, mirror, unpack
from railwright.lab.rdma.tools import Emulator, emulator_at
from railwright.ports.progress import Note, Progress

_FOLDER = "qemu-" + recipe.SRIOV_QEMU_SUITE


async def emulator_with_igb(progress: Progress) -> Emulator:
    """
    Give such a QEMU; fetch it (13 MB) when it is not in the cache. Its libraries are those of this machine's QEMU.

    Raises:
        UsageError: it cannot be had.
    """
    root = recipe.cache_root(os.environ, Path.home())
    target = root / _FOLDER
    if not target.is_dir():
        progress.emit(Note("fetching a QEMU that has a NIC with VFs (13 MB); kept for the next time"))
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, prefix=".fetching-") as work:
            view = PackageView(Path(work), await mirror(), ("bookworm", recipe.SRIOV_QEMU_SUITE))
            await view.update()
            wanted = [f"{name}/{recipe.SRIOV_QEMU_SUITE}" for name in recipe.SRIOV_QEMU_PACKAGES if name != "seabios"]
            for package in await view.download([*wanted, "seabios"]):
                await unpack(package, Path(work) / "root")
            if not target.exists():
                (Path(work) / "root").rename(target)
    share = target / "usr" / "share"
    return emulator_at(
        (str(target / "usr/bin/qemu-system-x86_64"), "-L", str(share / "qemu"), "-L", str(share / "seabios"))
    )
