"""Who gives pods the addresses of their rails, and what to do where one was given twice. Pure."""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from railwright.core import kinds
from railwright.core.foreign_text import whole_number
from railwright.core.objects import Ref, dig, ref_of
from railwright.doctor.commands import oc
from railwright.doctor.model import Evidence
from railwright.doctor.networks import network_of
from railwright.doctor.seen import Seen
from railwright.facts.model import Platform

WHEREABOUTS = (kinds.WHEREABOUTS_IP_POOL, kinds.WHEREABOUTS_RESERVATION)
"""Where whereabouts keeps what it gave to whom."""
_RECONCILER: Mapping[Platform, str] = {
    Platform.OPENSHIFT: "oc -n openshift-multus logs daemonset/whereabouts-reconciler",
    Platform.KUBERNETES: "oc get pods -A -o wide | grep whereabouts",
}
"""What its reconciler does. Source: openshift/cluster-network-operator, bindata/network/multus/multus.yaml (2023-12-12)."""


@dataclass(frozen=True)
class Manager:
    """Who gives the addresses of one network: the type of the ipam section of its NAD; empty where it names none."""

    nad: Ref
    type: str


def managers(seen: Seen) -> Mapping[str, Manager]:
    """Give the managers by "NAMESPACE/NAME" of the NAD; one whose config cannot be read is left out."""
    found: dict[str, Manager] = {}
    for nad in seen.of_kind(kinds.NETWORK_ATTACHMENT_DEFINITION):
        plugins = seen.nad_plugins(nad)
        if plugins:
            ref = ref_of(nad)
            found[f"{ref.namespace}/{ref.name}"] = Manager(ref, str(dig(plugins[0], "ipam", "type", default="")))
    return found


def holders_in_pools(seen: Seen, address: str) -> Iterator[tuple[Evidence, str]]:
    """
    Look up an address in whereabouts' pools; each entry with the pod that it names ("NAMESPACE/NAME").

    An IPPool has a range, and allocations by the distance from the range's first address.
    Source: k8snetworkplumbingwg/whereabouts v0.8, pkg/api/whereabouts.cni.cncf.io/v1alpha1/types.go (2026-12).
    """
    wanted = ipaddress.ip_address(address)
    for pool in seen.of_kind(kinds.WHEREABOUTS_IP_POOL):
        network = network_of(dig(pool, "spec", "range"))
        if network is None or wanted not in network:
            continue
        for key, entry in dig(pool, "spec", "allocations", default={}).items():
            distance = whole_number(str(key))
            if distance is not None and int(network.network_address) + distance == int(wanted):
                pod = str(entry.get("podref", ""))
                yield Evidence(str(ref_of(pool)), f"allocation {key}, which is {address}", pod or "no pod"), pod


@dataclass(frozen=True)
class Advice:
    """Why a manager can have given an address twice, what to do about that, and by which commands (none: see the NAD)."""

    why: str
    text: str
    commands: tuple[str, ...] = ()


_ONE_OF_EACH = "Then make one pod of each pair anew."
_OF_ONE: Mapping[str, Advice] = {
    "whereabouts": Advice(
        "Either its reconciler freed the address while a pod still had it, or two of its ranges hold the address and it is told "
        "not to look for overlaps.",
        "Compare its IPPools and OverlappingRangeIPReservations with the pods; update it (on OpenShift with the cluster), since "
        "old reconcilers free addresses that are in use. Then make anew the pod that the IPPool does not name; both, where that "
        "is not known.",
        tuple(f"oc get {kind.kind.lower()}s.{kind.group} -A -o yaml" for kind in WHEREABOUTS),
    ),
    "nv-ipam": Advice(
        "Either two of its pools hold the address, or a pool was made anew while pods had addresses of the old one.",
        f"See that no two of its pools overlap, and that each node's block is its own (status.allocations). {_ONE_OF_EACH}",
        ("oc get ippools.nv-ipam.nvidia.com,cidrpools.nv-ipam.nvidia.com -A -o yaml",),
    ),
    "host-local": Advice(
        "It knows only its own node: two nodes give the same one.",
        f"Give addresses by nv-ipam or whereabouts in place of host-local. {_ONE_OF_EACH}",
    ),
    "static": Advice(
        "It gives what the NAD or the pod names, to as many pods as ask.",
        "Name an address of its own for each pod (annotation k8s.v1.cni.cncf.io/networks), or give addresses by nv-ipam or "
        f"whereabouts. {_ONE_OF_EACH}",
    ),
}
"""
By the manager's type.

Source: https://github.com/k8snetworkplumbingwg/whereabouts/issues/176 (its reconciler frees an address in use), the same in
OpenShift 4.10 to 4.14, https://github.com/openshift/whereabouts-cni/pull/168; whereabouts doc/extended-configuration.md,
overlapping ranges; Mellanox/nvidia-k8s-ipam 3ce4a34, README, pools; containernetworking/plugins v1.6 (2026-08).
"""


def advice_on(types: frozenset[str], platform: Platform) -> Advice:
    """Say what to do about the managers that gave an address twice."""
    if len(types) > 1:
        return Advice("Neither knows of the other's.", f"Give each network a range of its own. {_ONE_OF_EACH}")
    advice = next((_OF_ONE[item] for item in types if item in _OF_ONE), None)
    if advice is None:
        return Advice("", f"See why its manager gave the address twice. {_ONE_OF_EACH}")
    return replace(advice, commands=(*advice.commands, _RECONCILER[platform])) if types == {"whereabouts"} else advice


def look_at(nads: Iterable[Ref]) -> tuple[str, ...]:
    """Spell the commands that show these NADs."""
    return tuple(oc(nad, "get", "-o yaml") for nad in nads)
