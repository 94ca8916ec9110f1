"""
What somebody told the SR-IOV operator already: whether its daemon comes to our nodes, and how it works there.

Source: openshift/sriov-network-operator 44199ad5, api/v1/sriovoperatorconfig_types.go (configDaemonNodeSelector,
disablePlugins, configurationMode), controllers/drain_controller_helper.go (a node in two pools drains in none; a pool
without a selector holds every node, pools of OVS offload do not count; the same in upstream 1.6.0).
"""

from railwright.core import kinds
from railwright.core.marks import is_ours
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import ClusterFacts, NodeFacts
from railwright.facts.nodes import selects
from railwright.intent.model import Method
from railwright.plan.draft import FabricNodes
from railwright.plan.notes import Notes

_WRITTEN_LATER = ("feature.node.kubernetes.io/", "network.nvidia.com/", "nvidia.com/")
"""Labels that operators write while the plan is carried out: what a bare node says of them proves nothing."""


def check_sriov_there(fabric: FabricNodes, nodes: tuple[NodeFacts, ...], cluster: ClusterFacts, notes: Notes) -> None:
    """Refuse nodes of a fabric of virtual functions to which no daemon comes, or which never get their turn."""
    if fabric.settings.intent.method is not Method.SRIOV:
        return
    config = next((item for item in cluster.of_kind(kinds.SRIOV_OPERATOR_CONFIG) if _name(item) == "default"), None)
    if config is not None and not is_ours(config):
        _warn_of_modes(config, notes)
    for node in nodes:
        if node.name in fabric.hardware:
            if config is not None and not is_ours(config):
                _check_selected(config, node, notes)
                _check_firmware(config, fabric, node, notes)
            _check_pools(fabric, node, cluster, notes)


def _warn_of_modes(config: KubeObject, notes: Notes) -> None:
    if "mellanox" in dig(config, "spec", "disablePlugins", default=[]):
        notes.warn(
            "sriov-firmware-stays",
            "the SriovOperatorConfig that is there switches the Mellanox plugin off: firmware keeps its number of virtual"
            " functions and its link type, whatever policies say",
            "SriovOperatorConfig spec.disablePlugins",
        )
    if dig(config, "spec", "configurationMode") == "systemd":
        notes.warn(
            "sriov-by-systemd",
            "the SriovOperatorConfig that is there makes virtual functions by a systemd unit at boot: each change of them is"
            " a reboot",
            "SriovOperatorConfig spec.configurationMode",
        )


def _check_selected(config: KubeObject, node: NodeFacts, notes: Notes) -> None:
    selector = dig(config, "spec", "configDaemonNodeSelector", default={})
    lacking = {
        key: value
        for key, value in selector.items()
        if not key.startswith(_WRITTEN_LATER) and node.labels.get(key) != value
    }
    if lacking:
        named = ", ".join(f"{key}={value}" for key, value in sorted(lacking.items()))
        notes.refuse(
            "sriov-config-leaves-node-out",
            f"the SriovOperatorConfig that is there does not select {node.name}: no config daemon comes to it, and no policy"
            " makes a virtual function there",
            where="SriovOperatorConfig default spec.configDaemonNodeSelector",
            expected=f"labels that {node.name} has",
            seen=named,
            hint="its owner may widen it, or label the node; railwright changes no selector of others",
            node=node.name,
        )


def _check_firmware(config: KubeObject, fabric: FabricNodes, node: NodeFacts, notes: Notes) -> None:
    """Refuse more functions than firmware has where nobody may set it."""
    if "mellanox" not in dig(config, "spec", "disablePlugins", default=[]):
        return
    for rail in fabric.rails:
        port = rail.port_on(node.name)
        found = fabric.hardware[node.name].ports
        offered = next((item.sriov_total_vfs for item in found if port is not None and item.pci == port.pci), None)
        if port is not None and offered and fabric.settings.vfs > offered:
            notes.refuse(
                "no-virtual-functions",
                f"port {port.netdev} ({port.pci}) of {node.name} offers {offered} virtual functions, and the"
                " SriovOperatorConfig that is there lets nobody set firmware",
                expected=f"sriov_totalvfs of {fabric.settings.vfs} or more",
                seen=str(offered),
                hint=f"spec.vfsPerRail: {offered}, or set NUM_OF_VFS in firmware by hand",
                node=node.name,
            )


def _check_pools(fabric: FabricNodes, node: NodeFacts, cluster: ClusterFacts, notes: Notes) -> None:
    for pool in cluster.of_kind(kinds.SRIOV_NETWORK_POOL_CONFIG):
        if not is_ours(pool) and pool_holds(pool, node):
            notes.refuse(
                "node-in-other-pool",
                f"{node.name} is in SriovNetworkPoolConfig {_name(pool)}, and would be in {fabric.settings.name} too: the"
                " operator drains no node that is in two, so virtual functions are never made",
                where=f"SriovNetworkPoolConfig {_name(pool)} spec.nodeSelector",
                expected="one pool a node",
                seen=f"{_name(pool)} and {fabric.settings.name}",
                hint="its owner takes the node out of it, or leave the node out with spec.nodes",
                node=node.name,
            )


def pool_holds(pool: KubeObject, node: NodeFacts) -> bool:
    """Whether the operator counts a node to a SriovNetworkPoolConfig."""
    if dig(pool, "spec", "ovsHardwareOffloadConfig", "name"):
        return False
    selector = dig(pool, "spec", "nodeSelector", default=None)
    return not selector or selects(selector, node.labels)


def _name(obj: KubeObject) -> str:
    return str(obj["metadata"]["name"])
