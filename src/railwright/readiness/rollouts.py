"""DaemonSets and Deployments: whether the pods of their newest form run everywhere they should."""

from railwright.core.objects import KubeObject, dig
from railwright.readiness.answers import condition, failed, message_of, progressing, ready
from railwright.readiness.model import Companions, Judgement
from railwright.readiness.pods import is_pod_ready, pods_of, trouble_of


def judge_daemon_set(daemon_set: KubeObject, companions: Companions) -> Judgement:
    """
    Judge one DaemonSet; one that wants no pods is not ready.

    Measured: Network Operator 26.4.1 controllers, 2026-11 (desired = available = updated, not 0).
    """
    metadata = daemon_set["metadata"]
    name = f"DaemonSet {metadata['name']}"
    status = dig(daemon_set, "status", default={})
    if int(status.get("observedGeneration", 0)) < int(metadata.get("generation", 0)):
        return progressing(f"{name}: its newest form is not taken up yet")
    desired = int(status.get("desiredNumberScheduled", 0))
    if desired == 0:
        wanted = selector_of(daemon_set)
        return progressing(
            f"{name} wants no pods: no node matches {wanted}, or those that do have taints it does not bear"
        )
    available, updated = int(status.get("numberAvailable", 0)), int(status.get("updatedNumberScheduled", 0))
    if desired == available == updated:
        return ready(f"{name}: {desired} of {desired} pods available")
    trouble = _pod_trouble(daemon_set, companions, name)
    if trouble:
        return trouble
    if updated < desired and dig(daemon_set, "spec", "updateStrategy", "type") == "OnDelete":
        return progressing(
            f"{name}: {desired - updated} of {desired} pods still have the old form and are replaced one by one"
        )
    return progressing(f"{name}: {available} of {desired} pods available, {updated} of the newest form")


def judge_deployment(deployment: KubeObject, companions: Companions) -> Judgement:
    """Judge one Deployment by its Available condition and its newest form."""
    metadata = deployment["metadata"]
    name = f"Deployment {metadata['name']}"
    status = dig(deployment, "status", default={})
    if int(status.get("observedGeneration", 0)) < int(metadata.get("generation", 0)):
        return progressing(f"{name}: its newest form is not taken up yet")
    available = condition(deployment, "Available")
    if available is not None and available.get("status") == "True":
        return ready(f"{name}: available")
    trouble = _pod_trouble(deployment, companions, name)
    return trouble or progressing(f"{name}: {message_of(available) or 'no status yet'}")


def selector_of(daemon_set: KubeObject) -> str:
    """Write the node selector of a DaemonSet's pods, as on a command line."""
    wanted = dig(daemon_set, "spec", "template", "spec", "nodeSelector", default={})
    affinity = dig(daemon_set, "spec", "template", "spec", "affinity", "nodeAffinity", default=None)
    text = ",".join(f"{key}={value}" for key, value in sorted(wanted.items())) or "its selector"
    return f"{text} and its node affinity" if affinity else text


def _pod_trouble(owner: KubeObject, companions: Companions, name: str) -> Judgement | None:
    metadata = owner["metadata"]
    pods = pods_of(companions, str(metadata.get("namespace", "")), str(metadata["name"]))
    troubles = [trouble for pod in pods if not is_pod_ready(pod) and (trouble := trouble_of(pod))]
    for trouble in sorted(troubles, key=lambda item: not item.final):
        text = f"{name}: {trouble.text}"
        return failed(text, text) if trouble.final else progressing(text)
    return None
