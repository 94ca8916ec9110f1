"""What changes a node's own system: MachineConfig, KubeletConfig, NodeNetworkConfigurationPolicy."""

from typing import Any

from railwright.core.kinds import KUBELET_CONFIG, MACHINE_CONFIG, NODE_NETWORK_CONFIGURATION_POLICY
from railwright.manifests.assemble import a_manifest, an_object, plain, without_empty
from railwright.manifests.model import Manifest
from railwright.plan.machine import POOL_LABEL, data_url
from railwright.plan.model import HostNetworkShare, KubeletShare, MachineFile, MachineShare

IGNITION_VERSION = "3.2.0"
"""Every OpenShift release from 4.7 on reads it. Source: OpenShift 4.22 docs, Hardware accelerators 5.2 to 5.8."""

ROLE_LABEL = "machineconfiguration.openshift.io/role"


def machine_config(share: MachineShare) -> tuple[Manifest, ...]:
    """Render one pool's MachineConfig; Ignition is there only when there are files."""
    config: dict[str, Any] | None = None
    if share.files:
        files = [_file(item) for item in sorted(share.files, key=lambda item: item.path)]
        config = {"ignition": {"version": IGNITION_VERSION}, "storage": {"files": files}}
    spec = without_empty({"config": config, "kernelArguments": plain(share.kernel_arguments)})
    obj = an_object(MACHINE_CONFIG, share.name, labels={ROLE_LABEL: share.pool}, spec=spec)
    return (a_manifest(obj, share.stage, share.fabrics),)


def kubelet_config(share: KubeletShare) -> tuple[Manifest, ...]:
    """Render the topology manager's policy of one pool; CPUs stay as they are managed."""
    obj = an_object(
        KUBELET_CONFIG,
        share.name,
        spec={
            "machineConfigPoolSelector": {"matchLabels": {POOL_LABEL + share.pool: ""}},
            "kubeletConfig": {"topologyManagerPolicy": share.topology_policy},
        },
    )
    return (a_manifest(obj, share.stage),)


def host_network(share: HostNetworkShare) -> tuple[Manifest, ...]:
    """Render the MTU of rails' own interfaces; their addresses are not mentioned and stay as they are."""
    interfaces = [
        {"name": netdev, "type": "ethernet", "state": "up", "mtu": share.mtu_by_netdev[netdev]}
        for netdev in sorted(share.mtu_by_netdev)
    ]
    obj = an_object(
        NODE_NETWORK_CONFIGURATION_POLICY,
        share.name,
        spec={"nodeSelector": plain(share.node_labels), "desiredState": {"interfaces": interfaces}},
    )
    return (a_manifest(obj, share.stage, [share.fabric]),)


def _file(item: MachineFile) -> dict[str, Any]:
    """Write one file; without `overwrite` a file that is there already fails the whole roll-out."""
    return {
        "path": item.path,
        "mode": item.mode,
        "overwrite": True,
        "contents": {"source": data_url(item)},
    }
