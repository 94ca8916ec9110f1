from railwright.apply.model import LedgerEntry
from railwright.core import kinds
from railwright.core.ids import FabricName, RailName, StageName
from railwright.core.objects import Ref
from railwright.pipeline.undo_order import nads_of, steps_of, undo_steps
from railwright.plan.model import NetworkShare


def an_entry(kind, name="a", namespace="", order=1) -> LedgerEntry:
    return LedgerEntry(
        Ref(kind, namespace, name), created=True, uid="u", fields=(), fabrics=(), order=order, stage=StageName("s")
    )


def order_of(*entries):
    return [entry.ref.kind for step in steps_of(entries) for entry in step.entries]


def test_what_needs_something_goes_before_what_it_needs():
    """However the entries came into the ledger."""
    right = [
        kinds.POD,
        kinds.SRIOV_IB_NETWORK,
        kinds.NV_IPAM_IP_POOL,
        kinds.NETWORK_POLICY,
        kinds.CLUSTER_POLICY,
        kinds.SRIOV_NETWORK_NODE_POLICY,
        kinds.NIC_CLUSTER_POLICY,
        kinds.NODE,
        kinds.NODE_FEATURE_DISCOVERY,
        kinds.SRIOV_OPERATOR_CONFIG,
        kinds.SUBSCRIPTION,
        kinds.CLUSTER_SERVICE_VERSION,
        kinds.OPERATOR_GROUP,
        kinds.NAMESPACE,
        kinds.MACHINE_CONFIG,
    ]
    entries = [an_entry(kind, order=number) for number, kind in enumerate(sorted(right))]
    assert order_of(*entries) == right


def test_every_entry_is_in_exactly_one_step():
    entries = [an_entry(kind) for kind in vars(kinds).values() if isinstance(kind, kinds.Kind)]
    assert len(order_of(*entries)) == len(entries)
    assert len(undo_steps()) == len(set(undo_steps()))


def test_inside_a_step_the_last_written_goes_first():
    entries = [an_entry(kinds.MACVLAN_NETWORK, name, order=number) for number, name in enumerate("abc")]
    (step,) = [step for step in steps_of(entries) if step.entries]
    assert [entry.ref.name for entry in step.entries] == ["c", "b", "a"]


def test_the_nad_of_a_network_that_is_gone_already_is_known_from_the_plan():
    entry = an_entry(kinds.SRIOV_NETWORK, "rail0", "openshift-sriov-network-operator")
    share = NetworkShare(
        "SriovNetwork",
        "rail0",
        "openshift-sriov-network-operator",
        "training",
        "rail0",
        RailName("rail0"),
        FabricName("east"),
        "",
        "x",
        None,
        {},
    )
    (step,) = [step for step in steps_of([entry]) if step.entries]
    nad = Ref(kinds.NETWORK_ATTACHMENT_DEFINITION, "training", "rail0")
    assert nads_of(step, {}, (share,)) == (nad,)
    live = {entry.ref: {"spec": {"networkNamespace": "training"}}}
    assert nads_of(step, live, ()) == (nad,)
    assert nads_of(step, {}, ()) == ()
