"""A roll-out that ends with its policy leaves its node cordoned: clean names it, with the command."""

import pytest
from unit.plan.clusters import a_cluster, a_node, hardware

from railwright.apply.model import Ledger, LedgerEntry
from railwright.changes.model import MISSING, TakenField
from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.objects import Ref
from railwright.pipeline.leftovers import cannot_be_restored

STATE = "nvidia.com/gpu-driver-upgrade-state"


def lines(state, *, schedulable):
    policy = Ref(kinds.CLUSTER_POLICY, "", "gpu-cluster-policy")
    entry = LedgerEntry(policy, created=True, uid="", fields=(), fabrics=(), order=1, stage=StageName("s"))
    node = a_node(0, hardware(), labels={STATE: state}, schedulable=schedulable)
    found = cannot_be_restored((entry,), Ledger(), a_cluster((node,)))
    return [line for line in found if "uncordon" in line]


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_label_that_we_set_and_take_off_is_not_said_to_stay(is_ours):
    skip = "nvidia.com/gpu-driver-upgrade.skip"
    policy, node = Ref(kinds.CLUSTER_POLICY, "", "gpu-cluster-policy"), a_node(0, hardware(), labels={skip: "true"})
    fields = (TakenField(("metadata", "labels", skip), MISSING, "true"),) if is_ours else ()
    entries = tuple(
        LedgerEntry(ref, created=ref is policy, uid="", fields=taken, fabrics=(), order=1, stage=StageName("s"))
        for ref, taken in ((policy, ()), (Ref(kinds.NODE, "", node.name), fields))
    )
    found = cannot_be_restored(entries, Ledger(), a_cluster((node,)))
    assert any(skip in line for line in found) is not is_ours


@pytest.mark.parametrize(
    ("state", "schedulable", "named"),
    [
        ("pod-restart-required", False, True),
        ("upgrade-failed", False, True),
        ("upgrade-done", False, False),
        ("upgrade-required", False, False),
        ("pod-restart-required", True, False),
    ],
)
def test_a_node_that_a_roll_out_has_cordoned_is_named(state, schedulable, named):
    found = lines(state, schedulable=schedulable)
    assert bool(found) is named
    assert not named or f"{STATE}={state}): oc adm uncordon worker-0" in found[0]
