"""Build the lab's machine once a recipe: kernel and file system from Debian packages; no root, nothing is installed."""

import asyncio
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from railwright.lab.rdma import recipe
from railwright.lab.rdma.image import compile_python, first_file_system
from railwright.lab.rdma.kernel import module_tree, unpacked_kernel
from railwright.lab.rdma.packages import PackageView, mirror, unpack
from railwright.ports.progress import Note, Progress

_INIT = Path(__file__).parent / "guest" / "init"


@dataclass(frozen=True)
class Image:
    """A machine that can be booted; `kernel_version` as its package says."""

    kernel: Path
    file_system: Path
    kernel_version: str


def built_image() -> Image | None:
    """Give the image of today's recipe if it was built already."""
    folder = recipe.cache_root(os.environ, Path.home()) / recipe.recipe_hash()
    version = folder / "kernel-version"
    return Image(folder / "kernel", folder / "initrd", version.read_text().strip()) if version.is_file() else None


async def ensure_image(progress: Progress) -> Image:
    """
    Give the image; build it when there is none.

    Raises:
        UsageError: no mirror, or a package cannot be had; the message holds apt's words.
    """
    image = built_image()
    if image is not None:
        return image
    root = recipe.cache_root(os.environ, Path.home())
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix=".building-") as name:
        work = Path(name)
        await _build(work, progress)
        done = root / recipe.recipe_hash()
        if not done.exists():
            (work / "done").rename(done)
    return built_image() or await ensure_image(progress)


async def _build(work: Path, progress: Progress) -> None:
    view = PackageView(work, await mirror(), recipe.SUITES)
    progress.emit(Note("building the lab's machine (about 20 s, 180 MB to fetch); kept for the next time"))
    await view.update()
    version, kernel = await fetch_kernel(view, work)
    root = work / "root"
    for package in await view.download_with_dependencies(recipe.USERLAND):
        await unpack(package, root)
    await asyncio.to_thread(compile_python, root)
    modules = module_tree(work / "kernel")
    modules.pick(recipe.MODULES)
    done = work / "done"
    done.mkdir()
    (done / "initrd").write_bytes(await asyncio.to_thread(first_file_system, root, modules, _INIT.read_bytes()))
    unpacked = await asyncio.to_thread(unpacked_kernel, kernel)
    if unpacked is None:
        shutil.copy(kernel, done / "kernel")
    else:
        (done / "kernel").write_bytes(unpacked)
    (done / "kernel-version").write_text(version)


async def fetch_kernel(
    view: PackageView, work: Path, patterns: tuple[str, ...] = recipe.MODULE_PATTERNS
) -> tuple[str, Path]:
    """Fetch the kernel and unpack what matches into "kernel"; its version and its vmlinuz."""
    target = work / "kernel"
    image = next(name for name in await view.depends(recipe.KERNEL_PACKAGE) if name.startswith("linux-image-"))
    version = image.removeprefix("linux-image-")
    parts = await view.depends(image)
    split = [name for name in parts if name.startswith(("linux-binary-", "linux-modules-"))]
    for package in await view.download(split or [image]):
        await unpack(package, target, (*patterns, "*vmlinuz*"))
    return version, next(path for path in target.rglob("vmlinuz*") if path.is_file())
