"""Expectations: what the gate of a stage looks for besides its objects."""

from dataclasses import dataclass

from railwright.core.ids import NodeName, PciAddress, RailName
from railwright.intent.model import Fabric


@dataclass(frozen=True)
class Allocatable:
    """A node must offer exactly `count` of `resource` (at least, when `at_least`)."""

    node: NodeName
    resource: str
    count: int
    at_least: bool = False


@dataclass(frozen=True)
class NodeLabel:
    """A node must carry a label; `value` None for any value."""

    node: NodeName
    label: str
    value: str | None


@dataclass(frozen=True)
class PodsReady:
    """Every admitted node must run a ready pod of a DaemonSet whose name starts with `daemon_set`, containers `containers`."""

    node: NodeName
    namespace: str
    daemon_set: str
    containers: tuple[str, ...]


@dataclass(frozen=True)
class NadPresent:
    """A NAD must exist, its config must parse, its type and resource annotation must match."""

    namespace: str
    name: str
    type: str
    resource: str
    """Full resource name that the annotation must hold; "" when there is none."""


@dataclass(frozen=True)
class PoolUpdated:
    """
    A MachineConfigPool must be Updated, with what we made in it.

    Attributes:
        machine_config: ours; "" when only what comes of a KubeletConfig is waited for.
        kubelet_config: ours, of which the machine config operator makes a MachineConfig; "" for none.
        without: MachineConfigs that must be in it no more.
    """

    pool: str
    machine_config: str
    kubelet_config: str = ""
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class RailUp:
    """
    Inside the node: the rail is ACTIVE with carrier and, as the fabric wants it, a RoCE v2 GID or LID and SM LID.

    Attributes:
        mtu_bytes: what the port must have at least, so that pods' interfaces may; None is not looked at.
    """

    node: NodeName
    rail: RailName
    pci: PciAddress
    fabric: Fabric
    mtu_bytes: int | None = None


@dataclass(frozen=True)
class DriverLoaded:
    """
    Inside the node: which drivers run.

    Attributes:
        mlx5: "doca" (an out-of-tree mlx5_core) or "in-box".
        mlx5_version: as an image of the DOCA driver is tagged, "doca3.4.1-26.04-1.1.0.0-1"; "" is not looked at.
        gpu: "open" or "proprietary"; "" is not looked at.
        gpu_version: as an image of the GPU driver is tagged, "580.95.05" or "580"; "" is not looked at.
        peermem: whether nvidia_peermem must be loaded.
        absent: modules that must not be loaded.
    """

    node: NodeName
    mlx5: str = ""
    mlx5_version: str = ""
    gpu: str = ""
    gpu_version: str = ""
    peermem: bool | None = None
    absent: tuple[str, ...] = ()


@dataclass(frozen=True)
class MemoryLockable:
    """Inside the node: a new container may lock all the memory that it has."""

    node: NodeName


@dataclass(frozen=True)
class VfsManaged:
    """Inside the node: no VF of this InfiniBand rail waits for a LID, as far as the node shows its VFs."""

    node: NodeName
    rail: RailName
    pci: PciAddress


InsideNode = RailUp | DriverLoaded | MemoryLockable | VfsManaged
"""What only the inside of a node can answer."""
Expectation = Allocatable | NodeLabel | PodsReady | NadPresent | PoolUpdated | InsideNode
