"""Whether a node's rails work: link, subnet manager, virtual functions; what is bad refuses the node."""

from railwright.catalog.model import Catalog
from railwright.core.ids import NodeName
from railwright.facts.model import NicPort, NodeHardware
from railwright.intent.model import Method
from railwright.plan.model import OtherPort
from railwright.plan.notes import Notes
from railwright.plan.rails import NodeRails
from railwright.plan.settings import Settings

_ACTIVE = "ACTIVE"
_SHOWN = 3


def check_node(
    item: NodeRails,
    hardware: NodeHardware,
    not_rails: tuple[OtherPort, ...],
    settings: Settings,
    catalog: Catalog,
    notes: Notes,
) -> None:
    """Refuse a node whose rails can't carry anything, or whose settings contradict the fabric."""
    if not item.rails:
        why = [f"{port.netdev or port.pci}: {port.reason}" for port in not_rails]
        named = "; ".join(why[:_SHOWN]) + (f"; and {len(why) - _SHOWN} more" if len(why) > _SHOWN else "")
        notes.refuse(
            "no-rail",
            f"{item.node} has no ConnectX port that could be a rail" + (f" ({named})" if named else ""),
            hint="railwright discover shows every port; spec.rails names them by hand",
            node=item.node,
        )
    for rail in item.rails:
        _check_port(item.node, rail.port, settings, notes)
        if settings.intent.method is Method.SRIOV:
            _check_vfs(item.node, rail.port, settings, catalog, notes)
    _check_combination(item.node, hardware, settings, catalog, notes)


def _check_port(node: NodeName, port: NicPort, settings: Settings, notes: Notes) -> None:
    if settings.is_infiniband and (port.state == "INIT" or (port.state == _ACTIVE and not port.sm_lid)):
        notes.refuse(
            "no-subnet-manager",
            f"port {port.rdma or port.pci} of {node} has no subnet manager: state {port.state}, SM LID {port.sm_lid or 0}",
            expected="state ACTIVE with a LID and an SM LID",
            seen=f"state {port.state}, LID {port.lid or 0}, SM LID {port.sm_lid or 0}",
            hint="start a subnet manager (OpenSM, UFM or one in a switch) on this fabric",
            node=node,
        )
        return
    if port.state == "" and port.carrier is None:
        notes.refuse(
            "rail-state-unknown",
            f"whether port {port.netdev or port.pci} of {node} has a link is not known",
            hint="bring the port up (ip link set DEV up), so that the kernel says",
            node=node,
        )
        return
    if (port.state and port.state != _ACTIVE) or port.carrier is False:
        seen = f"state {port.state or 'none'}, carrier {'yes' if port.carrier else 'no'}"
        notes.refuse(
            "rail-down",
            f"port {port.netdev or port.pci} of {node} has no link ({seen})",
            expected="state ACTIVE, with carrier",
            seen=seen,
            hint="check cable, switch port and its speed; or leave the node out with spec.nodes",
            node=node,
        )


def _check_vfs(node: NodeName, port: NicPort, settings: Settings, catalog: Catalog, notes: Notes) -> None:
    if port.sriov_total_vfs == 0:
        notes.refuse(
            "no-virtual-functions",
            f"port {port.netdev} ({port.pci}) of {node} offers no virtual functions",
            expected=f"sriov_totalvfs of {settings.vfs} or more",
            seen="0",
            hint="switch SR-IOV on in BIOS (SR-IOV global enable, MMIO above 4G) and in firmware (SRIOV_EN=1)",
            node=node,
        )
    elif settings.vfs > port.sriov_total_vfs:
        # The webhook lets this pass; the operator then sets the firmware and reboots.
        notes.warn(
            "firmware-virtual-functions",
            f"{settings.vfs} VFs a rail are more than the {port.sriov_total_vfs} that firmware offers on {port.netdev}: "
            "the SR-IOV operator changes firmware settings and reboots the node",
            node,
        )
    nic = catalog.nic(port.device_id, port.vendor_id)
    if nic is not None and not nic.sriov_operator:
        notes.refuse(
            "nic-not-supported-by-sriov-operator",
            f"{nic.name} ({port.vendor_id}:{port.device_id}) of {node} is not in the SR-IOV operator's list of NICs",
            hint="method shared or host-device does not need the SR-IOV operator",
            node=node,
        )


def _check_combination(
    node: NodeName, hardware: NodeHardware, settings: Settings, catalog: Catalog, notes: Notes
) -> None:
    base = settings.combination()
    locked = hardware.secure_boot is True or hardware.lockdown in {"integrity", "confidentiality"}
    here = base | {"secure_boot": str(locked).lower(), "page_size_bytes": str(hardware.page_size_bytes or "")}
    general = catalog.unsupported(base)
    for entry in catalog.unsupported(here):
        if entry not in general:
            notes.refuse(entry.code, f"{node}: {entry.reason}", hint=entry.hint, node=node)
    if hardware.secure_boot is None and hardware.lockdown is None:
        notes.warn(
            "secure-boot-unknown", "whether Secure Boot is on could not be read; unsigned drivers would not load", node
        )
