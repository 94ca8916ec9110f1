"""Everything that was seen, indexed once, so that no rule walks through all of it for each of its questions."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any

from railwright.catalog.model import Catalog
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, KubeObject, Ref, dig
from railwright.doctor.operators import Installed, find_operators
from railwright.doctor.rails import RailHere, rails_by_node
from railwright.facts.model import ClusterFacts, EventFacts, NodeFacts, NodeHardware, PodFacts, Snapshot
from railwright.facts.nodes import selects
from railwright.plan.model import Plan
from railwright.readiness.model import Companions


@cache
def _plugins_of(text: str) -> tuple[Mapping[str, Any], ...]:
    try:
        config = json.loads(text)
    except ValueError:
        return ()
    if not isinstance(config, dict):
        return ()
    plugins = config.get("plugins", [config])
    return tuple(item for item in plugins if isinstance(item, dict)) if isinstance(plugins, list) else ()


@dataclass(frozen=True)
class Seen:
    """What a rule judges: facts, what is known beforehand, and what is planned (None when nobody wants anything)."""

    snapshot: Snapshot
    catalog: Catalog
    plan: Plan | None

    @property
    def cluster(self) -> ClusterFacts:
        """What the API server says."""
        return self.snapshot.cluster

    @property
    def nodes(self) -> tuple[NodeFacts, ...]:
        """Every node."""
        return self.snapshot.nodes

    @cached_property
    def node_by_name(self) -> Mapping[NodeName, NodeFacts]:
        """Nodes by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def inside(self) -> Mapping[NodeName, NodeHardware]:
        """Nodes whose inside was read, and what was seen there."""
        return {node.name: node.hardware for node in self.nodes if node.hardware is not None}

    @cached_property
    def now(self) -> datetime:
        """When the facts were read; the beginning of time when they do not say."""
        try:
            return datetime.fromisoformat(self.snapshot.taken_at)
        except ValueError:
            return datetime.min.replace(tzinfo=UTC)

    @cached_property
    def operators(self) -> Mapping[str, tuple[Installed, ...]]:
        """The four operators by the catalog's key; one that is not there is left out."""
        return find_operators(self.cluster, self.catalog)

    def operator(self, key: str) -> Installed | None:
        """The one installation of an operator; None when there is none, or more than one."""
        found = self.operators.get(key, ())
        return found[0] if len(found) == 1 else None

    @cached_property
    def node_states(self) -> Mapping[NodeName, KubeObject]:
        """SriovNetworkNodeStates by node."""
        return {NodeName(str(item["metadata"]["name"])): item for item in self.of_kind(kinds.SRIOV_NETWORK_NODE_STATE)}

    def nad_plugins(self, nad: KubeObject) -> tuple[Mapping[str, Any], ...]:
        """Plugins of a NAD's chain, the one that makes the interface first; none for a config that cannot be read."""
        return _plugins_of(str(dig(nad, "spec", "config", default="")))

    @cached_property
    def companions(self) -> Companions:
        """The same objects for the judges of readiness; pods and nodes are facts of another form, and not in it."""
        return Companions(self.cluster.objects)

    @cached_property
    def rails(self) -> Mapping[NodeName, tuple[RailHere, ...]]:
        """Rails of the nodes whose inside was read: the plan's, else found by PCI distance."""
        return rails_by_node(self.nodes, self.catalog, self.plan)

    @cached_property
    def _by_kind(self) -> Mapping[Kind, tuple[KubeObject, ...]]:
        found: dict[Kind, list[KubeObject]] = defaultdict(list)
        for ref in sorted(self.cluster.objects):
            found[ref.kind].append(self.cluster.objects[ref])
        return {kind: tuple(objects) for kind, objects in found.items()}

    def of_kind(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...]:
        """Objects of one kind, sorted by reference; `namespace` None for every namespace."""
        found = self._by_kind.get(kind, ())
        if namespace is None:
            return found
        return tuple(obj for obj in found if dig(obj, "metadata", "namespace", default="") == namespace)

    def get(self, kind: Kind, name: str, namespace: str = "") -> KubeObject | None:
        """Find one object."""
        return self.cluster.objects.get(Ref(kind, namespace, name))

    @cached_property
    def pods_by_node(self) -> Mapping[NodeName, tuple[PodFacts, ...]]:
        """Pods that matter, by node; those without a node are left out."""
        found: dict[NodeName, list[PodFacts]] = defaultdict(list)
        for pod in self.cluster.pods:
            if pod.node is not None:
                found[pod.node].append(pod)
        return {node: tuple(pods) for node, pods in found.items()}

    @cached_property
    def _events(self) -> Mapping[tuple[str, str, str], tuple[EventFacts, ...]]:
        found: dict[tuple[str, str, str], list[EventFacts]] = defaultdict(list)
        for event in self.cluster.events:
            found[event.kind, event.namespace, event.name].append(event)
        return {key: tuple(events) for key, events in found.items()}

    def events_of(self, kind: str, namespace: str, name: str) -> tuple[EventFacts, ...]:
        """Events about one object, oldest first; none also when events were not read."""
        return self._events.get((kind, namespace, name), ())

    def selected(self, labels: Mapping[str, str]) -> tuple[NodeFacts, ...]:
        """Nodes that carry all of these labels (a nodeSelector); every node for none."""
        return tuple(node for node in self.nodes if labels.items() <= node.labels.items())

    def matching(self, selector: KubeObject) -> tuple[NodeFacts, ...]:
        """Nodes that a LabelSelector selects; none for an empty one."""
        return tuple(node for node in self.nodes if selects(selector, node.labels))

    def unseen_of(self, names: Iterable[str]) -> str:
        """Say why one of these could not be seen: a kind ("Pod"), or one object; empty when all were."""
        wanted = tuple(names)
        for item in self.cluster.unseen:
            if any(item.what == name or item.what.startswith(f"{name} ") for name in wanted):
                return f"{item.what}: {item.why}"
        return ""
