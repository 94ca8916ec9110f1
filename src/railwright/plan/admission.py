"""Which nodes are admitted, in which batches, and what reaches nodes that no selector can hold back."""

from collections.abc import Iterable

from railwright.core.ids import FabricName, NodeName
from railwright.facts.model import NodeFacts, Snapshot
from railwright.plan.draft import FabricNodes
from railwright.plan.expectations import GPU_RESOURCE
from railwright.plan.model import (
    ADMITTED,
    Batch,
    GpuPolicyShare,
    KubeletShare,
    MachineShare,
    NfdShare,
    NicPolicyShare,
    NodeLabelShare,
    NodePlan,
    Reach,
    Share,
    SriovConfigShare,
    fabric_label,
    group_label,
)
from railwright.plan.nodes import connectx_ports
from railwright.plan.notes import Notes
from railwright.plan.operands import nic_policy
from railwright.plan.reached import selects
from railwright.plan.turns import OPERANDS

_GPU_RUNS = "nvidia.com/gpu.deploy.driver"
_LARGEST_BATCH_SHARE = 4


def node_plans(
    snapshot: Snapshot,
    fabrics: tuple[FabricNodes, ...],
    selected: dict[NodeName, str],
    left_out: dict[NodeName, str],
    notes: Notes,
) -> tuple[NodePlan, ...]:
    """Say of every node of the cluster what becomes of it."""
    pools = {node: pool.name for pool in snapshot.cluster.pools for node in pool.nodes}
    plans = []
    for node in sorted(snapshot.nodes, key=lambda item: item.name):
        refused = notes.of_node(node.name)
        admitted = tuple(FabricName(fabric.settings.name) for fabric in fabrics if node.name in fabric.hardware)
        reason = selected.get(node.name) or left_out.get(node.name, "not asked for")
        if refused:
            reason = ", ".join(dict.fromkeys(refusal.code for refusal in refused))
        plans.append(
            NodePlan(
                node=node.name,
                admitted=admitted,
                refused=refused,
                selected=node.name in selected or bool(refused),
                reason=reason,
                pool=pools.get(node.name, ""),
                was_admitted=_was_admitted(node, fabrics),
            )
        )
        if refused and plans[-1].was_admitted:
            notes.warn(
                "admitted-node-went-bad",
                f"{node.name} was admitted before and would be refused today: {reason}",
                node.name,
            )
    return tuple(plans)


def _was_admitted(node: NodeFacts, fabrics: Iterable[FabricNodes]) -> bool:
    return any(node.labels.get(fabric_label(FabricName(fabric.settings.name))) == ADMITTED for fabric in fabrics)


def batches(fabrics: tuple[FabricNodes, ...]) -> tuple[Batch, ...]:
    """One canary of each group first, then the others, a quarter at a time where they are many."""
    groups = ((group, fabric.hardware) for fabric in fabrics for group in fabric.groups if group.nodes)
    canaries = sorted({group.nodes[0] for group, looked_at in groups if group.nodes[0] in looked_at})
    rest = sorted({node for fabric in fabrics for node in fabric.hardware} - set(canaries))
    if not canaries:
        return ()
    size = max(8, -(-len(rest) // _LARGEST_BATCH_SHARE))
    parts = [tuple(rest[start : start + size]) for start in range(0, len(rest), size)]
    return (
        Batch("canary", tuple(canaries)),
        *(Batch(f"batch-{number}", part) for number, part in enumerate(parts, 2)),
    )


def label_shares(
    snapshot: Snapshot, fabrics: tuple[FabricNodes, ...], gpu: GpuPolicyShare | None, notes: Notes
) -> tuple[NodeLabelShare, ...]:
    """
    Plan the labels: admission and group for nodes of a fabric; GPU operands held back elsewhere.

    Operands are held back only where none run: on a node that has them already, that would take its GPUs away.
    """
    shares = []
    for fabric in fabrics:
        name = FabricName(fabric.settings.name)
        for group in fabric.groups:
            for node in group.nodes:
                if node in fabric.hardware:
                    labels = {fabric_label(name): ADMITTED, group_label(name): group.name}
                    shares.append(NodeLabelShare(node, labels, name))
    shares += _kept(snapshot, fabrics, notes)
    admitted = {node for fabric in fabrics for node in fabric.hardware}
    if gpu is None or gpu.adopted or not fabrics:
        return tuple(shares)
    first = FabricName(fabrics[0].settings.name)
    for item in sorted(snapshot.nodes, key=lambda node: node.name):
        outside = item.name not in admitted and _may_have_gpus(item) and not _was_admitted(item, fabrics)
        if outside and OPERANDS in item.labels:
            continue
        if outside and not _gpu_operands_run(item):
            shares.append(NodeLabelShare(item.name, {OPERANDS: "false"}, first, held_back=True))
        elif outside:
            notes.warn(
                "gpu-operands-run-elsewhere",
                f"{item.name} is not in a fabric and runs GPU operands already: the ClusterPolicy reaches it",
                item.name,
            )
    return tuple(shares)


def without_gpu_operands(
    snapshot: Snapshot, fabrics: tuple[FabricNodes, ...], gpu: GpuPolicyShare | None
) -> tuple[NodeName, ...]:
    """
    Name admitted nodes to which the GPU Operator has not come, so that it can be kept off until their batch's turn.

    A policy that is there already has come to every node; a node whose label somebody set is theirs to decide on.
    """
    if gpu is None or gpu.adopted:
        return ()
    admitted = {node for fabric in fabrics for node in fabric.hardware}
    return tuple(
        node.name
        for node in sorted(snapshot.nodes, key=lambda item: item.name)
        if node.name in admitted and OPERANDS not in node.labels and not _gpu_operands_run(node)
    )


def check_operands(node: NodeFacts, notes: Notes) -> None:
    """Refuse a node from which somebody keeps the GPU Operator off: no driver would ever come."""
    if node.labels.get(OPERANDS) == "false":
        notes.refuse(
            "gpu-operands-held-back",
            f"{node.name} carries {OPERANDS}=false, which somebody set: the GPU driver never comes to it",
            expected=f"no label {OPERANDS}",
            seen="false",
            hint=f"oc label node {node.name} {OPERANDS}-, or leave the node out with spec.nodes",
            node=node.name,
        )


def _kept(snapshot: Snapshot, fabrics: tuple[FabricNodes, ...], notes: Notes) -> list[NodeLabelShare]:
    """Keep the labels of admitted nodes that would be refused today: what runs there is not torn away by a new plan."""
    shares = []
    for fabric in fabrics:
        name = FabricName(fabric.settings.name)
        for node in sorted(snapshot.nodes, key=lambda item: item.name):
            if node.name not in fabric.hardware and notes.of_node(node.name) and _was_admitted(node, (fabric,)):
                keys = (fabric_label(name), group_label(name))
                labels = {key: node.labels[key] for key in keys if key in node.labels}
                shares.append(NodeLabelShare(node.name, labels, name))
    return shares


def _gpu_operands_run(node: NodeFacts) -> bool:
    """Whether GPU operands run on a node, or may: their label alone says little, for it outlives the operator."""
    if _GPU_RUNS not in node.labels:
        return False
    driver = node.hardware.nvidia_driver if node.hardware is not None else ""
    return not node.ready or bool(driver) or node.allocatable.get(GPU_RESOURCE, 0) > 0


def _may_have_gpus(node: NodeFacts) -> bool:
    return bool(node.hardware.gpus) if node.hardware is not None else not node.is_control_plane


def _is_open(share: SriovConfigShare) -> bool:
    """Whether a configuration of ours lets the SR-IOV daemon come to nodes of no fabric."""
    return not share.adopted and ADMITTED not in share.daemon_node_selector.values()


def reaches(snapshot: Snapshot, fabrics: tuple[FabricNodes, ...], shares: tuple[Share, ...]) -> tuple[Reach, ...]:
    """List what no selector holds back, with every node that it reaches."""
    everyone = tuple(sorted(node.name for node in snapshot.nodes))
    admitted = {node for fabric in fabrics for node in fabric.hardware}
    held = sorted(share.node for share in shares if isinstance(share, NodeLabelShare) and share.held_back)
    with_gpu = tuple(sorted(node.name for node in snapshot.nodes if node.hardware and node.hardware.gpus))
    with_nic = tuple(sorted(node.name for node in snapshot.nodes if node.hardware and connectx_ports(node.hardware)))
    policy = nic_policy(snapshot.cluster)
    found = []
    for share in shares:
        if isinstance(share, NfdShare):
            found.append(Reach("NFD workers run and label", everyone, "labels only"))
        elif isinstance(share, GpuPolicyShare):
            how = f"{OPERANDS}=false is set on {', '.join(held)}" if held else ""
            if not share.adopted and len(admitted) > 1:
                how += (
                    "; " if held else ""
                ) + "nodes without a GPU driver are kept out in the same way until their batch"
            nodes = tuple(node for node in with_gpu if node not in held)
            found.append(Reach("the ClusterPolicy's driver and operands run on nodes with a GPU", nodes, how))
        elif isinstance(share, MachineShare | KubeletShare):
            pool = next((pool.nodes for pool in snapshot.cluster.pools if pool.name == share.pool), ())
            outside = sorted(set(pool) - admitted)
            how = f"{len(outside)} of them are in no fabric: {', '.join(outside[:8])}" if outside else ""
            kind = "MachineConfig" if isinstance(share, MachineShare) else "KubeletConfig"
            found.append(Reach(f"{kind} {share.name} reboots pool {share.pool}", tuple(sorted(pool)), how))
        elif isinstance(share, SriovConfigShare) and _is_open(share):
            nodes = tuple(node.name for node in snapshot.nodes if node.name in with_nic and node.is_worker)
            how = "one selector holds no labels of two fabrics; it makes VFs only where a policy selects a node"
            found.append(Reach("the SR-IOV config daemon runs on workers with a ConnectX port", nodes, how))
        elif isinstance(share, NicPolicyShare) and share.adopted and policy is not None:
            nodes = tuple(node.name for node in snapshot.nodes if node.name in with_nic and selects(policy, node))
            what = "the NicClusterPolicy that is there has its own selector"
            found.append(Reach(what, nodes, "it is not narrowed: nodes in use would drop out"))
    return tuple(found)
