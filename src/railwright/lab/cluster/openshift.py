"""
What makes the virtual cluster an OpenShift cluster for whoever reads it: objects, and one daemon on every node.

Nothing of OpenShift runs. Its machine-config-daemon is played by a pod that only waits, and through which nodes can be
looked at, as through the real one. Nodes say that they are CoreOS, and that they are of the virtual cluster.
"""

from collections.abc import Mapping
from typing import Any

from railwright.core.ids import NetDevice, NodeName, PciAddress, RdmaDevice
from railwright.core.kinds import DAEMON_SET
from railwright.core.marks import VIRTUAL_VARIANT
from railwright.core.objects import KubeObject, ref_of
from railwright.lab.cluster.images import TOOLS
from railwright.lab.cluster.shape import MTU_BYTES, NIC_IDS, Shape, node_name
from railwright.standins.model import NodeDevices, Port
from railwright.standins.openshift import catalogs, configuration, machine_config_daemon, pools, thing

_NAMESPACES = ("openshift", "openshift-marketplace", "openshift-machine-config-operator")
_BUILD = "9.6.20251106-0"
"""As the driver toolkit's ImageStream has it."""
OS_RELEASE = (
    'NAME="Red Hat Enterprise Linux CoreOS"\n'
    'ID="rhel"\n'
    'VERSION_ID="9.6"\n'
    f'OSTREE_VERSION="{_BUILD}"\n'
    f'VARIANT_ID="{VIRTUAL_VARIANT}"\n'
    f'PRETTY_NAME="Red Hat Enterprise Linux CoreOS {_BUILD} (played by Debian in a virtual cluster)"\n'
)
"""The nodes' /etc/os-release: kubelets report it, and what follows OpenShift's releases reads it there."""
_VFS = 7
"""Of an Intel 82576 as QEMU emulates it. Measured: sriov_totalvfs, QEMU 10.0.2, Linux 7.3.4, 2026-11-30."""
_SPEED_MBPS = 1000


def platform_objects() -> tuple[KubeObject, ...]:
    """Spell everything that a bare OpenShift cluster has."""
    objects = (
        *(thing("v1", "Namespace", name) for name in _NAMESPACES),
        *configuration("HighlyAvailable"),
        *catalogs(),
        *pools(),
        machine_config_daemon(),
    )
    return tuple(_way_in(obj) if ref_of(obj).kind == DAEMON_SET else obj for obj in objects)


def _way_in(daemon: KubeObject) -> KubeObject:
    """Let the daemon's pod wait, with the node's root at /rootfs, as the real one has it; on nodes that are real."""
    template = daemon["spec"]["template"]
    (container,) = template["spec"]["containers"]
    spec: Mapping[str, Any] = {
        **template["spec"],
        "nodeSelector": {"node-role.kubernetes.io/worker": ""},
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "containers": [
            {
                **container,
                "image": TOOLS,
                "imagePullPolicy": "Never",
                "volumeMounts": [{"name": "rootfs", "mountPath": "/rootfs", "mountPropagation": "HostToContainer"}],
            }
        ],
        "volumes": [{"name": "rootfs", "hostPath": {"path": "/"}}],
    }
    return {**daemon, "spec": {**daemon["spec"], "template": {**template, "spec": spec}}}


def devices_of(shape: Shape) -> dict[NodeName, NodeDevices]:
    """Say what is in each node, for whoever is played and would find it there."""
    vendor, device, _ = NIC_IDS.split(":")
    found = {}
    for number in shape.numbers():
        ports = tuple(
            Port(
                pci=rail_address(rail),
                netdev=NetDevice(f"rail{rail}"),
                rdma=RdmaDevice(f"rxe_{2 * rail + 1:02x}000"),
                vendor_id=vendor,
                device_id=device,
                link_type="ether",
                sriov_total_vfs=_VFS,
                mac=f"52:54:00:00:1{rail}:{number:02x}",
                mtu_bytes=MTU_BYTES,
                speed_mbps=_SPEED_MBPS,
            )
            for rail in range(shape.rails)
        )
        found[NodeName(node_name(number))] = NodeDevices(shape.rails, ports)
    return found


def rail_address(rail: int) -> PciAddress:
    """
    Give the PCI address of a rail: each is behind a port of its own, and so is each GPU, in this order.

    Measured: QEMU 10.0.2, q35, two rails, 2026-11-30.
    """
    return PciAddress(f"0000:{2 * rail + 1:02x}:00.0")
