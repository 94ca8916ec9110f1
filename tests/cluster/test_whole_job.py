"""
The whole job on a bare virtual cluster: plan, apply, verify with real bytes, status, clean; nothing is left over.

Real here: the control plane, kubelets, containerd, Multus, CNI, the shared device plugin, verbs. Played, and the results
say so: operators, drivers, GPUs, and the NICs' silicon.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.cluster_state import State, differences, read_state
from support.uncovered import record

from railwright.lab.rdma.tools import why_no_machine

pytestmark = pytest.mark.cluster
EXAMPLES = Path(__file__).parents[2] / "examples" / "virtual-cluster"
UP_LIMIT_S, STEP_LIMIT_S, NODE_LIMIT_S = 5400, 2700, 300
STAYS = (
    *(
        "new: Namespace /railwright",
        "new: ConfigMap railwright/",
        "new: ServiceAccount railwright/",
        "new: Lease railwright/",
    ),
    *("new: IPPool ", ".metadata.labels.feature.node.kubernetes.io/", ".metadata.labels.nvidia.com/"),
    *(".metadata.labels.network.nvidia.com/", ".metadata.labels.sriovnetwork.openshift.io/", ".metadata.annotations"),
)
"""Our own namespace, the pools of addresses that whereabouts keeps, and what operators wrote on nodes: clean names it."""
PLAYED = "VIRTUAL CLUSTER"
FABRICS = {"shared": "fabric.yaml", "host-device": "fabric.yaml", "sriov": "fabric-sriov.yaml"}
"""Method -> its example: an emulated port makes fewer virtual functions than railwright's default."""


def railwright(*argv: str, kubeconfig: str = "", folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    more = {"KUBECONFIG": kubeconfig} if kubeconfig else {}
    return subprocess.run(
        [sys.executable, "-m", "railwright", *argv],
        cwd=folder,
        env={**os.environ, "RAILWRIGHT_NODE_TIMEOUT_S": str(NODE_LIMIT_S), **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=max(UP_LIMIT_S, STEP_LIMIT_S),
    )


@dataclass(frozen=True)
class Bare:
    """A bare virtual cluster, and the folder in which commands run."""

    kubeconfig: str
    folder: Path

    def does(self, *argv: str) -> str:
        """Run a command of railwright that must succeed."""
        done = railwright(*argv, kubeconfig=self.kubeconfig, folder=self.folder)
        assert done.returncode == 0, f"{argv} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def kubectl(self, *argv: str) -> str:
        """Ask the API server."""
        return subprocess.run(
            ["kubectl", "--kubeconfig", self.kubeconfig, *argv], capture_output=True, text=True, check=True
        ).stdout

    def state(self) -> State:
        """Read everything that is stored, but what comes and goes by itself."""
        return read_state(Path(self.kubeconfig))

    def own_labels(self) -> list[str]:
        """Name our labels on nodes; those of operators stay, and clean says which."""
        nodes = json.loads(self.kubectl("get", "nodes", "-o", "json"))["items"]
        return [label for node in nodes for label in node["metadata"]["labels"] if "railwright.dev/" in label]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bare]:
    missing = why_no_machine(build_needed=True)
    if missing:
        record("the whole job on the virtual cluster", missing)
        pytest.skip(missing)
    started = railwright("lab", "cluster", "up", "--bare")
    assert started.returncode == 0, started.stderr
    kubeconfig = railwright("lab", "cluster", "kubeconfig").stdout.strip()
    yield Bare(kubeconfig, tmp_path_factory.mktemp("whole-job"))
    assert railwright("lab", "cluster", "down").returncode == 0


@pytest.mark.parametrize("method", FABRICS)
def test_a_bare_cluster_is_brought_to_proven_bytes_and_back(bare: Bare, method: str) -> None:
    wanted = wanted_of(method)
    before = bare.state()
    assert PLAYED in bare.does("plan", *wanted)
    bare.does("apply", *wanted, "--yes", "--skip-verify")
    said = bare.does("verify", *wanted, "--quick", "--yes")
    assert PLAYED in said
    bare.does("status", *wanted)
    bare.does("clean", "--yes")
    assert left(before, bare) == []


def test_one_method_after_the_other_leaves_nothing_of_the_one_before(bare: Bare) -> None:
    before = bare.state()
    for method in (*FABRICS, "shared"):
        wanted = wanted_of(method)
        bare.does("apply", *wanted, "--yes", "--skip-verify")
        bare.does("verify", *wanted, "--quick", "--yes")
    bare.does("clean", "--yes")
    assert left(before, bare) == []


def wanted_of(method: str) -> tuple[str, ...]:
    """Give the options that say what is wanted."""
    return ("-f", str(EXAMPLES / FABRICS[method]), "--method", method)


def left(before: State, bare: Bare) -> list[str]:
    """Name what is not as it was before, but for what stays and is said to."""
    found = [line for line in differences(before, bare.state()) if not any(word in line for word in STAYS)]
    return found + bare.own_labels()
