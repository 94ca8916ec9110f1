"""Pods that use rails: what they ask for against what there is, and what keeps them from starting."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from railwright.core import kinds
from railwright.core.ids import NodeName, RuleId
from railwright.core.multus import networks_of
from railwright.core.objects import KubeObject
from railwright.core.risk import Risk
from railwright.doctor.model import (
    Condition,
    Evidence,
    Finding,
    Layer,
    Remedy,
    Rule,
    RuleInfo,
    Severity,
    Unknown,
    conclude,
)
from railwright.doctor.needs import INSIDE, NODES, objects, reads_rails
from railwright.doctor.networks import attachment_of, is_shared_resource, nads_by_place
from railwright.doctor.pods import CONFIG_REASONS, PULL_REASONS, age_s, limit_s, thing, troubled, workload_pods
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import WORKLOADS
from railwright.facts.model import EventFacts, LinkLayer, PodFacts
from railwright.facts.sources.network_status import parse_network_status

MISMATCH = RuleInfo(
    name=RuleId("pod-asks-for-what-does-not-fit"),
    title="What a pod requests and the networks that it names do not fit together",
    layer=Layer.WORKLOADS,
    severity=Severity.ERROR,
    text="Each element of a pod's networks annotation takes one unit of the resource that its NAD names: fewer elements than "
    "units leave devices without a network, more fail the pod. A name without a namespace means the pod's own, and the NAD must "
    "be there. A pod on RoCE with a shared device and without a network has no address for RDMA at all. Two IPoIB partitions in "
    "one pod do not work.",
    source="k8snetworkplumbingwg/sriov-network-device-plugin 40b6f507, README; Mellanox/network-operator-docs 0c0ecad, release "
    "notes (one partition a pod)",
    needs=(objects(kinds.POD, kinds.NETWORK_ATTACHMENT_DEFINITION),),
    uses=(
        INSIDE,
        reads_rails(),
    ),
    covers=("B070", "B084", "B094", "B098"),
    leads_to=(Condition.WORKLOAD_WAITS, Condition.RDMA_FAILS),
    shows=(Condition.NETWORK_MISSING,),
    subject=WORKLOADS,
)


def judge_mismatch(seen: Seen) -> Iterator[Finding | Unknown]:
    """Follow every annotation to its NAD, and count."""
    groups: dict[tuple[str, str], list[PodFacts]] = defaultdict(list)
    nads = nads_by_place(seen)
    pods = tuple(workload_pods(seen))
    for item in pods:
        for problem in _mismatches(seen, item, nads):
            groups[_family(item), problem].append(item)
    yield from seen.unknown_inside(
        MISMATCH, [item.node for item in pods if item.node and _shares_without_network(item)]
    )
    for (_, problem), alike in groups.items():
        pod = alike[0]
        yield conclude(
            MISMATCH,
            f"pod {pod.namespace}/{pod.name}{_others(alike)}: {problem}.",
            evidence=[
                Evidence(
                    f"pod {item.namespace}/{item.name}",
                    "networks and requests",
                    f"{item.networks or 'none'}; {_asked(item)}",
                    item.node,
                )
                for item in alike[:6]
            ],
            remedy=Remedy(
                "Name each network once for each unit of its resource, with its namespace; railwright writes such a pod.",
                ("railwright workload",),
                disrupts="the pod is made anew",
            ),
            nodes=(item.node for item in alike if item.node is not None),
            about=(thing(item) for item in alike),
        )


def _mismatches(seen: Seen, pod: PodFacts, table: Mapping[tuple[str, str], KubeObject]) -> Iterator[str]:
    named = networks_of(pod.networks, pod.namespace)
    for place in named:
        if place not in table and seen.is_whole(kinds.NETWORK_ATTACHMENT_DEFINITION, place[0]):
            elsewhere = sorted(namespace for namespace, name in table if name == place[1])
            hint = f"; there is one in {', '.join(elsewhere)}" if elsewhere else ""
            yield f"network {place[0]}/{place[1]} does not exist{hint}"
    items = [item for place in named if place in table and (item := attachment_of(seen, table[place])) is not None]
    is_known = all(place in table for place in named)
    by_resource = Counter(item.resource for item in items if item.resource)
    for resource, count in by_resource.items():
        units = pod.requests.get(resource, 0)
        if units != count and is_known:
            yield f"it names networks of {resource} {count} times and requests {units}"
    if pod.host_network:
        return
    handed = {item.resource for nad in table.values() if (item := attachment_of(seen, nad)) is not None}
    for resource, units in pod.requests.items():
        if resource in handed - set(by_resource) and units and is_known:
            yield f"it requests {units} of {resource} and names no network that hands it out"
    if _shares_without_network(pod) and _is_roce(seen, pod.node):
        yield "it has a shared RDMA device and no network: on RoCE such a pod has no GID, so nothing reaches it"
    if sum(item.type == "ipoib" for item in items) > 1:
        yield "it has two IPoIB networks: only one partition a pod works"


def _shares_without_network(pod: PodFacts) -> bool:
    """Whether a pod has a shared device and no network, which is right on InfiniBand and wrong on RoCE."""
    return not (pod.host_network or networks_of(pod.networks, pod.namespace)) and any(
        map(is_shared_resource, pod.requests)
    )


def _is_roce(seen: Seen, node: NodeName | None) -> bool:
    nodes = [node] if node is not None and node in seen.rails else list(seen.rails)
    return any(rail.port.link_layer is LinkLayer.ETHERNET for name in nodes for rail in seen.rails[name])


def _family(pod: PodFacts) -> str:
    return f"{pod.namespace}/{pod.owner or pod.name}"


def _others(pods: list[PodFacts]) -> str:
    return f" and {len(pods) - 1} more" if len(pods) > 1 else ""


def _asked(pod: PodFacts) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(pod.requests.items())) or "no device"


POD_WAITS = RuleInfo(
    name=RuleId("workload-pod-does-not-start"),
    title="A pod that wants rails does not start",
    layer=Layer.WORKLOADS,
    severity=Severity.ERROR,
    text="No node takes it: too few of a resource (none that a policy promises, none free, or no node has so many), a taint, a "
    "selector. Or the node turned it away (the topology policy found no NUMA node with all devices, a device went away "
    "between). Or its network is not made: the kubelet repeats why. A pod that waits for devices which others hold is only "
    "remarked: that is what queues are for.",
    source="Kubernetes documentation, Pod Lifecycle, Topology Manager; k8snetworkplumbingwg/multus-cni, docs (errors of the "
    "kubelet)",
    needs=(NODES, objects(kinds.POD)),
    uses=(objects(kinds.EVENT),),
    covers=("B047", "B071", "B074", "B076", "B098", "B099", "B168"),
    shows=(Condition.WORKLOAD_WAITS, Condition.RESOURCE_MISSING, Condition.NETWORK_MISSING),
    subject=WORKLOADS,
)


class _Way(Enum):
    """What is to be done about a pod that does not start."""

    ASK_EVENTS = auto()
    RENEW_TOKEN = auto()
    ONE_NUMA_NODE = auto()
    MAKE_ANEW = auto()


@dataclass(frozen=True)
class _Reason:
    """Why a pod does not start, where that was seen, and what is to be done."""

    text: str
    severity: Severity
    field: str
    words: str
    way: _Way = _Way.ASK_EVENTS


_TURNED_AWAY = frozenset({"TopologyAffinityError", "UnexpectedAdmissionError", "OutOfcpu", "NodeAffinity"})
_SANDBOX = frozenset({"FailedCreatePodSandBox", "FailedCreatePodContainer", "FailedKillPod"})


def judge_waiting(seen: Seen) -> Iterator[Finding | Unknown]:
    """Group pods that wait for the same reason."""
    groups: dict[tuple[str, Severity], list[tuple[PodFacts, _Reason]]] = defaultdict(list)
    for pod in seen.pods:
        if pod.requests and pod.reason in _TURNED_AWAY:
            reason = _turned_away(pod)
            groups[reason.text, reason.severity].append((pod, reason))
    for pod in workload_pods(seen):
        if pod.phase != "Pending" or pod.reason in _TURNED_AWAY:
            continue
        found = _unscheduled(seen, pod) if pod.node is None else _held(seen, pod)
        if found is not None:
            groups[found.text, found.severity].append((pod, found))
    for pods in groups.values():
        yield _waits(pods)


def _turned_away(pod: PodFacts) -> _Reason:
    text, way = f"the node turned it away ({pod.reason}): {pod.message[:120]}", _Way.ASK_EVENTS
    if pod.reason == "TopologyAffinityError":
        text, way = "the node's topology policy found no NUMA node that has all its devices", _Way.ONE_NUMA_NODE
    elif pod.reason == "UnexpectedAdmissionError":
        way = _Way.MAKE_ANEW
    return _Reason(text, Severity.ERROR, pod.reason, pod.message, way)


def _unscheduled(seen: Seen, pod: PodFacts) -> _Reason | None:
    said = pod.conditions.get("PodScheduled", "")
    if not said.startswith("False"):
        return None
    for resource, units in sorted(pod.requests.items()):
        there = {node.name: node.allocatable.get(resource, 0) for node in seen.nodes}
        most = max(there.values(), default=0)
        if most == 0:
            return _Reason(f"no node offers {resource}", Severity.ERROR, "PodScheduled", said)
        if most < units:
            text = f"it wants {units} of {resource}, and no node has more than {most}"
            return _Reason(text, Severity.ERROR, "PodScheduled", said)
    if "Insufficient" in said and not _taints(said):
        return _Reason("the devices that it wants are held by other pods", Severity.INFO, "PodScheduled", said)
    text = f"no node takes it: {said.removeprefix('False').strip(' ()')[:160]}"
    return _Reason(text, Severity.ERROR, "PodScheduled", said)


def _taints(said: str) -> bool:
    return "taint" in said or "didn't match" in said or "affinity" in said


def _held(seen: Seen, pod: PodFacts) -> _Reason | None:
    waits = troubled(pod, PULL_REASONS | CONFIG_REASONS)
    if waits is not None:
        text = f"{waits.reason} of {waits.image or waits.name}"
        return _Reason(text, Severity.ERROR, f"container {waits.name}", waits.message)
    failed = [event for event in _events(seen, pod) if event.reason in _SANDBOX]
    if failed and not parse_network_status(pod.network_status):
        text, way = _sandbox(failed[-1].message)
        return _Reason(text, Severity.ERROR, failed[-1].reason, failed[-1].message, way)
    age = age_s(pod, seen.now)
    if age is not None and age > limit_s(pod) and not any(item.state == "running" for item in pod.containers):
        text = "its containers have not begun for a quarter of an hour"
        return _Reason(text, Severity.WARNING, "made", pod.created_at)
    return None


def _events(seen: Seen, pod: PodFacts) -> tuple[EventFacts, ...]:
    return seen.events_of("Pod", pod.namespace, pod.name)


_TOLD: tuple[tuple[tuple[str, ...], str, _Way], ...] = (
    (
        ("unauthorized|provide credentials",),
        "Multus is not let in by the API server any more: its token has run out",
        _Way.RENEW_TOKEN,
    ),
    (
        ("network-attachment", "not found|cannot find"),
        "a network that it names does not exist in that namespace",
        _Way.ASK_EVENTS,
    ),
    (("failed to find plugin",), "a CNI plugin that its network calls is not on the node", _Way.ASK_EVENTS),
    (
        ("specify either|vf pci addr is required",),
        "its network was given no device: NAD, resource and request do not name the same one",
        _Way.ASK_EVENTS,
    ),
    (("guid",), "its VF has no valid GUID", _Way.ASK_EVENTS),
    (("could not allocate ip|no free address",), "its address manager has no address left", _Way.ASK_EVENTS),
    (("busy",), "the device is held by another pod or by the host", _Way.ASK_EVENTS),
    (("no such file or directory",), "a device that it was given is gone from the node", _Way.MAKE_ANEW),
    (("file exists",), "an interface of an earlier pod was left behind on the node", _Way.MAKE_ANEW),
)
"""Words of the kubelet about a network, all in lower case with alternatives, and what they mean; the first that fits counts."""


def _sandbox(message: str) -> tuple[str, _Way]:
    """Put the kubelet's words about a network into a cause; the words themselves are the evidence."""
    lower = message.lower()
    found = (
        (cause, way)
        for words, cause, way in _TOLD
        if all(any(word in lower for word in either.split("|")) for either in words)
    )
    return next(found, ("its network cannot be made", _Way.ASK_EVENTS))


def _mend(way: _Way, pod: PodFacts) -> Remedy:
    if way is _Way.RENEW_TOKEN:
        return Remedy(
            "Restart Multus on the node, and let it renew its token (no --skip-config-watch in its arguments).",
            ("oc get daemonsets -A | grep -i multus",),
        )
    if way is _Way.ONE_NUMA_NODE:
        return Remedy(
            "Ask for devices of one NUMA node, or use topology policy best-effort or restricted for such pods.",
            ("oc get kubeletconfigs -o yaml | grep -i topology",),
            risk=Risk.REBOOT,
            disrupts="the nodes of the pool",
        )
    if way is _Way.MAKE_ANEW:
        return Remedy(
            "Make the pod anew; where it stays so, restart the device plugin's pod on the node.",
            (f"oc -n {pod.namespace} delete pod {pod.name}",),
        )
    return Remedy(
        "Its events say what is missing; findings above name the cause where it is known.",
        (f"oc -n {pod.namespace} describe pod {pod.name} | tail -20",),
    )


def _waits(found: list[tuple[PodFacts, _Reason]]) -> Finding:
    pods = [pod for pod, _ in found]
    pod, reason = found[0]
    return conclude(
        POD_WAITS,
        f"pod {pod.namespace}/{pod.name}{_others(pods)} does not start: {reason.text}.",
        evidence=[
            Evidence(
                f"pod {item.namespace}/{item.name}",
                why.field,
                f"{why.words[:300]} (asks for {_asked(item)})",
                item.node,
            )
            for item, why in found[:8]
        ],
        remedy=_mend(reason.way, pod),
        nodes=(item.node for item in pods if item.node is not None),
        about=(*(thing(item) for item in pods), *{f"resource:{name}" for item in pods for name in item.requests}),
        severity=reason.severity,
    )


RULES = (
    Rule(MISMATCH, judge_mismatch),
    Rule(POD_WAITS, judge_waiting),
)
