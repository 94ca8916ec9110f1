"""
The pods that verify runs in, and what they need for as long as they run; removed when the run ends.

They are as poor as they can be: UID 0 because IPC_LOCK has no effect for other users, every other capability dropped,
no mount of the host, no token, the lowest priority, never preempting, and they end by themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.ids import FabricName, NodeName
from railwright.core.kinds import PRIORITY_CLASS
from railwright.core.objects import KubeObject
from railwright.manifests.assemble import an_object
from railwright.manifests.kinds.access import access
from railwright.manifests.kinds.pods import PodRequest, a_pod
from railwright.plan.model import AccessShare

RUN_LABEL = "railwright.dev/verify-run"
CONTAINER = "main"
LOWEST_PRIORITY = -1_000_000_000
"""The lowest that a PriorityClass of a user may have. Source: Kubernetes, Pod Priority and Preemption."""
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


def access_of(run: Run) -> tuple[KubeObject, ...]:
    """Make what the pods need before they come: priority class, ServiceAccount, and an SCC of this run alone."""
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
    return (priority, *(item.obj for item in access(share)))


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
