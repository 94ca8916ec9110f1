"""Every rule of the doctor over 1,000 nodes: a world that was applied, each worker a few hundred times, with its pods."""

import asyncio
import json
import resource
import time
from collections.abc import Iterator
from dataclasses import replace

from railwright import api
from railwright.catalog.load import load_catalog
from railwright.core.ids import NodeName
from railwright.core.kinds import SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import Ref
from railwright.doctor.diagnose import diagnose
from railwright.facts.model import Scope, Snapshot
from railwright.ports.approval import Question

NODES = 1_000
_RAILS = """
apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: sriov, fabric: roce, workloadNamespaces: [training]}
"""


class _Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


async def applied() -> Snapshot:
    """Read a simulated cluster after an apply, as the doctor does."""
    async with await api.open_cluster("sim:h200-roce") as world:
        await api.apply(world, api.parse_intents(_RAILS), approval=_Yes())
        return await api.discover(world, Scope(events=True, logs=True))


def enlarged(snapshot: Snapshot) -> Snapshot:
    """Repeat the workers, their pods and node states until there are `NODES` nodes."""
    workers = [node for node in snapshot.nodes if node.name.startswith("worker")]
    nodes, pods, objects = list(snapshot.nodes), list(snapshot.cluster.pods), dict(snapshot.cluster.objects)
    for number in _new_numbers(len(nodes), NODES):
        like = workers[number % len(workers)]
        name = NodeName(f"worker-{number}")
        nodes.append(replace(like, name=name))
        pods += [
            replace(pod, node=name, name=f"{pod.name}-{number}", uid=f"{pod.uid}-{number}")
            for pod in snapshot.cluster.pods
            if pod.node == like.name
        ]
        for ref, obj in snapshot.cluster.objects.items():
            if ref.kind == SRIOV_NETWORK_NODE_STATE and ref.name == like.name:
                objects[Ref(ref.kind, ref.namespace, name)] = {**obj, "metadata": {**obj["metadata"], "name": name}}
    cluster = replace(snapshot.cluster, pods=tuple(pods), objects=objects)
    return replace(snapshot, nodes=tuple(nodes), cluster=cluster)


def _new_numbers(there: int, wanted: int) -> Iterator[int]:
    yield from range(there, wanted)


def doctor_1000_nodes() -> dict[str, float]:
    """Diagnose, three times; the figure is the median."""
    snapshot = enlarged(asyncio.run(applied()))
    catalog = load_catalog()
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds, processor = [], []
    for _ in range(3):
        began, worked = time.perf_counter(), time.process_time()
        found = diagnose(snapshot, catalog, None)
        seconds.append(time.perf_counter() - began)
        processor.append(time.process_time() - worked)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "median_s": round(sorted(seconds)[1], 3),
        "processor_s": round(sorted(processor)[1], 3),
        "nodes": len(snapshot.nodes),
        "pods": len(snapshot.cluster.pods),
        "rules": len(found.passed) + len({item.rule for item in found.findings}),
        "findings": len(found.findings),
        "added_mb": round(peak_mb - before_mb),
    }


if __name__ == "__main__":
    print(json.dumps(doctor_1000_nodes(), indent=2))
