"""`railwright lab` where something is missing or wrong: said before anything is started."""

from pathlib import Path

import pytest

from railwright.cli.app import main
from railwright.lab.rdma import tools


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAILWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tools, "has_own_soft_roce", lambda: False)


def test_missing_tools_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["lab", "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "qemu-system-x86_64 is missing: dnf install" in said


def test_debian_is_told_its_own_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.shutil, "which", lambda name: None if "qemu" in name else f"/bin/{name}")
    assert "apt-get install --no-install-recommends qemu-system-x86" in tools.why_no_machine(build_needed=True)


def test_another_processor_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.platform, "machine", lambda: "aarch64")
    assert "aarch64" in tools.why_no_machine(build_needed=False)


def test_a_built_machine_needs_no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.shutil, "which", lambda name: "/bin/qemu" if "qemu" in name else None)
    monkeypatch.setattr(tools.platform, "machine", lambda: "x86_64")
    assert tools.why_no_machine(build_needed=False) == ""
    assert "dpkg-deb" in tools.why_no_machine(build_needed=True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--fault", "rain"], "one of: loss, mtu"),
        (["--families", "magic"], "no family is named 'magic'"),
        (["fabric", "--fault", "loss"], "one of: pkey"),
        (["shell", "true"], "railwright lab up"),
        (["up", "--fault", "rain"], "one of: loss, mtu"),
        (["--fault", "mtu", "--method", "sriov"], "--method shared"),
        (["--fault", "swapped-rails", "--rails", "1"], "--rails 2"),
        (["--nodes", "1"], "--nodes 2 to 64"),
        (["--rails", "0"], "--rails 1 to 8"),
        (["--rails", "9"], "--rails 9 is too many"),
        (["fabric", "--nodes", "1"], "--nodes 2 to 64"),
        (["fabric", "--method", "sriov"], "lab fabric has no use for --method"),
        (["down", "--fault", "loss"], "lab down takes no options"),
        (["status", "-o", "json"], "has no use for --output"),
        (["up", "--to", "somewhere"], "has no use for --to"),
        (["run", "true"], "has no use for command"),
        (["--cluster", "sim:vanilla"], "has no use for --cluster"),
        (["cluster", "shell", "node-1", "true"], "no virtual cluster is up"),
        (["cluster", "shell"], "NODE requires an argument"),
        (["cluster", "up", "--nodes", "1"], "--nodes 2 to 64"),
        (["cluster", "up", "--rails", "5"], "--rails 4 or fewer"),
        (["cluster", "up", "--fault", "loss"], "--fault"),
    ],
)
def test_wrong_use_is_said_with_what_there_is(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", *arguments, "--quiet"]) == 2
    assert says in capsys.readouterr().err


def test_nothing_up_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "status"]) == 0
    assert main(["lab", "down"]) == 0
    assert capsys.readouterr().out.count("no lab is up") == 2


@pytest.mark.parametrize(("version", "has_igb"), [((7, 2), False), ((8, 0), True), ((10, 0), True)])
def test_a_nic_with_vfs_came_with_qemu_8(version: tuple[int, int], has_igb: bool) -> None:
    assert tools.Emulator(("qemu",), version).has_igb is has_igb
