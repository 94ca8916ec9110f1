"""A cluster on which nothing is wrong: the doctor finds nothing that matters, bare or applied, whatever the method."""

import pytest
from support.scenarios import SIX, applied, intents_for, open_for

from railwright import api
from railwright.simulator.worlds.table import WORLDS

MATTERS = {api.Severity.ERROR}
WITHOUT_APPLY = ("hcp", "adopt", "vanilla", "mixed")


def grave(record: api.DoctorRecord) -> list[str]:
    return [f"{item.rule}: {item.cause}" for item in record.diagnosis.findings if item.severity in MATTERS]


@pytest.mark.parametrize("world", [item.name for item in WORLDS])
async def test_nothing_is_wrong_with_a_world_that_nobody_broke(world):
    async with await api.open_cluster(f"sim:{world}") as opened:
        record = await api.diagnose(opened)
    assert grave(record) == []
    assert record.exit_code == 0, record.diagnosis.unknown


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_nothing_is_wrong_after_an_apply(method, fabric):
    async with await open_for(fabric) as world:
        assert (await applied(world, intents_for(method, fabric))).exit_code == 0
        record = await api.diagnose(world)
    assert record.planned
    assert grave(record) == []
    assert record.exit_code == 0, record.diagnosis.unknown
