"""What the runners of real operators decide before anything is started."""

import shutil
import signal
from pathlib import Path

import pytest
from support.soon import soon

from railwright.core.ids import NetDevice, NodeName, PciAddress, RdmaDevice
from railwright.lab.controlplane import olm, sriov
from railwright.lab.controlplane.nfd import make_host, os_release
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.pods import kwok_node
from railwright.lab.controlplane.processes import stop
from railwright.lab.controlplane.programs import Unavailable
from railwright.ports.progress import Silent
from railwright.standins.model import NodeDevices, Port

PORT = Port(
    PciAddress("0000:18:00.0"),
    NetDevice("ibp24s0"),
    RdmaDevice("mlx5_0"),
    "15b3",
    "1021",
    "infiniband",
    16,
    "a0:88:c2:00:00:10",
    2044,
    400000,
)


async def test_where_no_namespace_can_be_made_the_sriov_operator_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sriov, "why_no_namespace", lambda: "a network namespace needs root")
    monkeypatch.setattr(sriov, "ensure_programs", lambda *_: pytest.fail("asked for programs"))
    answer = await sriov.ensure_sriov(Silent())
    assert isinstance(answer, Unavailable)
    assert answer.reason.endswith("a network namespace needs root")


def test_a_made_up_host_shows_its_ports_and_gpus_as_the_kernel_would(tmp_path: Path) -> None:
    make_host(tmp_path, NodeDevices(2, (PORT,)), "Red Hat Enterprise Linux CoreOS 9.6.20251106-0")
    devices = tmp_path / "sys" / "bus" / "pci" / "devices"
    port = {file.name: file.read_text().strip() for file in (devices / "0000:18:00.0").iterdir()}
    assert (port["class"], port["vendor"], port["sriov_totalvfs"]) == ("0x020700", "0x15b3", "16")
    classes = sorted((folder / "class").read_text().strip() for folder in devices.iterdir())
    assert classes == ["0x020700", "0x030200", "0x030200"]


@pytest.mark.parametrize(
    ("image", "name", "version"),
    [
        ("Red Hat Enterprise Linux CoreOS 9.6.20251106-0 (Plow)", "rhel", "9.6"),
        ("Ubuntu 24.04.1 LTS", "ubuntu", "24.04"),
    ],
)
def test_os_release_is_spelt_from_what_the_node_says(image: str, name: str, version: str) -> None:
    assert f'ID="{name}"\nVERSION_ID="{version}"\n' in os_release(image)


def test_coreos_names_its_build() -> None:
    """The field that NFD of OpenShift makes a label of, which a gate waits for."""
    assert 'OSTREE_VERSION="9.6.20251106-0"\n' in os_release("Red Hat Enterprise Linux CoreOS 9.6.20251106-0 (Plow)")
    assert "OSTREE_VERSION" not in os_release("Ubuntu 24.04.1 LTS")


def test_kwok_is_told_which_nodes_are_its_own() -> None:
    assert kwok_node(NodeName("n"))["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}


async def test_a_killed_program_of_olm_is_started_again_and_a_killed_sriov_operator_is_let_go(tmp_path: Path) -> None:
    """With programs that only sleep: who follows them is what is looked at here."""
    sleeping = Path(shutil.which("sleep") or "/bin/sleep")
    plane = Plane("https://127.0.0.1:1", "token", tmp_path / "kubeconfig", ())
    client, started = plane.client(), []
    job = olm._Job(sleeping.parent, plane, tmp_path, (), client, started)
    try:
        await job.start("olm", sleeping.name, "60")
        await job.start("catalog-x", sleeping.name, "60")
        async with olm._kept_running(job) as restarts:
            first = started[0].process.pid
            running = olm.Olm(started, restarts)
            running.kill_operators()

            async def restarted() -> list[str]:
                return list(restarts)

            assert await soon(restarted, bool) == ["olm"]
            assert (started[0].process.pid != first, len(started)) == (True, 2)
        processes = sriov.SriovProcesses(operator=started[0])
        processes.kill_operator()
        assert (processes.operator, await started[0].process.wait()) == (None, -signal.SIGKILL)
        processes.kill_operator()
    finally:
        await stop(started)
        await client.close()
