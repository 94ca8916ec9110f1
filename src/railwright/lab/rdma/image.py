"""The machine's first file system, put together from unpacked packages; own_code.py has the small second one."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from railwright.lab.rdma.cpio import Archive
from railwright.lab.rdma.elf import needed_libraries
from railwright.lab.rdma.kernel import ModuleTree
from railwright.lab.rdma.recipe import PROGRAMS

_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_PROVIDERS = "usr/lib/x86_64-linux-gnu/libibverbs"
_LOADER = "ld-linux-x86-64.so.2"
_FOLDERS = ("proc", "sys", "dev", "tmp", "run", "etc", "root", "var/run", "usr/bin", "usr/sbin", "usr/lib64")
_LEFT_OUT_OF_PYTHON = re.compile(
    r"^(test|idlelib|tkinter|turtledemo|ensurepip|pydoc_data|config-3.*|__phello__|_pyrepl|venv|dbm|sqlite3|curses|unittest)$"
)
_COMPILE_LIMIT_S = 120.0


class _Userland:
    """Copies programs of an unpacked system into an archive, each with the libraries that it wants."""

    def __init__(self, archive: Archive, root: Path) -> None:
        self._archive = archive
        self._root = root

    def file(self, name: str) -> None:
        """Add one file, what it links to, and the libraries that it needs."""
        path = self._root / name
        self._archive.path(path, name)
        while path.is_symlink():
            path = path.parent / path.readlink()
            self._archive.path(path, path.resolve().relative_to(self._root.resolve()).as_posix())
        for library in needed_libraries(path):
            self.library(library)

    def library(self, name: str) -> None:
        """Add a library once."""
        place = f"{_LIBRARIES}/{name}"
        if not self._archive.holds(place) and (self._root / place).exists():
            self.file(place)

    def program(self, name: str) -> None:
        """Add a program. Raises FileNotFoundError: the packages do not hold it."""
        places = (f"{folder}/{name}" for folder in ("usr/bin", "usr/sbin", "bin", "sbin"))
        place = next((place for place in places if (self._root / place).exists()), None)
        if place is None:
            raise FileNotFoundError(f"{name} is in none of the packages of the recipe")
        self.file(place)

    def python(self) -> None:
        """Add Python's own library, compiled only."""
        library = next((self._root / "usr/lib").glob("python3.*"))
        for path in _files_below(library):
            relative = path.relative_to(library)
            compiled = path.with_suffix(".pyc").exists() and path.suffix == ".py"
            if (
                not _LEFT_OUT_OF_PYTHON.match(relative.parts[0])
                and not compiled
                and "__pycache__" not in relative.parts
            ):
                self._archive.path(path, f"usr/lib/{library.name}/{relative.as_posix()}")
                if path.suffix == ".so":
                    for wanted in needed_libraries(path):
                        self.library(wanted)


def first_file_system(root: Path, modules: ModuleTree, init: bytes) -> bytes:
    """Put together everything but our own code; `modules` are those picked."""
    archive = Archive()
    for folder in _FOLDERS:
        archive.folder(folder)
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.link(name, f"usr/{name}")
    archive.device("dev/console", 5, 1)
    archive.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000::/:/bin/sh\n")
    for name in modules.order:
        archive.file(f"usr/lib/mod/{name}.ko", modules.contents[name])
    archive.file("usr/lib/mod/order", "\n".join(modules.order).encode() + b"\n")
    userland = _Userland(archive, root)
    userland.file(f"{_LIBRARIES}/{_LOADER}")
    archive.link(f"usr/lib64/{_LOADER}", f"../lib/x86_64-linux-gnu/{_LOADER}")
    userland.program("busybox")
    archive.link("usr/bin/sh", "dash")
    for program in PROGRAMS:
        userland.program(program)
    for library in ("libgcc_s.so.1", "libibverbs.so.1", "librdmacm.so.1"):
        userland.library(library)
    for provider in (root / _PROVIDERS).glob("librxe-rdmav*.so"):
        userland.file(provider.relative_to(root).as_posix())
    archive.path(root / "etc/libibverbs.d/rxe.driver", "etc/libibverbs.d/rxe.driver")
    userland.python()
    archive.file("init", init, 0o755)
    return archive.close()


def compile_python(root: Path) -> None:
    """Compile Python's library with the Python that will read it: the emulated processor is slow at it."""
    libraries = root / _LIBRARIES
    python = next((root / "usr/bin").glob("python3.*"))
    subprocess.run(
        [
            *(str(libraries / _LOADER), "--library-path", str(libraries), str(python)),
            *("-S", "-E", "-m", "compileall", "-b", "-q", "-x", "/(test|idlelib|tkinter|lib2to3)/"),
            str(next((root / "usr/lib").glob("python3.*"))),
        ],
        env={"PYTHONHOME": str(root / "usr")},
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_COMPILE_LIMIT_S,
    )


def _files_below(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    else:
        yield from sorted(each for each in path.rglob("*") if each.is_file() or each.is_symlink())
