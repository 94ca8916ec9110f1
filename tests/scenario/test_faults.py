"""What is broken stops the job at the right place, with the right words, and before any harm."""

from pathlib import Path

import pytest
import yaml
from support.scenarios import SIX, Heard, Yes, applied, intents_for, open_for
from support.traces import differences, seen_objects

from railwright import api
from railwright.core.errors import PermissionMissing

CASES = Path(__file__).parents[1] / "cases" / "scenario"
PROVEN_FROM = "operators-installed"


def _cases(file):
    """Give every entry for every configuration that it is for."""
    return [
        pytest.param(method, fabric, case, id=f"{case['fault']}-{method}-{fabric}-{case.get('node', '')}")
        for case in yaml.safe_load((CASES / file).read_text())
        for method, fabric in SIX
        if f"{method} {fabric}" in case.get("only", (f"{method} {fabric}",))
    ]


@pytest.mark.parametrize(("method", "fabric", "case"), _cases("faults.yaml"))
async def test_a_fault_stops_at_its_gate_and_says_why(method, fabric, case):
    world = await open_for(fabric, case["fault"])
    record = await applied(world, intents_for(method, fabric))
    stopped = record.stages[-1]
    assert (stopped.stage, stopped.batch, stopped.verdict) == (case["stage"], case["batch"], "FAIL")
    assert all(stage.verdict in {"PASS", "SKIP"} for stage in record.stages[:-1])
    said = f"{stopped.reason}\n{stopped.waiting_for}"
    assert [word for word in case["words"] if word not in said] == []
    assert case.get("finding") in {None, *(finding.rule for finding in record.findings)}
    assert record.exit_code == 4


def test_each_configuration_is_stopped_by_ten_faults_and_what_it_is_spared_has_a_reason():
    cases = yaml.safe_load((CASES / "faults.yaml").read_text())
    for method, fabric in SIX:
        mine = [case["fault"] for case in cases if f"{method} {fabric}" in case.get("only", (f"{method} {fabric}",))]
        assert len(mine) == len(set(mine)) >= 10
    cases += yaml.safe_load((CASES / "refusals.yaml").read_text())
    assert [case["fault"] for case in cases if ("only" in case) != ("because" in case)] == []


@pytest.mark.parametrize(("method", "fabric", "case"), _cases("refusals.yaml"))
async def test_what_must_not_be_done_is_refused_with_nothing_written(method, fabric, case):
    world, intents = await open_for(fabric, case["fault"]), intents_for(method, fabric)
    plan = (await api.plan(world, intents)).plan
    found = plan.refusals
    if "node" in case:
        found = next(node.refused for node in plan.nodes if node.node == case["node"])
    said = [f"{item.message} {item.seen} {item.expected} {item.hint}" for item in found if item.code == case["code"]]
    assert any(all(word in text for word in case["words"]) for text in said), said

    before, heard = await seen_objects(world.cluster), Heard()
    with pytest.raises(api.Refused) as refused:
        await applied(world, intents, progress=heard)
    assert case["code"] in refused.value.message
    assert [word for word in case["words"] if word not in refused.value.message] == []
    assert heard.writes == []
    assert before == await seen_objects(world.cluster)


@pytest.mark.parametrize(("fault", "code"), [("rail-no-carrier", "rail-down"), ("node-unreadable", "node-not-read")])
@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_one_bad_node_is_left_out_untouched_and_the_rest_goes_on(method, fabric, fault, code):
    world = await open_for(fabric, fault)
    record = await applied(world, intents_for(method, fabric))
    assert record.exit_code == 0
    assert {(item.node, item.code) for item in record.refused_nodes} == {("worker-1", code)}
    status = await api.status(world)
    assert [node for node, _ in status.not_admitted] == ["worker-1"]
    objects = await seen_objects(world.cluster)
    labels = {
        path[2]: value
        for ref, fields in objects.items()
        if str(ref) == "Node worker-1"
        for path, value in fields.items()
        if path[:2] == ("metadata", "labels")
    }
    assert not any(key.startswith("railwright.dev/") for key in labels)
    assert labels["nvidia.com/gpu.deploy.operands"] == "false"


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_a_cluster_that_lets_us_read_only_is_named_before_the_first_write(method, fabric):
    world, heard = await open_for(fabric, "api-forbidden"), Heard()
    before = await seen_objects(world.cluster)
    with pytest.raises(PermissionMissing) as missing:
        await applied(world, intents_for(method, fabric), progress=heard)
    assert "patch nodes worker-0" in missing.value.message.splitlines()
    assert missing.value.exit_code == 3
    assert differences(before, await seen_objects(world.cluster)) == []


async def test_a_loaded_irdma_is_kept_away_with_the_one_reboot():
    world = await open_for("roce", "irdma-loaded")
    intents = intents_for("sriov", "roce")
    prepared = await api.plan(world, intents)
    assert "module_blacklist=irdma" in str(prepared.manifests)
    assert (await applied(world, intents)).exit_code == 0


async def test_what_stopped_can_be_cleaned():
    world = await open_for("roce", "image-pull-fails")
    await world.clock.sleep(1800)
    before = await seen_objects(world.cluster)
    await applied(world, intents_for("shared", "roce"))
    assert (await api.clean(world, approval=Yes())).exit_code == 0
    await world.clock.sleep(1800)
    assert differences(before, await seen_objects(world.cluster)) == []
