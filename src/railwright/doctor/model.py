"""What a rule is, what it needs, and what it concludes; frozen."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from railwright.core.ids import FabricName, NodeName, RuleId
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.core.risk import Risk
from railwright.core.verdicts import Verdict

if TYPE_CHECKING:
    from railwright.doctor.everything import Everything
    from railwright.doctor.seen import Seen


class Severity(StrEnum):
    """How bad it is, mildest first."""

    INFO = "info"
    """Worth knowing; nothing is broken by it."""
    WARNING = "warning"
    """
    Works now or in part; slower than it should be, or breaks at the next restart, upgrade or reboot.

    What slows is a warning even where it halves the bandwidth (ACS, IOMMU): rules read settings, and how much they cost is
    only known by measuring. A verify that failed is an error of its own (`verification-failed`).
    """
    ERROR = "error"
    """Something that is wanted does not work."""

    @property
    def rank(self) -> int:
        """0 is mildest."""
        return list(Severity).index(self)


class Layer(StrEnum):
    """Where in the stack the cause lies, lowest first: what is below explains what is above."""

    HARDWARE = "hardware"
    """PCI tree, firmware, BIOS."""
    KERNEL = "kernel"
    """Modules, kernel arguments, lockdown, limits."""
    CLUSTER = "cluster"
    """Platform: MachineConfigPools, registries, proxy, admission, versions."""
    OPERATORS = "operators"
    """OLM and the operators' own pods."""
    LABELS = "labels"
    """Node Feature Discovery and what its labels select."""
    DRIVERS = "drivers"
    """Driver containers, modules that they load."""
    DEVICES = "devices"
    """VFs, device plugins, allocatable resources."""
    LINK = "link"
    """Ports, cables, subnet manager, switches, MTU, GIDs."""
    NETWORKS = "networks"
    """NADs, CNI, IPAM, routes of pods."""
    WORKLOADS = "workloads"
    """Pods that use the rails, and their settings."""
    DATA_PATH = "data path"
    """Bytes that move, but not as they should."""
    UPGRADES = "upgrades"
    """Roll-outs, drains, versions on their way."""

    @property
    def rank(self) -> int:
        """0 is lowest."""
        return list(Layer).index(self)


class Condition(StrEnum):
    """
    A state of the world between causes and effects: what one finding brings about, and another shows.

    A rule says in its RuleInfo which conditions its findings `lead_to`, and which they `show`. A finding that shows
    what another leads to, on a common node (or where one of the two is about no single node), and about a common
    thing (`Finding.about`, where both name things), stands under it.
    """

    OPERATOR_MISSING = "an operator is not installed, or does not run"
    LABELS_MISSING = "nodes lack the labels that select them"
    POD_NOT_STARTED = "an operator's pod is not made, not scheduled, or cannot pull or begin"
    POD_CRASHES = "an operator's pod starts and dies"
    NIC_DRIVER_NOT_READY = "the NIC driver is not loaded as wanted"
    GPU_DRIVER_NOT_READY = "the GPU driver is not loaded as wanted"
    PEER_MEMORY_MISSING = "the NIC cannot reach GPU memory"
    VFS_MISSING = "VFs do not exist as wanted"
    RESOURCE_MISSING = "a resource is not allocatable as promised"
    NETWORK_MISSING = "a network attachment does not exist or cannot be made"
    PORT_DOWN = "a port is not up, or cannot be addressed"
    ROLLOUT_STUCK = "a roll-out, drain or upgrade does not get on"
    WORKLOAD_WAITS = "a workload pod does not start"
    RDMA_FAILS = "RDMA connections fail"
    RDMA_SLOW = "RDMA is slower than the hardware"
    NOT_DIRECT = "bytes go through host memory"


@dataclass(frozen=True)
class Evidence:
    """
    One thing that was seen.

    Attributes:
        object: what it was seen on: "NicClusterPolicy nic-cluster-policy", "node worker-1", "pod train/a".
        field: path or name of the value: "spec.ofedDriver.version", "allocatable rdma/rail0", "log line 17".
        value: as seen, short.
    """

    object: str
    field: str
    value: str
    node: NodeName | None = None


@dataclass(frozen=True)
class Patch:
    """
    Fields of one object as they should be; pipeline makes Changes of it.

    Attributes:
        body: apiVersion, kind, metadata.name (and namespace) and the wanted fields, as for server-side apply; the object
            must be there already.
    """

    ref: Ref
    body: KubeObject


@dataclass(frozen=True)
class Remedy:
    """
    What to do about it.

    Attributes:
        text: one or two sentences.
        commands: exact commands, to be copied; NAME in capitals only where no fact could fill it in.
        patch: set when an object patch does it; `--fix` acts on it alone when `risk` is none.
        risk: what carrying it out may do to what runs.
        disrupts: whom and what it disturbs, in words; empty for nothing.
    """

    text: str
    commands: tuple[str, ...] = ()
    patch: Patch | None = None
    risk: Risk = Risk.NONE
    disrupts: str = ""


@dataclass(frozen=True)
class RuleInfo:
    """
    One rule, as its page shows it.

    Attributes:
        name: a sentence about what is wrong, kebab-case: "selected-node-lacks-label".
        title: the same for people, one line.
        severity: of its findings unless one says otherwise.
        needs: facts without which it cannot answer; a missing one makes it UNKNOWN, wholly or for what is missing.
        uses: facts that make its answer more exact; without them it answers all the same.
        covers: ids of field reports it covers ("B013"); the coverage page is made from it.
        text: what it looks at, why that is wrong, what it does not say; a few sentences.
        source: document or project with section, and date; or "Measured: ...".
        leads_to, shows: conditions that link findings (see Condition).
        subject: what it judges, where a cluster may have none of it; a rule without one judges every cluster.
    """

    name: RuleId
    title: str
    layer: Layer
    severity: Severity
    text: str
    source: str
    needs: "tuple[Need, ...]" = ()
    uses: "tuple[Need, ...]" = ()
    covers: tuple[str, ...] = ()
    leads_to: tuple[Condition, ...] = ()
    shows: tuple[Condition, ...] = ()
    subject: "Subject | None" = None


@dataclass(frozen=True)
class Finding:
    """
    One thing that is wrong, once for all nodes where it is the same.

    Attributes:
        nodes: where; empty when it is about no single node.
        cause: why it is so, one or two sentences with names and values.
        about: things by which findings are linked, each "kind:name": "operator:nvidia-network",
            "resource:rdma/rail0", "pod:train/a", "nad:train/rail0"; empty fits everything.
        leads_to, shows: conditions that link it (see Condition); `conclude` takes the rule's.
        key: rule and subject; made by diagnose, unique in a Diagnosis.
        explained_by: key of the finding under which it stands; empty for a cause.
        explains: keys of the findings that stand under it.
    """

    rule: RuleId
    title: str
    severity: Severity
    layer: Layer
    nodes: tuple[NodeName, ...]
    evidence: tuple[Evidence, ...]
    cause: str
    remedy: Remedy
    source: str
    about: tuple[str, ...] = ()
    leads_to: tuple[Condition, ...] = ()
    shows: tuple[Condition, ...] = ()
    key: str = ""
    explained_by: str = ""
    explains: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unknown:
    """
    A rule that cannot answer, wholly or for some nodes.

    Attributes:
        missing: the fact: "NicClusterPolicy objects", "inside of nodes".
        why: why it is missing, as facts say it.
        how: how to get it.
        nodes: for which nodes; empty for all.
    """

    rule: RuleId
    missing: str
    why: str
    how: str
    nodes: tuple[NodeName, ...] = ()


@dataclass(frozen=True)
class Inapplicable:
    """A rule that judges what this cluster has none of; `why` says of what. It has neither passed nor failed."""

    rule: RuleId
    why: str


@dataclass(frozen=True)
class Proof:
    """How the last verify of a fabric ended; `ended_at` is RFC 3339."""

    fabric: FabricName
    verdict: Verdict
    reason: str
    ended_at: str


@dataclass(frozen=True)
class Kept:
    """
    What the ledger keeps that rules look at.

    Attributes:
        proofs: fabrics that were verified; none where nothing was applied.
        problem: why the ledger could not be read; empty when it was.
    """

    proofs: tuple[Proof, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Lack:
    """Why a need is not met; `nodes` when it is missing only there, `missing` and `how` when it is only a part of the need."""

    why: str
    nodes: tuple[NodeName, ...] = ()
    missing: str = ""
    how: str = ""


@dataclass(frozen=True)
class Need:
    """
    A fact that a rule needs; see needs.py for those that there are.

    Attributes:
        lack: None when it is there. A Lack with nodes still lets the rule run, on the other nodes.
        kinds: objects that a rule may look at by it.
        is_inside: it may look into nodes.
        is_ledger: it may look at what the ledger keeps.
        is_part_enough: a rule is asked with a part of it too, and what it does not find there is UNKNOWN.
        sections: what it reads of node records.
        relies_on: those of them without which a node is kept from the rule.
    """

    missing: str
    how: str
    lack: "Callable[[Everything], Lack | None]" = field(compare=False)
    kinds: frozenset[Kind] = frozenset()
    is_inside: bool = False
    is_ledger: bool = False
    is_part_enough: bool = False
    sections: frozenset[str] = frozenset()
    relies_on: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Subject:
    """
    What a rule judges.

    Attributes:
        absent: why there is none of it; empty where there is some, or nobody can know.
        none_on: whether a node is known to have none; what was not read there then matters to no rule about it.
    """

    name: str
    absent: "Callable[[Everything], str]" = field(compare=False)
    none_on: "Callable[[Everything, NodeName], bool]" = field(compare=False, default=lambda _everything, _node: False)


@dataclass(frozen=True)
class Rule:
    """A rule: what it is, and the pure function that answers. The function may also give Unknown for what it met."""

    info: RuleInfo
    judge: "Callable[[Seen], Iterable[Finding | Unknown]]"


@dataclass(frozen=True)
class Diagnosis:
    """
    Everything that the rules say.

    Attributes:
        findings: causes first, worst first; each cause is followed by what it explains.
        unknown: rules that could not answer.
        passed: rules that looked and found nothing, anywhere.
        inapplicable: rules about what is not there: without a GPU there is no distance to one.
    """

    findings: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    passed: tuple[RuleId, ...]
    inapplicable: tuple[Inapplicable, ...] = ()

    @property
    def causes(self) -> tuple[Finding, ...]:
        """Findings that nothing explains."""
        return tuple(finding for finding in self.findings if not finding.explained_by)

    def under(self, cause: Finding) -> tuple[Finding, ...]:
        """Findings directly under one."""
        return tuple(finding for finding in self.findings if finding.explained_by == cause.key)


def conclude(
    info: RuleInfo,
    cause: str,
    *,
    evidence: Iterable[Evidence],
    remedy: Remedy,
    nodes: Iterable[NodeName] = (),
    about: Iterable[str] = (),
    severity: Severity | None = None,
) -> Finding:
    """Make a finding of a rule; what is not said comes from its RuleInfo."""
    return Finding(
        rule=info.name,
        title=info.title,
        severity=severity or info.severity,
        layer=info.layer,
        nodes=tuple(sorted(set(nodes))),
        evidence=tuple(evidence),
        cause=cause,
        remedy=remedy,
        source=info.source,
        about=tuple(sorted(set(about))),
        leads_to=info.leads_to,
        shows=info.shows,
    )


def narrowed(diagnosis: Diagnosis, nodes: Collection[NodeName]) -> Diagnosis:
    """Keep findings about some nodes, those about no single node, and what explains them; no nodes keeps all."""
    if not nodes:
        return diagnosis
    kept = {item.key for item in diagnosis.findings if not item.nodes or set(item.nodes) & set(nodes)}
    for finding in reversed(diagnosis.findings):
        if finding.key in kept and finding.explained_by:
            kept.add(finding.explained_by)
    findings = tuple(
        replace(item, explains=tuple(key for key in item.explains if key in kept))
        for item in diagnosis.findings
        if item.key in kept
    )
    unknown = tuple(item for item in diagnosis.unknown if not item.nodes or set(item.nodes) & set(nodes))
    return replace(diagnosis, findings=findings, unknown=unknown)
