"""Addresses of rails: given once, out of ranges that are nobody else's, and enough of them."""

import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from railwright.core import kinds
from railwright.core.ids import RuleId
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.doctor.address_managers import WHEREABOUTS, advice_on, holders_in_pools, look_at, managers
from railwright.doctor.commands import oc
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
from railwright.doctor.needs import INSIDE, objects, reads_rails, single
from railwright.doctor.networks import Attachment, Network, attachments, network_of, ranges_of
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import NETWORKS
from railwright.facts.sources.network_status import parse_network_status

ADDRESSES_COLLIDE = RuleInfo(
    name=RuleId("rail-addresses-collide"),
    title="Pods have, or can get, one address twice, or one that is somebody else's",
    layer=Layer.NETWORKS,
    severity=Severity.ERROR,
    text="Two pods with one address talk to each other by chance. Seen in what Multus wrote about running pods, and before "
    "that in the address managers: host-local knows only its own node, so the same range on several nodes gives the same "
    "addresses; ranges of two networks that overlap under different managers or names; a range inside a network of the "
    "cluster or its machines; a pool of nv-ipam that gave out a block inside its own exclusions, or is too small for its "
    "nodes.",
    source="containernetworking/plugins v1.6, host-local (state is kept on the node); Mellanox/nvidia-k8s-ipam 3ce4a34, "
    "README (IPPool, exclusions)",
    needs=(
        objects(kinds.NETWORK_ATTACHMENT_DEFINITION, kinds.POD, kinds.NV_IPAM_IP_POOL, kinds.NV_IPAM_CIDR_POOL),
        single(Ref(kinds.NETWORK_CONFIG, "", "cluster")),
    ),
    uses=(
        INSIDE,
        reads_rails(),
        objects(*WHEREABOUTS),
    ),
    covers=("B072", "B080", "B082", "B090"),
    leads_to=(Condition.RDMA_FAILS, Condition.WORKLOAD_WAITS),
    subject=NETWORKS,
)
_MOST_SHOWN = 6
"""Addresses of which everything is shown."""


def judge_addresses(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look at addresses that pods have, then at the ranges that they come from."""
    found = attachments(seen)
    yield from _doubled(seen)
    yield from _per_node(found, seen)
    yield from _overlaps(found)
    yield from _inside_the_cluster(found, seen)
    for kind in (kinds.NV_IPAM_IP_POOL, kinds.NV_IPAM_CIDR_POOL):
        for pool in seen.of_kind(kind):
            yield from _pool(pool, seen)
            if isinstance(dig(pool, "spec", "perNodeBlockSize"), int):
                yield from seen.unknown_inside(ADDRESSES_COLLIDE, seen.everything.node_by_name)


def _doubled(seen: Seen) -> Iterator[Finding]:
    holders: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pod in seen.pods:
        if pod.deleted_at or pod.host_network or pod.phase in {"Succeeded", "Failed"}:
            continue
        for network in parse_network_status(pod.network_status):
            if network.is_default:
                continue
            for address in network.addresses:
                if not _is_link_local(address):
                    holders[address].append((f"{pod.namespace}/{pod.name}", network.name))
    twice = {address: pods for address, pods in holders.items() if len({pod for pod, _ in pods}) > 1}
    if twice:
        yield _given_twice(twice, seen)


def _given_twice(twice: Mapping[str, list[tuple[str, str]]], seen: Seen) -> Finding:
    """Conclude with who gave the address, as the NADs name it, and what is to be done about that one."""
    address, pods = next(iter(twice.items()))
    shown = dict(list(twice.items())[:_MOST_SHOWN])
    known = managers(seen)
    used = {name: known[name] for holding in shown.values() for _, name in holding if name in known}
    types = frozenset(item.type for item in used.values())
    advice = advice_on(types, seen.platform)
    by = f", given by {' and '.join(sorted(types))}" if all(types) and types else ""
    named = [hit for item in shown for hit in holders_in_pools(seen, item)] if "whereabouts" in types else []
    entitled = {pod for _, pod in named}
    # Of whereabouts' pods the one that is in no list would meet the next pod there, so it must not be the one that stays.
    anew = [pod for pod, _ in pods if pod not in entitled] if "whereabouts" in types else [pod for pod, _ in pods[1:]]
    more = f", and {len(twice) - 1} more like it" if len(twice) > 1 else ""
    return conclude(
        ADDRESSES_COLLIDE,
        f"Two pods hold one address at once: {address} is {pods[0][0]}'s and {pods[1][0]}'s{by}{more}. {advice.why}".rstrip(),
        evidence=(
            *(Evidence(str(item.nad), "ipam type", item.type or "none") for item in used.values()),
            *(Evidence(f"pod {pod}", f"address on {network}", item) for item in shown for pod, network in shown[item]),
            *(evidence for evidence, _ in named),
        ),
        remedy=Remedy(
            advice.text,
            (
                *(advice.commands or look_at(item.nad for item in used.values())),
                *(f"oc -n {pod.partition('/')[0]} delete pod {pod.partition('/')[2]}" for pod in anew[:4]),
            ),
            disrupts="the pods that are made anew",
        ),
        about=(f"pod:{pod}" for holding in twice.values() for pod, _ in holding),
    )


def _is_link_local(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).is_link_local
    except ValueError:
        return True


def _per_node(found: tuple[Attachment, ...], seen: Seen) -> Iterator[Finding]:
    nodes = {pod.node for pod in seen.pods if pod.node is not None and pod.networks}
    local = [item for item in found if item.ipam.get("type") == "host-local"]
    several = len(nodes) > 1 or len(seen.rails) > 1
    if local and several:
        yield conclude(
            ADDRESSES_COLLIDE,
            f"{local[0].ref}{f' and {len(local) - 1} more' if len(local) > 1 else ''}: addresses come from host-local, which "
            "knows only its own node: two nodes give the same one.",
            evidence=[
                Evidence(str(item.ref), "ipam", f"host-local {list(map(str, ranges_of(item.ipam)))}") for item in local
            ],
            remedy=Remedy(
                "Give addresses by nv-ipam (an IPPool has a block for each node) or whereabouts.",
                (oc(local[0].ref, "get", "-o yaml"), "railwright plan"),
            ),
            about=(item.thing for item in local),
            severity=Severity.WARNING,
        )


def _overlaps(found: tuple[Attachment, ...]) -> Iterator[Finding]:
    """Two networks whose ranges overlap and whose managers do not know of each other."""
    ranged = [(item, network) for item in found for network in ranges_of(item.ipam)]
    for (one, first), (other, second) in combinations(ranged, 2):
        if one.ref == other.ref or not _overlap(first, second) or _same_keeper(one, other):
            continue
        yield conclude(
            ADDRESSES_COLLIDE,
            f"{one.ref} and {other.ref} give addresses out of {first} and {second}, and neither knows of the other's.",
            evidence=(
                Evidence(str(one.ref), "ipam", f"{one.ipam.get('type')} {first}"),
                Evidence(str(other.ref), "ipam", f"{other.ipam.get('type')} {second}"),
            ),
            remedy=Remedy(
                "Give each network a range of its own, or both the same manager and range.", ("railwright plan",)
            ),
            about=(one.thing, other.thing),
            severity=Severity.WARNING,
        )


def _same_keeper(one: Attachment, other: Attachment) -> bool:
    """Whereabouts keeps one list a range, so two NADs with the same range share it."""
    types = {one.ipam.get("type"), other.ipam.get("type")}
    same = set(map(str, ranges_of(one.ipam))) == set(map(str, ranges_of(other.ipam)))
    names = {one.ipam.get("network_name"), other.ipam.get("network_name")}
    if types == {"whereabouts"}:
        return same and len(names) == 1
    return same and types == {"host-local"} and one.ref.name == other.ref.name


def _overlap(one: Network, other: Network) -> bool:
    return one.version == other.version and one.overlaps(other)


def _inside_the_cluster(found: tuple[Attachment, ...], seen: Seen) -> Iterator[Finding]:
    taken = [
        (what, network)
        for what, texts in seen.networks.items()
        for text in texts
        if (network := network_of(text)) is not None
    ]
    given = [(item.ref, item.thing, network) for item in found for network in ranges_of(item.ipam)]
    given += [
        (ref_of(pool), f"object:{ref_of(pool)}", network)
        for kind, field in ((kinds.NV_IPAM_IP_POOL, "subnet"), (kinds.NV_IPAM_CIDR_POOL, "cidr"))
        for pool in seen.of_kind(kind)
        if (network := network_of(dig(pool, "spec", field))) is not None
    ]
    for ref, thing, network in given:
        hit = next(((what, other) for what, other in taken if _overlap(network, other)), None)
        if hit is not None:
            yield conclude(
                ADDRESSES_COLLIDE,
                f"{ref} gives addresses out of {network}, which overlaps {hit[0]} ({hit[1]}).",
                evidence=(Evidence(str(ref), "range", str(network)), Evidence("cluster", hit[0], str(hit[1]))),
                remedy=Remedy("Take a range that is nobody's, and make the pods anew.", ("railwright plan",)),
                about=(thing,),
            )


def _pool(pool: KubeObject, seen: Seen) -> Iterator[Finding]:
    ref = ref_of(pool)
    allocations = dig(pool, "status", "allocations", default=())
    excluded = list(_spans(dig(pool, "spec", "exclusions", default=())))
    inside = [
        item
        for item in allocations
        if (span := _span(item.get("startIP"), item.get("endIP"))) and any(_within(span, other) for other in excluded)
    ]
    if inside:
        yield conclude(
            ADDRESSES_COLLIDE,
            f"{ref} has given whole blocks inside its own exclusions: these nodes have no address to give.",
            evidence=[
                Evidence(
                    str(ref), f"allocation of {item.get('nodeName')}", f"{item.get('startIP')} to {item.get('endIP')}"
                )
                for item in inside[:6]
            ],
            remedy=Remedy(
                "Choose a subnet that holds only addresses which may be given, in place of large exclusions.",
                (oc(ref, "get", "-o yaml"),),
            ),
            about=(f"object:{ref}",),
        )
    block, subnet = dig(pool, "spec", "perNodeBlockSize"), network_of(dig(pool, "spec", "subnet"))
    wanted = len({node.name for node in seen.nodes if node.name in seen.rails}) or len(allocations)
    if isinstance(block, int) and block > 0 and subnet is not None and subnet.num_addresses // block < wanted:
        yield conclude(
            ADDRESSES_COLLIDE,
            f"{ref} has room for {subnet.num_addresses // block} blocks of {block}, and {wanted} nodes have rails.",
            evidence=(Evidence(str(ref), "spec", f"subnet {subnet}, perNodeBlockSize {block}"),),
            remedy=Remedy("Take a larger subnet or a smaller block.", (oc(ref, "edit"),)),
            about=(f"object:{ref}",),
        )


def _spans(items: Iterable[KubeObject]) -> Iterator[tuple[int, int]]:
    for item in items:
        span = _span(item.get("startIP"), item.get("endIP"))
        if span is not None:
            yield span


def _span(first: object, last: object) -> tuple[int, int] | None:
    try:
        return int(ipaddress.ip_address(str(first))), int(ipaddress.ip_address(str(last)))
    except ValueError:
        return None


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


RULES = (Rule(ADDRESSES_COLLIDE, judge_addresses),)
