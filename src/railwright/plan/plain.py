"""What nodes of plain Kubernetes must bring along: there is nobody to roll their configuration out."""

from railwright.core.kinds import NODE_NETWORK_CONFIGURATION_POLICY
from railwright.facts.model import ClusterFacts, NicPort, NodeHardware, Platform
from railwright.intent.model import Method, NicDriver
from railwright.plan.notes import Notes
from railwright.plan.rails import NodeRails
from railwright.plan.settings import Settings

_IRDMA = "irdma"


def check_prepared(
    item: NodeRails, hardware: NodeHardware, settings: Settings, cluster: ClusterFacts, notes: Notes
) -> None:
    """Refuse a node that a gate would wait for in vain, before its driver is loaded anew for nothing."""
    if cluster.platform is not Platform.KUBERNETES:
        return
    if _IRDMA in hardware.modules and settings.nic_driver is NicDriver.DOCA:
        notes.refuse(
            "irdma-loaded",
            f"irdma is loaded on {item.node} and keeps the DOCA driver from loading; on plain Kubernetes nobody takes it away",
            expected="no module irdma",
            seen="irdma",
            hint="put `blacklist irdma` into /etc/modprobe.d on the node and reboot it, or use spec.driver.nic: in-box",
            node=item.node,
        )
    if not cluster.serves(NODE_NETWORK_CONFIGURATION_POLICY):
        _check_mtu(item, settings, notes)


def _check_mtu(item: NodeRails, settings: Settings, notes: Notes) -> None:
    wanted = settings.mtu_bytes
    if wanted is None or settings.is_infiniband or settings.intent.method is Method.SRIOV:
        return
    small = [rail.port for rail in item.rails if (rail.port.mtu_bytes or 0) < wanted]
    if small:
        named = ", ".join(f"{port.netdev or port.pci} {port.mtu_bytes or 'unknown'}" for port in small[:8])
        notes.refuse(
            "port-mtu-too-small",
            f"ports of {item.node} have an MTU below the {wanted} that pods get; on plain Kubernetes nobody sets it",
            expected=f"an MTU of {wanted} or more",
            seen=named,
            hint=f"{_as_they_are(small)}raise the ports to {wanted} on the node so that it lasts (netplan, systemd-networkd,"
            " NetworkManager), or install NMState",
            node=item.node,
        )


def _as_they_are(small: list[NicPort]) -> str:
    """Name the value of spec.network.mtu that takes these ports as they are; nothing where one of them is not known."""
    least = min(port.mtu_bytes or 0 for port in small)
    return f"spec.network.mtu: {least} takes the ports as they are, at less bandwidth; or " if least else ""
