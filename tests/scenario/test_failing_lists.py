"""A list that the API server fails to answer is no empty list: it is named, and nothing is written for want of it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
from support.scenarios import Heard, Yes, intents_for, open_for

from railwright import api
from railwright.adapters.answers import Answer, Asked, error_of
from railwright.core import kinds
from railwright.core.objects import Kind, KubeObject
from railwright.ports.cluster import Cluster, Selection

SETTLE_S = 1800.0
FIRST = "operators-installed"


@dataclass
class FailingLists:
    """A cluster that answers a status code, so many times, where one kind is listed; all else is the inner one's."""

    inner: Cluster
    kind: Kind
    status_code: int
    times: int = 1_000

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        if selection.kind == self.kind and self.times:
            self.times -= 1
            raise error_of(Answer(self.status_code, "no leader"), Asked(f"list {selection.kind}"))
        async for obj in self.inner.list(selection):
            yield obj


async def a_world(name: str, kind: Kind, status_code: int, times: int = 1_000) -> api.World:
    world = await open_for("roce", world=name)
    await world.clock.sleep(SETTLE_S)
    return replace(world, cluster=FailingLists(world.cluster, kind, status_code, times))


@pytest.mark.parametrize("status_code", [500, 503])
@pytest.mark.parametrize(
    ("name", "method", "kind"),
    [("adopt", "sriov", kinds.NIC_CLUSTER_POLICY), ("h200-roce", "shared", kinds.POD)],
)
async def test_apply_writes_nothing_where_a_list_fails(name: str, method: str, kind: Kind, status_code: int) -> None:
    world, heard = await a_world(name, kind, status_code), Heard()
    with pytest.raises(api.RailwrightError) as stopped:
        await api.apply(world, intents_for(method, "roce"), approval=Yes(), progress=heard)
    assert (stopped.value.code, stopped.value.exit_code) == ("cluster-busy", 3)
    assert f"{kind}: cluster" in stopped.value.message
    assert heard.writes == []


async def test_a_list_that_fails_once_is_asked_for_again() -> None:
    world = await a_world("h200-roce", kinds.POD, 503, times=1)
    record = await api.apply(world, intents_for("shared", "roce"), approval=Yes(), until=api.StageName(FIRST))
    assert {stage.verdict.value for stage in record.stages} <= {"PASS", "SKIP"}


@pytest.mark.parametrize("status_code", [500, 503])
async def test_what_only_reads_names_the_list_that_fails(status_code: int) -> None:
    world, intents = await a_world("h200-roce", kinds.POD, status_code), intents_for("shared", "roce")
    planned = await api.plan(world, intents)
    assert f"{kinds.POD}" in {item.where for item in planned.plan.warnings if item.code == "facts-not-readable"}
    status = api.status_document(await api.status(world, intents))
    assert (status.exit_code, "Pod: cluster" in status.text) == (6, True)


@pytest.mark.parametrize("command", ["verify", "clean"])
async def test_a_list_that_fails_later_stops_whatever_writes(command: str) -> None:
    world, intents = await open_for("roce"), intents_for("shared", "roce")
    await api.apply(world, intents, approval=Yes(), until=api.StageName("networks-attached"))
    failing = replace(world, cluster=FailingLists(world.cluster, kinds.POD, 500))
    with pytest.raises(api.RailwrightError, match="nothing was written"):
        await (
            api.verify(failing, intents, approval=Yes()) if command == "verify" else api.clean(failing, approval=Yes())
        )


@pytest.mark.parametrize("command", ["verify", "clean"])
async def test_a_list_that_fails_once_later_is_asked_for_again(command: str) -> None:
    world, intents = await open_for("roce"), intents_for("shared", "roce")
    await api.apply(world, intents, approval=Yes(), until=api.StageName("networks-attached"))
    failing = replace(world, cluster=FailingLists(world.cluster, kinds.POD, 503, times=1))
    if command == "verify":
        record = await api.verify(failing, intents, approval=Yes())
        assert record.cells
    else:
        assert (await api.clean(failing, approval=Yes())).exit_code == 0
