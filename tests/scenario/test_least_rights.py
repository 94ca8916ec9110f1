"""
Each command under exactly the role that `explain --rbac` prints for it, in all six configurations, on simulated worlds.

No request is denied, and every rule is used by a request that no other rule of the role allows. What a request is, and
that the roles are roles, is held to a real API server by tests/bed/test_rbac.py.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from support.guarded import GuardedCluster, guarded
from support.least import denied_of, unused_of
from support.scenarios import SIX, Yes, intents_for, open_for

from railwright import api
from railwright.adapters.needs import asking_needs, client_needs, door_needs
from railwright.adapters.nodes import DOORS
from railwright.apply import ledger, undo
from railwright.apply.means import Means
from railwright.apply.retry import WRITE_LIMIT_S
from railwright.core.kinds import POD
from railwright.core.marks import LEDGER_NAMESPACE
from railwright.core.objects import KubeObject, Ref, labels_of, ref_of
from railwright.facts import cluster as objects_of
from railwright.facts.model import Scope
from railwright.pipeline.collect import gather
from railwright.pipeline.roles import RoleWish, Surroundings, grant_of
from railwright.ports.cluster import Selection
from railwright.ports.progress import Silent
from railwright.ports.world import World
from railwright.report.rbac import Grant, roles_of
from railwright.simulator.cluster import SimCluster

AROUND = Surroundings(client_needs(), asking_needs(), door_needs())
PODS_RUN_S = 60.0
READING = ("discover", "plan", "status", "doctor", "collect")
QUICK = frozenset({("shared", "roce"), ("host-device", "infiniband"), ("sriov", "roce")})
"""Every method and both fabrics; the other three take a minute more, and are in make soak."""
Job = Callable[[World], Awaitable[object]]


@dataclass(frozen=True)
class Under:
    """A job that ran under a role: how it ended, and what was wrong with the role."""

    answer: object
    denied: list[str]
    unused: list[str]


def jobs_of(intents: tuple[api.Intent, ...]) -> Mapping[str, Job]:
    return {
        "discover": api.discover,
        "plan": lambda world: api.plan(world, intents),
        "status": lambda world: api.status(world, intents),
        "doctor": api.diagnose,
        "apply": lambda world: api.apply(world, intents, approval=Yes()),
        "verify": lambda world: api.verify(world, intents, approval=Yes()),
        "collect": lambda world: gather(world, Scope(), lambda *_: None, Silent()),
        "clean": lambda world: api.clean(world, approval=Yes()),
    }


async def under(world: World, intents: tuple[api.Intent, ...], command: str, *, unprivileged: bool = False) -> Under:
    """Do what a person does: print the role with the plan, let an administrator make it, run the command under it."""
    prepared = await api.plan(world, intents)
    grant = grant_of(command, RoleWish(prepared, unprivileged=unprivileged), AROUND)
    roles = roles_of(grant)
    for obj in roles:
        if obj["kind"] == "Namespace":
            await world.cluster.apply(obj, field_manager="administrator")
    limited, cluster = guarded(world, roles)
    answer = await jobs_of(intents)[command](limited)
    return Under(answer, denied_of(cluster.asked), await _unused(world, grant, cluster))


async def _unused(world: World, grant: Grant, cluster: GuardedCluster) -> list[str]:
    served = {(item.kind.group, item.plural) for item in await world.cluster.served_kinds()}
    served.add(("authorization.k8s.io", "selfsubjectaccessreviews"))
    pods = [(ref_of(pod).namespace, labels_of(pod)) async for pod in world.cluster.list(Selection(POD))]
    manned = {
        door.namespace
        for door in DOORS
        for namespace, labels in pods
        if namespace == door.namespace and _is_selected(door.labels, labels)
    }
    # What an API server serves beside objects is asked for by the real client alone.
    needs = tuple(need for need in grant.needs if not need.resource.startswith("/"))
    return unused_of(needs, cluster.asked, served, manned)


def _is_selected(selector: str, labels: Mapping[str, str]) -> bool:
    key, _, value = selector.partition("=")
    return key in labels and value in {"", labels[key]}


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new entry of the ledger may need a new ConfigMap: here every one does, so that the right to make one is used."""
    monkeypatch.setattr(ledger, "_ENTRIES_PER_SHARD", 1)


@pytest.fixture(autouse=True)
def nothing_is_gone_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was deleted is seen once more by whoever waits for its end: so the rights to wait are used for every kind."""
    delete, read = SimCluster.delete, undo._read
    going: dict[Ref, KubeObject] = {}

    async def remembered(self: SimCluster, ref: Ref, **options: Any) -> None:
        live = await self.get(ref)
        await delete(self, ref, **options)
        if not options.get("dry_run"):
            going[ref] = live

    async def once_more(ref: Ref, means: Means, *, limit_s: float = WRITE_LIMIT_S) -> KubeObject | None:
        found = await read(ref, means, limit_s=limit_s)
        waits = limit_s != WRITE_LIMIT_S
        return going.pop(ref, None) if found is None and waits else found

    monkeypatch.setattr(SimCluster, "delete", remembered)
    monkeypatch.setattr(undo, "_read", once_more)


async def _without_empty_shards(world: World) -> None:
    """Take away the ConfigMaps that an earlier run's entries left: else the next run has a place for its own."""
    there = [ref_of(obj) async for obj in world.cluster.list(objects_of.LEDGER) if not obj.get("data")]
    for ref in there:
        await world.cluster.delete(ref)


@pytest.mark.parametrize(
    ("method", "fabric"), [pair if pair in QUICK else pytest.param(*pair, marks=pytest.mark.soak) for pair in SIX]
)
async def test_every_command_is_denied_nothing_and_uses_all_of_its_role(method: str, fabric: str) -> None:
    world, intents = await open_for(fabric), intents_for(method, fabric)
    await world.clock.sleep(PODS_RUN_S)
    for command in ("apply", "discover", "plan", "status", "doctor", "collect", "verify", "clean"):
        await _without_empty_shards(world)
        ran = await under(world, intents, command)
        assert (command, ran.denied, ran.unused) == (command, [], [])
        assert getattr(ran.answer, "exit_code", 0) == 0


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_before_any_apply_the_ledger_that_no_role_can_show_reads_as_none(method: str, fabric: str) -> None:
    world, intents = await open_for(fabric), intents_for(method, fabric)
    await world.clock.sleep(PODS_RUN_S)
    for command in READING:
        ran = await under(world, intents, command)
        assert (command, ran.denied) == (command, [f"list configmaps {LEDGER_NAMESPACE}"])
        # There are no pods of operators yet whose logs could be read.
        assert [need for need in ran.unused if need != "get pods/log"] == []
        assert getattr(ran.answer, "exit_code", 0) == 0


@pytest.mark.parametrize(("method", "fabric"), [("shared", "roce"), ("sriov", "infiniband")])
async def test_without_what_equals_root_the_reading_commands_say_unknown_and_use_all_that_is_left(
    method: str, fabric: str
) -> None:
    world, intents = await open_for(fabric), intents_for(method, fabric)
    await api.apply(world, intents, approval=Yes(), until=api.StageName("networks-attached"))
    for command in ("discover", "status", "doctor"):
        ran = await under(world, intents, command, unprivileged=True)
        assert {line.split()[1] for line in ran.denied} == {"pods/exec", "securitycontextconstraints"}
        assert (command, ran.unused) == (command, [])
        assert exit_code_of(ran.answer) == 6


def exit_code_of(answer: object) -> int:
    return api.snapshot_document(answer).exit_code if isinstance(answer, api.Snapshot) else answer.exit_code  # type: ignore[attr-defined]  # every record has one
