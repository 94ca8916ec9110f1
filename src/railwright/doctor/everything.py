"""Everything that was seen, indexed once for all rules; a rule gets no more of it than it asks for (seen.py)."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from railwright.catalog.model import Catalog
from railwright.core.ids import NodeName
from railwright.core.kinds import CONFIG_MAP, DEPLOYMENT, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import Kind, KubeObject
from railwright.doctor.model import Kept
from railwright.doctor.operators import Installed, find_operators
from railwright.doctor.rails import RailHere, rails_by_node
from railwright.doctor.sections import unread_sections
from railwright.facts.cluster import operator_namespaces
from railwright.facts.model import ClusterFacts, EventFacts, NodeFacts, NodeHardware, PodFacts, Snapshot, Unseen
from railwright.plan.model import Plan

_ONLY_IN_HOMES = frozenset({CONFIG_MAP, DEPLOYMENT})
"""Kinds that facts read in the operators' namespaces alone."""


@dataclass(frozen=True)
class Everything:
    """Facts, what is known beforehand, what is planned (None when nobody wants anything), what the ledger keeps."""

    snapshot: Snapshot
    catalog: Catalog
    plan: Plan | None
    kept: Kept = field(default_factory=Kept)

    @property
    def cluster(self) -> ClusterFacts:
        """What the API server says."""
        return self.snapshot.cluster

    @property
    def nodes(self) -> tuple[NodeFacts, ...]:
        """Every node."""
        return self.snapshot.nodes

    @cached_property
    def now(self) -> datetime:
        """When the facts were read; the beginning of time when they do not say."""
        try:
            return datetime.fromisoformat(self.snapshot.taken_at)
        except ValueError:
            return datetime.min.replace(tzinfo=UTC)

    @cached_property
    def node_by_name(self) -> Mapping[NodeName, NodeFacts]:
        """Nodes by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def inside(self) -> Mapping[NodeName, NodeHardware]:
        """Nodes whose inside was read, and what was seen there."""
        return {node.name: node.hardware for node in self.nodes if node.hardware is not None}

    @cached_property
    def unread(self) -> Mapping[NodeName, Mapping[str, str]]:
        """Sections of node records that could not be read whole, and why; nodes that were read whole are left out."""
        found = {name: unread_sections(hardware) for name, hardware in self.inside.items() if hardware.unseen}
        return {name: sections for name, sections in found.items() if sections}

    @cached_property
    def rails(self) -> Mapping[NodeName, tuple[RailHere, ...]]:
        """Rails of the nodes whose inside was read."""
        return rails_by_node(self.nodes, self.catalog, self.plan)

    @cached_property
    def operators(self) -> Mapping[str, tuple[Installed, ...]]:
        """The four operators by the catalog's key; one that is not there is left out."""
        return find_operators(self.cluster, self.catalog)

    @cached_property
    def homes(self) -> frozenset[str]:
        """Namespaces of the four operators: the usual ones, and wherever one is."""
        found = {item.namespace for items in self.operators.values() for item in items}
        return operator_namespaces(self.cluster.objects) | found

    @cached_property
    def by_kind(self) -> Mapping[Kind, tuple[KubeObject, ...]]:
        """Objects of each kind, sorted by reference."""
        found: dict[Kind, list[KubeObject]] = defaultdict(list)
        for ref in sorted(self.cluster.objects):
            found[ref.kind].append(self.cluster.objects[ref])
        return {kind: tuple(objects) for kind, objects in found.items()}

    @cached_property
    def node_states(self) -> Mapping[NodeName, KubeObject]:
        """SriovNetworkNodeStates by node."""
        found = self.by_kind.get(SRIOV_NETWORK_NODE_STATE, ())
        return {NodeName(str(item["metadata"]["name"])): item for item in found}

    @cached_property
    def pods_by_node(self) -> Mapping[NodeName, tuple[PodFacts, ...]]:
        """Pods that matter, by node; those without a node are left out."""
        found: dict[NodeName, list[PodFacts]] = defaultdict(list)
        for pod in self.cluster.pods:
            if pod.node is not None:
                found[pod.node].append(pod)
        return {node: tuple(pods) for node, pods in found.items()}

    @cached_property
    def events(self) -> Mapping[tuple[str, str, str], tuple[EventFacts, ...]]:
        """Events by kind, namespace and name of what they are about, oldest first."""
        found: dict[tuple[str, str, str], list[EventFacts]] = defaultdict(list)
        for event in self.cluster.events:
            found[event.kind, event.namespace, event.name].append(event)
        return {key: tuple(events) for key, events in found.items()}

    @cached_property
    def unseen(self) -> Mapping[str, Unseen]:
        """What could not be looked at, by its name; of two of one name the first."""
        return {item.what: item for item in reversed(self.cluster.unseen)}

    def missing_of(self, kind: Kind) -> str:
        """Say why not every object of a kind was seen; empty when all were."""
        whole = self.unseen.get(str(kind))
        if whole is not None:
            return whole.why
        part = next((item for item in self.cluster.unseen if item.what.startswith(f"{kind} ")), None)
        return f"{part.what}: {part.why}" if part is not None else ""

    def is_whole(self, kind: Kind, namespace: str = "") -> bool:
        """Whether every object of a kind was seen, in a namespace when one is given: only then is another one absent."""
        if not self.missing_of(kind) and not (namespace and kind in _ONLY_IN_HOMES):
            return True
        return bool(namespace) and (kind, namespace) in self.cluster.whole_in
