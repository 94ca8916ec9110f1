"""Snapshot of 5,000 nodes and 10,000 pods from a real kube-apiserver: seconds and memory of `discover` in its own process."""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from railwright.adapters.live import open_live
from railwright.core.kinds import NODE, POD
from railwright.core.objects import KubeObject, Ref, ref_of
from railwright.facts.discover import discover
from railwright.facts.model import Scope
from railwright.lab.controlplane.plane import running_plane
from railwright.lab.controlplane.programs import Unavailable, ensure_programs
from railwright.ports.progress import Silent

NODES, PODS = 5_000, 10_000
_AT_ONCE = 32
# Sizes as on clusters in use: a node of about 15 kB (mostly its list of images), a pod of about 6 kB.
_IMAGES = [
    {"names": [f"registry.invalid/some/image-{number}@sha256:{'0' * 64}"], "sizeBytes": 1} for number in range(90)
]
_PADDING = "x" * 5_000


async def measure() -> dict[str, Any]:
    """Fill an API server and read it in a fresh process."""
    programs = await ensure_programs(Silent())
    if isinstance(programs, Unavailable):
        return {"not_covered": programs.reason}
    async with running_plane(programs) as plane:
        await _fill(plane.client())
        told = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, Path(__file__), "read"],
            env={**os.environ, "KUBECONFIG": str(plane.kubeconfig)},
            check=True,
            capture_output=True,
            text=True,
        )
        found: dict[str, Any] = json.loads(told.stdout)
        return found


async def _fill(client: Any) -> None:
    limit = asyncio.Semaphore(_AT_ONCE)

    async def make(obj: KubeObject, status: KubeObject) -> None:
        async with limit:
            ref: Ref = ref_of(obj)
            await client.create(obj, ref)
            await client.merge(ref, {"status": status}, status=True)

    await asyncio.gather(*(make(*_node(number)) for number in range(NODES)))
    await asyncio.gather(*(make(*_pod(number)) for number in range(PODS)))
    await client.close()


def _node(number: int) -> tuple[KubeObject, KubeObject]:
    name = f"node-{number:04d}"
    labels = {"kubernetes.io/hostname": name, "node-role.kubernetes.io/worker": ""}
    node = {"apiVersion": NODE.api_version, "kind": NODE.kind, "metadata": {"name": name, "labels": labels}}
    offered = {"cpu": "128", "memory": "2Ti", "pods": "250", "nvidia.com/gpu": "8"}
    return node, {
        "images": _IMAGES,
        "allocatable": offered,
        "capacity": offered,
        "conditions": [{"type": "Ready", "status": "True"}],
    }


def _pod(number: int) -> tuple[KubeObject, KubeObject]:
    requests = {"nvidia.com/gpu": "1"} if number % 4 == 0 else {"cpu": "1"}
    pod = {
        "apiVersion": POD.api_version,
        "kind": POD.kind,
        "metadata": {"name": f"pod-{number:05d}", "namespace": "default", "annotations": {"padding": _PADDING}},
        "spec": {
            "nodeName": f"node-{number % NODES:04d}",
            "containers": [{"name": "main", "image": "x", "resources": {"requests": requests, "limits": requests}}],
        },
    }
    return pod, {"phase": "Running"}


async def read() -> dict[str, Any]:
    """Take the snapshot."""
    world = open_live(None)
    began = time.perf_counter()
    snapshot = await discover(world.cluster, world.node, Scope(hardware=False), Silent(), world.clock)
    return {
        "seconds": round(time.perf_counter() - began, 2),
        "cpu_seconds": round(time.process_time(), 2),
        "nodes": len(snapshot.nodes),
        "pods": len(snapshot.cluster.pods),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(read() if sys.argv[1:] == ["read"] else measure())))
