"""Intents -> fabrics with their nodes, rails, groups and subnets."""

from dataclasses import dataclass, replace

from railwright.catalog.model import Catalog
from railwright.core.ids import FabricName, GroupName, NetDevice, NodeName, PciAddress, RailName
from railwright.facts.model import NodeHardware, Snapshot
from railwright.intent.model import Method, NicDriver
from railwright.plan import others
from railwright.plan.attached import attachments, check_pods
from railwright.plan.bluefield import dpu_by_port
from railwright.plan.bluefield_rails import check_bluefields, warn_left_out
from railwright.plan.draft import FabricNodes
from railwright.plan.expectations import RESOURCE_PREFIXES
from railwright.plan.held import refuse_held
from railwright.plan.model import Group, OtherPort, Rail, RailPort
from railwright.plan.moved_ports import check_moved_ports
from railwright.plan.names import resource_name
from railwright.plan.nic_configuration import warn_configured_by_others
from railwright.plan.nodes import Selected, check_groups, select
from railwright.plan.notes import Notes
from railwright.plan.plain import check_prepared
from railwright.plan.ports_check import check_node
from railwright.plan.rails import NodeRails, fits, groups_of, rail_port, rails_of, wish_of
from railwright.plan.rdma_mode import check_rdma_mode
from railwright.plan.roles import Known, candidates
from railwright.plan.routes import check_routes
from railwright.plan.settings import Settings
from railwright.plan.subnets import subnets_for
from railwright.plan.uplinks import refuse_cut

ANY_NODE = NodeName("*")
"""Stands for every node where none was looked at; no node can be called so."""


@dataclass(frozen=True)
class Drafts:
    """All fabrics with the nodes they ask for, refused ones included; `selected` and `left_out` give the reasons."""

    fabrics: tuple[FabricNodes, ...]
    selected: dict[NodeName, str]
    left_out: dict[NodeName, str]
    other_ports: tuple[OtherPort, ...]

    def without_refused(self, notes: Notes) -> tuple[FabricNodes, ...]:
        """Take the nodes out that are refused by now; rails keep their names and numbers."""
        refused = {refusal.node for refusal in notes.refusals if refusal.node is not None}
        return tuple(_without(fabric, refused) for fabric in self.fabrics)


def draft_fabrics(
    all_settings: tuple[Settings, ...], snapshot: Snapshot, catalog: Catalog, notes: Notes, *, touches_ports: bool
) -> Drafts:
    """Select nodes, pair GPUs and ports, put nodes into groups, cut subnets; refuse what must not be touched."""
    fabrics: list[FabricNodes] = []
    selected: dict[NodeName, str] = {}
    left_out: dict[NodeName, str] = {}
    other_ports: list[OtherPort] = []
    subnets: list[str] = []
    attached = attachments(snapshot.cluster)
    for settings in all_settings:
        if snapshot.nodes:
            found, reasons = select(settings.intent, snapshot, notes)
            check_groups(settings.intent, found, notes)
            left_out |= reasons
            selected |= {item.node.name: item.reason for item in found}
            wired = []
            for item in found:
                known = _known(item, settings, snapshot)
                ports, not_rails = candidates(item.node.name, item.hardware, settings.intent.fabric, catalog, known)
                other_ports.extend(not_rails)
                refuse_held(item, ports, wish_of(settings.intent, item), settings, notes)
                rails = rails_of(item, ports, not_rails, settings.intent, notes)
                check_node(rails, item.hardware, not_rails, settings, catalog, notes)
                warn_left_out(not_rails, notes)
                warn_configured_by_others(rails, snapshot.cluster, notes)
                check_bluefields(rails, item.hardware, known.dpus, catalog, notes)
                check_rdma_mode(item.node, item.hardware, settings, snapshot.cluster, notes)
                check_prepared(rails, item.hardware, settings, snapshot.cluster, notes)
                others.check_ports(item.node, rails, settings, snapshot.cluster, notes)
                check_moved_ports(item, rails, settings, snapshot.cluster, notes)
                taken = [rail.port.pci for rail in rails.rails]
                refuse_cut(item.node.name, item.hardware, taken, settings, notes)
                pods = attached.get(item.node.name, ())
                check_pods(item.node, pods, item.hardware, taken, settings, notes, touches_ports=touches_ports)
                wired.append(rails)
            hardware = {item.node.name: item.hardware for item in found}
            fabric = _fabric(settings, tuple(wired), hardware, snapshot, subnets, notes)
        else:
            fabric = _offline(settings, snapshot, subnets, notes)
        subnets.extend(text for rail in fabric.rails for text in rail.subnets)
        fabrics.append(fabric)
    return Drafts(tuple(fabrics), selected, left_out, tuple(dict.fromkeys(other_ports)))


def _known(item: Selected, settings: Settings, snapshot: Snapshot) -> Known:
    wish = wish_of(settings.intent, item) or ()
    named = (port.pci for port in item.hardware.ports if any(fits(selector, port) for selector in wish))
    return Known(frozenset(named), dpu_by_port(snapshot.cluster, item.node.name))


def _fabric(
    settings: Settings,
    wired: tuple[NodeRails, ...],
    hardware: dict[NodeName, NodeHardware],
    snapshot: Snapshot,
    taken: list[str],
    notes: Notes,
) -> FabricNodes:
    groups = groups_of(FabricName(settings.name), wired)
    for group in groups[1:]:
        notes.warn(
            "unlike-nodes",
            f"{len(group.nodes)} nodes are wired unlike the others: {', '.join(group.nodes[:6])} ({group.machine})",
            group.name,
        )
    by_name = _by_name(settings, wired)
    most = len(by_name)
    fewer = [item.node for item in wired if 0 < len(item.rails) < most]
    if fewer:
        named = ", ".join(fewer[:6])
        notes.warn(
            "fewer-rails",
            f"{len(fewer)} nodes have fewer than {most} rails: pods that ask for all do not fit there ({named})",
            settings.name,
        )
    rails = _rails(settings, tuple(by_name), list(by_name.values()), snapshot, taken, notes)
    return FabricNodes(settings, rails, groups, hardware)


def _by_name(settings: Settings, wired: tuple[NodeRails, ...]) -> dict[str, tuple[RailPort, ...]]:
    """Put the ports that nodes have on each rail together, in the order of spec.rails, then of the nodes' own rails."""
    names: dict[str, None] = dict.fromkeys(item.name for item in settings.intent.rails or ())
    for item in sorted(wired, key=lambda item: -len(item.rails)):
        names |= dict.fromkeys(item.by_name)
    return {
        name: tuple(rail_port(item.node, rail) for item in wired if (rail := item.by_name.get(name)) is not None)
        for name in names
        if not wired or any(name in item.by_name for item in wired)
    }


def _offline(settings: Settings, snapshot: Snapshot, taken: list[str], notes: Notes) -> FabricNodes:
    """Make rails of what the intent names; there are no nodes."""
    wish = settings.intent.rails or ()
    if settings.intent.groups:
        notes.refuse(
            "groups-need-nodes",
            f"without a cluster nobody knows which nodes the groups of {settings.name} are",
            where=str(settings.intent.place("spec.groups") or settings.name),
            hint="plan with the cluster, or a RailFabric for each kind of node",
        )
    if not wish or any(item.netdev is None for item in wish):
        notes.refuse(
            "rails-not-named",
            f"without a cluster nothing can be paired: {settings.name} must name its rails by netdev",
            where=str(settings.intent.place("spec.rails") or settings.name),
            hint="spec.rails: [{name: rail0, netdev: ens1f0np0}, ...], or plan with the cluster",
        )
    ports: list[tuple[RailPort, ...]] = [
        (
            RailPort(
                ANY_NODE,
                PciAddress(item.pci_address or ""),
                NetDevice(item.netdev or ""),
                None,
                None,
                None,
                None,
                "asked for",
            ),
        )
        for item in wish
    ]
    rails = _rails(settings, tuple(item.name for item in wish), ports, snapshot, taken, notes)
    if needs := _left_to_a_person(settings):
        message = f"no node was looked at, so nothing is planned that prepares them: they must have {needs}"
        notes.warn("nodes-not-prepared", message, settings.name)
    anywhere = Group(GroupName("g1"), FabricName(settings.name), (ANY_NODE,), "any node; none was looked at")
    return FabricNodes(settings, rails, (anywhere,), {})


def _left_to_a_person(settings: Settings) -> str:
    """Say what nodes must have that is planned from their facts only; "" where a person has nothing to see to."""
    needs = []
    if settings.nic_driver is NicDriver.DOCA:
        needs.append("no irdma module loaded")
    elif settings.intent.method is Method.SHARED:
        needs.append("the modules ib_umad and rdma_ucm")
    if settings.mtu_bytes is not None and not settings.is_infiniband and settings.intent.method is not Method.SRIOV:
        needs.append(f"an MTU of {settings.mtu_bytes} on each rail's port, which pods' interfaces may not exceed")
    return " and ".join(needs)


def _rails(
    settings: Settings,
    names: tuple[str, ...],
    ports: list[tuple[RailPort, ...]],
    snapshot: Snapshot,
    taken: list[str],
    notes: Notes,
) -> tuple[Rail, ...]:
    subnets = subnets_for(settings, names, snapshot.cluster, taken, notes).by_rail
    rails = []
    for index, on_nodes in enumerate(ports):
        name = names[index]
        rail = Rail(
            name=RailName(name),
            fabric=FabricName(settings.name),
            index=index,
            ports=tuple(sorted(on_nodes, key=lambda port: port.node)),
            resource="",
            network=f"{settings.intent.resource_prefix or settings.name}-{name}",
            subnets=subnets[index] if index < len(subnets) else (),
        )
        prefix = RESOURCE_PREFIXES[settings.intent.method]
        rails.append(replace(rail, resource=f"{prefix}/{resource_name(settings, rail)}"))
    check_routes(settings, rails, notes)
    return tuple(rails)


def _without(fabric: FabricNodes, refused: set[NodeName]) -> FabricNodes:
    def group_left(group: Group) -> Group:
        return replace(group, nodes=tuple(node for node in group.nodes if node not in refused))

    groups = tuple(left for group in fabric.groups if (left := group_left(group)).nodes)
    rails = tuple(replace(rail, ports=tuple(p for p in rail.ports if p.node not in refused)) for rail in fabric.rails)
    hardware = {node: facts for node, facts in fabric.hardware.items() if node not in refused}
    return FabricNodes(fabric.settings, rails, groups, hardware)
