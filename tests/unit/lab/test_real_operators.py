"""What the runners of real operators decide before anything is started."""

from pathlib import Path

import pytest

from railwright.core.ids import NetDevice, NodeName, PciAddress, RdmaDevice
from railwright.lab.controlplane import sriov
from railwright.lab.controlplane.nfd import make_host, os_release
from railwright.lab.controlplane.pods import kwok_node
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
