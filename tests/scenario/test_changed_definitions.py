"""
A definition (CRD) of the next operator has a field more or less: plan and status say it, and nothing is taken twice.

What a field less does: the API server shows it no longer, and answers an apply that sends it with the words below.
Measured: kube-apiserver 1.36.3, 2026-11: HTTP 500 without a reason, "failed to create typed patch object".
"""

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from support.others import NIC, change, now_is
from support.scenarios import Heard, Yes, applied, intents_for, open_for
from support.traces import differences, seen_objects

from railwright import api
from railwright.adapters.answers import Answer, Asked, error_of
from railwright.core.objects import KubeObject, dig, ref_of
from railwright.ports.cluster import Cluster

SETTLE_S = 1800.0
APISERVER = "kube-apiserver"
PROBE = ("spec", "ofedDriver", "livenessProbe")
DELETES = ("spec", "ofedDriver", "upgradePolicy", "drain", "deleteEmptyDir")
INTENTS = intents_for("shared", "roce")


@dataclass
class WithoutField:
    """A cluster whose NicClusterPolicies have a field no more."""

    inner: Cluster
    path: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def apply(self, obj: KubeObject, **options: Any) -> KubeObject:
        if ref_of(obj) == NIC and dig(obj, *self.path) is not None:
            where = f".{'.'.join(self.path)}"
            message = f"failed to create typed patch object ({NIC.name}): {where}: field not declared in schema"
            body = json.dumps({"kind": "Status", "message": message, "code": 500})
            raise error_of(Answer(500, body), Asked(f"apply {NIC}", writes=True))
        return await self.inner.apply(obj, **options)


def nested(path: tuple[str, ...], value: object) -> dict[str, Any]:
    for key in reversed(path):
        value = {key: value}
    assert isinstance(value, dict)
    return value


async def applied_first() -> tuple[api.World, dict[Any, Any]]:
    world = await open_for("roce")
    await world.clock.sleep(SETTLE_S)
    before = await seen_objects(world.cluster)
    assert (await applied(world, INTENTS)).exit_code == 0
    return world, before


def without(world: api.World, path: tuple[str, ...]) -> api.World:
    """The next definition is there: what is stored loses the field."""
    change(world, NIC, nested(path, None), who=APISERVER)
    return replace(world, cluster=WithoutField(world.cluster, path))


async def is_cleaned(world: api.World, before: dict[Any, Any]) -> None:
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(SETTLE_S)
    assert differences(before, await seen_objects(world.cluster)) == []


async def test_a_field_more_is_nobodys_business():
    world, before = await applied_first()
    change(world, NIC, nested(("spec", "ofedDriver", "newInTheNextVersion"), "true"), who=APISERVER)
    status, heard = await api.status(world), Heard()
    assert (status.exit_code, [item.drift for item in status.stages if item.drift]) == (0, [])
    assert (await api.plan(world, INTENTS)).plan.moves == ()
    assert (await applied(world, INTENTS, progress=heard)).exit_code == 0
    assert heard.writes == []
    assert dig(now_is(world, NIC), "spec", "ofedDriver", "newInTheNextVersion") == "true"
    await is_cleaned(world, before)


@pytest.mark.parametrize("path", [DELETES, PROBE], ids=".".join)
async def test_a_field_less_is_drift_that_names_it_and_apply_ends_with_the_servers_words(path: tuple[str, ...]):
    world, before = await applied_first()
    changed = without(world, path)
    (stage,) = [item for item in (await api.status(changed)).stages if item.drift]
    ((ref, fields),) = stage.drift
    assert (ref, {item.path[: len(path)] for item in fields}) == (NIC, {path})
    written = [item for _, item in (await api.plan(changed, INTENTS)).changes.items if item.ref == NIC]
    assert {field.path[: len(path)] for item in written for field in item.fields} == {path}
    for _ in range(2):
        stopped = await applied(changed, INTENTS)
        assert (stopped.exit_code, stopped.stages[-1].stage) == (4, "nic-driver-ready")
        assert f".{'.'.join(path)}: field not declared in schema" in stopped.stages[-1].reason
    await is_cleaned(changed, before)
