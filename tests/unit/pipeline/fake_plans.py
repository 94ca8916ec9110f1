"""Plans for the pipeline's tests, and a `prepare` that compares them with a fake cluster instead of discovering one."""

from collections.abc import Callable
from dataclasses import replace

from unit.apply.fake_world import FakeCluster, FakeNode, an_object

from railwright.apply.ledger import LedgerStore
from railwright.apply.ours import known_refs, taken_by_ref
from railwright.changes.compare import compare
from railwright.core import kinds
from railwright.core.ids import FabricName, NodeName, RailName
from railwright.core.risk import Risk
from railwright.facts.model import ClusterFacts, Platform, PodFacts, Snapshot, Topology
from railwright.intent.model import Fabric, Intent, Method
from railwright.manifests.model import Manifest, Manifests
from railwright.pipeline import apply as apply_module
from railwright.pipeline import clean as clean_module
from railwright.pipeline import status as status_module
from railwright.pipeline.model import Prepared
from railwright.plan.model import (
    HARDWARE_LABELLED,
    NETWORKS_ATTACHED,
    NIC_DRIVER_READY,
    OPERATORS_INSTALLED,
    VERIFIED,
    Basis,
    Batch,
    FabricPlan,
    NetworkShare,
    NodePlan,
    Plan,
    Refusal,
    StagePlan,
)
from railwright.ports.world import World

EAST, WEST = FabricName("east"), FabricName("west")
NODES = (NodeName("worker-1"), NodeName("worker-2"))
MANAGED = {"app.kubernetes.io/managed-by": "railwright"}


def an_intent(name=EAST) -> Intent:
    return Intent(name, Method.SHARED, Fabric.ROCE, document=f"name: {name}")


def a_stage(name, *, risk=Risk.NONE, per_batch=False, applies=True, **changes) -> StagePlan:
    stage = StagePlan(
        name=name,
        gate="true",
        risk=risk,
        expected_s=60.0,
        limit_s=120.0,
        hold_s=5.0,
        undo="delete it",
        per_batch=per_batch,
        applies=applies,
        skip_reason="" if applies else "nothing to do",
    )
    return replace(stage, **changes)


STAGES = (
    a_stage(OPERATORS_INSTALLED),
    a_stage(HARDWARE_LABELLED, applies=False),
    a_stage(NIC_DRIVER_READY, risk=Risk.DRIVER_RELOAD, per_batch=True),
    a_stage(NETWORKS_ATTACHED, per_batch=True),
    a_stage(VERIFIED),
)


def a_plan(*names, refused=(), refused_nodes=(), stages=STAGES) -> Plan:
    fabrics = tuple(FabricPlan(name, an_intent(name), Method.SHARED, Fabric.ROCE, (), (), ()) for name in names)
    bad = {item.node: item for item in refused_nodes}
    nodes = tuple(
        NodePlan(
            node,
            () if node in bad else names,
            (bad[node],) if node in bad else (),
            selected=True,
            reason="has GPUs",
            was_admitted=True,
        )
        for node in NODES
    )
    return Plan(
        basis=Basis(
            "fake",
            simulated=True,
            platform=Platform.OPENSHIFT,
            topology=Topology.STANDARD,
            openshift_version="4.20.1",
            kubernetes_version="v1.33.5",
            facts_known=True,
        ),
        fabrics=fabrics,
        stages=stages,
        shares=tuple(_network_share(name) for name in names),
        nodes=nodes,
        batches=(Batch("canary", NODES[:1]), Batch("batch-2", NODES[1:])),
        other_ports=(),
        reaches=(),
        decisions=(),
        warnings=(),
        refusals=tuple(refused),
    )


def _network_share(name) -> NetworkShare:
    rail = RailName("rail0")
    nad = f"{name}-rail0"
    return NetworkShare("MacvlanNetwork", nad, "", "training", nad, rail, name, "ens1f0np0", "", None, {})


def a_snapshot() -> Snapshot:
    pod = PodFacts("training", "job-0", NODES[0], "Running", "", {"nvidia.com/gpu": 8}, "")
    cluster = ClusterFacts(
        name="fake",
        simulated=True,
        platform=Platform.OPENSHIFT,
        openshift_version="4.20.1",
        kubernetes_version="v1.33.5",
        topology=Topology.STANDARD,
        cluster_networks=(),
        service_networks=(),
        machine_networks=(),
        internal_networks=(),
        network_type="OVNKubernetes",
        proxy=False,
        fips=False,
        served_kinds=(),
        packages=(),
        packages_problem="",
        pools=(),
        pods=(pod,),
    )
    return Snapshot("2026-11-30T07:00:00Z", cluster, ())


def manifests_for(names) -> tuple[Manifest, ...]:
    """One policy that all fabrics share, a label a node and a network a fabric."""
    config = {f"{name}": {"rails": "8"} for name in names}
    items = [
        Manifest(OPERATORS_INSTALLED, an_object(kinds.NAMESPACE, "nvidia-network-operator", labels=MANAGED), ()),
        Manifest(NIC_DRIVER_READY, an_object(kinds.NIC_CLUSTER_POLICY, "nic", labels=MANAGED, spec=config), ()),
    ]
    for name in names:
        for node in NODES:
            labels = {f"railwright.dev/fabric.{name}": "admitted"}
            items.append(
                Manifest(NIC_DRIVER_READY, an_object(kinds.NODE, node, labels=labels), (name,), node=node, partial=True)
            )
    for name in names:
        net = an_object(kinds.MACVLAN_NETWORK, f"{name}-rail0", labels=MANAGED, spec={"networkNamespace": "training"})
        items.append(Manifest(NETWORKS_ATTACHED, net, (name,)))
    # As render does: one manifest a stage and object.
    merged: dict = {}
    for item in items:
        known = merged.get(item.ref)
        if known is not None:
            labels = {**known.obj["metadata"]["labels"], **item.obj["metadata"]["labels"]}
            obj = an_object(item.ref.kind, item.ref.name, labels=labels)
            merged[item.ref] = replace(item, obj=obj, fabrics=(*known.fabrics, *item.fabrics))
        else:
            merged[item.ref] = item
    return tuple(merged.values())


manifests_in_use = manifests_for


def a_world() -> World:
    cluster = FakeCluster()
    for node in NODES:
        cluster.put(an_object(kinds.NODE, node, labels={"kubernetes.io/hostname": node}))
    cluster.put(an_object(kinds.NAMESPACE, "training"))
    with_network_operator(cluster)
    return World(cluster, FakeNode(), cluster.clock)


def with_network_operator(cluster: FakeCluster) -> None:
    """Make a NAD of each MacvlanNetwork, and remove it with it."""

    def react(_verb="", _ref=None) -> None:
        networks = {ref.name for ref in cluster.store.objects if ref.kind == kinds.MACVLAN_NETWORK}
        nads = {ref.name: ref for ref in cluster.store.objects if ref.kind == kinds.NETWORK_ATTACHMENT_DEFINITION}
        for name in networks - set(nads):
            cluster.put(an_object(kinds.NETWORK_ATTACHMENT_DEFINITION, name, "training"), "network-operator")
        for name in set(nads) - networks:
            cluster.store.delete(nads[name], cluster.clock.now())

    cluster.clock.ticks.append(react)


def planned(monkeypatch, make_plan: Callable[..., Plan] = a_plan) -> list[Plan]:
    """Let the pipeline plan with `make_plan(*fabric names)`; gives the list of plans that were made."""
    made: list[Plan] = []

    async def prepare_exactly(world, intents, ledger, catalog, progress, turn=None):
        del catalog, progress
        names = tuple(intent.name for intent in intents)
        plan = make_plan(*names)
        made.append(plan)
        items = manifests_in_use(names) if not plan.is_refused else ()
        live = {item.ref: world.cluster.find(item.ref) for item in items if world.cluster.find(item.ref)}
        changes = compare(items, live, known_refs(ledger, live), taken=taken_by_ref(ledger))
        return Prepared(intents, a_snapshot(), plan, Manifests(items), changes, ledger, turn=turn)

    async def prepare(world, intents, catalog, progress, turn=None):
        ledger = await LedgerStore(world.cluster, world.clock).load()
        given = {intent.name for intent in intents}
        earlier = tuple(an_intent(name) for name in sorted(ledger.fabrics) if name not in given)
        return await prepare_exactly(world, (*intents, *earlier), ledger, catalog, progress, turn)

    async def prepare_whole(world, intents, catalog, progress, turn=None, *, begun=False):
        del begun
        return await prepare(world, intents, catalog, progress, turn)

    async def prepare_ledger_whole(world, ledger, catalog, progress):
        earlier = tuple(an_intent(name) for name in sorted(ledger.fabrics))
        return await prepare_exactly(world, earlier, ledger, catalog, progress)

    async def prepare_from(world, snapshot, intents, ledger, catalog, turn=None):
        del snapshot
        return await prepare_exactly(world, intents, ledger, catalog, None, turn)

    monkeypatch.setattr(apply_module, "prepare_whole", prepare_whole)
    monkeypatch.setattr(apply_module, "prepare_from", prepare_from)
    monkeypatch.setattr(clean_module, "prepare_ledger_whole", prepare_ledger_whole)
    monkeypatch.setattr(clean_module, "prepare_from", prepare_from)
    monkeypatch.setattr(status_module, "prepare", prepare)
    monkeypatch.setattr(status_module, "prepare_exactly", prepare_exactly)
    monkeypatch.setattr(
        status_module, "earlier_intents", lambda ledger: tuple(an_intent(n) for n in sorted(ledger.fabrics))
    )
    return made


def a_refusal(node=None, code="uplink-would-be-cut") -> Refusal:
    return Refusal(code, "br-ex goes through ens3f0np0", where="worker-2", hint="use the in-box driver", node=node)
