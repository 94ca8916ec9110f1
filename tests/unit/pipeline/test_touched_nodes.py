"""A node that goes bad after its batch began holds the others back: it is what they would become."""

import pytest
from unit.apply.fake_world import Answering, Seeing
from unit.apply.stage_builders import speaking_judges
from unit.pipeline.fake_plans import EAST, NODES, a_plan, a_refusal, a_world, an_intent, planned

from railwright.core import kinds
from railwright.core.errors import Refused
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.clean import clean
from railwright.plan.model import NETWORKS_ATTACHED, NIC_DRIVER_READY


@pytest.fixture(autouse=True)
def _judges(monkeypatch):
    speaking_judges(monkeypatch)


async def _applied_while_a_node_goes_bad(monkeypatch, node, is_bad):
    """Apply to two batches; `node` is refused from the first plan on that is made when `is_bad(cluster)`."""
    world = a_world()

    def make(*names):
        bad = (a_refusal(code="node-not-ready", node=node),) if is_bad(world.cluster) else ()
        return a_plan(*names, refused_nodes=bad)

    planned(monkeypatch, make)
    record = await apply_fabrics(world, (an_intent(EAST),), None, Seeing(), Answering())
    return world, record


def _labelled(cluster, node):
    return "railwright.dev/fabric.east" in cluster.find(Ref(kinds.NODE, "", node))["metadata"].get("labels", {})


async def test_a_canary_that_is_lost_keeps_the_driver_from_the_next_batch(monkeypatch):
    world, record = await _applied_while_a_node_goes_bad(
        monkeypatch, NODES[0], lambda cluster: _labelled(cluster, NODES[0])
    )
    last = record.stages[-1]
    assert (last.stage, last.batch, last.verdict) == (NETWORKS_ATTACHED, "canary", Verdict.FAIL)
    assert "worker-1" in last.reason
    assert not _labelled(world.cluster, NODES[1])
    assert record.exit_code == 4


async def test_a_node_that_was_never_touched_holds_nobody_back(monkeypatch):
    world, record = await _applied_while_a_node_goes_bad(
        monkeypatch, NODES[1], lambda cluster: _labelled(cluster, NODES[0])
    )
    assert record.exit_code == 0
    assert not _labelled(world.cluster, NODES[1])
    skipped = [(item.stage, item.batch) for item in record.stages if "admitted any more" in item.reason]
    assert skipped == [(NIC_DRIVER_READY, "batch-2"), (NETWORKS_ATTACHED, "batch-2")]


@pytest.mark.parametrize(("code", "is_refused"), [("node-not-read", True), ("node-not-ready", False)])
async def test_clean_takes_no_driver_from_a_node_that_cannot_be_looked_into(monkeypatch, code, is_refused):
    """A node that is down is another matter: it may be the driver that cut it off."""
    planned(monkeypatch)
    world = a_world()
    await apply_fabrics(world, (an_intent(EAST),), None, Seeing(), Answering())
    planned(monkeypatch, lambda *names: a_plan(*names, refused_nodes=(a_refusal(code=code, node=NODES[1]),)))
    if is_refused:
        with pytest.raises(Refused, match=code):
            await clean(world, None, None, Seeing(), Answering())
        assert _labelled(world.cluster, NODES[1])
    else:
        assert (await clean(world, None, None, Seeing(), Answering())).exit_code == 0
