"""ibsim, OpenSM and the diagnostic tools: this machine's own, or unpacked aside from its distribution's packages."""

import os
import platform
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import UsageError
from railwright.lab.rdma import recipe
from railwright.lab.rdma.packages import PackageView, mirror, unpack
from railwright.ports.progress import Note, Progress

PACKAGES = ("ibsim-utils", "opensm", "infiniband-diags")
_WANTED = ("ibsim", "opensm", "ibstat", "ibnetdiscover", "smpquery", "saquery")
_PRELOADED = "umad2sim/libumad2sim.so"
_INSTALL = f"apt-get install --no-install-recommends {' '.join(PACKAGES)}"


@dataclass(frozen=True)
class Programs:
    """Where they are: `settings` find their libraries and put the simulator in place of the kernel."""

    folder: Path | None
    preload: Path

    def path(self, name: str) -> str:
        """Give the path of one program."""
        if self.folder is None:
            return name
        return next(
            str(self.folder / at / name) for at in ("usr/bin", "usr/sbin") if (self.folder / at / name).exists()
        )

    @property
    def settings(self) -> Mapping[str, str]:
        """What goes into the environment of every program but ibsim."""
        return {**self.libraries, "LD_PRELOAD": str(self.preload)}

    @property
    def libraries(self) -> Mapping[str, str]:
        """What goes into the environment of all."""
        return {} if self.folder is None else {"LD_LIBRARY_PATH": str(self.preload.parents[1])}


async def find_programs(progress: Progress) -> Programs:
    """
    Find them, or fetch them (1 MB) into the cache.

    Raises:
        UsageError: they are not here, and this is no Debian that could lend them; the hint installs them.
    """
    libraries = Path("/usr/lib") / f"{platform.machine()}-linux-gnu"
    if all(shutil.which(name) for name in _WANTED) and (libraries / _PRELOADED).exists():
        return Programs(None, libraries / _PRELOADED)
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None or not codename:
        raise UsageError("the InfiniBand lab needs ibsim, OpenSM and infiniband-diags", hint=_INSTALL)
    root = recipe.cache_root(os.environ, Path.home())
    target = root / f"fabric-{codename}"
    if not target.is_dir():
        progress.emit(Note("fetching ibsim and OpenSM (a few MB); kept for the next time"))
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, prefix=".fetching-") as work:
            view = PackageView(Path(work), await mirror(), (codename,))
            await view.update()
            wanted = [each for each in await view.download_with_dependencies(PACKAGES) if _is_ours(each.name)]
            for package in wanted:
                await unpack(package, Path(work) / "root")
            if not target.exists():
                (Path(work) / "root").rename(target)
    return Programs(target, target / libraries.relative_to("/") / _PRELOADED)


def _is_ours(name: str) -> bool:
    """Whether a package is one that a plain machine does not have: its C library is left alone."""
    return name.startswith((*PACKAGES, "libib", "libumad", "libosm", "libopensm", "librdmacm", "libnl", "libwrap"))
