"""
Drivers that a write loads anew on nodes that have them already. Pure.

An operator replaces its driver pods when their template changes, whatever the reason: a second fabric widens the node
selector of the one NicClusterPolicy, and with it the driver's pods of every node are of an old form.
What holds a driver is a label that keeps a pod as it is: one that comes for the first time, or goes, is not held.
Measured: Network Operator 26.4.1 and GPU Operator 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from railwright.changes.model import Action, Change, FieldPath
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, dig
from railwright.core.risk import Risk
from railwright.facts.model import NodeFacts, NodeHardware, Snapshot
from railwright.plan.model import Move, Plan, Reach
from railwright.plan.objects import NETWORK_OPERATOR
from railwright.plan.operands import GPU_PACKAGE
from railwright.plan.turns import GPU_DRIVER_SKIP, NIC_DRIVER_SKIP


@dataclass(frozen=True)
class Driver:
    """
    A driver whose pods are made from these sections of a policy, but for how roll-outs go.

    Attributes:
        package: whose operator makes the pods.
        version: what of it is loaded on a node; "" for none.
        skip_label: keeps a node's pod as it is.
        deploy_label: "true" on nodes that its operator brings it to; "" where a selector of ours says that.
    """

    name: str
    package: str
    sections: tuple[FieldPath, ...]
    but_not: FieldPath
    version: Callable[[NodeHardware], str]
    skip_label: str
    deploy_label: str = ""

    @property
    def section(self) -> FieldPath:
        """Where the driver itself is described."""
        return self.sections[0]

    @property
    def state_label(self) -> str:
        """Where its operator keeps a node's state, once the node has a pod of it."""
        return self.skip_label.replace(".skip", "-state")

    def may_run_on(self, node: NodeFacts, ours: Collection[NodeName]) -> bool:
        """
        Whether a node has it, for all we know.

        Of ours one counts too that could not be read, or on which it is not loaded just now; of others one that could
        not be read, and that its operator has marked.
        """
        is_marked = bool(node.labels.get(self.state_label))
        if node.hardware is None:
            return node.name in ours or is_marked or node.labels.get(self.deploy_label) == "true"
        return (node.name in ours and is_marked) or bool(self.version(node.hardware))


DRIVERS: Mapping[Kind, Driver] = {
    kinds.NIC_CLUSTER_POLICY: Driver(
        "DOCA driver",
        NETWORK_OPERATOR,
        (("spec", "ofedDriver"), ("spec", "nodeAffinity"), ("spec", "tolerations")),
        ("spec", "ofedDriver", "upgradePolicy"),
        lambda hardware: hardware.mlx5_driver,
        NIC_DRIVER_SKIP,
    ),
    kinds.CLUSTER_POLICY: Driver(
        "GPU driver",
        GPU_PACKAGE,
        (("spec", "driver"), ("spec", "daemonsets", "tolerations"), ("spec", "gds"), ("spec", "gdrcopy")),
        ("spec", "driver", "upgradePolicy"),
        lambda hardware: hardware.nvidia_driver,
        GPU_DRIVER_SKIP,
        "nvidia.com/gpu.deploy.driver",
    ),
}


class Form(Enum):
    """What a write does to a driver where it runs: only its next form can be held back by a label."""

    ANEW = "loads the {driver} anew on every node that has it ({nodes})"
    COMES = "puts the {driver} on {nodes} at once: no label holds back a driver that a node has not had"
    GOES = "takes the {driver} off {nodes} at once: no label holds back a driver that goes"


@dataclass(frozen=True)
class Reload:
    """One driver that is loaded anew, comes or goes: on which nodes, for which fields of which object, at which risk."""

    driver: str
    object: str
    kind: Kind
    nodes: tuple[NodeName, ...]
    fields: tuple[str, ...]
    form: Form = Form.ANEW
    risk: Risk = Risk.DRIVER_RELOAD

    @property
    def why(self) -> str:
        """What is written that does it."""
        return f"{self.object} changes in {', '.join(self.fields)}"

    @property
    def text(self) -> str:
        """The same for people, with what it does."""
        does = self.form.value.format(driver=self.driver, nodes=", ".join(self.nodes))
        return f"{self.why}: its operator {does}"

    def unheld(self, moves: Iterable[Move]) -> tuple[NodeName, ...]:
        """Name the nodes that no label of a move holds until their turn."""
        held = {node for move in moves if move.what == self.driver and move.skip_label for node in move.nodes}
        return tuple(node for node in self.nodes if node not in held)

    def asked(self, moves: Iterable[Move]) -> str:
        """The same for a question: with the nodes that have no turn, where others have one."""
        return f"{self.text}{self._as_it_likes(self.unheld(moves))}"

    def reach(self, moves: tuple[Move, ...]) -> Reach:
        """The same as a step that no selector holds back."""
        unheld = self.unheld(moves)
        if len(unheld) == len(self.nodes):
            return Reach(self.text, self.nodes, "")
        held = "node by node, canaries first; a label keeps it off a node of ours until its turn"
        return Reach(self.text, self.nodes, held + self._as_it_likes(unheld))

    def _as_it_likes(self, unheld: tuple[NodeName, ...]) -> str:
        if not unheld or len(unheld) == len(self.nodes):
            return ""
        return f"; nothing holds {', '.join(unheld)}, and the operator goes on there as it likes"


def reloads_of(changes: Iterable[Change], plan: Plan, snapshot: Snapshot) -> tuple[Reload, ...]:
    """Find what is loaded anew, comes to nodes that are admitted already, or goes."""
    found = []
    for change in changes:
        driver = DRIVERS.get(change.ref.kind)
        if driver is None or change.action is Action.CREATE:
            continue
        fields = sorted({".".join(item.path[:2]) for item in change.fields if _is_in_pods(item.path, driver)})
        form = _form(change, driver, snapshot)
        nodes = _nodes(driver, form, plan, snapshot)
        if fields and nodes:
            risk = Risk.DRAIN if form is Form.ANEW and _is_rolled_out(change, driver, snapshot) else Risk.DRIVER_RELOAD
            found.append(Reload(driver.name, str(change.ref), change.ref.kind, nodes, tuple(fields), form, risk))
    return tuple(found)


def ours(plan: Plan) -> frozenset[NodeName]:
    """Name the nodes that are in a fabric, or were."""
    return frozenset(node.node for node in plan.nodes if node.admitted or node.was_admitted)


def _nodes(driver: Driver, form: Form, plan: Plan, snapshot: Snapshot) -> tuple[NodeName, ...]:
    """Name the nodes that it happens to; a driver comes to those that carry their admission already."""
    if form is Form.COMES:
        return tuple(node.node for node in plan.nodes if node.was_admitted)
    return tuple(node.name for node in snapshot.nodes if driver.may_run_on(node, ours(plan)))


def _form(change: Change, driver: Driver, snapshot: Snapshot) -> Form:
    live = snapshot.cluster.objects.get(change.ref, {})
    if not any(item.path[: len(driver.section)] == driver.section for item in change.fields):
        return Form.ANEW
    if dig(live, *driver.section) is None:
        return Form.COMES
    return Form.GOES if dig(change.desired, *driver.section) is None else Form.ANEW


def _is_rolled_out(change: Change, driver: Driver, snapshot: Snapshot) -> bool:
    """Whether its operator empties nodes and replaces its pods by itself; else somebody has to delete them."""
    sides = (change.desired, snapshot.cluster.objects.get(change.ref, {}))
    values = (dig(side, *driver.but_not, "autoUpgrade") for side in sides)
    return next((value for value in values if value is not None), False) is True


def _is_in_pods(path: FieldPath, driver: Driver) -> bool:
    inside = any(path[: len(section)] == section for section in driver.sections)
    return inside and path[: len(driver.but_not)] != driver.but_not
