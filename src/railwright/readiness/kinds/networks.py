"""
Judges of networks: the network objects of the Network Operator, NADs, and nv-ipam's pools.

A network object says ready for an `ipam` that is no JSON, and for a resource that nobody has: the NAD is what counts.

Measured: Network Operator 26.4.1 controllers against kube-apiserver 1.36.3, 2026-11.
Source: Mellanox/nvidia-k8s-ipam 3ce4a34, deploy/crds (pools).
"""

from datetime import datetime

from railwright.core import kinds
from railwright.core.objects import KubeObject, dig, labels_of, ref_of
from railwright.readiness.answers import failed, may_be_stale, progressing, ready, unknown
from railwright.readiness.model import Companions, Judgement, Receipt
from railwright.readiness.nads import cni_type, judge_nad, read_config
from railwright.readiness.selectors import matches, name_of

_IPAM_CONTROLLER = "nv-ipam-controller"


def judge_network(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a MacvlanNetwork, IPoIBNetwork or HostDeviceNetwork by its state and by the NAD it made."""
    state = str(dig(obj, "status", "state", default=""))
    reason = str(dig(obj, "status", "reason", default="") or _applied_message(obj))
    if state == "error":
        return failed(f"{ref_of(obj)}: {reason or 'state error without a reason'}", reason)
    if state in {"", "notReady"}:
        return progressing(f"{ref_of(obj)}: {reason or 'no status yet' if not state else reason or state}")
    if state != "ready":
        return unknown(f"{ref_of(obj)} has a state that is not known: {state!r}")
    namespace = str(dig(obj, "spec", "networkNamespace", default="") or "default")
    nad = companions.get(kinds.NETWORK_ATTACHMENT_DEFINITION, name_of(obj), namespace)
    answer = judge_nad(nad, obj) if nad else progressing(f"{ref_of(obj)}: NAD {namespace}/{name_of(obj)} is not there")
    if may_be_stale(receipt, now) and answer.readiness is not ready("").readiness:
        return progressing(answer.reason)
    return answer


def judge_nad_object(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """Judge a NAD that is ours: its config can be read."""
    del companions, receipt, now
    config, problem = read_config(obj)
    if problem:
        return failed(problem)
    return ready(f"its config is of type {cni_type(config)}")


def judge_pool(obj: KubeObject, companions: Companions, receipt: Receipt | None, now: datetime) -> Judgement:
    """
    Judge an nv-ipam IPPool or CIDRPool.

    It is ready once its controller has given ranges to nodes; the controller only reads its own namespace.
    """
    del receipt, now
    controllers = [item for item in companions.of_kind(kinds.DEPLOYMENT) if name_of(item) == _IPAM_CONTROLLER]
    namespace = str(dig(obj, "metadata", "namespace", default=""))
    homes = {str(dig(item, "metadata", "namespace", default="")) for item in controllers}
    if homes and namespace not in homes:
        return failed(
            f"{ref_of(obj)} is never used: {_IPAM_CONTROLLER} only reads namespace {', '.join(sorted(homes))}"
        )
    given = {str(item.get("nodeName")) for item in dig(obj, "status", "allocations", default=[])}
    without = [name for name in _nodes_of(obj, companions) if name not in given]
    if without or not given:
        whom = f"node {without[0]} has no" if without else "no node has"
        return progressing(f"{ref_of(obj)}: {whom} addresses of it yet", f"Deployment {_IPAM_CONTROLLER}")
    return ready(f"{len(given)} nodes have addresses of it")


def _nodes_of(obj: KubeObject, companions: Companions) -> tuple[str, ...]:
    """Name the nodes that a pool's selector means; none when it has no selector: then any node will do."""
    terms = dig(obj, "spec", "nodeSelector", "nodeSelectorTerms", default=[])
    nodes = companions.of_kind(kinds.NODE)
    return tuple(name_of(node) for node in nodes if any(matches(term, labels_of(node)) for term in terms))


def _applied_message(obj: KubeObject) -> str:
    states = dig(obj, "status", "appliedStates", default=[])
    return "; ".join(str(item["message"]) for item in states if item.get("message"))
