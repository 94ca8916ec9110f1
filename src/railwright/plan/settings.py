"""An intent with every blank filled in: the value in force, where it comes from, and why."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from railwright.catalog.model import Catalog
from railwright.intent.model import Fabric, GpuDriver, GpuMemory, Intent, Ipam, Method, NicDriver
from railwright.plan.defaults import flag, number, text
from railwright.plan.notes import Notes

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """Values in force of one fabric."""

    intent: Intent
    nic_driver: NicDriver
    gpu_driver: GpuDriver
    memory: GpuMemory
    gdrcopy: bool
    gds: bool
    ipam: Ipam
    mtu_bytes: int | None
    """Of the pods' interfaces; None on InfiniBand when nothing was asked for."""
    path_mtu_bytes: int
    vfs: int
    pods: int
    auto_upgrade: bool
    max_parallel: int
    drain_timeout_s: int
    approval: str
    stem: str
    """Start of resource names: letters, digits and underscores."""

    @property
    def name(self) -> str:
        """The fabric's name."""
        return self.intent.name

    @property
    def is_infiniband(self) -> bool:
        """Whether the link type is InfiniBand."""
        return self.intent.fabric is Fabric.INFINIBAND

    def combination(self) -> dict[str, str]:
        """The settings by the names that the catalog's driver combinations use."""
        return {
            "method": self.intent.method.value,
            "fabric": self.intent.fabric.value,
            "nic_driver": self.nic_driver.value,
            "gpu_driver": self.gpu_driver.value,
            "memory": self.memory.value,
            "gds": str(self.gds).lower(),
            "gdrcopy": str(self.gdrcopy).lower(),
        }

    def pods_on_a_port(self) -> int:
        """How many pods of one node can be on one rail at once."""
        return {Method.SHARED: self.pods, Method.HOST_DEVICE: 1, Method.SRIOV: self.vfs}[self.intent.method]


def settings_of(intent: Intent, catalog: Catalog, notes: Notes, *, single_node: bool = False) -> Settings:
    """Fill in an intent from the catalog, and from the cluster where it has but one node; each value becomes a decision."""

    def value(key: str, given: T | None, name: str, read: Callable[[Catalog, str], T]) -> T:
        if given is not None:
            notes.decide(f"{intent.name}: {key}", given, "file", "asked for")
            return given
        entry = catalog.default(name)
        found = read(catalog, name)
        notes.decide(f"{intent.name}: {key}", found, "catalog", entry.reason, f"{entry.source} ({entry.date})")
        return found

    driver, upgrade, network = intent.driver, intent.upgrade, intent.network
    infiniband = intent.fabric is Fabric.INFINIBAND
    vfs = value("spec.vfsPerRail", intent.vfs_per_rail, "vfs_per_rail", number) if intent.method is Method.SRIOV else 0
    pods = (
        value("spec.podsPerRail", intent.pods_per_rail, "pods_per_rail", number)
        if intent.method is Method.SHARED
        else 0
    )
    return Settings(
        intent=intent,
        nic_driver=NicDriver(value("spec.driver.nic", _text(driver.nic), "nic_driver", text)),
        gpu_driver=GpuDriver(value("spec.driver.gpu", _text(driver.gpu), "gpu_driver", text)),
        memory=GpuMemory(value("spec.driver.memory", _text(driver.memory), "gpu_memory", text)),
        gdrcopy=value("spec.driver.gdrcopy", driver.gdrcopy, "gdrcopy", flag),
        gds=value("spec.driver.gds", driver.gds, "gds", flag),
        ipam=Ipam(value("spec.network.ipam", _text(network.ipam), "ipam", text)),
        mtu_bytes=network.mtu_bytes
        if infiniband
        else value("spec.network.mtu", network.mtu_bytes, "mtu_bytes_roce", number),
        path_mtu_bytes=value("spec.pathMtu", intent.path_mtu_bytes, "path_mtu_bytes", number),
        vfs=vfs,
        pods=pods,
        auto_upgrade=_never_alone(intent, notes)
        if single_node and upgrade.auto is None
        else value("spec.upgrade.auto", upgrade.auto, "auto_upgrade", flag),
        max_parallel=value("spec.upgrade.maxParallel", upgrade.max_parallel, "max_parallel", number),
        drain_timeout_s=value("spec.upgrade.drainTimeoutSeconds", upgrade.drain_timeout_s, "drain_timeout_s", number),
        approval=value("spec.operators.approval", intent.operators.approval, "approval", text),
        stem="".join(letter if letter.isalnum() else "_" for letter in intent.resource_prefix or intent.name),
    )


def _never_alone(intent: Intent, notes: Notes) -> bool:
    """Leave drivers of the only node to a person: there is no other node that it could be drained to."""
    notes.decide(
        f"{intent.name}: spec.upgrade.auto",
        value=False,
        origin="cluster",
        reason="the only node cannot be drained; its driver pods are deleted by hand when nothing needs them",
        source="Mellanox/network-operator-docs #112: the driver's automatic upgrade does not work on a single node",
    )
    return False


def _text(value: StrEnum | None) -> str | None:
    return None if value is None else value.value
