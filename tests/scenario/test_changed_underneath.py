"""What others change between two runs: nodes that go, that come back as other machines, labels that somebody takes off."""

from dataclasses import replace

from support.others import change, make, now_is, remove
from support.scenarios import Yes, applied, intents_for, open_for

from railwright import api
from railwright.core import kinds
from railwright.core.marks import MANAGED_BY_LABEL
from railwright.core.objects import Ref, labels_of

NODE = Ref(kinds.NODE, "", "worker-1")
SUBSCRIPTION = Ref(kinds.SUBSCRIPTION, "nvidia-network-operator", "nvidia-network-operator")
OWN_MARKS = ("railwright.dev/", "nvidia.com/", "network.nvidia.com/", "sriovnetwork.openshift.io/", "feature.node")


def written(record):
    return [str(write.ref) for stage in record.stages for write in stage.writes]


async def applied_first():
    world = await open_for("roce")
    assert (await applied(world, intents_for("shared", "roce"))).exit_code == 0
    return world


async def test_a_node_that_is_gone_is_gone_from_plan_and_status_and_holds_nothing_up():
    world = await applied_first()
    remove(world, NODE)
    await world.clock.sleep(600.0)
    assert "worker-1" not in {node.node for node in (await api.plan(world, intents_for("shared", "roce"))).plan.nodes}
    assert (await api.status(world)).exit_code == 0
    record = await applied(world, intents_for("shared", "roce"))
    assert (record.exit_code, written(record)) == (0, [])
    assert (await api.clean(world, approval=Yes())).exit_code == 0


async def test_a_node_that_comes_back_as_another_machine_is_untouched_and_said_to_be_unlike_the_others():
    world = await applied_first()
    engine, old = world.cluster.engine, now_is(world, NODE)
    remove(world, NODE)
    engine.machines = tuple(
        replace(item, nics=item.nics[:3] + tuple(nic for nic in item.nics[3:] if not nic.is_rail))
        if item.name == NODE.name
        else item
        for item in engine.machines
    )
    engine.__post_init__()
    labels = {key: value for key, value in labels_of(old).items() if not key.startswith(OWN_MARKS)}
    status = {**old["status"], "allocatable": {"cpu": "64"}, "capacity": {"cpu": "64"}}
    make(
        world, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE.name, "labels": labels}, "status": status}
    )
    await world.clock.sleep(3600.0)
    status = await api.status(world)
    assert [node for node, _ in status.not_admitted] == ["worker-1"]
    said = {item.code for item in status.warnings} | {item.code for item in status.refusals}
    assert said & {"unlike-nodes", "fewer-rails"}
    assert {stage.verdict.value for stage in status.stages} <= {"PASS", "SKIP"}


class Consents:
    """Says yes, also to taking fields of others."""

    def approve(self, question):
        return True


async def test_a_subscription_of_ours_whose_label_somebody_took_off_is_ours_still():
    """Taken for somebody else's, it would have been refused for want of an OperatorGroup, which is ours and there."""
    world, until = await open_for("roce"), "operators-installed"
    intents = intents_for("shared", "roce")
    await applied(world, intents, until=until)
    change(world, SUBSCRIPTION, {"metadata": {"labels": {MANAGED_BY_LABEL: None}}})
    assert (await api.plan(world, intents)).plan.refusals == ()
    record = await applied(world, intents, until=until)
    assert (record.exit_code, written(record)) == (4, [])
    assert f"{MANAGED_BY_LABEL} is (absent), set by team-b" in record.stages[-1].reason
    record = await api.apply(world, intents, until=until, approval=Consents(), take_over=True)
    assert (record.exit_code, written(record)) == (0, [str(SUBSCRIPTION)])
    assert labels_of(now_is(world, SUBSCRIPTION))[MANAGED_BY_LABEL] == "railwright"
