from dataclasses import replace

import pytest
from unit.pipeline.fake_plans import EAST, NODES, STAGES, a_plan, a_snapshot, a_stage

from railwright.apply.model import Ledger
from railwright.changes.model import MISSING, Action, Change, Changes, FieldChange
from railwright.core import kinds
from railwright.core.ids import FabricName, NodeName
from railwright.core.objects import Ref
from railwright.core.risk import Risk
from railwright.manifests.model import Manifests
from railwright.pipeline.model import Prepared
from railwright.pipeline.runs import Run, nodes_of, risk_question, runs_of, stage_changes
from railwright.plan.model import (
    NIC_DRIVER_READY,
    OPERATORS_INSTALLED,
    VFS_READY,
    Allocatable,
    Batch,
    MachineShare,
    NadPresent,
    OperatorShare,
)
from railwright.plan.turns import GPU_DRIVER_SKIP


def an_operator(package, *, approval="Manual", adopted=False, namespace="ns") -> OperatorShare:
    return OperatorShare(
        package=package,
        namespace=namespace,
        operator_group="g",
        target_namespaces=(namespace,),
        subscription=package,
        channel="stable",
        csv=f"{package}.v1",
        catalog="certified-operators",
        catalog_namespace="openshift-marketplace",
        approval=approval,
        adopted=adopted,
        deployments=(),
    )


def changes_of(run, plan):
    prepared = Prepared((), a_snapshot(), plan, Manifests(()), Changes(()), Ledger())
    return stage_changes(run, prepared, dry_run=False, take_over=False)


def test_every_batch_goes_through_the_middle_stages_before_the_next_one_begins():
    runs = runs_of(a_plan(EAST), None)
    assert [(run.number, run.batch_name) for run in runs] == [
        (1, ""),
        (2, ""),
        (3, "canary"),
        (4, "canary"),
        (3, "batch-2"),
        (4, "batch-2"),
        (5, ""),
    ]
    assert runs[-2].earlier == (NODES[0],)


def test_an_operator_of_others_has_to_be_installed_too():
    shares = (an_operator("a"), an_operator("b", adopted=True))
    stage = changes_of(Run(OPERATORS_INSTALLED, 1, 5), replace(a_plan(EAST), shares=shares))
    assert [(ref.kind.kind, ref.name) for ref in stage.gated] == [("Subscription", "b")]


def test_only_csvs_that_we_install_and_that_wait_for_us_are_approved():
    shares = (
        an_operator("a"),
        an_operator("b"),
        an_operator("auto", approval="Automatic"),
        an_operator("theirs", adopted=True),
        an_operator("c", namespace="other"),
    )
    stage = changes_of(Run(OPERATORS_INSTALLED, 1, 5), replace(a_plan(EAST), shares=shares))
    assert [(item.namespace, item.csvs) for item in stage.approvals] == [("ns", ("a.v1", "b.v1")), ("other", ("c.v1",))]


def test_of_nodes_whose_batch_has_not_come_nothing_is_expected():
    expectations = (
        *(Allocatable(node, "rdma/a", 1) for node in NODES),
        NadPresent("training", "a", "macvlan", ""),
    )
    stages = tuple(
        replace(stage, expectations=expectations) if stage.name == NIC_DRIVER_READY else stage for stage in STAGES
    )
    plan = a_plan(EAST, stages=stages)
    canary = changes_of(Run(NIC_DRIVER_READY, 3, 5, plan.batches[0]), plan)
    second = changes_of(Run(NIC_DRIVER_READY, 3, 5, plan.batches[1], earlier=NODES[:1]), plan)
    assert canary.expectations == (expectations[0], expectations[2])
    assert second.expectations == expectations


def test_a_roll_out_of_a_pool_names_every_node_of_the_pool():
    outsider = NodeName("infra-1")
    plan = a_plan(EAST)
    nodes = (
        *(replace(node, pool="worker") for node in plan.nodes),
        replace(plan.nodes[0], node=outsider, admitted=(), pool="worker"),
    )
    share = MachineShare("99-x", "worker", (), (), (), (FabricName("east"),), stage=OPERATORS_INSTALLED)
    reached = nodes_of(Run(OPERATORS_INSTALLED, 1, 5), replace(plan, nodes=nodes, shares=(share,)))
    assert set(reached) == {*NODES, outsider}


def test_a_batch_names_only_nodes_that_are_still_admitted():
    plan = a_plan(EAST)
    batch = Batch("batch-2", (*NODES, NodeName("gone")))
    assert nodes_of(Run(NIC_DRIVER_READY, 3, 5, batch), plan) == NODES


@pytest.mark.parametrize("with_vfs", [True, False])
def test_who_is_asked_about_more_than_a_stages_own_risk_is_told_why(with_vfs):
    vfs = (a_stage(VFS_READY, risk=Risk.REBOOT, per_batch=True),) if with_vfs else ()
    plan = a_plan(EAST, stages=(*STAGES[:3], *vfs, *STAGES[3:]))
    run = next(item for item in runs_of(plan, None) if item.stage == NIC_DRIVER_READY)
    label = FieldChange(("metadata", "labels", "x"), None, "admitted", "")
    change = Change(Ref(kinds.NODE, "", NODES[0]), Action.UPDATE, {}, (label,), node=NODES[0])
    changes = replace(changes_of(run, plan), changes=(change,))
    prepared = Prepared((), a_snapshot(), plan, Manifests(()), Changes(()), Ledger())
    question = risk_question(run, STAGES[2], changes, prepared)
    assert question is not None
    told = [line for line in question.details if "own risk" in line]
    assert question.risk is (Risk.REBOOT if with_vfs else Risk.DRIVER_RELOAD)
    why = "this stage's own risk is driver reload; its labels admit these nodes to vfs-ready (risk: reboot) too"
    assert told == ([why] if with_vfs else [])


def test_labels_that_only_hold_drivers_are_no_risk():
    path = ("metadata", "labels", GPU_DRIVER_SKIP)
    plan, run = a_plan(EAST), Run(NIC_DRIVER_READY, 3, 5, Batch("canary", (NODES[0],)))

    def risk(new):
        change = Change(Ref(kinds.NODE, "", NODES[1]), Action.UPDATE, {}, (FieldChange(path, MISSING, new, ""),))
        change = replace(change, node=NODES[1])
        prepared = Prepared((), a_snapshot(), plan, Manifests(()), Changes(((NIC_DRIVER_READY, change),)), Ledger())
        changes = stage_changes(run, prepared, dry_run=False, take_over=False)
        assert changes.changes == (change,)
        return risk_question(run, plan.stage(NIC_DRIVER_READY), changes, prepared)

    assert risk("true") is None
    assert risk("false").risk is Risk.DRIVER_RELOAD
