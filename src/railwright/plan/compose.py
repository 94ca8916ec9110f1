"""Several fabrics on one cluster: what they share must agree, and no port is in two of them."""

from collections.abc import Callable

from railwright.core.ids import PciAddress
from railwright.intent.model import Intent, Method
from railwright.plan.draft import FabricNodes
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings

_SHARED: tuple[tuple[str, str, Callable[[Settings], object]], ...] = (
    ("spec.driver.nic", "the NicClusterPolicy", lambda item: item.nic_driver.value),
    ("spec.driver.nicVersion", "the NicClusterPolicy", lambda item: item.intent.driver.nic_version),
    ("spec.driver.gpu", "the ClusterPolicy", lambda item: item.gpu_driver.value),
    ("spec.driver.gpuVersion", "the ClusterPolicy", lambda item: item.intent.driver.gpu_version),
    ("spec.driver.memory", "the ClusterPolicy", lambda item: item.memory.value),
    ("spec.upgrade.auto", "both policies", lambda item: item.auto_upgrade),
    ("spec.upgrade.maxParallel", "both policies", lambda item: item.max_parallel),
    ("spec.upgrade.drainTimeoutSeconds", "both policies", lambda item: item.drain_timeout_s),
    ("spec.imageRegistry", "both policies", lambda item: item.intent.image_registry),
    ("spec.proxy", "both policies", lambda item: item.intent.proxy.environment()),
    ("spec.operators.approval", "the Subscriptions", lambda item: item.approval),
)


def check_settings(all_settings: tuple[Settings, ...], notes: Notes) -> None:
    """Refuse fabrics that want different things of one shared object, with both places."""
    for first_index, first in enumerate(all_settings):
        for second in all_settings[first_index + 1 :]:
            for key, what, value in _SHARED:
                if value(first) != value(second):
                    notes.refuse(
                        "fabrics-contradict",
                        f"{first.name} and {second.name} share {what} and differ in {key}",
                        where=f"{_place(first.intent, key)} and {_place(second.intent, key)}",
                        expected="one value",
                        seen=f"{value(first)} and {value(second)}",
                        hint=f"give both the same {key}",
                    )
            _check_isolation(first, second, notes)
            _check_asked(first, second, notes)


def _check_asked(first: Settings, second: Settings, notes: Notes) -> None:
    """Refuse wishes that are put together from all fabrics, where two say the opposite in so many words."""
    one, other = first.intent, second.intent
    rows: list[tuple[str, str, object, object]] = [
        ("spec.driver.gdrcopy", "the ClusterPolicy", one.driver.gdrcopy, other.driver.gdrcopy),
        ("spec.driver.gds", "the ClusterPolicy", one.driver.gds, other.driver.gds),
        ("spec.numaAligned", "the kubelets", one.numa_aligned, other.numa_aligned),
        ("spec.operators.upgrade", "the Subscriptions", one.operators.upgrade, other.operators.upgrade),
    ]
    for name, here, there in (
        ("channels", one.operators.channels, other.operators.channels),
        ("catalogs", one.operators.catalogs, other.operators.catalogs),
    ):
        rows += [
            (f"spec.operators.{name}.{package}", "the Subscriptions", here[package], there[package])
            for package in sorted(here.keys() & there.keys())
        ]
    for key, what, mine, theirs in rows:
        if mine is not None and theirs is not None and mine != theirs:
            notes.refuse(
                "fabrics-contradict",
                f"{first.name} and {second.name} share {what} and differ in {key}",
                where=f"{_place(one, key)} and {_place(other, key)}",
                expected="one value",
                seen=f"{mine} and {theirs}",
                hint=f"give both the same {key}, or leave it out of one",
            )


def _check_isolation(first: Settings, second: Settings, notes: Notes) -> None:
    for isolated, other in ((first, second), (second, first)):
        if isolated.intent.rdma_isolation and not (other.intent.method is Method.SRIOV and other.intent.rdma_isolation):
            notes.refuse(
                "fabrics-contradict",
                f"{isolated.name} puts nodes into the exclusive RDMA mode, in which {other.name} does not work",
                where=f"{_place(isolated.intent, 'spec.rdmaIsolation')} and {_place(other.intent, 'spec.method')}",
                hint="leave spec.rdmaIsolation out",
            )


def check_ports(fabrics: tuple[FabricNodes, ...], notes: Notes) -> None:
    """Refuse a port that two fabrics take; with SR-IOV one card in two fabrics is no contradiction, one port is."""
    owner: dict[tuple[str, PciAddress], Settings] = {}
    for fabric in fabrics:
        for rail in fabric.rails:
            for port in rail.ports:
                other = owner.setdefault((port.node, port.pci), fabric.settings)
                if other.name != fabric.settings.name:
                    notes.refuse(
                        "port-in-two-fabrics",
                        f"{port.netdev} ({port.pci}) of {port.node} would be a rail of {other.name} and of {fabric.settings.name}",
                        where=f"{_place(other.intent, 'spec.rails')} and {_place(fabric.settings.intent, 'spec.rails')}",
                        hint="spec.rails names each fabric's ports, or spec.nodes its nodes",
                    )


def _place(intent: Intent, key: str) -> str:
    return str(intent.place(key) or intent.name)
