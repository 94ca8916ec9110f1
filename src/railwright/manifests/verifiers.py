"""
The pods that verify runs in, and what they need for as long as they run; removed when the run ends.

They are as poor as they can be: UID 0 because IPC_LOCK has no effect for other users, every other capability dropped,
no mount of the host, no token, the lowest priority, never preempting, and they end by themselves. On the cluster network
they reach each other, and nothing else reaches them or is reached by them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from railwright.catalog.model import Catalog
from railwright.core.ids import FabricName, NodeName
from railwright.core.kinds import NETWORK_POLICY, PRIORITY_CLASS
from railwright.core.objects import KubeObject
from railwright.intent.model import Intent
from railwright.manifests.assemble import an_object
from railwright.manifests.kinds.access import access
from railwright.manifests.kinds.pods import PodRequest, a_pod
from railwright.plan.model import AccessShare
from railwright.plan.names import mirrored

RUN_LABEL = "railwright.dev/verify-run"
CONTAINER = "main"
LOWEST_PRIORITY = -1_000_000_000
"""The lowest that a PriorityClass of a user may have. Source: Kubernetes, Pod Priority and Preemption."""
USUAL_IMAGE = "workload_test_image"
"""The catalog's default of this name."""
_GRACE_S = 1


@dataclass(frozen=True)
class Verifier:
    """One pod of a run: where it is, which networks it joins (net1 first), what it holds."""

    node: NodeName
    networks: tuple[str, ...]
    resources: Mapping[str, int]


@dataclass(frozen=True)
class Run:
    """
    What the pods of one run have in common.

    Attributes:
        id: short, unique, part of every name.
        limit_s: after so long the pods end by themselves, whatever became of us.
        has_scc: whether the platform has SecurityContextConstraints.
    """

    id: str
    namespace: str
    fabric: FabricName
    image: str
    limit_s: float
    has_scc: bool
    pull_secrets: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of everything of the run; pods have a number behind it."""
        return f"railwright-verify-{self.id}"


def image_of(intent: Intent, catalog: Catalog) -> str:
    """Name the image that a run's pods get where nobody names another: by the mirror of the file, where it has one."""
    return mirrored(str(catalog.default(USUAL_IMAGE).value), intent.image_registry)


def access_of(run: Run) -> tuple[KubeObject, ...]:
    """Make what has to be there before the pods: priority class, network policy, ServiceAccount, and the run's own SCC."""
    share = AccessShare(
        run.namespace,
        create_namespace=False,
        service_account=run.name,
        scc=run.name if run.has_scc else "",
        fabrics=(run.fabric,),
    )
    priority = an_object(
        PRIORITY_CLASS,
        run.name,
        value=LOWEST_PRIORITY,
        globalDefault=False,
        preemptionPolicy="Never",
        description="Pods of one railwright verify run",
    )
    return (priority, _network_policy(run), *(item.obj for item in access(share)))


def _network_policy(run: Run) -> KubeObject:
    """
    Close the cluster network to the run's pods but for what halves say to each other; pods of others are not selected.

    TCP of every port: NCCL and UCX listen where the kernel lets them. No DNS: halves meet by address. Commands come in
    through the kubelet, and bytes move on the rails' own networks: a NetworkPolicy is about neither.

    Source: Kubernetes documentation, Network Policies (isolation by direction) and NetworkPolicyPort (a port left out is
    every port); OpenShift 4.22 docs, Configuring multi-network policy (secondary networks have policies of their own).
    """
    own = {"podSelector": {"matchLabels": {RUN_LABEL: run.id}}}
    ports = [{"protocol": "TCP"}]
    spec: dict[str, Any] = {
        **own,
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [own], "ports": ports}],
        "egress": [{"to": [own], "ports": ports}],
    }
    return an_object(NETWORK_POLICY, run.name, namespace=run.namespace, spec=spec)


def pod_of(run: Run, number: int, verifier: Verifier) -> KubeObject:
    """Make one pod, on its node."""
    request = PodRequest(
        name=f"{run.name}-{number}",
        namespace=run.namespace,
        fabric=run.fabric,
        service_account=run.name,
        image=run.image,
        networks=verifier.networks,
        resources=verifier.resources,
        node_labels={},
        environment={},
    )
    pod = a_pod(request)
    spec: dict[str, Any] = {**pod["spec"]}
    spec["nodeName"] = verifier.node
    spec["priorityClassName"] = run.name
    spec["activeDeadlineSeconds"] = int(run.limit_s)
    spec["terminationGracePeriodSeconds"] = _GRACE_S
    spec["tolerations"] = [{"operator": "Exists", "effect": "NoSchedule"}]
    if run.pull_secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in run.pull_secrets]
    (container,) = spec["containers"]
    spec["containers"] = [{**container, "command": ["sleep", str(int(run.limit_s))]}]
    labels = {**pod["metadata"]["labels"], RUN_LABEL: run.id}
    return {**pod, "metadata": {**pod["metadata"], "labels": labels}, "spec": spec}
