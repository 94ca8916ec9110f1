"""Pick programs out of unpacked packages, each with the libraries that it wants, as the files of a container image."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from railwright.lab.rdma.elf import needed_libraries

_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_LOADER = "ld-linux-x86-64.so.2"
_PLACES = ("usr/bin", "usr/sbin")
PROGRAMS = (
    *(
        "dash",
        "busybox",
        "cat",
        "chroot",
        "env",
        "grep",
        "id",
        "ls",
        "mkdir",
        "rm",
        "sed",
        "sh",
        "sleep",
        "timeout",
        "true",
    ),
    *("ibv_devices", "ibv_devinfo", "ib_write_bw", "ib_read_bw", "ib_send_bw", "ib_write_lat", "ib_read_lat"),
    *("ib_send_lat", "rping", "ip", "rdma", "ss", "tc", "ethtool", "nsenter", "ping", "python3", "readlink"),
)
"""What pods for verification and for a person's own tries find."""
_LEFT_OUT_OF_PYTHON = frozenset(
    {"test", "idlelib", "tkinter", "turtledemo", "ensurepip", "pydoc_data", "__phello__", "_pyrepl", "venv", "sqlite3"}
)


def image_files(root: Path, programs: Sequence[str] = PROGRAMS) -> dict[str, Path]:
    """
    Give the files of an image with these programs, soft-RoCE's verbs provider, and Python's library.

    Raises:
        FileNotFoundError: no package holds a program.
    """
    found: dict[str, Path] = {}
    for program in programs:
        place = next((f"{folder}/{program}" for folder in _PLACES if os.path.lexists(root / folder / program)), None)
        if place is None:
            raise FileNotFoundError(f"{program} is in none of the packages of the recipe")
        _add(root, place, found)
    for library in (_LOADER, "libgcc_s.so.1", "libibverbs.so.1", "librdmacm.so.1"):
        _add(root, f"{_LIBRARIES}/{library}", found)
    for provider in (root / _LIBRARIES / "libibverbs").glob("librxe-rdmav*.so"):
        _add(root, provider.relative_to(root).as_posix(), found)
    for file in _python_library(root):
        _add(root, file, found)
    for name in ("etc/libibverbs.d/rxe.driver", "etc/passwd", "etc/group"):
        found[name] = root / name
    for name in ("bin", "sbin", "lib", "lib64"):
        found[name] = root / name
    found["usr/lib64/" + _LOADER] = root / _LIBRARIES / _LOADER
    return found


def _add(root: Path, name: str, found: dict[str, Path]) -> None:
    """Add one file, what it links to, and the libraries that it needs."""
    path = root / name
    if name in found or not os.path.lexists(path):
        return
    found[name] = path
    if path.is_symlink():
        target = path.parent / path.readlink()
        if target.resolve().is_relative_to(root.resolve()):
            _add(root, os.path.normpath(target.relative_to(root)), found)
        return
    if os.access(path, os.X_OK) or ".so" in path.name:
        for library in needed_libraries(path):
            _add(root, f"{_LIBRARIES}/{library}", found)


def _python_library(root: Path) -> Iterator[str]:
    """Name the files of Python's own library; compiled ones stand for their sources."""
    library = next(path for path in (root / "usr/lib").glob("python3.*") if path.is_dir())
    for path in sorted(library.rglob("*")):
        parts = path.relative_to(library).parts
        is_source = path.suffix == ".py" and path.with_suffix(".pyc").exists()
        if parts[0] in _LEFT_OUT_OF_PYTHON or parts[0].startswith("config-3") or "__pycache__" in parts or is_source:
            continue
        if path.is_file():
            yield path.relative_to(root).as_posix()
