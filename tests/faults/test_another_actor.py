"""
Somebody else edits, deletes or makes anew what we wrote, or the ledger, while an apply runs.

However that apply ends, it ends with words; the same command again converges; clean leaves nothing of ours that it does
not name.
"""

from dataclasses import dataclass, replace

import pytest
from support import meddling
from support.meddling import Act, MeddledCluster
from support.scenarios import Yes, applied, intents_for, open_for
from support.traces import differences, lasting_objects

from railwright import api
from railwright.core.errors import RailwrightError

EARLY, LATE = 12, 100
"""Writes: the first objects of nodes, and the first of operators."""
SETTLE_S = 1800.0


@dataclass(frozen=True)
class Case:
    """What is expected; `told` stands in the words of the apply that was meddled with, of `again` and of clean."""

    act: Act
    first: tuple[int, str]
    again: tuple[int, str] = (0, "")
    clean: str = ""


CASES = {
    "labels a part of the ledger": Case(meddling.labels_shard, (0, "")),
    "deletes the ledger's head": Case(meddling.deletes_head, (0, "")),
    "deletes a part of the ledger": Case(
        meddling.deletes_shard, (3, "a part of the ledger, is gone"), clean="the ledger does not know it"
    ),
    "deletes the ledger's namespace": Case(
        meddling.deletes_ledger_namespace, (3, "a part of the ledger, is gone"), clean="the ledger does not know it"
    ),
    "makes an object of ours anew": Case(meddling.makes_anew, (0, ""), clean="somebody made it anew"),
    "deletes an object of ours": Case(meddling.deletes, (4, "")),
    "takes our label off an object": Case(meddling.edits, (0, ""), again=(4, "set by team-b")),
}


async def end_of(job):
    """Give the exit code, and all that was said; whatever is no error of ours is raised."""
    try:
        record = await job
    except RailwrightError as error:
        return error.exit_code, f"{error.message}\n{error.hint}"
    document = api.apply_document(record) if hasattr(record, "stages") else api.clean_document(record)
    return record.exit_code, api.to_json(document)


async def settled(fabric):
    world = await open_for(fabric)
    await world.clock.sleep(SETTLE_S)
    return world, await lasting_objects(world.cluster)


ROWS = [
    *(pytest.param(name, EARLY, id=f"{name}, early") for name in CASES),
    *(pytest.param(name, LATE, id=f"{name}, late", marks=pytest.mark.soak) for name in CASES),
]


@pytest.mark.parametrize(("name", "number"), ROWS)
async def test_the_next_apply_converges_and_clean_names_what_it_cannot_undo(name, number):
    case, intents = CASES[name], intents_for("shared", "roce")
    world, before = await settled("roce")
    wanted = {str(item.ref) for item in (await api.plan(world, intents)).manifests.items}
    meddled = replace(world, cluster=MeddledCluster(world, number, case.act))
    code, said = await end_of(applied(meddled, intents, verify=False))
    assert code == case.first[0], said
    assert case.first[1] in said
    code, said = await end_of(applied(world, intents, verify=False))
    assert code == case.again[0], said
    assert case.again[1] in said
    code, said = await end_of(api.clean(world, approval=Yes()))
    assert code == 0, said
    assert case.clean in said
    await world.clock.sleep(SETTLE_S)
    lines = differences(before, await lasting_objects(world.cluster))
    left = [line.removesuffix(" is left") for line in lines if line.endswith(" is left")]
    assert [line for line in left if line in wanted and line.split()[1] not in said] == []


async def test_a_ledger_that_cannot_be_read_stops_everything_and_nothing_is_written():
    world, _ = await settled("roce")
    intents = intents_for("shared", "roce")
    meddled = replace(world, cluster=MeddledCluster(world, 33, meddling.garbles_shard))
    for job in (applied(meddled, intents), applied(world, intents), api.clean(world, approval=Yes())):
        code, said = await end_of(job)
        assert code == 3
        assert "key notes is not as railwright writes it" in said
        assert "until then nothing is written" in said
