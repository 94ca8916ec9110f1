"""`plan(intents, snapshot, catalog) -> Plan`: the one public function."""

from railwright.catalog.model import Catalog, NetworkOperatorEntry
from railwright.core.ids import FabricName, NodeName
from railwright.core.objects import KubeObject
from railwright.facts.model import Snapshot, Topology
from railwright.intent.model import Intent
from railwright.plan import admission, compose, operands, reached
from railwright.plan.detours import check_detours
from railwright.plan.draft import FabricNodes
from railwright.plan.driver_images import check_driver_images, os_tag
from railwright.plan.environment import environment
from railwright.plan.expectations import Expected
from railwright.plan.fabrics import Drafts, draft_fabrics
from railwright.plan.gpu_there import check_gpu_there
from railwright.plan.labelling import labelling_shares
from railwright.plan.limits import check_limits, check_nodes_limits
from railwright.plan.machine import largest_roll_out, machine_shares, made_lockable
from railwright.plan.model import Basis, FabricPlan, GpuPolicyShare, Plan, Share
from railwright.plan.notes import Notes
from railwright.plan.objects import NETWORK_OPERATOR, SRIOV_OPERATOR, access_shares, fabric_shares, nic_needs
from railwright.plan.operands import NicNeeds
from railwright.plan.platform import check_platform
from railwright.plan.settings import settings_of
from railwright.plan.sriov_there import check_sriov_there
from railwright.plan.stages import stages
from railwright.plan.traps import check_traps
from railwright.plan.versions import network_operator, operator_shares
from railwright.plan.versions_known import check_versions_known
from railwright.plan.wishes import check_wishes


def plan(intents: tuple[Intent, ...], snapshot: Snapshot, catalog: Catalog, *, touches_ports: bool = False) -> Plan:
    """
    Decide everything.

    Args:
        intents: every fabric that is to be on the cluster, those applied earlier included.
        snapshot: facts; without nodes (rendering without a cluster) rails must be named in the intents.
        touches_ports: it is known that ports or drivers of admitted nodes are set up anew; else what stands on a port
            of such a node is told, and keeps nobody out.

    Returns:
        A plan, refused or not: reasons are in it, per node and for the whole.
    """
    notes = Notes()
    cluster = snapshot.cluster
    alone = cluster.topology is Topology.SINGLE_NODE
    all_settings = tuple(settings_of(intent, catalog, notes, single_node=alone) for intent in intents)
    check_platform(all_settings, snapshot, catalog, notes)
    compose.check_settings(all_settings, notes)
    operators = operator_shares(all_settings, snapshot, catalog, notes) if all_settings else ()
    entry = network_operator(operators, catalog, notes)
    drafts = draft_fabrics(all_settings, snapshot, catalog, notes, touches_ports=touches_ports)
    policy = operands.nic_policy(cluster)
    check_traps(all_settings, cluster, policy, operators, catalog, notes)
    check_versions_known(all_settings, cluster, operators, catalog, notes)
    _check_nodes(drafts, snapshot, entry, policy, catalog, notes)
    check_nodes_limits(drafts.fabrics, operators, catalog, notes)
    fabrics = drafts.without_refused(notes)
    compose.check_ports(fabrics, notes)
    namespaces = {package: operands.namespace_of(package, operators, catalog) for package in operands.PACKAGES}
    shares: list[Share] = [*operators, *machine_shares(fabrics, cluster, notes)]
    gpu = operands.gpu_share(all_settings, cluster, operators, catalog, notes) if all_settings else None
    if all_settings:
        needs = nic_needs(fabrics, all_settings, notes)
        in_fabrics = frozenset(node for fabric in fabrics for node in fabric.hardware)
        shares += _policies(needs, gpu, snapshot, in_fabrics, entry, namespaces, catalog, notes)
        shares += admission.label_shares(snapshot, fabrics, gpu, notes)
    for fabric in fabrics:
        shares += fabric_shares(fabric, cluster, namespaces, catalog, notes)
    shares += access_shares(fabrics, cluster)
    check_wishes(all_settings, cluster, tuple(shares), notes)
    check_limits(all_settings, cluster, tuple(shares), catalog, notes)
    batches = admission.batches(fabrics)
    expected = Expected(
        platform=cluster.platform,
        fabrics=fabrics,
        shares=tuple(shares),
        nic_namespace=namespaces[NETWORK_OPERATOR],
        sriov_namespace=namespaces[SRIOV_OPERATOR],
        pool_nodes=largest_roll_out(shares, cluster),
        batch_nodes=max((len(batch.nodes) for batch in batches), default=1),
        lockable=made_lockable(shares, fabrics, cluster),
    )
    nodes = admission.node_plans(snapshot, fabrics, drafts.selected, drafts.left_out, notes)
    _refuse_empty(fabrics, snapshot, notes)
    return Plan(
        basis=_basis(snapshot, fabrics),
        fabrics=tuple(_fabric_plan(fabric) for fabric in fabrics),
        stages=stages(expected, catalog),
        shares=tuple(shares),
        nodes=nodes,
        batches=batches,
        other_ports=drafts.other_ports,
        reaches=admission.reaches(snapshot, fabrics, tuple(shares)),
        decisions=tuple(notes.decisions),
        warnings=tuple(notes.warnings),
        refusals=notes.of_plan(),
        without_gpu_operands=admission.without_gpu_operands(snapshot, fabrics, gpu),
    )


def _policies(
    needs: NicNeeds,
    gpu: GpuPolicyShare | None,
    snapshot: Snapshot,
    in_fabrics: frozenset[NodeName],
    entry: NetworkOperatorEntry | None,
    namespaces: dict[str, str],
    catalog: Catalog,
    notes: Notes,
) -> list[Share]:
    """Plan the operators' own resources, of which there is one for all fabrics."""
    cluster, all_settings = snapshot.cluster, needs.settings
    intents = tuple(item.intent for item in all_settings)
    nic, policy = operands.nic_share(needs, cluster, entry, catalog, notes), operands.nic_policy(cluster)
    if policy is not None and nic is not None and nic.driver is not None:
        reached.check_driver_reaches(policy, snapshot.nodes, all_settings, notes)
    admitted = tuple(node for node in snapshot.nodes if node.name in in_fabrics)
    gates = operands.feature_gates(admitted, catalog, notes)
    if gpu is not None:
        gpu = operands.built_against(gpu, nic)
    found: tuple[Share | None, ...] = (
        *labelling_shares(cluster, namespaces["nfd"], intents, admitted, catalog, notes),
        nic,
        operands.sriov_config_share(all_settings, cluster, namespaces[SRIOV_OPERATOR], gates, notes),
        gpu,
    )
    return [share for share in found if share is not None]


def _check_nodes(
    drafts: Drafts,
    snapshot: Snapshot,
    entry: NetworkOperatorEntry | None,
    policy: KubeObject | None,
    catalog: Catalog,
    notes: Notes,
) -> None:
    """Refuse nodes to which the NIC driver or the policy that is there cannot come."""
    for fabric in drafts.fabrics:
        check_driver_images(fabric, snapshot, entry, policy, catalog, notes)
        check_sriov_there(fabric, snapshot.nodes, snapshot.cluster, notes)
        check_gpu_there(fabric, snapshot.nodes, snapshot.cluster, notes)
        check_detours(fabric, notes)
        for node in snapshot.nodes:
            if node.name not in fabric.hardware:
                continue
            admission.check_operands(node, notes)
            if policy is not None:
                reached.check_selected(policy, node, notes)


def _fabric_plan(fabric: FabricNodes) -> FabricPlan:
    intent = fabric.settings.intent
    return FabricPlan(
        name=FabricName(intent.name),
        intent=intent,
        method=intent.method,
        fabric=intent.fabric,
        rails=fabric.rails,
        groups=fabric.groups,
        environment=environment(fabric),
    )


def _refuse_empty(fabrics: tuple[FabricNodes, ...], snapshot: Snapshot, notes: Notes) -> None:
    """Refuse a fabric without a node: nothing would be there to prove."""
    for fabric in fabrics:
        if snapshot.nodes and not fabric.hardware:
            name = fabric.settings.name
            reasons = sorted({f"{refusal.code} on {refusal.node}" for refusal in notes.refusals if refusal.node})
            notes.refuse(
                "no-node-admitted",
                f"no node can be admitted to {name}" + (f": {', '.join(reasons[:6])}" if reasons else ""),
                where=str(fabric.settings.intent.place("spec.nodes") or name),
                expected="at least one worker with an NVIDIA GPU and a ConnectX port whose rails are up",
                seen=f"{len(snapshot.nodes)} nodes, none of them",
                hint="railwright discover shows what each node has; the refused nodes say what is in the way",
            )


def _basis(snapshot: Snapshot, fabrics: tuple[FabricNodes, ...]) -> Basis:
    cluster = snapshot.cluster
    # Drivers come to nodes of a fabric only; where none is admitted yet, to any.
    nodes = [node for node in snapshot.nodes if any(node.name in fabric.hardware for fabric in fabrics)]
    systems = {
        (tag, node.architecture) for node in nodes or snapshot.nodes if (tag := os_tag(node, cluster.openshift_version))
    }
    return Basis(
        cluster=cluster.name,
        simulated=cluster.simulated,
        platform=cluster.platform,
        topology=cluster.topology,
        openshift_version=cluster.openshift_version,
        kubernetes_version=cluster.kubernetes_version,
        facts_known=bool(snapshot.nodes),
        node_systems=tuple(sorted(systems)),
    )
