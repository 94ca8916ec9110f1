"""
The real kube-scheduler, and KWOK, which says of pods on made-up nodes that they run: nothing is behind them.

Measured: flags, with kube-scheduler 1.36.3, KWOK 0.8.0 and kube-apiserver 1.36.3, 2026-11.
"""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject
from railwright.lab.controlplane.nodes import node_object
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.processes import Started, free_ports, must_run, start, stop
from railwright.lab.controlplane.programs import Files, Program

SCHEDULER_PROGRAMS = (Program("kubernetes", "kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),)
KWOK_PROGRAMS = (
    Program("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    Files("kwok", "kustomize", "sigs.k8s.io/kwok"),
)
"""KWOK, and the stages that it publishes: what a node and a pod go through."""
WORKLOAD_CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "daemonset-controller",
    "job-controller",
    "node-lifecycle-controller",
)
"""Of kube-controller-manager: who makes the pods that are scheduled, and takes the taint off a node that is ready."""
KWOK_MARK = {"kwok.x-k8s.io/node": "fake"}
"""The annotation of nodes on which KWOK runs the pods."""
_LEASE_S = 40
"""KWOK renews the lease of its nodes; without one a node is taken for gone."""
_STAGES = (
    "node/fast/node-initialize.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/general/pod-complete.yaml",
    "pod/fast/pod-delete.yaml",
)


def kwok_node(name: NodeName) -> KubeObject:
    """Make a worker on which KWOK runs the pods."""
    node = node_object(name)
    return {**node, "metadata": {**node["metadata"], "annotations": dict(KWOK_MARK)}}


@asynccontextmanager
async def running_scheduler(programs: Path, plane: Plane) -> AsyncIterator[Started]:
    """Run the scheduler for the length of a block; `programs` as ensure_programs gave it for SCHEDULER_PROGRAMS."""
    with tempfile.TemporaryDirectory(prefix="railwright-scheduler-") as work:
        arguments = [
            f"--kubeconfig={plane.kubeconfig}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
            f"--secure-port={free_ports(1)[0]}",
            f"--cert-dir={work}",
        ]
        async with _running("kube-scheduler", [str(programs / "kube-scheduler"), *arguments], Path(work)) as started:
            yield started


@asynccontextmanager
async def running_kwok(programs: Path, plane: Plane) -> AsyncIterator[Started]:
    """Run KWOK for the length of a block; `programs` as ensure_programs gave it for KWOK_PROGRAMS."""
    with tempfile.TemporaryDirectory(prefix="railwright-kwok-") as work:
        arguments = [
            f"--kubeconfig={plane.kubeconfig}",
            "--manage-all-nodes=false",
            *(f"--manage-nodes-with-annotation-selector={key}={value}" for key, value in KWOK_MARK.items()),
            f"--node-lease-duration-seconds={_LEASE_S}",
            *(f"--config={programs / 'kustomize' / 'stage' / stage}" for stage in _STAGES),
        ]
        async with _running("kwok", [str(programs / "kwok"), *arguments], Path(work)) as started:
            yield started


@asynccontextmanager
async def _running(name: str, argv: list[str], work: Path) -> AsyncIterator[Started]:
    """
    Run one program for the length of a block.

    Raises:
        ClusterUnreachable: it had ended by itself; the end of its log is in the message.
    """
    started = await start(name, argv, work)
    try:
        yield started
        must_run(started)
    finally:
        await stop([started])
