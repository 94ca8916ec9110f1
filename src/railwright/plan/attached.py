"""
Pods that stand on a port from inside their own network namespace: storage over Multus, say.

Storage may get its network out of a NAD whose parent is a port of the node. Its connections are seen in no socket of
the node itself, and what others mounted of it ends with them. A pod that asks for a GPU or a device is a workload:
whoever confirms a risk is told of it by name, and it may be ended.
Source: Red Hat OpenShift Data Foundation 4.18, "Managing and allocating storage resources", chapter 7 (macvlan over a
named port, in openshift-storage), checked 2026-11-30; containernetworking/plugins 019727a3,
plugins/main/macvlan/macvlan.go ("master", "linkInContainer"), and containernetworking/plugins 0924b71f,
plugins/main/host-device/host-device.go ("device", "pciBusID"). What follows from it is inferred.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core import kinds
from railwright.core.ids import NetDevice, NodeName, PciAddress
from railwright.core.marks import is_ours
from railwright.core.multus import networks_of, plugins_of
from railwright.core.objects import Ref, dig
from railwright.facts.model import ClusterFacts, NodeHardware
from railwright.facts.paths import Path, ends_below
from railwright.plan.notes import Notes
from railwright.plan.others import NETWORKS
from railwright.plan.settings import Settings
from railwright.plan.uplinks import taken_functions


@dataclass(frozen=True)
class Attachment:
    """A network of others that a pod has which is no workload."""

    pod: str
    network: str
    plugins: tuple[Mapping[str, Any], ...]


def attachments(cluster: ClusterFacts) -> Mapping[NodeName, tuple[Attachment, ...]]:
    """Find, by node, what may stand on a port; who uses a network of ours is a workload, whatever it asks for."""
    ours = {str(dig(item, "metadata", "name")) for kind in NETWORKS for item in cluster.of_kind(kind) if is_ours(item)}
    found: defaultdict[NodeName, list[Attachment]] = defaultdict(list)
    for pod in cluster.pods:
        if pod.node is None or pod.is_over or pod.host_network or pod.requests:
            continue
        for namespace, name in networks_of(pod.networks, pod.namespace):
            nad = cluster.objects.get(Ref(kinds.NETWORK_ATTACHMENT_DEFINITION, namespace, name))
            if name not in ours and nad is not None:
                plugins = plugins_of(str(dig(nad, "spec", "config", default="")))
                found[pod.node].append(Attachment(f"pod {pod.namespace}/{pod.name}", f"{namespace}/{name}", plugins))
    return {node: tuple(items) for node, items in found.items()}


def check_pods(
    node: NodeName,
    attached: Iterable[Attachment],
    hardware: NodeHardware,
    rails: Iterable[PciAddress],
    settings: Settings,
    notes: Notes,
) -> None:
    """Refuse a node on which a pod that is no workload stands on a function that would be taken."""
    attached = tuple(attached)
    if not attached:
        return
    taken = taken_functions(hardware, rails, settings)
    functions = {netdev.name: netdev.pci for netdev in hardware.netdevs if netdev.pci is not None}
    functions |= {port.netdev: port.pci for port in hardware.ports if port.netdev is not None}
    for item in attached:
        for path in (path for plugin in item.plugins for path in _paths(plugin, hardware)):
            pci = functions.get(path[-1])
            if pci not in taken:
                continue
            spelled = " > ".join((*path, str(pci)))
            notes.refuse(
                "port-carries-pods",
                f"{item.pod} on {node} has network {item.network}, which is on {spelled}, and that would be taken:"
                f" {taken[pci]}",
                expected="no pod without GPU or device of its own, such as storage, on a function that is taken",
                seen=spelled,
                hint="move that network to another port, or end these pods first if nothing needs them",
                node=node,
            )


def _paths(plugin: Mapping[str, Any], hardware: NodeHardware) -> Iterable[Path]:
    """Follow the device of the node that a plugin names down to ports: its parent, or the one that it moves."""
    if plugin.get("linkInContainer") is True:
        return ()
    by_address = {str(netdev.pci): netdev.name for netdev in hardware.netdevs if netdev.pci is not None}
    names = (
        plugin.get("master"),
        plugin.get("device"),
        plugin.get("bridge"),
        by_address.get(str(plugin.get("pciBusID"))),
    )
    netdevs = {netdev.name: netdev for netdev in hardware.netdevs}
    found: list[Path] = []
    for name in names:
        if not isinstance(name, str) or not name:
            continue
        start = NetDevice(name)
        found += ends_below(start, netdevs)[0] if start in netdevs else [(start,)]
    return found
