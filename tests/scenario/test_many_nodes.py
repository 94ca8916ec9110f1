"""
How many calls the reading commands make, on four nodes and on two dozen: as many, since lists come whole.

The adapter cuts a list into pages; benchmarks/scale.py counts those on a real API server.
"""

import copy
from collections import Counter
from dataclasses import dataclass

import pytest
from scenario.test_least_rights import jobs_of
from support.guarded import GuardedCluster, Rules
from support.scenarios import Yes, intents_for, open_for

from railwright import api
from railwright.core.ids import NodeName
from railwright.core.kinds import NODE, POD, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import KubeObject, dig, ref_of
from railwright.facts.troubles import MOST_LOGS
from railwright.ports.node import Node, NodeAnswer
from railwright.ports.world import World
from railwright.simulator.cluster import SimCluster
from railwright.simulator.ownership import Manager

LIKE = NodeName("worker-1")
MORE = 20
READING = ("discover", "plan", "status", "doctor")


class Anything(Rules):
    """Allow everything: here the requests are only counted."""

    def allow(self, verb: str, group: str, resource: str, namespace: str, name: str) -> bool:
        return True


@dataclass(frozen=True)
class Alike:
    """Answers for every node that was added as for the one that it is a copy of."""

    inside: Node

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        like = LIKE if node.startswith("worker-1") else node
        answer = await self.inside.read(like, script, timeout_s=timeout_s)
        return NodeAnswer(answer.text.replace(LIKE, node), answer.via, answer.problem)


def enlarge(cluster: SimCluster) -> None:
    """Add copies of a worker: its node, its state of the SR-IOV operator, its pods."""
    store, now = cluster.engine.store, cluster.engine.now
    for obj in tuple(store.objects.values()):
        for number in range(MORE):
            made = _copied(obj, f"{LIKE}{number:03d}", number)
            if made is not None:
                store.create(made, Manager("kubelet", "Update"), now)


def _copied(obj: KubeObject, node: str, number: int) -> KubeObject | None:
    ref = ref_of(obj)
    is_its_pod = ref.kind == POD and dig(obj, "spec", "nodeName", default="") == LIKE
    if not is_its_pod and not (ref.kind in {NODE, SRIOV_NETWORK_NODE_STATE} and ref.name == LIKE):
        return None
    made = copy.deepcopy(obj)
    made["metadata"] = {
        key: value for key, value in made["metadata"].items() if key in {"namespace", "labels", "annotations"}
    }
    made["metadata"]["name"] = f"{ref.name}-{number}" if is_its_pod else node
    if is_its_pod:
        made["spec"]["nodeName"] = node
    return made


async def calls_of(world: World, intents: tuple[api.Intent, ...], command: str) -> Counter[str]:
    counted = GuardedCluster(world.cluster, Anything(()))
    await jobs_of(intents)[command](World(counted, Alike(world.node), world.clock))
    return Counter(f"{item.verb} {item.resource}" for item in counted.asked)


@pytest.mark.parametrize("method", ["shared", pytest.param("sriov", marks=pytest.mark.soak)])
async def test_two_dozen_nodes_are_read_with_the_calls_of_four(method: str) -> None:
    world, intents = await open_for("roce"), intents_for(method, "roce")
    await api.apply(world, intents, approval=Yes(), until=api.StageName("networks-attached"))
    few = {command: await calls_of(world, intents, command) for command in READING}
    assert isinstance(world.cluster, SimCluster)
    enlarge(world.cluster)
    snapshot = await api.discover(World(world.cluster, Alike(world.node), world.clock))
    assert len(snapshot.nodes) > MORE
    for command in READING:
        more = await calls_of(world, intents, command) - few[command]
        # By name below five of them, else as one list; and the logs of containers in trouble, up to a limit.
        assert more.pop("list nodes", 0) <= 2
        assert more.pop("get pods/log", 0) + few[command]["get pods/log"] <= MOST_LOGS
        assert (command, more) == (command, Counter())
