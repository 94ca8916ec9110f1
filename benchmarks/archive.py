"""
Time and memory of reading a large must-gather: made here, 2 GB of it, most of them logs that nobody asks for.

    .venv/bin/python benchmarks/archive.py [--gigabytes 2] [--nodes 200] [--keep FOLDER]

Each form (tar.gz, tar) is opened and read by `discover`, then by `doctor`, in a process of its own, so that the peak is its
own. Both lie in a temporary folder, one at a time, unless `--keep` names one. CPU seconds, so that what else the machine does
counts for little.
"""

import argparse
import asyncio
import io
import json
import random
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from railwright import api

IMAGE = "must-gather.local.1/quay-io-openshift-release-dev-ocp-v4-0-art-dev-sha256-0123"
NAMESPACES = 60
PODS_A_NODE = 20
LOGS = 400


class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # whichever is there
    def ignore_aliases(self, _: Any) -> bool:
        return True


def dumped(value: Any) -> bytes:
    return yaml.dump(value, Dumper=Dumper, default_flow_style=False).encode()


def a_node(name: str) -> dict[str, Any]:
    labels = {f"feature.node.kubernetes.io/cpu-cpuid.F{number}": "true" for number in range(80)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {**labels, "node-role.kubernetes.io/worker": ""}, "uid": name},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kernelVersion": "5.14.0-570.el9.x86_64", "architecture": "amd64"},
            "images": [{"names": [f"quay.io/x/y@sha256:{number:064x}"], "sizeBytes": number} for number in range(50)],
        },
    }


def a_pod(namespace: str, number: int, nodes: int) -> dict[str, Any]:
    env = [{"name": f"VARIABLE_{at}", "value": f"value: {at}"} for at in range(20)]
    containers = [{"name": f"c{at}", "image": "quay.io/x/y:1", "env": env, "args": ["--a=b"]} for at in range(3)]
    statuses = [{"name": f"c{at}", "ready": True, "state": {"running": {"startedAt": "t"}}} for at in range(3)]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{number}", "namespace": namespace, "uid": f"{namespace}-{number}"},
        "spec": {"nodeName": f"worker-{number % nodes}", "containers": containers},
        "status": {"phase": "Running", "containerStatuses": statuses},
    }


def contents(gigabytes: float, nodes: int) -> Iterator[tuple[str, bytes, int]]:
    """Paths with their text, which is repeated up to a size in bytes (0: as it is)."""
    group = "cluster-scoped-resources"
    version = {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": {"name": "version"}}
    yield f"{group}/config.openshift.io/clusterversions.yaml", dumped({"apiVersion": "v1", "items": [version]}), 0
    for number in range(nodes):
        yield f"{group}/core/nodes/worker-{number}.yaml", dumped(a_node(f"worker-{number}")), 0
    for number in range(NAMESPACES):
        name = f"openshift-{number}" if number else "nvidia-gpu-operator"
        place = f"namespaces/{name}"
        pods = [a_pod(name, at, nodes) for at in range(nodes * PODS_A_NODE // NAMESPACES)]
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        yield f"{place}/{name}.yaml", dumped(namespace), 0
        yield f"{place}/core/pods.yaml", dumped({"apiVersion": "v1", "items": pods, "kind": "PodList"}), 0
    chance = random.Random(1)  # noqa: S311 - text of a made-up log
    lines = (f"2026-03-02T08:00:00Z {chance.random()} reconciled {chance.getrandbits(64):x}\n" for _ in range(20_000))
    log = "".join(lines).encode()
    each = int(gigabytes * 1e9 / (LOGS + LOGS // 4))
    for number in range(LOGS):
        pod = f"namespaces/openshift-{number % NAMESPACES}/pods/pod-{number}"
        yield f"{pod}/c0/c0/logs/current.log", log, each
    for number in range(LOGS // 4):
        yield f"audit_logs/kube-apiserver/audit-{number}.log", log, each


def repeated(text: bytes, size_bytes: int) -> Iterator[bytes]:
    while size_bytes > 0:
        yield text[:size_bytes]
        size_bytes -= len(text)


class Repeated(io.RawIOBase):
    """A file of that text."""

    def __init__(self, text: bytes, size_bytes: int) -> None:
        self._chunks, self._rest = repeated(text, size_bytes), b""

    def read(self, size: int = -1) -> bytes:
        while len(self._rest) < size and (chunk := next(self._chunks, b"")):
            self._rest += chunk
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


def make(path: Path, gigabytes: float, nodes: int) -> None:
    """Write it as a tar file, compressed by its name."""
    options: dict[str, Any] = {"compresslevel": 1} if path.suffix == ".gz" else {}
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w", **options) as tar:
        for name, text, size_bytes in contents(gigabytes, nodes):
            info = tarfile.TarInfo(f"{IMAGE}/{name}")
            info.size = size_bytes or len(text)
            tar.addfile(info, Repeated(text, info.size))  # type: ignore[arg-type]  # it is read, and nothing else


async def read(path: str) -> dict[str, float]:
    began, began_cpu = time.perf_counter(), time.process_time()
    world = await api.open_cluster(f"bundle:{path}")
    opened_cpu = time.process_time()
    snapshot = await api.discover(world)
    ended_cpu = time.process_time()
    diagnosis = (await api.diagnose(world)).diagnosis
    told, told_cpu = time.perf_counter(), time.process_time()
    await world.close()
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "open_cpu_s": round(opened_cpu - began_cpu, 1),
        "discover_cpu_s": round(ended_cpu - opened_cpu, 1),
        "doctor_cpu_s": round(told_cpu - ended_cpu, 1),
        "wall_s": round(told - began, 1),
        "peak_mib": round(peak_mib),
        "answers": len(diagnosis.findings) + len({item.rule for item in diagnosis.unknown}) + len(diagnosis.passed),
        "nodes": len(snapshot.nodes),
        "pods": len(snapshot.cluster.pods),
    }


def measured(path: Path) -> dict[str, float]:
    out = subprocess.run([sys.executable, __file__, "--read", path], capture_output=True, text=True, check=True).stdout
    found: dict[str, float] = json.loads(out)
    return {"size_mb": round(path.stat().st_size / 1e6), **found}


def room_for(folder: Path, gigabytes: float) -> None:
    """Stop before the disk is full: one file at a time lies there, and is removed before the next."""
    free_gb = shutil.disk_usage(folder).free / 1e9
    if free_gb < 2 * gigabytes:
        sys.exit(f"{folder} has {free_gb:.1f} GB free; this needs {2 * gigabytes:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="make it here, and leave it")
    parser.add_argument("--read", help="only read this one")
    wanted = parser.parse_args()
    if wanted.read:
        print(json.dumps(asyncio.run(read(wanted.read))))
        return
    figures = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = wanted.keep or Path(temporary)
        for name in ("must-gather.tar.gz", "must-gather.tar"):
            path = folder / name
            if not path.exists():
                room_for(folder, wanted.gigabytes)
                make(path, wanted.gigabytes, wanted.nodes)
            figures[name.removeprefix("must-gather.")] = measured(path)
            if not wanted.keep:
                path.unlink()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
