"""
In which order things are undone, and which ledger entries go together. Pure.

First the pods that a killed verify left, which hold rails and join networks. Then the reverse of the stages, with what
was learnt on real operators: networks before their operators and until their NADs are gone (an operator that is stopped
leaves finalizers behind that nobody takes off); address pools before the policy that brought their definitions; an
operator's own objects before the operator.

Measured: controllers of SR-IOV network operator 1.6.0, Network Operator 26.4.1 and GPU Operator 26.7.0 against
kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from railwright.apply.model import LedgerEntry
from railwright.core import kinds
from railwright.core.objects import Kind, KubeObject, Ref, dig
from railwright.plan.model import NetworkShare, Share

NETWORK_KINDS = frozenset(
    {
        kinds.MACVLAN_NETWORK,
        kinds.IPOIB_NETWORK,
        kinds.HOST_DEVICE_NETWORK,
        kinds.SRIOV_NETWORK,
        kinds.SRIOV_IB_NETWORK,
        kinds.NETWORK_ATTACHMENT_DEFINITION,
    }
)
POOL_KINDS = frozenset({kinds.NV_IPAM_IP_POOL, kinds.NV_IPAM_CIDR_POOL})
VF_KINDS = frozenset({kinds.SRIOV_NETWORK_NODE_POLICY, kinds.SRIOV_NETWORK_POOL_CONFIG})
DRIVER_KINDS = frozenset({kinds.NIC_CLUSTER_POLICY, *VF_KINDS})
"""Removing one of these reloads a driver or takes VFs away."""


@dataclass(frozen=True)
class Step:
    """Entries that are undone together; `limit_s` is for everything deleted to be gone."""

    name: str
    entries: tuple[LedgerEntry, ...]
    limit_s: float


_TIERS: tuple[tuple[str, frozenset[Kind], float], ...] = (
    ("approvals", frozenset({kinds.INSTALL_PLAN}), 0.0),
    ("verification pods", frozenset({kinds.POD}), 120.0),
    ("networks", NETWORK_KINDS, 180.0),
    ("address pools", POOL_KINDS, 120.0),
    (
        "workload access",
        frozenset(
            {
                kinds.ROLE_BINDING,
                kinds.ROLE,
                kinds.CLUSTER_ROLE_BINDING,
                kinds.CLUSTER_ROLE,
                kinds.SECURITY_CONTEXT_CONSTRAINTS,
                kinds.SERVICE_ACCOUNT,
                kinds.NETWORK_POLICY,
                kinds.PRIORITY_CLASS,
            }
        ),
        60.0,
    ),
    ("GPU policy", frozenset({kinds.CLUSTER_POLICY, kinds.NVIDIA_DRIVER}), 300.0),
    ("SR-IOV policies", VF_KINDS, 300.0),
    ("NIC policy", frozenset({kinds.NIC_CLUSTER_POLICY}), 300.0),
    ("node labels", frozenset({kinds.NODE}), 0.0),
    ("feature discovery", frozenset({kinds.NODE_FEATURE_RULE, kinds.NODE_FEATURE_DISCOVERY}), 180.0),
    ("SR-IOV operator configuration", frozenset({kinds.SRIOV_OPERATOR_CONFIG}), 180.0),
    ("subscriptions", frozenset({kinds.SUBSCRIPTION}), 60.0),
    ("operators", frozenset({kinds.CLUSTER_SERVICE_VERSION}), 180.0),
    ("operator groups", frozenset({kinds.OPERATOR_GROUP}), 60.0),
    ("namespaces", frozenset({kinds.NAMESPACE}), 300.0),
)
_OTHERS = ("node configuration", 120.0)
LAST_NETWORK_STEP = "address pools"
"""After this step nothing uses the policies any more."""
LAST_VF_STEP = "SR-IOV policies"
"""After this step the operator takes VFs away, and must be left to it."""


def steps_of(entries: Iterable[LedgerEntry]) -> tuple[Step, ...]:
    """Put entries into steps; inside a step the last one written is undone first. Steps may be empty."""
    left = sorted(entries, key=lambda entry: -entry.order)
    steps = []
    for name, tier_kinds, limit_s in _TIERS:
        steps.append(Step(name, tuple(entry for entry in left if entry.ref.kind in tier_kinds), limit_s))
        left = [entry for entry in left if entry.ref.kind not in tier_kinds]
    return (*steps, Step(_OTHERS[0], tuple(left), _OTHERS[1]))


def undo_steps() -> tuple[str, ...]:
    """Name the steps in order."""
    return tuple(step.name for step in steps_of(()))


def nads_of(step: Step, live: Mapping[Ref, KubeObject], shares: Iterable[Share]) -> tuple[Ref, ...]:
    """
    Name the NADs that operators made for the networks of a step.

    Known from the networks themselves and, for those that are gone already (a clean that was killed), from the plan.
    """
    made = [entry for entry in step.entries if entry.created and entry.ref.kind in NETWORK_KINDS]
    networks = {entry.ref for entry in made if entry.ref.kind != kinds.NETWORK_ATTACHMENT_DEFINITION}
    nads = {nad_of(ref, live[ref]) for ref in networks & set(live)}
    names = {(ref.kind.kind, ref.namespace, ref.name) for ref in networks}
    nads |= {
        _nad(share.target_namespace, share.nad)
        for share in shares
        if isinstance(share, NetworkShare) and (share.kind, share.namespace, share.name) in names
    }
    return tuple(sorted(nads))


def nad_of(ref: Ref, network: KubeObject) -> Ref:
    """Name the NAD that an operator makes for a network object."""
    place = str(dig(network, "spec", "networkNamespace", default="") or ref.namespace or "default")
    return _nad(place, ref.name)


def _nad(namespace: str, name: str) -> Ref:
    return Ref(kinds.NETWORK_ATTACHMENT_DEFINITION, namespace, name)
