"""Each of the six stops at the right gate, with the right reason, when operators say what real ones said of a fault."""

from pathlib import Path

import pytest
import yaml
from support.recorded import said_by
from support.scenarios import SIX, applied, intents_for, open_for

FOLDER = Path(__file__).parents[1] / "cases" / "scenario"
CASES = yaml.safe_load((FOLDER / "recorded.yaml").read_text())
CONTRADICTED = yaml.safe_load((FOLDER / "contradicted.yaml").read_text())
STAGES = [
    "operators-installed",
    "hardware-labelled",
    "nic-driver-ready",
    "vfs-ready",
    "gpu-driver-ready",
    "networks-attached",
]


def of(cases, method, fabric):
    return [case for case in cases if f"{method} {fabric}" in case.get("only", (f"{method} {fabric}",))]


def test_every_recording_is_there_once_with_its_origin_in_the_order_of_the_stages():
    every = [*CASES, *CONTRADICTED]
    assert len({case["recording"] for case in every}) == len(every)
    assert all(case["origin"].startswith("recorded: ") and ", scenario " in case["origin"] for case in every)
    assert [case["recording"] for case in CASES if ("only" in case) != ("because" in case)] == []
    places = [STAGES.index(case["stage"]) for case in CASES]
    assert places == sorted(places)
    assert set(places) == set(range(len(STAGES)))


@pytest.mark.parametrize(("method", "fabric"), SIX)
def test_each_configuration_has_ten_recordings_at_least(method, fabric):
    assert len(of(CASES, method, fabric)) >= 10


def stopped_by(record, case):
    """Check that a record stopped where a case says, for the reason that it says."""
    stopped = record.stages[-1]
    seen = (case["recording"], stopped.stage, stopped.batch, stopped.verdict)
    assert seen == (case["recording"], case["stage"], case["batch"], "FAIL")
    assert all(stage.verdict in {"PASS", "SKIP"} for stage in record.stages[:-1])
    said = f"{stopped.reason}\n{stopped.waiting_for}"
    assert [word for word in case["words"] if word not in said] == [], said
    assert record.exit_code == 4


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_recorded_faults_stop_the_job_one_after_the_other_and_none_stops_it_for_good(method, fabric):
    """One world meets them all: each is mended before the next, and apply goes on from where it had stopped."""
    world, intents = await open_for(fabric), intents_for(method, fabric)
    for case in of(CASES, method, fabric):
        with said_by(world, case):
            stopped_by(await applied(world, intents), case)
    assert (await applied(world, intents)).exit_code == 0


@pytest.mark.parametrize(
    ("method", "fabric", "case"),
    [
        pytest.param(method, fabric, case, id=f"{case['recording']}-{method}-{fabric}")
        for method, fabric in SIX
        for case in of(CONTRADICTED, method, fabric)
    ],
)
async def test_a_recorded_status_that_is_not_true_does_not_fool_the_gate(method, fabric, case):
    world = await open_for(fabric, case["fault"])
    with said_by(world, case):
        stopped_by(await applied(world, intents_for(method, fabric)), case)
