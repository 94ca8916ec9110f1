"""What the lab's machine is made of: archives, programs' libraries, modules in order."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from railwright.lab.rdma.cpio import Archive
from railwright.lab.rdma.elf import needed_libraries
from railwright.lab.rdma.kernel import ModuleTree, module_tree
from railwright.lab.rdma.own_code import own_file_system

PACKAGE = Path(__file__).parents[3] / "src" / "railwright"


def _entries(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Read a newc archive: name -> mode and content; knows nothing of ours."""
    found = {}
    at = 0
    while True:
        assert data[at : at + 6] == b"070701"
        numbers = [int(data[at + 6 + index * 8 : at + 14 + index * 8], 16) for index in range(13)]
        mode, size, name_size = numbers[1], numbers[6], numbers[11]
        name = data[at + 110 : at + 110 + name_size - 1].decode()
        start = -(-(at + 110 + name_size) // 4) * 4
        if name == "TRAILER!!!":
            return found
        found[name] = (mode, data[start : start + size])
        at = -(-(start + size) // 4) * 4


def test_an_archive_reads_back_with_its_folders() -> None:
    archive = Archive()
    archive.file("/usr/bin/a", b"abc", 0o755)
    archive.link("bin", "usr/bin")
    archive.file("usr/bin/a", b"second")
    found = _entries(archive.close())
    assert list(found) == ["usr", "usr/bin", "usr/bin/a", "bin"]
    assert found["usr/bin/a"] == (0o100755, b"abc")
    assert found["bin"] == (0o120777, b"usr/bin")


def test_archives_follow_one_another() -> None:
    """The kernel reads several in one file, if each begins at a multiple of four."""
    archive = Archive()
    archive.file("a", b"x")
    assert len(archive.close()) % 4 == 0


def test_needed_libraries_are_those_that_the_loader_finds() -> None:
    program = Path(sys.executable).resolve()
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    needed = needed_libraries(program)
    assert needed
    assert all(name in listed for name in needed)


def test_a_script_needs_no_library(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    assert needed_libraries(tmp_path / "script") == ()


def _module(depends: str = "", softly: str = "") -> bytes:
    soft = f"softdep=pre: {softly}\0" if softly else ""
    return f"ELF\0license=GPL\0depends={depends}\0{soft}vermagic=x\0".encode()


@pytest.fixture
def modules(tmp_path: Path) -> ModuleTree:
    texts = {
        "rdma_rxe.ko": _module("ib_core,udp_tunnel", "crc32c"),
        "ib-core.ko": _module(),
        "udp_tunnel.ko": _module(),
        "crc32c.ko": _module("libcrc"),
        "other.ko": _module(),
    }
    for name, data in texts.items():
        (tmp_path / name).write_bytes(data)
    return module_tree(tmp_path)


def test_modules_load_after_what_they_need(modules: ModuleTree) -> None:
    modules.pick(["rdma_rxe"])
    assert modules.order[-1] == "rdma_rxe"
    assert set(modules.order) == {"ib_core", "udp_tunnel", "crc32c", "rdma_rxe"}


def test_a_module_that_is_built_in_is_left_out(modules: ModuleTree) -> None:
    modules.pick(["virtio_net", "other"])
    assert modules.order == ["other"]


def test_our_own_code_inside_needs_nothing_that_is_not_there() -> None:
    """Only the standard library, `core`, `dataplane` and the agent: nothing else is in the machine."""
    names = set(_entries(own_file_system(PACKAGE)))
    root = "usr/lib/railwright/railwright"
    assert f"{root}/lab/rdma/guest/agent.py" in names
    assert f"{root}/dataplane/verbs/engine.py" in names
    assert not any(
        name.startswith(f"{root}/{other}") for name in names for other in ("verify", "facts", "ports", "api")
    )


def test_what_runs_inside_finds_all_that_it_imports_of_ours() -> None:
    files = {
        name: data.decode() for name, (_, data) in _entries(own_file_system(PACKAGE)).items() if name.endswith(".py")
    }
    imported = {
        found
        for text in files.values()
        for found in re.findall(r"^\s*from (railwright[\w.]*) import", text, re.MULTILINE)
    }
    assert "railwright.core.ids" in imported
    for module in imported:
        place = f"usr/lib/railwright/{module.replace('.', '/')}"
        assert {f"{place}.py", f"{place}/__init__.py"} & set(files), module
