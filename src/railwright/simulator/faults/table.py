"""The faults, each once: name, one line, where it matters, and what it does to a world that has not begun."""

from collections.abc import Callable
from dataclasses import dataclass

from railwright.simulator.datapath.wires import TROUBLES
from railwright.simulator.faults import cluster, inside, uplinks
from railwright.simulator.faults.beside import BESIDE
from railwright.simulator.faults.cluster import trouble
from railwright.simulator.faults.mistakes import MISTAKES
from railwright.simulator.faults.workloads import POD_MISTAKES
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
    Fault(
        "socket-direct-uplink",
        "br-ex lies on the other half of a socket-direct card",
        "every method with the DOCA driver, and sriov; plan",
        uplinks.uplink_on_other_half,
    ),
    *(Fault(*row) for row in BESIDE),
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
    Fault(
        "acs-redirect", "ACS sends GPU-NIC traffic up to the root complex", "Intel and AMD; doctor", inside.acs_redirect
    ),
    Fault(
        "config-unreadable",
        "PCI config space of bridges can't be read",
        "doctor says UNKNOWN",
        inside.config_unreadable,
    ),
    Fault("iommu-translates", "the IOMMU translates: no iommu=pt", "Intel and AMD; doctor", inside.iommu_translates),
    Fault("pcie-half-width", "one NIC came up with 8 of 16 lanes", "every world; doctor", inside.half_width),
    Fault("gpu-half-width", "one GPU came up with 8 of 16 lanes", "every world; doctor", inside.narrow_gpu),
    Fault("nic-wrong-slot", "one NIC is not below its GPU's switch", "Intel and AMD; doctor", inside.nic_in_wrong_slot),
    Fault(
        "virtual-machine",
        "GPU nodes are virtual machines with a flat PCI tree",
        "Intel and AMD; doctor",
        inside.virtual_machine,
    ),
    Fault("host-ofed", "nodes bring their own OFED along", "DOCA driver; nic-driver-ready", inside.host_ofed),
    Fault(
        "relaxed-ordering-off", "the BIOS left relaxed ordering off", "every world; doctor", inside.weak_ordering_off
    ),
    Fault(
        "storage-over-rdma",
        "NVMe-oF and NFS over RDMA hold the RDMA stack",
        "DOCA driver; nic-driver-ready",
        inside.storage_over_rdma,
    ),
    Fault(
        "gdrdrv-loaded",
        "gdrdrv keeps the old GPU driver in use",
        "every method; gpu-driver-ready",
        inside.gdrdrv_in_use,
    ),
    Fault(
        "proprietary-gpu-driver",
        "nodes bring the proprietary GPU driver along",
        "every world; doctor",
        inside.settings(gpu_driver="proprietary 550.144.03"),
    ),
    Fault(
        "peermem-refused",
        "nvidia_peermem does not load",
        "peermem; doctor",
        inside.settings(peermem_loads=False),
    ),
    Fault(
        "realtime-kernel", "GPU nodes run a real-time kernel", "driver containers; doctor -f", inside.realtime_kernel
    ),
    Fault(
        "stale-driver-build",
        "nodes keep a driver build of the kernel before",
        "DOCA driver; doctor -f",
        inside.kernel_upgraded_under_builds,
    ),
    Fault(
        "rdma-stack-absent",
        "half of the RDMA modules are not loaded",
        "every method; doctor -f",
        inside.rdma_stack_absent,
    ),
    Fault("memlock-64k", "containers may lock 64 KiB", "every method; doctor -f", inside.settings(memlock="64")),
    Fault("second-sm", "another subnet manager rules one node", "h200-ib; doctor", inside.last_node_rails(sm_lid=77)),
    Fault(
        "sm-without-virt",
        "the subnet manager gives VFs no LID",
        "h200-ib, sriov; vfs-ready",
        inside.every_rail(vf_lid=65535),
    ),
    Fault(
        "rail-half-rate", "one rail's link is at half its rate", "every world; doctor", inside.one_rail(rate_gbps=200)
    ),
    Fault("link-flaps", "one rail loses its link now and then", "every world; doctor", inside.link_flaps),
    Fault("packets-lost", "the fabric drops RDMA packets under load", "Ethernet worlds; doctor", inside.packets_lost),
    Fault("mtu-unlike", "one rail of one node has another MTU", "every world; doctor", inside.one_rail(mtu=9000)),
    Fault("one-subnet", "all rails of a node are in one subnet", "Ethernet worlds; doctor", inside.rails_in_one_subnet),
    Fault("cables-swapped", "two rails of one node are swapped", "Ethernet worlds; doctor", inside.cables_swapped),
    Fault(
        "wrong-traffic-class",
        "RDMA is forced into a priority without flow control",
        "Ethernet worlds; doctor",
        inside.every_rail(traffic_class=160),
    ),
    Fault("qos-unlike", "one rail has no flow control", "Ethernet worlds; doctor", inside.one_rail(pfc_priorities=())),
    Fault("limited-partition", "ports are limited members", "h200-ib; doctor", inside.every_rail(pkeys=(0x7FFF,))),
    Fault(
        "no-ipv6",
        "rails have no link-local address, so no GID",
        "Ethernet worlds; doctor",
        inside.every_rail(link_local=False),
    ),
    Fault("renamed-by-pod", "a rail came back from a pod as net1", "every world; doctor", inside.left_in_pod_name),
    Fault("odd-node", "one node has older firmware and BIOS", "every world; doctor", inside.odd_node),
    Fault("odd-chassis", "one node is of another maker", "every world; doctor", inside.odd_chassis),
    Fault("one-dpu", "one NIC is a BlueField in DPU mode", "Ethernet worlds; plan", inside.one_dpu),
    Fault("supernics", "the NICs are BlueField-3 SuperNICs in NIC mode", "Ethernet worlds; nowhere", inside.supernics),
    *(Fault(*row) for row in (*MISTAKES, *POD_MISTAKES)),
    *(_behaves(name, text, "every method; verify") for name, text in TROUBLES.items()),
)
