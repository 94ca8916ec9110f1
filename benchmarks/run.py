"""
Print the figures that are promised and can be measured: each in its own process, median of several runs.

`python benchmarks/run.py` runs all; `python benchmarks/run.py NAME` one of them, in this process.
"""

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from railwright import api
from railwright.catalog.load import load_catalog
from railwright.core.ids import NodeName
from railwright.facts.model import NodeFacts, Snapshot
from railwright.manifests.render import render
from railwright.plan.plan import plan

RAILWRIGHT = [sys.executable, "-m", "railwright"]
BUDGETS = {
    "help": "0.20 s",
    "demo": "5 s",
    "plan_1000_nodes": "1 s, 300 MB",
    "snapshot_5000_nodes": "5 s, 250 MB",
    "doctor_1000_nodes": "3 s",
    "archive_2_gb": "150 MiB",
}
_RAILS = """
apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: sriov, fabric: roce, workloadNamespaces: [training]}
"""
_NODES = 1000


Figures = dict[str, float] | dict[str, dict[str, float]]


def process(arguments: list[str], runs: int) -> dict[str, float]:
    """Wall time of a whole process, in seconds."""
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run([*RAILWRIGHT, *arguments], check=True, capture_output=True)
        seconds.append(time.perf_counter() - began)
    return {"median_s": round(statistics.median(seconds), 3), "min_s": round(min(seconds), 3)}


def help_() -> dict[str, float]:
    """`railwright --help`."""
    return process(["--help"], 9)


def demo() -> dict[str, float]:
    """`railwright demo` of one configuration."""
    return process(["demo", "-o", "json"], 3)


def plan_1000_nodes() -> dict[str, float]:
    """Plan and render for 1,000 nodes with 8 rails each, two unlike groups."""
    snapshot = asyncio.run(_many_nodes())
    intents, catalog = api.parse_intents(_RAILS), load_catalog()
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        decided = plan(intents, snapshot, catalog)
        render(decided)
        seconds.append(time.perf_counter() - began)
    return {
        "median_s": round(statistics.median(seconds), 3),
        "admitted_nodes": len(decided.admitted),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


async def _many_nodes() -> Snapshot:
    world = await api.open_cluster("sim:mixed")
    snapshot = await api.discover(world)
    workers = [node for node in snapshot.nodes if node.hardware and node.hardware.gpus]
    copies: list[NodeFacts] = [
        replace(workers[number % len(workers)], name=NodeName(f"gpu-{number:04d}")) for number in range(_NODES)
    ]
    pools = tuple(
        replace(pool, nodes=tuple(node.name for node in copies)) if pool.name == "worker" else pool
        for pool in snapshot.cluster.pools
    )
    return replace(snapshot, nodes=tuple(copies), cluster=replace(snapshot.cluster, pools=pools))


def snapshot_5000_nodes() -> dict[str, float]:
    """Read 5,000 nodes and 10,000 pods from a real kube-apiserver."""
    told = subprocess.run(
        [sys.executable, Path(__file__).with_name("snapshot.py")], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(told.stdout)
    return found


def doctor_1000_nodes() -> dict[str, float]:
    """Ask every rule of the doctor about 1,000 nodes."""
    told = subprocess.run(
        [sys.executable, Path(__file__).with_name("doctor.py")], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(told.stdout)
    return found


def archive_2_gb() -> dict[str, dict[str, float]]:
    """Open a must-gather of 2 GB, as tar.gz and as tar, discover and diagnose."""
    told = subprocess.run(
        [sys.executable, Path(__file__).with_name("archive.py")], check=True, capture_output=True, text=True
    )
    found: dict[str, dict[str, float]] = json.loads(told.stdout)
    return found


BENCHMARKS: dict[str, Callable[[], Figures]] = {
    "help": help_,
    "demo": demo,
    "plan_1000_nodes": plan_1000_nodes,
    "snapshot_5000_nodes": snapshot_5000_nodes,
    "doctor_1000_nodes": doctor_1000_nodes,
    "archive_2_gb": archive_2_gb,
}


def main(arguments: list[str]) -> int:
    """Run all, each in its own process, or one."""
    if arguments:
        print(json.dumps(BENCHMARKS[arguments[0]]()))
        return 0
    for name in BENCHMARKS:
        told = subprocess.run([sys.executable, Path(__file__), name], check=True, capture_output=True, text=True).stdout
        print(f"{name:20} budget {BUDGETS[name]:14} measured {told.strip()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
