"""
Ports that method host-device moves into pods: what stands on them on the node goes along, or keeps them out of the pool.

Source: k8snetworkplumbingwg/sriov-network-device-plugin 40b6f507, pkg/netdevice/netDeviceProvider.go:72 (a port with
VFs is left out) and README, pfNames (functions of the port, its VFs too); containernetworking/plugins 0924b71f,
plugins/main/host-device/host-device.go (the port comes back down, without addresses).
"""

from collections.abc import Iterable

from railwright.core import kinds
from railwright.core.ids import FabricName
from railwright.core.marks import is_ours
from railwright.core.objects import dig
from railwright.facts.model import ClusterFacts, NicPort, NodeFacts
from railwright.intent.model import Method
from railwright.plan.model import ADMITTED, fabric_label
from railwright.plan.nodes import Selected
from railwright.plan.notes import Notes
from railwright.plan.rails import NodeRails
from railwright.plan.settings import Settings

_FABRIC_LABEL = fabric_label(FabricName(""))
_LINK_LOCAL = ("fe80:", "169.254.")


def check_moved_ports(
    item: Selected, rails: NodeRails, settings: Settings, cluster: ClusterFacts, notes: Notes
) -> None:
    """Refuse a node whose rails have VFs, and warn of addresses that the node loses."""
    if settings.intent.method is not Method.HOST_DEVICE:
        return
    ports = [rail.port for rail in rails.rails]
    for port in ports:
        _check_functions(item, port, notes)
    _warn_of_addresses(item, ports, cluster, notes)


def _check_functions(item: Selected, port: NicPort, notes: Notes) -> None:
    count = sum(other.parent == port.pci for other in item.hardware.ports)
    if not count:
        return
    node, name = item.node.name, f"{port.netdev} ({port.pci})"
    if _is_in_a_fabric(item.node):
        notes.warn(
            "host-device-functions-left",
            f"{name} of {node} has {count} virtual functions: until they are gone, and railwright takes only its own, pods"
            " get one of them in the place of the port",
            node,
        )
        return
    notes.refuse(
        "host-device-port-has-functions",
        f"{name} of {node} has {count} virtual functions: the device plugin leaves such a port out, and its name selects"
        " them instead",
        expected="a port without virtual functions",
        seen=f"{count} virtual functions",
        hint=f"echo 0 > /sys/bus/pci/devices/{port.pci}/sriov_numvfs on {node} if nobody uses them, or method: sriov",
        node=node,
    )


def _is_in_a_fabric(node: NodeFacts) -> bool:
    """Whether a fabric of ours has the node already: its VFs may be ours, and go when it changes its method."""
    return any(key.startswith(_FABRIC_LABEL) and value == ADMITTED for key, value in node.labels.items())


def _warn_of_addresses(item: Selected, ports: Iterable[NicPort], cluster: ClusterFacts, notes: Notes) -> None:
    by_name = {netdev.name: netdev.ip_addresses for netdev in item.hardware.netdevs}
    named = _set_up_by_others(cluster)
    for port in ports:
        if port.netdev is None:
            continue
        addresses = [text for text in by_name.get(port.netdev, ()) if not text.startswith(_LINK_LOCAL)]
        why = [f"it has {', '.join(addresses)}"] if addresses else []
        why += [f"NodeNetworkConfigurationPolicy {named[port.netdev]} sets it up"] if port.netdev in named else []
        if why:
            notes.warn(
                "host-device-port-in-use",
                f"{port.netdev} of {item.node.name} goes into pods, and {' and '.join(why)}: the node is without it for as"
                " long, and the port comes back down and bare",
                item.node.name,
            )


def _set_up_by_others(cluster: ClusterFacts) -> dict[str, str]:
    """Name the policy of others that sets an interface up, by interface; whatever nodes it selects."""
    return {
        str(interface.get("name")): str(policy["metadata"]["name"])
        for policy in cluster.of_kind(kinds.NODE_NETWORK_CONFIGURATION_POLICY)
        if not is_ours(policy)
        for interface in dig(policy, "spec", "desiredState", "interfaces", default=[])
    }
