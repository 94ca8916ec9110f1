"""Whose field a plan would change: said beside each differing field, in the text that people read and in JSON."""

import pytest
from support.others import change, now_is
from support.scenarios import applied, intents_for, open_for

from railwright import api
from railwright.core import kinds
from railwright.core.objects import Ref, dig

POLICY, TEAM_POLICY = (
    Ref(kinds.CLUSTER_POLICY, "", "gpu-cluster-policy"),
    Ref(kinds.CLUSTER_POLICY, "", "team-gpu-policy"),
)
PEERMEM = "  driver: {memory: nvidia-peermem}\n"


async def planned(world, intents):
    """A plan's text, and its fields in JSON: by object and path."""
    prepared = await api.plan(world, intents)
    document = api.plan_document(prepared.plan, prepared.manifests, prepared.changes)
    fields = {
        (item["kind"], item["name"], field["path"]): field
        for stage in document.payload["stages"]
        for item in stage["objects"]
        for field in item["fields"]
    }
    return [line.strip() for line in document.text.splitlines()], fields


@pytest.mark.parametrize("manager", ["helm", "kubectl-edit", "catalog-operator", "argocd-controller"])
async def test_a_field_that_somebody_changed_after_us_is_shown_with_its_manager(manager):
    world, intents = await open_for("roce"), intents_for("shared", "roce")
    await applied(world, intents)
    wanted = dig(now_is(world, POLICY), "spec", "driver", "kernelModuleType")
    change(world, POLICY, {"spec": {"driver": {"kernelModuleType": "proprietary"}}}, who=manager)
    lines, fields = await planned(world, intents)
    assert f"spec.driver.kernelModuleType: proprietary -> {wanted}  (owner: {manager})" in lines
    assert fields["ClusterPolicy", POLICY.name, "spec.driver.kernelModuleType"] == {
        "path": "spec.driver.kernelModuleType",
        "old": "proprietary",
        "new": wanted,
        "owner": manager,
        "conflict": True,
    }


async def test_a_field_of_an_adopted_policy_is_shown_with_the_manager_that_it_is_taken_from():
    world = await open_for("roce", world="adopt")
    lines, fields = await planned(world, intents_for("shared", "roce", more=PEERMEM))
    assert "spec.driver.rdma.enabled: False -> True  (owner: argocd-controller)" in lines
    taken = fields["ClusterPolicy", TEAM_POLICY.name, "spec.driver.rdma.enabled"]
    assert (taken["owner"], taken["conflict"]) == ("argocd-controller", True)


async def test_a_field_that_nobody_holds_is_shown_without_an_owner():
    lines, fields = await planned(await open_for("roce", world="adopt"), intents_for("shared", "roce"))
    assert "metadata.labels.railwright.dev/fabric.east-west: (absent) -> admitted" in lines
    assert {field["owner"] for field in fields.values()} == {None}
