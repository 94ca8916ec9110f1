"""
Drivers that a write loads anew on nodes that have them already. Pure.

An operator replaces its driver pods when their template changes, whatever the reason: a second fabric widens the node
selector of the one NicClusterPolicy, and with it the driver's pods of every node are of an old form.
Measured: Network Operator 26.4.1 and GPU Operator 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from railwright.changes.model import Action, Change, FieldPath
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import Kind
from railwright.facts.model import NodeFacts, NodeHardware, Snapshot
from railwright.plan.model import Reach
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
    """

    name: str
    package: str
    sections: tuple[FieldPath, ...]
    but_not: FieldPath
    version: Callable[[NodeHardware], str]
    skip_label: str

    @property
    def section(self) -> FieldPath:
        """Where the driver itself is described."""
        return self.sections[0]

    def runs_on(self, node: NodeFacts) -> bool:
        """Whether a node has it, for all that was seen."""
        return node.hardware is not None and bool(self.version(node.hardware))


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
    ),
}


@dataclass(frozen=True)
class Reload:
    """One driver that is loaded anew: on which nodes, and for which fields of which object."""

    driver: str
    object: str
    kind: Kind
    nodes: tuple[NodeName, ...]
    fields: tuple[str, ...]

    @property
    def text(self) -> str:
        """The same for people."""
        return (
            f"{self.object} changes in {', '.join(self.fields)}: its operator loads the {self.driver} anew on every node"
            f" that has it ({', '.join(self.nodes)})"
        )

    def reach(self) -> Reach:
        """The same as a step that no selector holds back."""
        return Reach(self.text, self.nodes, "node by node, canaries first; a label keeps it off a node until its turn")


def reloads_of(changes: Iterable[Change], snapshot: Snapshot) -> tuple[Reload, ...]:
    """Find what is loaded anew; a driver that runs nowhere yet is loaded for the first time, which is no matter here."""
    found = []
    for change in changes:
        driver = DRIVERS.get(change.ref.kind)
        if driver is None or change.action is Action.CREATE:
            continue
        fields = sorted({".".join(item.path[:2]) for item in change.fields if _is_in_pods(item.path, driver)})
        nodes = tuple(node.name for node in snapshot.nodes if driver.runs_on(node))
        if fields and nodes:
            found.append(Reload(driver.name, str(change.ref), change.ref.kind, nodes, tuple(fields)))
    return tuple(found)


def _is_in_pods(path: FieldPath, driver: Driver) -> bool:
    inside = any(path[: len(section)] == section for section in driver.sections)
    return inside and path[: len(driver.but_not)] != driver.but_not
