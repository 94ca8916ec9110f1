"""The resources that operators act on: there, rightly named, and once."""

from collections.abc import Iterator

from railwright.core import kinds
from railwright.core.ids import RuleId
from railwright.core.objects import Kind, KubeObject, Ref, dig, ref_of
from railwright.core.risk import Risk
from railwright.doctor import nic_policy
from railwright.doctor.commands import oc, oc_patch
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
from railwright.doctor.needs import BY_OPERATORS, INSIDE, objects, reads
from railwright.doctor.operators import GPU, NETWORK, NFD, SRIOV
from railwright.doctor.seen import Seen
from railwright.facts.model import Platform, PodFacts
from railwright.plan.labelling import NFD_WORKERS

NOT_IN_FORCE = RuleInfo(
    name=RuleId("operator-resource-not-in-force"),
    title="The resource that an operator acts on is missing, or is not the one that counts",
    layer=Layer.OPERATORS,
    severity=Severity.ERROR,
    text="An operator does nothing until its own resource exists: SriovOperatorConfig default (not made by the operator since "
    "OpenShift 4.16), NicClusterPolicy nic-cluster-policy (not made by the Helm chart since 24.10), NodeFeatureDiscovery, "
    "ClusterPolicy. That is an error once something else relies on it: policies, networks, or a GPU driver that is told to "
    "build against the NIC driver. Some resources count only once, only under one name, or only in the operator's own "
    "namespace; another one is accepted by the API server and never looked at. An operator that is merely installed is no "
    "finding.",
    source="openshift/sriov-network-operator 44199ad5, controllers; Mellanox/nvidia-k8s-ipam 3ce4a34, deploy; Measured: "
    "Network Operator 26.4.1, GPU Operator 26.3.3 and 26.7.0, SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, "
    "2026-11",
    needs=(
        objects(
            kinds.NIC_CLUSTER_POLICY,
            kinds.CLUSTER_POLICY,
            kinds.SRIOV_OPERATOR_CONFIG,
            kinds.SRIOV_NETWORK_NODE_POLICY,
            kinds.SRIOV_NETWORK,
            kinds.SRIOV_IB_NETWORK,
            kinds.HOST_DEVICE_NETWORK,
            kinds.NODE_FEATURE_DISCOVERY,
            kinds.NV_IPAM_IP_POOL,
            kinds.NV_IPAM_CIDR_POOL,
        ),
        BY_OPERATORS,
    ),
    uses=(
        INSIDE,
        reads(relies_on=("pci", "values")),
    ),
    covers=("B002", "B008", "B013", "B025"),
    leads_to=(
        Condition.OPERATOR_MISSING,
        Condition.LABELS_MISSING,
        Condition.NIC_DRIVER_NOT_READY,
        Condition.GPU_DRIVER_NOT_READY,
        Condition.VFS_MISSING,
        Condition.RESOURCE_MISSING,
        Condition.NETWORK_MISSING,
    ),
    shows=(Condition.OPERATOR_MISSING,),
)
_DISCOVERY_HOMES = {Platform.OPENSHIFT: "openshift-nfd", Platform.KUBERNETES: "node-feature-discovery"}
_DMA_BUF = {"driver": {"rdma": {"enabled": False}, "kernelModuleType": "open"}}


def judge_in_force(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look for resources that are missed, then for those that nobody looks at."""
    yield from _missed(seen)
    yield from _ignored_ones(seen)


def _missed(seen: Seen) -> Iterator[Finding | Unknown]:
    """Ask for each operator that is there whether somebody relies on a resource that is not."""
    if seen.is_whole(kinds.SRIOV_OPERATOR_CONFIG):
        yield from _without_sriov_config(seen)
    if seen.is_whole(kinds.NIC_CLUSTER_POLICY):
        yield from _without_nic_policy(seen)
    if (NETWORK in seen.operators or GPU in seen.operators) and seen.is_whole(kinds.NODE_FEATURE_DISCOVERY):
        yield from _without_discovery(seen)


def _without_sriov_config(seen: Seen) -> Iterator[Finding]:
    configs = seen.of_kind(kinds.SRIOV_OPERATOR_CONFIG)
    if any(item["metadata"]["name"] == "default" for item in configs):
        return
    relying = [item for item in seen.of_kind(kinds.SRIOV_NETWORK_NODE_POLICY) if item["metadata"]["name"] != "default"]
    if not relying:
        return
    operator = seen.operator(SRIOV)
    namespace = operator.namespace if operator else str(relying[0]["metadata"].get("namespace", ""))
    yield _missing(
        Ref(kinds.SRIOV_OPERATOR_CONFIG, namespace, "default"),
        relying,
        "no config daemon runs on any node, and no policy makes a VF",
        f"operator:{SRIOV}",
        Risk.DRAIN,
    )


def _without_nic_policy(seen: Seen) -> Iterator[Finding]:
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    if policy is not None and dig(policy, "spec", "ofedDriver") is not None:
        return
    waiting = [item for item in seen.of_kind(kinds.CLUSTER_POLICY) if _waits_for_nic_driver(item)]
    relying = [] if policy is not None else list(seen.of_kind(kinds.HOST_DEVICE_NETWORK))
    if waiting and not any(hardware.mlx5_driver for hardware in seen.inside.values()):
        yield conclude(
            NOT_IN_FORCE,
            f"{ref_of(waiting[0])} builds the GPU driver against the NIC driver's container "
            f"(driver.rdma.enabled without useHostMofed), and no NicClusterPolicy brings one: nvidia-peermem cannot load.",
            evidence=(
                Evidence(str(ref_of(waiting[0])), "spec.driver.rdma", str(dig(waiting[0], "spec", "driver", "rdma"))),
                Evidence(
                    "cluster", "NicClusterPolicy", "none with ofedDriver" if policy is not None else "none is there"
                ),
            ),
            remedy=Remedy(
                "Use dma-buf (driver.rdma.enabled false, open kernel modules), or add ofedDriver to the NicClusterPolicy, "
                "or set useHostMofed where the node's own system brings the driver.",
                (oc_patch(ref_of(waiting[0]), spec=_DMA_BUF),),
                risk=Risk.DRIVER_RELOAD,
                disrupts="GPU driver pods are replaced node by node, pods that use GPUs are evicted",
            ),
            about=(f"operator:{GPU}",),
            # Nodes that nobody looked into may have brought the driver themselves.
            severity=None if any(item.gpus for item in seen.inside.values()) else Severity.WARNING,
        )
    if relying and NETWORK in seen.operators:
        yield _missing(
            Ref(kinds.NIC_CLUSTER_POLICY, "", nic_policy.NAME),
            relying,
            "no device plugin offers the resource that these networks hand out",
            f"operator:{NETWORK}",
            Risk.DRIVER_RELOAD,
        )


def _waits_for_nic_driver(policy: KubeObject) -> bool:
    rdma = dig(policy, "spec", "driver", "rdma", default={})
    enabled = dig(policy, "spec", "driver", "enabled", default=True)
    return bool(enabled and rdma.get("enabled") and not rdma.get("useHostMofed"))


def _without_discovery(seen: Seen) -> Iterator[Finding]:
    relying = [*seen.of_kind(kinds.NIC_CLUSTER_POLICY), *seen.of_kind(kinds.CLUSTER_POLICY)]
    labelled = any(label.startswith("feature.node.kubernetes.io/") for node in seen.nodes for label in node.labels)
    if seen.of_kind(kinds.NODE_FEATURE_DISCOVERY) or labelled or not relying or not seen.nodes:
        return
    operator = seen.operator(NFD)
    yield _missing(
        Ref(
            kinds.NODE_FEATURE_DISCOVERY,
            operator.namespace if operator else _DISCOVERY_HOMES[seen.platform],
            "nfd-instance",
        ),
        relying,
        "no node is labelled with its hardware, and every DaemonSet of NVIDIA's operators selects such a label",
        f"operator:{NFD}",
        Risk.DRIVER_RELOAD,
    )


def _missing(ref: Ref, relying: list[KubeObject], effect: str, about: str, risk: Risk) -> Finding:
    return conclude(
        NOT_IN_FORCE,
        f"{ref} does not exist: {effect}.",
        evidence=(
            Evidence("cluster", str(ref), "not there"),
            *(Evidence(str(ref_of(item)), "relies on it", "is there") for item in relying[:8]),
        ),
        remedy=Remedy(
            f"Create {ref.kind.kind} {ref.name}; apply does it with everything that belongs to it.",
            ("railwright plan", "railwright apply"),
            risk=risk,
            disrupts="what it brings begins on the nodes that it selects",
        ),
        about=(about,),
    )


def _ignored_ones(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare names, counts and namespaces with what each operator reads."""
    for policy in seen.of_kind(kinds.NIC_CLUSTER_POLICY):
        if policy["metadata"]["name"] != nic_policy.NAME:
            yield _ignored(
                policy,
                f"only the name {nic_policy.NAME} counts",
                f"Move what it holds into {nic_policy.NAME}. Restart the operator after deleting it: the wait labels of "
                "nodes flip until then.",
                f"operator:{NETWORK}",
                Risk.DRIVER_RELOAD,
            )
    policies = sorted(seen.of_kind(kinds.CLUSTER_POLICY), key=_age)
    for policy in policies[1:]:
        yield _ignored(
            policy,
            f"only one ClusterPolicy counts, and {policies[0]['metadata']['name']} is older",
            "Merge it into the older one and delete it.",
            f"operator:{GPU}",
            Risk.NONE,
        )
    yield from _outside(seen)


def _outside(seen: Seen) -> Iterator[Finding]:
    homes = {dig(item, "metadata", "namespace", default="") for item in seen.of_kind(kinds.SRIOV_OPERATOR_CONFIG)}
    for config in seen.of_kind(kinds.SRIOV_OPERATOR_CONFIG):
        if config["metadata"]["name"] != "default":
            yield _ignored(config, "only the name default counts", "Rename it.", f"operator:{SRIOV}", Risk.NONE)
    is_known = bool(homes) and seen.is_whole(kinds.SRIOV_OPERATOR_CONFIG)
    for kind in (kinds.SRIOV_NETWORK_NODE_POLICY, kinds.SRIOV_NETWORK, kinds.SRIOV_IB_NETWORK) if is_known else ():
        yield from _of_other_namespaces(seen, kind, homes, f"operator:{SRIOV}")
    controllers = [item for item in seen.of_kind(kinds.DEPLOYMENT) if item["metadata"]["name"] == "nv-ipam-controller"]
    pool_homes = {dig(item, "metadata", "namespace", default="") for item in controllers}
    is_known = bool(pool_homes) and seen.is_whole(kinds.DEPLOYMENT)
    for kind in (kinds.NV_IPAM_IP_POOL, kinds.NV_IPAM_CIDR_POOL) if is_known else ():
        yield from _of_other_namespaces(seen, kind, pool_homes, f"operator:{NETWORK}")


def _of_other_namespaces(seen: Seen, kind: Kind, homes: set[str], about: str) -> Iterator[Finding]:
    for obj in seen.of_kind(kind):
        if dig(obj, "metadata", "namespace", default="") not in homes:
            home = ", ".join(sorted(homes))
            yield _ignored(
                obj, f"only namespace {home} is read", f"Create it in {home}, and delete this one.", about, Risk.NONE
            )


def _ignored(obj: KubeObject, why: str, text: str, about: str, risk: Risk) -> Finding:
    ref = ref_of(obj)
    state = dig(obj, "status", "state", default="")
    return conclude(
        NOT_IN_FORCE,
        f"{ref} has no effect: {why}.",
        evidence=(
            Evidence(
                str(ref), "metadata", f"name {ref.name}" + (f", namespace {ref.namespace}" if ref.namespace else "")
            ),
            Evidence(str(ref), "status.state", str(state or "never written")),
        ),
        remedy=Remedy(
            text,
            (oc(ref, "get", "-o yaml"), oc(ref, "delete")),
            risk=risk,
            disrupts="the driver of the other policy is rolled out anew" if risk is not Risk.NONE else "",
        ),
        about=(about,),
    )


def _age(obj: KubeObject) -> tuple[str, str]:
    return str(dig(obj, "metadata", "creationTimestamp", default="")), str(obj["metadata"]["name"])


TWO_INSTALLATIONS = RuleInfo(
    name=RuleId("two-installations-collide"),
    title="The same component runs twice and the two work against each other",
    layer=Layer.OPERATORS,
    severity=Severity.WARNING,
    text="Two Node Feature Discoveries take each other's labels away and cannot bind the same host port (the GPU "
    "operator and the Network operator can each bring one); two operators of one kind fight over the same objects; a "
    "second Multus beside OpenShift's own writes the same CNI configuration. A node with two pods of one function is an "
    "error, two installations on different nodes a warning.",
    source="Measured: Node Feature Discovery 0.18.3 against kube-apiserver 1.36.3, 2026-11; NVIDIA/gpu-operator "
    "a22dbf67, deployments/gpu-operator/values.yaml (nfd.enabled); Mellanox/network-operator b06827e0, "
    "docs and CSV (secondaryNetwork.multus is not for OpenShift)",
    needs=(objects(kinds.DAEMON_SET, kinds.NIC_CLUSTER_POLICY), BY_OPERATORS),
    uses=(objects(kinds.POD),),
    covers=("B015", "B089"),
    leads_to=(Condition.LABELS_MISSING, Condition.POD_CRASHES, Condition.NETWORK_MISSING),
)
_FUNCTIONS = {
    "node feature discovery's worker": NFD_WORKERS,
    "node feature discovery's master": ("nfd-master", "node-feature-discovery-master"),
    "the GPU device plugin": ("nvidia-device-plugin-daemonset", "nvidia-device-plugin"),
    "the shared RDMA device plugin": ("rdma-shared-dp-ds", "rdma-shared-dp"),
    "the SR-IOV config daemon": ("sriov-network-config-daemon",),
}


def judge_two_installations(seen: Seen) -> Iterator[Finding | Unknown]:
    """Find functions that run from two workloads, and operators that are installed twice."""
    workloads = [*seen.of_kind(kinds.DAEMON_SET), *seen.of_kind(kinds.DEPLOYMENT)]
    for function, names in _FUNCTIONS.items():
        found = [item for item in workloads if _is_called(item, names)]
        if len(found) > 1:
            yield _twice(seen, function, found)
    for key, items in seen.operators.items():
        if len({item.namespace for item in items}) > 1:
            places = ", ".join(f"{item.namespace} ({item.csv or item.version or 'no OLM'})" for item in items)
            yield conclude(
                TWO_INSTALLATIONS,
                f"{items[0].package} is installed {len(items)} times: in {places}.",
                evidence=[
                    Evidence(f"namespace {item.namespace}", "operator", item.csv or item.version) for item in items
                ],
                remedy=Remedy("Keep one; remove the other with the tool that brought it (OLM or Helm)."),
                about=(f"operator:{key}",),
                severity=Severity.ERROR,
            )
    ref = Ref(kinds.NIC_CLUSTER_POLICY, "", nic_policy.NAME)
    policy = seen.get(ref.kind, ref.name)
    if seen.platform is Platform.OPENSHIFT and dig(policy, "spec", "secondaryNetwork", "multus") is not None:
        yield conclude(
            TWO_INSTALLATIONS,
            "NicClusterPolicy brings a second Multus; OpenShift has its own, and both write the node's CNI configuration.",
            evidence=(Evidence(f"NicClusterPolicy {nic_policy.NAME}", "spec.secondaryNetwork.multus", "is set"),),
            remedy=Remedy(
                "Leave secondaryNetwork.multus and cniPlugins out on OpenShift.",
                (oc_patch(ref, spec={"secondaryNetwork": {"multus": None, "cniPlugins": None}}),),
                risk=Risk.DRAIN,
                disrupts="new pods get no secondary network until the node's own Multus has written its configuration again",
            ),
            about=(f"operator:{NETWORK}",),
            severity=Severity.ERROR,
        )


def _is_called(workload: KubeObject, names: tuple[str, ...]) -> bool:
    name = str(workload["metadata"]["name"])
    return any(name == item or name.endswith(f"-{item}") for item in names)


def _twice(seen: Seen, function: str, found: list[KubeObject]) -> Finding:
    owners = {f"{item['kind']}/{item['metadata']['name']}": item["metadata"]["namespace"] for item in found}
    both = [node for node, pods in seen.pods_by_node.items() if _functions_on(pods, found) > 1]
    return conclude(
        TWO_INSTALLATIONS,
        f"{function} runs from {len(found)} workloads: {', '.join(str(ref_of(item)) for item in found)}.",
        evidence=[
            *(Evidence(str(ref_of(item)), "image", _image(item)) for item in found),
            *(Evidence(f"node {node}", "pods of it", "more than one", node) for node in both[:6]),
        ],
        remedy=Remedy(
            "Keep one installation: switch the bundled ones off (nfd.enabled=false of NVIDIA's charts), or delete the "
            "NodeFeatureDiscovery object that nobody needs.",
            tuple(oc(ref_of(item), "get", "-o yaml") for item in found),
        ),
        nodes=both,
        about=tuple(f"workload:{name}" for name in owners),
        severity=Severity.ERROR if both else Severity.WARNING,
    )


def _functions_on(pods: tuple[PodFacts, ...], found: list[KubeObject]) -> int:
    wanted = {(item["metadata"]["namespace"], f"{item['kind']}/{item['metadata']['name']}") for item in found}
    return len({(pod.namespace, pod.owner) for pod in pods if (pod.namespace, pod.owner) in wanted})


def _image(workload: KubeObject) -> str:
    return str(dig(workload, "spec", "template", "spec", "containers", 0, "image", default="not known"))


RULES = (
    Rule(NOT_IN_FORCE, judge_in_force),
    Rule(TWO_INSTALLATIONS, judge_two_installations),
)
