"""
What one rule may look at: what it says that it needs or uses, and nothing else.

A rule that looked at something it does not name would take a list that was not read for one that is empty, and pass.
So everything else raises Undeclared, whatever the cluster is like.

Lists may be parts of what there is, as in a must-gather. An object that is there is there; that one is not there is
known only where `is_whole` says so, and a rule that claims it asks first.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar

from railwright.catalog.model import Catalog
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.multus import plugins_of
from railwright.core.objects import Kind, KubeObject, Ref, dig
from railwright.doctor.everything import Everything
from railwright.doctor.model import Proof, RuleInfo, Unknown
from railwright.doctor.operators import Installed
from railwright.doctor.rails import RailHere
from railwright.facts.model import EventFacts, NodeFacts, NodeHardware, Platform, PodFacts, PoolFacts
from railwright.facts.nodes import selects
from railwright.plan.model import Plan
from railwright.readiness.model import Companions

_T = TypeVar("_T")


class Undeclared(Exception):
    """A rule looks at what it names neither in `needs` nor in `uses`: a bug of ours."""


@dataclass(frozen=True)
class Seen:
    """
    The facts of one rule.

    Attributes:
        kinds: kinds of objects that it may look at; Node, Pod and Event are among them.
        may_enter: whether it may look into nodes.
        may_recall: whether it may look at what the ledger keeps.
        relies_on: sections of node records; a node that lacks one of them is not shown from inside.
    """

    everything: Everything
    kinds: frozenset[Kind]
    may_enter: bool = False
    may_recall: bool = False
    relies_on: frozenset[str] = frozenset()

    @property
    def catalog(self) -> Catalog:
        """What is known beforehand."""
        return self.everything.catalog

    @property
    def plan(self) -> Plan | None:
        """What is planned; None when nobody wants anything."""
        return self.everything.plan

    @property
    def now(self) -> datetime:
        """When the facts were read."""
        return self.everything.now

    @property
    def platform(self) -> Platform:
        """OpenShift, or plain Kubernetes."""
        return self.everything.cluster.platform

    @property
    def openshift_version(self) -> str:
        """Empty on plain Kubernetes, and where it was not seen."""
        return self.everything.cluster.openshift_version

    @property
    def has_proxy(self) -> bool:
        """Whether the cluster reaches the outside by a proxy; False also where that was not seen."""
        return self.everything.cluster.proxy

    @property
    def networks(self) -> Mapping[str, tuple[str, ...]]:
        """Networks of the cluster itself, by what they are for; needs the cluster's Network."""
        self._check(kinds.NETWORK_CONFIG)
        cluster = self.everything.cluster
        return {
            "the pod network": cluster.cluster_networks,
            "the service network": cluster.service_networks,
            "the machines' network": cluster.machine_networks,
            "OVN-Kubernetes' own network": cluster.internal_networks,
        }

    def serves(self, kind: Kind) -> bool:
        """Whether the API server is known to serve a kind."""
        return self.everything.cluster.serves(kind)

    def is_whole(self, kind: Kind, namespace: str = "") -> bool:
        """Whether every object of a kind was seen, in a namespace when one is given: only then is another one absent."""
        self._check(kind)
        return self.everything.is_whole(kind, namespace)

    @property
    def nodes(self) -> tuple[NodeFacts, ...]:
        """Every node that was seen."""
        self._check(kinds.NODE)
        return self.everything.nodes

    @property
    def node_by_name(self) -> Mapping[NodeName, NodeFacts]:
        """Nodes by name."""
        self._check(kinds.NODE)
        return self.everything.node_by_name

    def selected(self, labels: Mapping[str, str]) -> tuple[NodeFacts, ...]:
        """Nodes that carry all of these labels (a nodeSelector); every node for none."""
        return tuple(node for node in self.nodes if labels.items() <= node.labels.items())

    def matching(self, selector: KubeObject) -> tuple[NodeFacts, ...]:
        """Nodes that a LabelSelector selects; none for an empty one."""
        return tuple(node for node in self.nodes if selects(selector, node.labels))

    @cached_property
    def inside(self) -> Mapping[NodeName, NodeHardware]:
        """Nodes whose inside was read, and what was seen there."""
        self._check_inside()
        return self._without_withheld(self.everything.inside)

    @cached_property
    def rails(self) -> Mapping[NodeName, tuple[RailHere, ...]]:
        """Rails of the nodes whose inside was read: the plan's, else found by PCI distance."""
        self._check_inside()
        return self._without_withheld(self.everything.rails)

    def is_read(self, node: NodeName, *sections: str) -> bool:
        """Whether these sections of a node's record are there whole: only then is what they do not say not so."""
        self._check_inside()
        return node in self.everything.inside and self.everything.unread.get(node, {}).keys().isdisjoint(sections)

    @property
    def operators(self) -> Mapping[str, tuple[Installed, ...]]:
        """The four operators by the catalog's key; one that is not there, or not seen, is left out."""
        self._check(kinds.SUBSCRIPTION, kinds.DEPLOYMENT)
        return self.everything.operators

    def operator(self, key: str) -> Installed | None:
        """The one installation of an operator; None when there is none, or more than one."""
        found = self.operators.get(key, ())
        return found[0] if len(found) == 1 else None

    @property
    def homes(self) -> frozenset[str]:
        """Namespaces of the four operators: the usual ones, and wherever one was seen."""
        return self.everything.homes

    @property
    def node_states(self) -> Mapping[NodeName, KubeObject]:
        """SriovNetworkNodeStates by node."""
        self._check(kinds.SRIOV_NETWORK_NODE_STATE)
        return self.everything.node_states

    def nad_plugins(self, nad: KubeObject) -> tuple[Mapping[str, Any], ...]:
        """Plugins of a NAD's chain, the one that makes the interface first; none for a config that cannot be read."""
        return plugins_of(str(dig(nad, "spec", "config", default="")))

    def of_kind(self, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...]:
        """Objects of one kind that were seen, sorted by reference; `namespace` None for every namespace."""
        self._check(kind)
        found = self.everything.by_kind.get(kind, ())
        if namespace is None:
            return found
        return tuple(obj for obj in found if dig(obj, "metadata", "namespace", default="") == namespace)

    def get(self, kind: Kind, name: str, namespace: str = "") -> KubeObject | None:
        """Find one object; None also for one that was not seen."""
        self._check(kind)
        return self.everything.cluster.objects.get(Ref(kind, namespace, name))

    @cached_property
    def companions(self) -> Companions:
        """The objects that it may look at, for the judges of readiness; pods and nodes are facts of another form."""
        return Companions({ref: obj for ref, obj in self.everything.cluster.objects.items() if ref.kind in self.kinds})

    @property
    def pods(self) -> tuple[PodFacts, ...]:
        """Pods that matter: those of the operators, and those that hold or want devices."""
        self._check(kinds.POD)
        return self.everything.cluster.pods

    @property
    def pods_by_node(self) -> Mapping[NodeName, tuple[PodFacts, ...]]:
        """The same by node; those without a node are left out."""
        self._check(kinds.POD)
        return self.everything.pods_by_node

    @property
    def pools(self) -> tuple[PoolFacts, ...]:
        """MachineConfigPools."""
        self._check(kinds.MACHINE_CONFIG_POOL)
        return self.everything.cluster.pools

    def events_of(self, kind: str, namespace: str, name: str) -> tuple[EventFacts, ...]:
        """Events about one object, oldest first; none also when events were not read."""
        self._check(kinds.EVENT)
        return self.everything.events.get((kind, namespace, name), ())

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """How the last verify of each fabric ended."""
        if not self.may_recall:
            message = "the ledger is not among what it says it looks at"
            raise Undeclared(message)
        return self.everything.kept.proofs

    def unknown_inside(self, info: RuleInfo, nodes: Collection[NodeName]) -> Iterator[Unknown]:
        """Say what a rule that looks into nodes where it can (`uses`) could not see of these nodes."""
        for need in info.uses:
            lack = need.lack(self.everything) if need.is_inside or need.sections else None
            concerned = [name for name in nodes if lack is not None and (not lack.nodes or name in lack.nodes)]
            if lack is not None and concerned:
                missing, how = lack.missing or need.missing, lack.how or need.how
                yield Unknown(info.name, missing, lack.why, how, tuple(dict.fromkeys(concerned)))

    def _without_withheld(self, found: Mapping[NodeName, _T]) -> Mapping[NodeName, _T]:
        """Leave out nodes that lack a section which the rule relies on."""
        withheld = {
            name for name, sections in self.everything.unread.items() if not self.relies_on.isdisjoint(sections)
        }
        return {name: item for name, item in found.items() if name not in withheld} if withheld else found

    def _check(self, *wanted: Kind) -> None:
        for kind in wanted:
            if kind not in self.kinds:
                message = f"{kind} is not among what it says it looks at"
                raise Undeclared(message)

    def _check_inside(self) -> None:
        if not self.may_enter:
            message = "the inside of nodes is not among what it says it looks at"
            raise Undeclared(message)
