"""The image recipe: what it copies is there, what it fetches is locked, and nothing is fetched when it runs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from support.uncovered import record

FOLDER = Path(__file__).resolve().parents[2] / "images" / "probe"
STEPS = re.sub(r"\\\n", " ", (FOLDER / "Containerfile").read_text()).splitlines()
REQUIREMENTS = (FOLDER / "requirements.txt").read_text()
FETCHES = re.compile(r"\b(curl|wget|git clone)\b|https?://|^ADD\b")


def test_every_file_that_it_copies_is_there_or_made_by_the_command_of_its_readme() -> None:
    copied = {
        word for step in STEPS if step.startswith("COPY ") and "--from" not in step for word in step.split()[1:-1]
    }
    assert copied == {"requirements.txt", "stub-of-libcuda.sh", "*.whl"}
    assert [name for name in copied if "*" not in name and not (FOLDER / name).is_file()] == []
    assert "pip wheel --no-deps --wheel-dir images/probe ." in (FOLDER / "README.md").read_text()


def test_packages_come_from_package_managers_and_python_packages_with_hashes() -> None:
    assert [step for step in STEPS if FETCHES.search(step)] == []
    installs = [part for step in STEPS for part in step.split(";") if "pip install" in part]
    assert installs
    assert [part for part in installs if "--require-hashes" not in part and "--no-index" not in part] == []


def test_every_requirement_that_is_asked_for_is_locked() -> None:
    asked = (FOLDER / "requirements.in").read_text().split()
    locked = dict(
        re.findall(r"^(\S+)==\S+ \\\n((?:\s+--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", REQUIREMENTS, re.MULTILINE)
    )
    assert set(asked) == set(locked)
    assert REQUIREMENTS.count("==") == len(locked)


def test_the_stub_has_the_names_that_the_header_makes_of_what_perftest_calls(tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        record("the image recipe's stub of CUDA's library", "no C compiler here")
        pytest.skip("no C compiler here")
    (tmp_path / "src").mkdir()
    (tmp_path / "configure.ac").touch()
    (tmp_path / "cuda.h").write_text("#define cuMemAlloc cuMemAlloc_v2\n")
    (tmp_path / "src" / "memory.c").write_text("int f(void) { return cuInit(0) + cuMemAlloc(0, 0) + cuda_other(); }\n")
    subprocess.run(["sh", FOLDER / "stub-of-libcuda.sh", tmp_path / "src", tmp_path, tmp_path / "stubs"], check=True)
    made = re.findall(r"^void (\w+)\(void\)", (tmp_path / "stubs" / "stub.c").read_text(), re.MULTILINE)
    assert made == ["cuInit", "cuMemAlloc_v2", "cuMemGetHandleForAddressRange", "cuMemRetainAllocationHandle"]
    (tmp_path / "main.c").write_text("int cuInit(void);\nint main(void) { return cuInit(); }\n")
    linked = ["cc", tmp_path / "main.c", f"-L{tmp_path / 'stubs'}", "-lcuda", "-o", tmp_path / "program"]
    subprocess.run(linked, check=True)
