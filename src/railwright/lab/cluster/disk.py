"""
Build the disk of a virtual node once a recipe: packages, kernel modules, programs and images in one ext4 file.

Nothing is mounted on this machine and nothing installed. Every node starts from the same disk and writes to a copy that
goes with it.
"""

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import UsageError
from railwright.lab.cluster import images, recipe
from railwright.lab.cluster.root import furnish_root, install_modules, short_pci_ids
from railwright.lab.cluster.shim import built_modules, with_own_mounts
from railwright.lab.cluster.userland import image_files
from railwright.lab.rdma.build import fetch_kernel
from railwright.lab.rdma.cpio import Archive
from railwright.lab.rdma.image import compile_python
from railwright.lab.rdma.kernel import module_tree, unpacked_kernel
from railwright.lab.rdma.packages import PackageView, mirror, run, unpack
from railwright.lab.rdma.recipe import SUITES
from railwright.ports.progress import Note, Progress

_FIRST = Path(__file__).parent / "guest" / "init-first"


@dataclass(frozen=True)
class Disk:
    """What a node is booted from; `first` is the file system that finds the disk."""

    kernel: Path
    first: Path
    disk: Path


def built_disk() -> Disk | None:
    """Give the disk of today's recipe if it was built already."""
    folder = recipe.disk_folder()
    disk = Disk(folder / "kernel", folder / "first", folder / "disk")
    return disk if disk.disk.is_file() else None


async def ensure_disk(programs: Mapping[str, Path], progress: Progress) -> Disk:
    """
    Give the disk; build it when there is none.

    Raises:
        UsageError: no mirror, a package cannot be had, or a program for it is missing here.
    """
    disk = built_disk()
    if disk is not None:
        return disk
    if shutil.which("mke2fs") is None:
        raise UsageError("the virtual cluster needs mke2fs to make disks", hint="install e2fsprogs")
    folder = recipe.disk_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    progress.emit(Note("building the nodes' disk: about 1 min, 400 MB to fetch; kept for the next time"))
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".building-") as name:
        await _build(Path(name), programs, progress)
        if not folder.exists():
            (Path(name) / "done").rename(folder)
    return built_disk() or await ensure_disk(programs, progress)


async def _build(work: Path, programs: Mapping[str, Path], progress: Progress) -> None:
    view = PackageView(work / "packages", await mirror(), SUITES)
    await view.update()
    version, vmlinuz = await fetch_kernel(view, work, recipe.MODULE_PATTERNS)
    root, done = work / "root", work / "done"
    for package in await view.download_with_dependencies(recipe.USERLAND):
        await unpack(package, root)
    await _containerd(work, root)
    await asyncio.to_thread(compile_python, root)
    progress.emit(Note("building kernel modules: what a NIC shows, and stand-ins of drivers (90 MB to fetch)"))
    compiler = PackageView(work / "compiler-packages", await mirror(), SUITES)
    await compiler.update()
    modules = await built_modules(compiler, work, version)
    await asyncio.to_thread(furnish_root, root, programs, modules)
    await asyncio.to_thread(install_modules, root, module_tree(work / "kernel"), work / "kernel", version)
    progress.emit(Note("importing the cluster's images"))
    imported = await _images(work, root, programs)
    imported.rename(root / "var/lib/containerd")
    done.mkdir()
    kernel = await asyncio.to_thread(unpacked_kernel, vmlinuz)
    (done / "kernel").write_bytes(vmlinuz.read_bytes() if kernel is None else kernel)
    (done / "first").write_bytes(_first_file_system(root, work / "kernel"))
    await _make_disk(root, done / "disk")


async def _containerd(work: Path, root: Path) -> None:
    """Add the newer containerd, without the newer libraries that its suite has."""
    view = PackageView(work / "newer-packages", await mirror(), (recipe.CONTAINERD_SUITE,))
    await view.update()
    for package in await view.download([recipe.CONTAINERD]):
        await unpack(package, root, ("usr/bin/*",))


async def _images(work: Path, root: Path, programs: Mapping[str, Path]) -> Path:
    """Make the images and import them; the folder that is a node's /var/lib/containerd."""
    ids = work / "pci.ids"
    ids.write_bytes(short_pci_ids(root))
    busybox = {"bin/busybox": root / "usr/bin/busybox"}
    plugin = {**busybox, "usr/share/misc/pci.ids": ids}
    wanted = (
        images.ImageFiles(images.PAUSE, busybox, ("/bin/busybox", "sleep", "2147483647")),
        images.ImageFiles(
            images.TOOLS, image_files(root), (), ("/usr/bin/sleep", "infinity"), (recipe.image_of_verify(),)
        ),
        images.ImageFiles(
            images.SHARED_DEVICE_PLUGIN,
            {**plugin, "bin/k8s-rdma-shared-dp": programs["k8s-rdma-shared-dp"]},
            ("/bin/k8s-rdma-shared-dp",),
        ),
        images.ImageFiles(
            images.SRIOV_DEVICE_PLUGIN, {**plugin, "bin/sriovdp": programs["sriovdp"]}, ("/bin/sriovdp", "-logtostderr")
        ),
    )
    archives = []
    for number, image in enumerate(wanted):
        archives.append(work / f"image-{number}.tar")
        await asyncio.to_thread(images.write_image, image, archives[-1])
    return await images.import_images(archives, root / "usr/bin", work)


def _first_file_system(root: Path, kernel: Path) -> bytes:
    """Put together what runs before there is a disk: busybox and the modules of the disk."""
    archive = Archive()
    modules = module_tree(kernel)
    modules.pick(recipe.FIRST_MODULES)
    archive.device("dev/console", 5, 1)
    archive.path(root / "usr/bin/busybox", "bin/busybox")
    for name in modules.order:
        archive.file(f"modules/{name}.ko", modules.contents[name])
    archive.file("modules/order", "\n".join(modules.order).encode() + b"\n")
    archive.file("init", _FIRST.read_bytes(), 0o755)
    return archive.close()


async def _make_disk(root: Path, target: Path) -> None:
    with target.open("wb") as disk:
        disk.truncate(recipe.DISK_MIB << 20)
    options = ("-O", "^has_journal", "-E", "lazy_itable_init=1,root_owner=0:0", "-m", "0")
    await run(*with_own_mounts(), "mke2fs", "-q", "-F", "-t", "ext4", *options, "-d", str(root), str(target))
