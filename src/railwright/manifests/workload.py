"""
`workload(plan, fabric) -> Workload`: what a user needs to use the rails, and why each setting is there.

Not here: whether it would run; the plan says which nodes are admitted.
"""

from dataclasses import dataclass, replace
from ipaddress import ip_network

from railwright.core.errors import UsageError
from railwright.core.ids import FabricName
from railwright.core.objects import KubeObject
from railwright.facts.model import Platform
from railwright.intent.model import Ipam, Method
from railwright.manifests.kinds.access import access
from railwright.manifests.kinds.pods import JOB_PODS, PodRequest, a_job, a_pod
from railwright.manifests.yamltext import to_yaml
from railwright.plan.environment import of_rails
from railwright.plan.model import (
    ADMITTED,
    AccessShare,
    Allocatable,
    Decision,
    FabricPlan,
    NetworkShare,
    Plan,
    Rail,
    fabric_label,
)

GPU_RESOURCE = "nvidia.com/gpu"
_FIRST_STATIC = 2

PLACEHOLDER_IMAGE = "example.invalid/your-image:tag"
"""A name that no registry ever answers to (RFC 2606): the pod says so at once instead of running something else."""

_PURPOSE_OF_ACCESS = (
    "what pods may do: apply has made the same in each workload namespace; to apply it again changes nothing"
)
_PURPOSE = {
    "Pod": "one pod on one node, to look around in or to start a workload by hand",
    "Job": f"{JOB_PODS} pods on as many nodes, for traffic between them; independent of any pod above",
}


@dataclass(frozen=True)
class Workload:
    """
    Everything for one workload.

    Attributes:
        objects: access first (ServiceAccount, SCC, Role, binding), then the pod and the Job.
        notes: what to know before it is used, a sentence each.
        environment: the variables that containers get, each with its reason.
    """

    objects: tuple[KubeObject, ...]
    notes: tuple[str, ...]
    environment: tuple[Decision, ...]


def workload(
    plan: Plan, fabric: FabricName, *, namespace: str, gpus: int | None = None, image: str | None = None
) -> Workload:
    """
    Make a pod and an indexed Job that use a fabric's rails.

    Args:
        gpus: for each pod; None for all of a node. With fewer, the pod gets as many rails in proportion, at least one.

    Raises:
        UsageError: no such fabric, a namespace that has none of its networks, or GPUs that no node has.
    """
    planned = _fabric(plan, fabric)
    share = _access(plan, planned, namespace)
    available = gpus_per_node(plan, planned)
    count = _gpu_count(gpus, available)
    rails = _rails(planned.rails, count, available)
    variables = of_rails(planned.environment, rails)
    request = PodRequest(
        name=f"{fabric}-workload",
        namespace=namespace,
        fabric=fabric,
        service_account=share.service_account,
        image=image or PLACEHOLDER_IMAGE,
        networks=_networks(plan, planned, rails, namespace),
        resources={GPU_RESOURCE: count, **{rail.resource: 1 for rail in rails}},
        node_labels={fabric_label(fabric): ADMITTED},
        environment={decision.key: decision.value for decision in variables},
        tolerations=planned.intent.tolerations,
    )
    given = tuple(item.obj for item in access(replace(share, create_namespace=False)))
    notes = _notes(plan, planned, image=image, count=count, available=available, rails=rails)
    if planned.intent.network.ipam is Ipam.STATIC:
        pods = [
            a_pod(replace(request, name=f"{fabric}-pod-{number}", addresses=_addresses(rails, number)))
            for number in range(JOB_PODS)
        ]
        return Workload((*given, *pods), notes, variables)
    pod = a_pod(replace(request, name=f"{fabric}-pod"))
    job = a_job(replace(request, name=f"{fabric}-job"))
    return Workload((*given, pod, job), notes, variables)


def only_kind(made: Workload, kind: str) -> Workload:
    """
    Leave out every object of another kind, as access, which apply has made.

    Raises:
        UsageError: none is of this kind: with static addresses there are pods, and no Job.
    """
    objects = tuple(obj for obj in made.objects if obj["kind"] == kind)
    if not objects:
        kinds = ", ".join(dict.fromkeys(str(obj["kind"]) for obj in made.objects))
        raise UsageError(f"this workload has no {kind} (it has: {kinds})", hint="leave --pod and --job out")
    return replace(made, objects=objects)


def workload_text(made: Workload) -> str:
    """Write a workload as one YAML stream: notes on top, what documents are for, the reason of each variable above it."""
    head = "".join(f"# {note}\n" for note in made.notes)
    reasons = {f"- name: {decision.key}": decision for decision in made.environment}
    documents = []
    purpose = ""
    for obj in made.objects:
        previous, purpose = purpose, _PURPOSE.get(str(obj["kind"]), _PURPOSE_OF_ACCESS)
        comment = f"# {purpose}\n" if purpose != previous else ""
        documents.append(comment + _with_reasons(to_yaml(obj), reasons))
    return head + "---\n" + "---\n".join(documents)


def gpus_per_node(plan: Plan, fabric: FabricPlan) -> int:
    """
    Count the GPUs that every admitted node has.

    Returns:
        What the plan expects nodes to offer; else the GPUs paired with rails; else (no node was looked at) one a rail.
    """
    expected = [
        item.count
        for stage in plan.stages
        for item in stage.expectations
        if isinstance(item, Allocatable) and item.resource == GPU_RESOURCE
    ]
    if expected:
        return min(expected)
    by_node: dict[str, set[str]] = {}
    for port in (port for rail in fabric.rails for port in rail.ports if port.gpu is not None):
        by_node.setdefault(port.node, set()).add(str(port.gpu))
    return min((len(found) for found in by_node.values()), default=max(len(fabric.rails), 1))


def _fabric(plan: Plan, name: FabricName) -> FabricPlan:
    found = next((item for item in plan.fabrics if item.name == name), None)
    if found is None:
        names = ", ".join(item.name for item in plan.fabrics) or "none"
        raise UsageError(f"no fabric {name!r} in this plan", hint=f"fabrics in it: {names}")
    return found


def _access(plan: Plan, fabric: FabricPlan, namespace: str) -> AccessShare:
    """Find what the namespace was given; networks exist only in the fabric's workload namespaces."""
    networks = {s.target_namespace for s in plan.shares if isinstance(s, NetworkShare) and s.fabric == fabric.name}
    known = sorted(networks | set(fabric.intent.workload_namespaces))
    if namespace not in known:
        raise UsageError(
            f"namespace {namespace!r} has no networks of fabric {fabric.name!r}: a pod there would not start",
            hint=f"use one of: {', '.join(known) or 'none'}; or add it to spec.workloadNamespaces and apply again",
        )
    shares = (s for s in plan.shares if isinstance(s, AccessShare) and s.namespace == namespace)
    platform_scc = "railwright-rdma" if plan.basis.platform is Platform.OPENSHIFT else ""
    ours = AccessShare(namespace, create_namespace=False, service_account="railwright", scc=platform_scc, fabrics=())
    return next(shares, ours)


def _networks(plan: Plan, fabric: FabricPlan, rails: tuple[Rail, ...], namespace: str) -> tuple[str, ...]:
    """Name the NAD of each rail in this namespace: with several namespaces each has names of its own."""
    nads = {
        share.rail: share.nad
        for share in plan.shares
        if isinstance(share, NetworkShare) and (share.fabric, share.target_namespace) == (fabric.name, namespace)
    }
    return tuple(nads.get(rail.name, rail.network) for rail in rails)


def _addresses(rails: tuple[Rail, ...], number: int) -> tuple[tuple[str, ...], ...]:
    """Pick a pod's address on each rail, of each family: behind the first, which is a router's where there is one."""
    return tuple(
        tuple(
            f"{network[_FIRST_STATIC + number]}/{network.prefixlen}"
            for network in (ip_network(text) for text in rail.subnets)
        )
        for rail in rails
    )


def _gpu_count(asked: int | None, available: int) -> int:
    if asked is None:
        return available
    if not 1 <= asked <= available:
        raise UsageError(f"--gpus {asked}: a pod can have 1 to {available}, which is what each admitted node has")
    return asked


def _rails(rails: tuple[Rail, ...], count: int, available: int) -> tuple[Rail, ...]:
    """Give a pod its proportion of the rails, rounded up: which GPUs it gets is the kubelet's choice, not ours."""
    ordered = sorted(rails, key=lambda rail: rail.index)
    wanted = -(-len(ordered) * count // available)
    return tuple(ordered[: max(wanted, 1)])


def _notes(
    plan: Plan, fabric: FabricPlan, *, image: str | None, count: int, available: int, rails: tuple[Rail, ...]
) -> tuple[str, ...]:
    notes = [
        f"fabric {fabric.name}: {fabric.method} over {fabric.fabric}",
        f"each pod gets {count} of {available} GPUs and {len(rails)} of {len(fabric.rails)} rails, as net1 and up",
        "two pods with an address of their own each take the place of a Job: start them on two nodes"
        if fabric.intent.network.ipam is Ipam.STATIC
        else f"the Job runs {JOB_PODS} pods, never two on one node",
        "its command is a placeholder that does nothing: put yours in its place",
        "the container runs as UID 0: IPC_LOCK has no effect for other users; every other capability is dropped",
        "shared memory (/dev/shm) is memory and counts against the pod's memory limit once you set one",
    ]
    if plan.basis.simulated:
        notes.insert(0, "simulated: this plan was made on a simulated cluster, nothing of it is real")
    if image is None:
        notes.append(f"no image was given (--image): {PLACEHOLDER_IMAGE} has to be replaced")
    if count < available:
        notes.append(_alignment(fabric))
    if fabric.intent.network.ipam is Ipam.STATIC:
        notes.append("addresses are static, in the annotation: nothing keeps two pods from having the same")
    return tuple(notes)


def _alignment(fabric: FabricPlan) -> str:
    """
    Say how far GPUs and rails of one pod are kept together.

    Inferred from what the plugins report of topology: Mellanox/k8s-rdma-shared-dev-plugin 410b0f3 (nothing),
    k8snetworkplumbingwg/sriov-network-device-plugin 40b6f507 (the NUMA node, unless excludeTopology is set).
    """
    if fabric.method is Method.SHARED:
        return (
            "fewer GPUs than the node has: nothing pairs them with the nearest rail, not even by NUMA node "
            "(the shared device plugin gives no topology hints)"
        )
    return (
        "fewer GPUs than the node has: GPUs and rails are paired by NUMA node at best, and only with "
        "spec.numaAligned; below that the kubelet's choice may cross PCIe switches"
    )


def _with_reasons(text: str, reasons: dict[str, Decision]) -> str:
    lines = []
    for line in text.splitlines():
        decision = reasons.get(line.strip())
        if decision is not None:
            indent = line[: len(line) - len(line.lstrip())]
            source = f" ({decision.source})" if decision.source else ""
            lines.append(f"{indent}# {decision.reason}{source}")
        lines.append(line)
    return "\n".join(lines) + "\n"
