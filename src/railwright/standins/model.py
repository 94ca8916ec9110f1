"""What stand-ins see, and what they answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from railwright.core.ids import NetDevice, NodeName, PciAddress, RdmaDevice
from railwright.core.objects import KubeObject, Ref


@dataclass(frozen=True)
class Port:
    """A NIC port as device plugins and config daemons find it on a node."""

    pci: PciAddress
    netdev: NetDevice
    rdma: RdmaDevice
    vendor_id: str
    device_id: str
    link_type: Literal["ether", "infiniband"]
    sriov_total_vfs: int
    mac: str
    mtu_bytes: int
    speed_mbps: int


@dataclass(frozen=True)
class NodeDevices:
    """What is in one node, for whoever counts devices there."""

    gpus: int
    ports: tuple[Port, ...]


@dataclass(frozen=True)
class Objects:
    """
    What a stand-in sees: all objects, and the devices of nodes.

    Attributes:
        troubles: what is broken in this world, by name ("image-pull-fails"); empty unless somebody broke it.
    """

    objects: Mapping[Ref, KubeObject]
    devices: Mapping[NodeName, NodeDevices] = field(default_factory=dict)
    troubles: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Write:
    """
    One write of a stand-in.

    Attributes:
        verb: create (body is the whole object), merge (a JSON merge patch), status (a merge patch of the status
            subresource), delete (no body).
    """

    verb: Literal["create", "merge", "status", "delete"]
    ref: Ref
    body: KubeObject = field(default_factory=dict)


React = Callable[[Objects, datetime], tuple[Write, ...]]
"""Pure: the same objects and time give the same writes; no writes when there is nothing to do."""
