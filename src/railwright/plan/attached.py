"""
Pods that stand on a port from inside their own network namespace: storage over Multus, say.

Storage may get its network out of a NAD whose parent is a port of the node. Its connections are seen in no socket of
the node itself, and what others mounted of it ends with them. A pod that asks for a GPU or a device is a workload:
whoever confirms a risk is told of it by name, and it may be ended.
Source: Red Hat OpenShift Data Foundation 4.18, "Managing and allocating storage resources", chapter 7 (macvlan over a
named port, in openshift-storage), checked 2026-11-30; containernetworking/plugins 019727a3,
plugins/main/macvlan/macvlan.go ("master", "linkInContainer"), and containernetworking/plugins 0924b71f,
plugins/main/host-device/host-device.go ("device", "hwaddr", "kernelpath", "pciBusID"; the netdev is moved into the pod
for as long as it runs). What follows from it is inferred.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core import kinds
from railwright.core.ids import FabricName, NetDevice, NodeName, PciAddress
from railwright.core.marks import is_ours
from railwright.core.multus import networks_of, plugins_of
from railwright.core.objects import Ref, dig
from railwright.facts.model import ClusterFacts, NodeFacts, NodeHardware
from railwright.facts.paths import Path, ends_below
from railwright.intent.model import NicDriver
from railwright.plan.model import ADMITTED, fabric_label
from railwright.plan.notes import Notes
from railwright.plan.others import NETWORKS
from railwright.plan.settings import Settings
from railwright.plan.uplinks import taken_functions

PODS_ON_TAKEN_PORT = "pods-on-taken-port"
"""Code of the warning in the place of a refusal, where nothing is done to the ports of a node of the fabric."""


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
        if pod.node is None or pod.is_over or pod.host_network or pod.requests or pod.claims:
            continue
        for namespace, name in networks_of(pod.networks, pod.namespace):
            nad = cluster.objects.get(Ref(kinds.NETWORK_ATTACHMENT_DEFINITION, namespace, name))
            if name not in ours and nad is not None:
                plugins = plugins_of(str(dig(nad, "spec", "config", default="")))
                found[pod.node].append(Attachment(f"pod {pod.namespace}/{pod.name}", f"{namespace}/{name}", plugins))
    return {node: tuple(items) for node, items in found.items()}


def check_pods(
    node: NodeFacts,
    attached: Iterable[Attachment],
    hardware: NodeHardware,
    rails: Iterable[PciAddress],
    settings: Settings,
    notes: Notes,
    *,
    touches_ports: bool,
) -> None:
    """
    Refuse a node on which a pod that is no workload stands on a function that would be taken.

    Args:
        touches_ports: whether something is to be done to ports and drivers; else what was taken long ago is no news.
    """
    attached = tuple(attached)
    if not attached:
        return
    taken = taken_functions(hardware, rails, settings)
    was_taken = _was_taken(node, hardware, settings) and not touches_ports
    for item in attached:
        for spelled, why in (found for plugin in item.plugins for found in _on_taken(plugin, hardware, taken)):
            on = f"{item.pod} on {node.name} has network {item.network}, which is on {spelled}"
            if was_taken:
                notes.warn(
                    PODS_ON_TAKEN_PORT,
                    f"{on}; {node.name} is admitted, and nothing is done to its ports now, but what loads its driver or"
                    f" sets up its ports anew will be refused: {why}",
                    node.name,
                )
                continue
            notes.refuse(
                "port-carries-pods",
                f"{on}, and that would be taken: {why}",
                expected="no pod without GPU or device of its own, such as storage, on a function that is taken",
                seen=spelled,
                hint="move that network to another port, or end these pods first if nothing needs them",
                node=node.name,
            )


def _was_taken(node: NodeFacts, hardware: NodeHardware, settings: Settings) -> bool:
    """Whether the node is in the fabric, and what comes with that has been there already."""
    is_admitted = node.labels.get(fabric_label(FabricName(settings.name))) == ADMITTED
    return is_admitted and (settings.nic_driver is not NicDriver.DOCA or bool(hardware.mlx5_driver))


def _on_taken(
    plugin: Mapping[str, Any], hardware: NodeHardware, taken: Mapping[PciAddress, str]
) -> Iterable[tuple[str, str]]:
    """Find functions that are taken under a plugin: the path down to each, and why it is taken."""
    if plugin.get("linkInContainer") is True:
        return
    yield from _by_address(plugin, hardware, taken)
    functions = {netdev.name: netdev.pci for netdev in hardware.netdevs if netdev.pci is not None}
    functions |= {port.netdev: port.pci for port in hardware.ports if port.netdev is not None}
    paths = tuple(_paths(plugin, hardware))
    for path in paths:
        pci = functions.get(path[-1])
        if pci is not None and pci in taken:
            yield " > ".join((*path, str(pci))), taken[pci]
    moved = plugin.get("device") or plugin.get("hwaddr")
    if moved and not any(path[-1] in functions for path in paths):
        yield from _away(str(moved), hardware, taken)


def _by_address(
    plugin: Mapping[str, Any], hardware: NodeHardware, taken: Mapping[PciAddress, str]
) -> Iterable[tuple[str, str]]:
    """Find the function that a plugin names by its address; its netdev is in the pod while that runs."""
    named = {str(plugin.get("pciBusID")), *str(plugin.get("kernelpath", "")).split("/")}
    for port in hardware.ports:
        if port.pci in taken and str(port.pci) in named:
            yield " > ".join((*((port.netdev,) if port.netdev else ()), str(port.pci))), taken[port.pci]


def _away(moved: str, hardware: NodeHardware, taken: Mapping[PciAddress, str]) -> Iterable[tuple[str, str]]:
    """Find ports that may be the netdev that a pod took away: those that have none; which of them is not known."""
    if any(moved.lower() == netdev.address.lower() for netdev in hardware.netdevs if netdev.address):
        return
    without = [port.pci for port in hardware.ports if port.netdev is None and port.pci in taken]
    if without:
        yield f"{moved} > one of {', '.join(without)} (their netdevs are in pods)", taken[without[0]]


def _paths(plugin: Mapping[str, Any], hardware: NodeHardware) -> Iterable[Path]:
    """Follow the device of the node that a plugin names down to ports: its parent, or the one that it moves."""
    by_hardware_address = {netdev.address.lower(): netdev.name for netdev in hardware.netdevs if netdev.address}
    names = (
        plugin.get("master"),
        plugin.get("device"),
        plugin.get("bridge"),
        by_hardware_address.get(str(plugin.get("hwaddr")).lower()),
    )
    netdevs = {netdev.name: netdev for netdev in hardware.netdevs}
    found: list[Path] = []
    for name in names:
        if not isinstance(name, str) or not name:
            continue
        start = NetDevice(name)
        found += ends_below(start, netdevs)[0] if start in netdevs else [(start,)]
    return found
