"""The faults, each once: name, one line, where it matters, and what it does to a world that has not begun."""

from collections.abc import Callable
from dataclasses import dataclass

from railwright.simulator.faults import cluster, uplinks
from railwright.simulator.faults.cluster import trouble
from railwright.simulator.worlds.model import Draft


@dataclass(frozen=True)
class Fault:
    """One entry of the table."""

    name: str
    description: str
    matters: str
    """Worlds, methods or stage in which it shows."""
    act: Callable[[Draft], Draft]


def _behaves(name: str, description: str, matters: str) -> Fault:
    return Fault(name, description, matters, trouble(name))


FAULTS: tuple[Fault, ...] = (
    Fault("mlx5-uplink", "br-ex lies on another ConnectX port", "DOCA driver; plan", uplinks.uplink_is_connectx),
    Fault("mlx5-storage", "the NFS mount goes over a ConnectX port", "DOCA driver; plan", uplinks.storage_is_connectx),
    Fault(
        "mlx5-card-uplink",
        "br-ex lies on the second function of a rail's card",
        "every method; plan",
        uplinks.uplink_on_rail_card,
    ),
    Fault("bond-uplink", "br-ex lies on a bond of ConnectX ports", "Ethernet worlds; plan", uplinks.uplink_is_bond),
    Fault("vlan-uplink", "br-ex lies on a VLAN of a rail's port", "Ethernet worlds; plan", uplinks.uplink_is_vlan),
    Fault("uplink-unknown", "routes of nodes can't be read", "every method; plan", uplinks.uplink_is_unknown),
    Fault("rail-no-carrier", "one rail of one node has no carrier", "every method; plan", uplinks.rail_without_carrier),
    Fault("no-sm", "no subnet manager: ports stay in INIT", "h200-ib; plan", uplinks.no_subnet_manager),
    Fault("no-sriov", "SR-IOV is off in the BIOS", "sriov; plan", uplinks.no_virtual_functions),
    Fault("secure-boot", "the kernel is locked down", "DOCA driver and sriov", uplinks.secure_boot),
    Fault("irdma-loaded", "the in-tree irdma holds ib_core", "DOCA driver; nodes-prepared", uplinks.irdma_loaded),
    Fault("node-unreadable", "the inside of one node can't be read", "every method; discover", uplinks.node_unreadable),
    _behaves("image-pull-fails", "the DOCA driver image can't be pulled", "DOCA driver; nic-driver-ready"),
    _behaves("driver-crashes", "the DOCA driver container crashes", "DOCA driver; nic-driver-ready"),
    _behaves("gpu-driver-pod-fails", "the GPU driver container crashes", "every method; gpu-driver-ready"),
    _behaves("nfd-upstream", "NFD writes no OSTREE_VERSION", "OpenShift worlds, DOCA driver; hardware-labelled"),
    _behaves("no-nfd-labels", "NFD's workers run nowhere", "every method; hardware-labelled"),
    _behaves("vfs-stuck", "the SR-IOV daemon stays InProgress for ever", "sriov; vfs-ready"),
    _behaves("vf-lockdown", "the SR-IOV daemon refuses under lockdown", "sriov; vfs-ready"),
    _behaves("plugin-finds-nothing", "device plugins report 0 devices", "every method; devices-allocatable"),
    _behaves("nad-missing", "no NAD comes of network objects", "every method; networks-attached"),
    _behaves("csv-stuck", "operators' Deployments never get available", "OpenShift worlds; operators-installed"),
    _behaves("api-forbidden", "the API server lets us read only", "every method; apply"),
    Fault(
        "catalog-missing-package",
        "the catalog lacks the Network Operator",
        "OpenShift worlds; plan",
        cluster.package_missing,
    ),
    Fault(
        "olm-silent",
        "two OperatorGroups in each operator's namespace",
        "OpenShift worlds; operators-installed",
        cluster.second_operator_group,
    ),
    Fault(
        "pool-paused", "the worker pool is paused", "OpenShift worlds with irdma; nodes-prepared", cluster.pool_paused
    ),
)
