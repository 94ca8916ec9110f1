"""Each of the six stops at the right gate, with the right reason, when operators say what real ones said of a fault."""

from pathlib import Path

import pytest
import yaml
from support.recorded import said_by
from support.scenarios import SIX, applied, intents_for, open_for

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "scenario" / "recorded.yaml").read_text())
STAGES = ["operators-installed", "nic-driver-ready", "gpu-driver-ready"]


def test_there_are_ten_recordings_at_least_each_with_its_origin_in_the_order_of_their_stages():
    assert len({case["recording"] for case in CASES}) == len(CASES) >= 10
    assert all(case["origin"].startswith("recorded: ") and ", scenario " in case["origin"] for case in CASES)
    places = [STAGES.index(case["stage"]) for case in CASES]
    assert places == sorted(places)
    assert set(places) == set(range(len(STAGES)))


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_recorded_faults_stop_the_job_one_after_the_other_and_none_stops_it_for_good(method, fabric):
    """One world meets them all: each is mended before the next, and apply goes on from where it had stopped."""
    world, intents = await open_for(fabric), intents_for(method, fabric)
    for case in CASES:
        with said_by(world, case):
            record = await applied(world, intents)
        stopped = record.stages[-1]
        seen = (case["recording"], stopped.stage, stopped.batch, stopped.verdict)
        assert seen == (case["recording"], case["stage"], case["batch"], "FAIL")
        assert all(stage.verdict in {"PASS", "SKIP"} for stage in record.stages[:-1])
        said = f"{stopped.reason}\n{stopped.waiting_for}"
        assert [word for word in case["words"] if word not in said] == []
        assert record.exit_code == 4
    assert (await applied(world, intents)).exit_code == 0
