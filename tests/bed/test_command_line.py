"""The command line against a real API server, through a kubeconfig file as a person has it."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.bed_world import bed_of

from railwright.core.kinds import NAMESPACE
from railwright.core.objects import FIELD_MANAGER
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.processes import free_ports

pytestmark = pytest.mark.bed
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: shared, fabric: roce, workloadNamespaces: [training]}
"""


@dataclass(frozen=True)
class Ended:
    exit_code: int
    out: str
    err: str


async def railwright(kubeconfig: Path, *arguments: str) -> Ended:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "railwright",
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"KUBECONFIG": str(kubeconfig), "HOME": "/nonexistent", "COLUMNS": "120"},
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


@pytest.fixture
async def kubeconfig(plane: Plane) -> AsyncIterator[Path]:
    """A cluster with GPU servers on which no kubelet answers, so that no node can be read."""
    async with bed_of(plane, "h200-roce"):
        yield plane.kubeconfig


@pytest.fixture
def rails(tmp_path: Path) -> str:
    (tmp_path / "rails.yaml").write_text(RAILS)
    return str(tmp_path / "rails.yaml")


async def test_discover_shows_the_cluster_and_says_of_each_node_that_it_was_not_read(kubeconfig: Path) -> None:
    shown = await railwright(kubeconfig, "discover")
    assert shown.exit_code == 6
    assert "OpenShift 4.20.4" in shown.out
    assert shown.out.count("its inside could not be read: ") == 5
    facts = json.loads((await railwright(kubeconfig, "discover", "-o", "json")).out)
    assert (facts["simulated"], facts["facts"]["platform"], facts["facts"]["topology"]) == (
        False,
        "openshift",
        "standard",
    )


async def test_what_was_not_read_is_neither_planned_nor_touched(kubeconfig: Path, rails: str, plane: Plane) -> None:
    planned = await railwright(kubeconfig, "plan", "-f", rails)
    applied = await railwright(kubeconfig, "apply", "-f", rails, "--yes", "--skip-verify")
    assert (planned.exit_code, applied.exit_code) == (7, 7)
    for text in (planned.out, applied.err):
        assert "no-node-admitted" in text
        assert text.count("the inside of worker-") == 2
    client = plane.client()
    try:
        assert FIELD_MANAGER not in {obj["metadata"]["name"] for obj in (await client.list(NAMESPACE))[0]}
    finally:
        await client.close()
    assert (await railwright(kubeconfig, "status")).exit_code == 0
    assert (await railwright(kubeconfig, "clean", "--yes")).out == "clean of nothing: nothing to undo\n"


async def test_a_server_that_is_not_there_is_named(tmp_path: Path, plane: Plane) -> None:
    nobody = json.loads(plane.kubeconfig.read_text())
    nobody["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{free_ports(1)[0]}"
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(nobody))
    ended = await railwright(file, "discover")
    assert ended.exit_code == 3
    assert nobody["clusters"][0]["cluster"]["server"] in ended.err
