"""Pods of the operators and what they put on nodes: images, crashes, starts."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from railwright.core import kinds
from railwright.core.ids import RuleId
from railwright.core.objects import dig
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
from railwright.doctor.needs import objects
from railwright.doctor.pods import (
    CONFIG_REASONS,
    CRASH_REASON,
    PULL_REASONS,
    age_s,
    is_driver,
    limit_s,
    operator_pods,
    troubled,
    workload_of,
)
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import OPERANDS
from railwright.facts.model import ContainerFacts, EventFacts, Platform, PodFacts

_PODS = objects(kinds.POD)
_EVENTS = objects(kinds.EVENT)
_NIC, _GPU = "mofed-", ("nvidia-driver-daemonset", "nvidia-gpu-driver")

IMAGE_NOT_PULLED = RuleInfo(
    name=RuleId("operand-image-not-pulled"),
    title="A node cannot pull an image of an operator's pod",
    layer=Layer.CLUSTER,
    severity=Severity.ERROR,
    text="The image's tag does not exist (a driver tag is made of version, operating system and architecture: one of them is "
    "not published), its registry does not answer (proxy, DNS, a mirror that lacks it), or refuses (pull secret). The rule "
    "tells these apart by the kubelet's words and by what the catalog knows of published driver images.",
    source="Kubernetes documentation, Images; Mellanox/doca-driver-build 445df1e, release_manifests",
    needs=(_PODS,),
    uses=(_EVENTS,),
    covers=("B006",),
    leads_to=(
        Condition.POD_NOT_STARTED,
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.RESOURCE_MISSING,
        Condition.OPERATOR_MISSING,
    ),
    shows=(Condition.POD_NOT_STARTED,),
    subject=OPERANDS,
)
_ABSENT = re.compile(
    r"not found|manifest unknown|no such manifest|name unknown|invalid image name|invalid reference", re.IGNORECASE
)
_REFUSED = re.compile(r"unauthorized|authentication|denied|authorization|forbidden|\b40[13]\b", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"i/o timeout|no such host|connection refused|network is unreachable|x509|tls|proxyconnect|deadline exceeded|server misbehaving",
    re.IGNORECASE,
)


def judge_images(seen: Seen) -> Iterator[Finding | Unknown]:
    """Group pods that wait for the same image."""
    groups: dict[str, list[tuple[PodFacts, ContainerFacts]]] = defaultdict(list)
    for pod in operator_pods(seen):
        container = troubled(pod, PULL_REASONS)
        if container is not None:
            groups[container.image].append((pod, container))
    for image, found in groups.items():
        pods = [pod for pod, _ in found]
        words = [container.message for _, container in found if container.message]
        words += [event.message for event in _events(seen, pods, {"Failed", "FailedToRetrieveImagePullSecret"})]
        cause, remedy = _pull_cause(seen, image, " ".join(words), pods)
        yield conclude(
            IMAGE_NOT_PULLED,
            cause,
            evidence=(
                *(
                    Evidence(
                        f"pod {pod.namespace}/{pod.name}",
                        f"container {item.name}",
                        f"{item.reason} of {image}",
                        pod.node,
                    )
                    for pod, item in found
                ),
                *(Evidence(f"pod {pods[0].namespace}/{pods[0].name}", "kubelet", word[:300]) for word in words[-2:]),
            ),
            remedy=remedy,
            nodes=(pod.node for pod in pods if pod.node is not None),
            about=(workload_of(pod) for pod in pods),
        )


def _pull_cause(seen: Seen, image: str, words: str, pods: list[PodFacts]) -> tuple[str, Remedy]:
    registry = image.split("/", 1)[0]
    unpublished = _unpublished(seen, image, pods)
    if unpublished:
        return unpublished, Remedy(
            "Set a driver version that is published for these nodes, or use the kernel's own driver (leave ofedDriver out).",
            ("railwright images", "oc edit nicclusterpolicy.mellanox.com nic-cluster-policy"),
            risk=Risk.DRIVER_RELOAD,
            disrupts="the driver is rolled out anew, node by node",
        )
    if _ABSENT.search(words):
        return f"Registry {registry} has no image {image}: no such tag, or the mirror was not given it.", Remedy(
            "Compare the tag with what is published, and mirror it where the cluster cannot reach the registry itself.",
            (f"skopeo inspect docker://{image}", "railwright images   # every image that the plan needs"),
        )
    if _REFUSED.search(words):
        return f"Registry {registry} refuses to hand out {image}: the pull secret is missing or not accepted.", Remedy(
            "Put a pull secret for the registry into the operator's namespace, or into the cluster's own.",
            (
                "oc -n openshift-config get secret pull-secret -o jsonpath='{.data}' | wc -c"
                if seen.platform is Platform.OPENSHIFT
                else f"oc -n {pods[0].namespace} get secrets",
            ),
        )
    if _UNREACHABLE.search(words):
        proxied = "; the cluster has a proxy, which the node must use for it" if seen.has_proxy else ""
        return f"Registry {registry} does not answer these nodes for {image}{proxied}.", Remedy(
            "Mend name resolution, proxy or certificates of the nodes, or mirror the image.",
            (
                "oc get imagedigestmirrorset,imagetagmirrorset",
                f"oc debug node/NODE -- chroot /host podman pull {image}",
            ),
        )
    return f"{image} cannot be pulled.", Remedy(
        "The pod's events say why.", (f"oc -n {pods[0].namespace} describe pod {pods[0].name} | tail -20",)
    )


def _unpublished(seen: Seen, image: str, pods: list[PodFacts]) -> str:
    """Say so when the catalog knows that a DOCA driver image is not published for the system in its tag."""
    name, _, tag = image.rpartition(":")
    if "driver" not in name or not any(pod.owner.startswith(f"DaemonSet/{_NIC}") for pod in pods):
        return ""
    for entry in seen.catalog.network_operators:
        if tag.startswith(f"{entry.doca_version}-"):
            system = tag.removeprefix(f"{entry.doca_version}-").rpartition("-")[0]
            if seen.catalog.doca_image_exists(entry.doca_version, system) is False:
                return f"DOCA driver {entry.doca_version} is not published for {system}, which these nodes run."
    return ""


OPERAND_CRASHES = RuleInfo(
    name=RuleId("operand-crashes"),
    title="A container of an operator's pod starts and ends again and again",
    layer=Layer.DRIVERS,
    severity=Severity.ERROR,
    text="By how the container ended: killed for memory (limits of the policy are too small for a build), killed by the "
    "kubelet while it still built (the startup probe gives up too early), ended with an error (its own last words, and what "
    "the logs say, are in the evidence; rules on text read them too). Restarts that have stopped, with the container ready, "
    "are no finding.",
    source="Kubernetes documentation, Pod Lifecycle (exit codes 137 and 143, OOMKilled); Mellanox/network-operator #318, "
    "#2561, #2565",
    needs=(_PODS,),
    uses=(_EVENTS,),
    covers=("B009", "B017", "B024", "B035", "B036", "B039", "B040", "B045", "B050"),
    leads_to=(
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.PEER_MEMORY_MISSING,
        Condition.RESOURCE_MISSING,
        Condition.VFS_MISSING,
        Condition.OPERATOR_MISSING,
        Condition.LABELS_MISSING,
    ),
    shows=(
        Condition.POD_CRASHES,
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.PEER_MEMORY_MISSING,
    ),
    subject=OPERANDS,
)
_KILLED = frozenset({137, 143})
_ENOUGH = 2


def judge_crashes(seen: Seen) -> Iterator[Finding | Unknown]:
    """Group pods of one workload whose container ends the same way."""
    groups: dict[tuple[str, str, str], list[tuple[PodFacts, ContainerFacts]]] = defaultdict(list)
    for pod in operator_pods(seen):
        for container in pod.containers:
            if _crashes(container):
                groups[workload_of(pod), container.name, _kind(seen, pod, container)].append((pod, container))
    for (workload, _, kind), found in groups.items():
        yield _crash(seen, workload, kind, found)


def _crashes(container: ContainerFacts) -> bool:
    if container.ready or (container.is_init and container.reason == "Completed"):
        return False
    again = container.reason == CRASH_REASON or (
        container.state == "terminated" and container.exit_code not in {0, None}
    )
    return again or (container.restarts >= _ENOUGH and container.last_ending is not None and not container.is_init)


def _kind(seen: Seen, pod: PodFacts, container: ContainerFacts) -> str:
    ending = container.last_ending
    reason = ending.reason if ending is not None else container.reason
    code = ending.exit_code if ending is not None else container.exit_code
    if reason == "OOMKilled":
        return "memory"
    if code in _KILLED and any(
        "robe failed" in event.message for event in _events(seen, [pod], {"Unhealthy", "Killing"})
    ):
        return "probe"
    return f"exit code {code}" if code is not None else "error"


def _crash(seen: Seen, workload: str, kind: str, found: list[tuple[PodFacts, ContainerFacts]]) -> Finding:
    pod, container = found[0]
    name = workload.partition(":")[2]
    evidence = [_ending(item, one) for item, one in found]
    evidence += [
        Evidence(f"pod {event.namespace}/{event.name}", event.reason, f"{event.message[:200]} (x{event.count})")
        for event in _events(seen, [item for item, _ in found], {"BackOff", "Unhealthy", "Killing"})[-2:]
    ]
    logs = f"oc -n {pod.namespace} logs {pod.name} -c {container.name} --previous --tail 60"
    cause, remedy = {
        "memory": (
            f"Container {container.name} of {name} was killed for memory: its limit is too small for what it does.",
            Remedy(
                "Raise the limit in the policy (containerResources of the section), or take a precompiled driver.",
                (logs, "oc edit nicclusterpolicy.mellanox.com nic-cluster-policy"),
                risk=Risk.DRIVER_RELOAD if is_driver(pod) else Risk.NONE,
                disrupts="the pods of this workload are made anew",
            ),
        ),
        "probe": (
            f"The kubelet kills container {container.name} of {name} before it is done: the startup probe gives up too early.",
            Remedy(
                "Raise startupProbe (failureThreshold or periodSeconds) of ofedDriver in the policy, or take a precompiled "
                "driver.",
                (logs, "oc edit nicclusterpolicy.mellanox.com nic-cluster-policy"),
                risk=Risk.DRIVER_RELOAD,
                disrupts="driver pods are made anew, node by node",
            ),
        ),
    }.get(
        kind,
        (
            f"Container {container.name} of {name} ends with {kind}, {max(one.restarts for _, one in found)} times so far"
            + (f": {_words(container)}." if _words(container) else "."),
            Remedy("Its log before the last end says why.", (logs, f"{logs} | railwright doctor --log -")),
        ),
    )
    return conclude(
        OPERAND_CRASHES,
        cause,
        evidence=evidence,
        remedy=remedy,
        nodes=(item.node for item, _ in found if item.node is not None),
        about=(workload,),
    )


def _words(container: ContainerFacts) -> str:
    message = container.last_ending.message if container.last_ending is not None else ""
    return " ".join((message or container.message).split())[:160]


def _ending(pod: PodFacts, container: ContainerFacts) -> Evidence:
    ending = container.last_ending
    how = f"{ending.reason} ({ending.exit_code}) at {ending.finished_at}" if ending is not None else container.reason
    return Evidence(
        f"pod {pod.namespace}/{pod.name}",
        f"container {container.name}",
        f"{how}, {container.restarts} restarts",
        pod.node,
    )


OPERAND_NOT_STARTED = RuleInfo(
    name=RuleId("operand-not-started"),
    title="A pod of an operator does not begin",
    layer=Layer.OPERATORS,
    severity=Severity.ERROR,
    text="No node takes it (a taint that it does not tolerate, a selector that no node fits, resources), the API server "
    "refuses to make it (SecurityContextConstraints, Pod Security, quota: then its DaemonSet has fewer pods than it wants), "
    "the kubelet cannot start its container (a ConfigMap or Secret that does not exist, a host path, the sandbox), or an "
    "init container waits for something that never comes. A pod that is young is no finding: drivers take up to 45 minutes.",
    source="Kubernetes documentation, Pod Lifecycle, Pod Security Standards; estimate for the time that a start may take: "
    "Mellanox/network-operator #318, #2561, #2565",
    needs=(_PODS, objects(kinds.DAEMON_SET), _EVENTS),
    uses=(objects(kinds.NODE),),
    covers=("B025",),
    leads_to=(
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.RESOURCE_MISSING,
        Condition.VFS_MISSING,
        Condition.LABELS_MISSING,
        Condition.OPERATOR_MISSING,
    ),
    shows=(Condition.POD_NOT_STARTED, Condition.NIC_DRIVER_NOT_READY, Condition.GPU_DRIVER_NOT_READY),
    subject=OPERANDS,
)


def judge_starts(seen: Seen) -> Iterator[Finding | Unknown]:
    """Group pods of one workload that wait for the same thing, and DaemonSets whose pods are not even made."""
    groups: dict[tuple[str, str], list[PodFacts]] = defaultdict(list)
    for pod in operator_pods(seen):
        why = _waits_for(seen, pod)
        if why:
            groups[workload_of(pod), why].append(pod)
    for (workload, why), pods in groups.items():
        yield _not_started(seen, workload, why, pods)
    for daemon_set in seen.of_kind(kinds.DAEMON_SET):
        name, namespace = str(daemon_set["metadata"]["name"]), str(daemon_set["metadata"].get("namespace", ""))
        refused = [
            event
            for event in seen.events_of("DaemonSet", namespace, name)
            if event.reason == "FailedCreate" and event.type == "Warning"
        ]
        desired, current = (int(dig(daemon_set, "status", key, default=0)) for key in _COUNTS)
        if refused and current < desired:
            yield _refused(namespace, name, refused[-1], f"{current} of {desired}")


_COUNTS = ("desiredNumberScheduled", "currentNumberScheduled")


def _waits_for(seen: Seen, pod: PodFacts) -> str:
    """Say what keeps a pod from beginning; empty when it runs, crashes, pulls or is young."""
    if pod.is_ready or troubled(pod, PULL_REASONS) or any(map(_crashes, pod.containers)):
        return ""
    scheduled = pod.conditions.get("PodScheduled", "")
    if pod.node is None and scheduled.startswith("False"):
        return f"no node takes it: {scheduled.removeprefix('False').strip(' ()')}"
    held = troubled(pod, CONFIG_REASONS)
    if held is not None:
        return f"{held.reason}: {held.message[:160]}"
    age = age_s(pod, seen.now)
    if age is None or age < limit_s(pod):
        return ""
    mounts = list(_events(seen, [pod], {"FailedMount", "FailedCreatePodSandBox", "FailedAttachVolume"}))
    if mounts:
        return f"{mounts[-1].reason}: {mounts[-1].message[:160]}"
    waiting = next(
        (item for item in pod.containers if item.is_init and item.reason != "Completed" and not item.ready), None
    )
    if waiting is not None:
        return f"its init container {waiting.name} has not ended for {age / 60:.0f} minutes"
    late = next((item for item in pod.containers if not item.ready), None)
    return f"container {late.name} is not ready after {age / 60:.0f} minutes" if late is not None else ""


def _not_started(seen: Seen, workload: str, why: str, pods: list[PodFacts]) -> Finding:
    pod = pods[0]
    name = workload.partition(":")[2]
    remedy = Remedy(
        "The pod's events and the log of the container that waits say what is missing.",
        (f"oc -n {pod.namespace} describe pod {pod.name} | tail -20",),
    )
    if "untolerated taint" in why or "didn't match" in why:
        taints = sorted(
            {taint for node in seen.nodes for taint in node.taints if node.labels.get("nvidia.com/gpu.present")}
        )
        remedy = Remedy(
            f"Let the policy tolerate the nodes' taints ({', '.join(taints) or 'none of GPU nodes'}), or correct its selector.",
            ("oc get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints",),
        )
    return conclude(
        OPERAND_NOT_STARTED,
        f"{name}: {why}",
        evidence=[
            Evidence(f"pod {item.namespace}/{item.name}", "phase", f"{item.phase}, made {item.created_at}", item.node)
            for item in pods
        ],
        remedy=remedy,
        nodes=(item.node for item in pods if item.node is not None),
        about=(workload,),
    )


def _refused(namespace: str, name: str, event: EventFacts, counts: str) -> Finding:
    security = "security context constraint" in event.message or "PodSecurity" in event.message
    return conclude(
        OPERAND_NOT_STARTED,
        f"The API server refuses to make pods of DaemonSet {name}: {event.message[:240]}",
        evidence=(
            Evidence(f"DaemonSet {namespace}/{name}", "pods", counts),
            Evidence(f"DaemonSet {namespace}/{name}", event.reason, f"{event.message[:300]} (x{event.count})"),
        ),
        remedy=Remedy(
            "Give its ServiceAccount the SecurityContextConstraints that its operator makes, or label the namespace for "
            "privileged pods."
            if security
            else "Mend what the message names (quota, limit range, webhook).",
            (
                f"oc -n {namespace} get rolebindings,serviceaccounts",
                f"oc label namespace {namespace} pod-security.kubernetes.io/enforce=privileged --overwrite",
            )
            if security
            else (f"oc -n {namespace} get resourcequota,limitrange",),
        ),
        about=(f"workload:{name}",),
    )


def _events(seen: Seen, pods: Iterable[PodFacts], reasons: set[str]) -> list[EventFacts]:
    return [
        event for pod in pods for event in seen.events_of("Pod", pod.namespace, pod.name) if event.reason in reasons
    ]


RULES = (
    Rule(IMAGE_NOT_PULLED, judge_images),
    Rule(OPERAND_CRASHES, judge_crashes),
    Rule(OPERAND_NOT_STARTED, judge_starts),
)
