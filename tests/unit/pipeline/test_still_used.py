"""What clean leaves, because somebody else needs it."""

import pytest
from unit.apply.fake_world import an_object
from unit.pipeline.fake_plans import a_world

from railwright.apply.model import LedgerEntry
from railwright.core import kinds
from railwright.core.objects import Ref, ref_of
from railwright.pipeline.still_used import why_kept
from railwright.plan.model import OPERATORS_INSTALLED

SRIOV = "openshift-sriov-network-operator"


def _made(ref):
    return LedgerEntry(ref, created=True, uid="1", fields=(), fabrics=(), order=0, stage=OPERATORS_INSTALLED)


def _owned(name, kind, namespace="jobs"):
    pod = an_object(kinds.POD, name, namespace, spec={})
    pod["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": kind, "name": "owner", "uid": "2"}]
    return pod


async def _why(ref, *objects, going=()):
    world = a_world()
    for namespace in sorted({obj["metadata"]["namespace"] for obj in objects}):
        world.cluster.put(an_object(kinds.NAMESPACE, namespace))
    for obj in objects:
        world.cluster.put(obj)
    return await why_kept(_made(ref), world, frozenset({ref, *going}))


async def test_a_workload_namespace_of_ours_stays_while_a_job_of_some_other_kind_runs_in_it():
    assert "train-0" in await _why(Ref(kinds.NAMESPACE, "", "jobs"), _owned("train-0", "PyTorchJob"))


async def test_an_operators_pods_do_not_keep_its_namespace():
    subscription = Ref(kinds.SUBSCRIPTION, "operators", "nno")
    pod = _owned("mofed-1", "DaemonSet", "operators")
    assert not await _why(Ref(kinds.NAMESPACE, "", "operators"), pod, going=(subscription,))


@pytest.mark.parametrize("kind", [kinds.SRIOV_NETWORK_NODE_POLICY, kinds.SRIOV_NETWORK])
async def test_the_sriov_operators_configuration_stays_with_policies_of_others(kind):
    theirs = an_object(kind, "theirs", SRIOV)
    config = Ref(kinds.SRIOV_OPERATOR_CONFIG, SRIOV, "default")
    assert "theirs" in await _why(config, theirs)
    assert not await _why(config, theirs, going=(ref_of(theirs),))
