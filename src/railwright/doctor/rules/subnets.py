"""Subnets of rails: one each, the same on every node, kept apart where they are not."""

import ipaddress
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from railwright.core import kinds
from railwright.core.foreign_text import whole_number
from railwright.core.ids import NodeName, RuleId
from railwright.core.multus import RESOURCE_NAME
from railwright.core.objects import KubeObject, dig, ref_of
from railwright.doctor.model import Condition, Evidence, Finding, Layer, Remedy, Rule, RuleInfo, Severity, conclude
from railwright.doctor.needs import INSIDE, objects, reads_rails
from railwright.doctor.rails import RailHere
from railwright.doctor.seen import Seen
from railwright.doctor.showing import capped, on_host, on_node
from railwright.doctor.subjects import RAILS
from railwright.facts.model import NodeHardware

SHARED_SUBNET = RuleInfo(
    name=RuleId("rails-share-a-subnet"),
    title="Several rails are in one subnet, or a rail is in another rail's",
    layer=Layer.NETWORKS,
    severity=Severity.WARNING,
    text="Linux answers ARP for an address on any interface, and sends everything for one subnet out of one of them: with several rails in "
    "one subnet, traffic of all goes through one NIC, or comes back by the wrong one and is dropped. Each rail wants its own subnet, the "
    "same for it on all nodes. With arp_ignore, arp_announce and source routing it can be made to work, which is then not reported. A rail "
    "whose subnet is another rail's elsewhere has its cable in the wrong switch.",
    source="Linux Documentation/networking/ip-sysctl.rst, arp_ignore, arp_announce, rp_filter (v6.12); "
    "https://github.com/NVIDIA/nccl/issues/1269 (2026)",
    needs=(INSIDE, reads_rails(relies_on=("rules", "sysctl")), objects(kinds.NETWORK_ATTACHMENT_DEFINITION)),
    covers=("B112", "B116", "B121"),
    leads_to=(Condition.RDMA_FAILS, Condition.RDMA_SLOW),
    subject=RAILS,
)
_TUNING = frozenset({"sbr", "tuning"})


def judge_subnets(seen: Seen) -> Iterator[Finding]:
    """Compare the subnets of rails on nodes, and the ranges that their networks hand out."""
    shared = [item for name, rails in seen.rails.items() for item in _shared_on(name, rails, seen.inside[name])]
    if shared:
        nodes = [item.node for item in shared if item.node]
        yield conclude(
            SHARED_SUBNET,
            "Several rails of a node have addresses of one subnet, and nothing keeps their traffic apart.",
            evidence=capped(shared),
            remedy=Remedy(
                "Give each rail its own subnet; until then set arp_ignore=1, arp_announce=2 and rp_filter=2 on the rails and a routing table "
                "for each source address.",
                (on_host(nodes[0], "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2"),),
            ),
            nodes=nodes,
        )
    yield from _networks(seen)
    yield from _swapped(seen)


def _shared_on(name: NodeName, rails: tuple[RailHere, ...], hardware: NodeHardware) -> Iterator[Evidence]:
    found: dict[str, list[RailHere]] = {}
    for rail in rails:
        for subnet in _subnets(rail):
            found.setdefault(subnet, []).append(rail)
    for subnet, members in found.items():
        if len(members) > 1 and not _kept_apart(hardware, members):
            yield on_node(name, f"rails in {subnet}", ", ".join(rail.where for rail in members))


def _subnets(rail: RailHere) -> Iterator[str]:
    for address in rail.port.ip_addresses:
        try:
            network = ipaddress.ip_interface(address).network
        except ValueError:
            continue
        if not network.is_link_local and network.prefixlen < network.max_prefixlen - 1:
            yield str(network)


def _kept_apart(hardware: NodeHardware, rails: list[RailHere]) -> bool:
    """Whether ARP is tuned on all of these rails, and each source address has a rule of its own."""
    rules = " ".join(hardware.system.rules)
    return all(
        _value(hardware, rail, "arp_ignore") >= 1
        and _value(hardware, rail, "arp_announce") >= 1
        and any(address.partition("/")[0] in rules for address in rail.port.ip_addresses)
        for rail in rails
    )


def _value(hardware: NodeHardware, rail: RailHere, key: str) -> int:
    """A sysctl as it applies: the larger one of all and of the device."""
    found = [hardware.system.sysctls.get(f"net.ipv4.conf.{name}.{key}", "0") for name in ("all", rail.port.netdev)]
    return max(whole_number(text) or 0 for text in found)


def _networks(seen: Seen) -> Iterator[Finding]:
    by_range: dict[str, list[KubeObject]] = {}
    for nad in seen.of_kind(kinds.NETWORK_ATTACHMENT_DEFINITION):
        plugins = seen.nad_plugins(nad)
        if not plugins or any(plugin.get("type") in _TUNING for plugin in plugins):
            continue
        for subnet in _ranges(plugins[0].get("ipam")):
            by_range.setdefault(f"{subnet} in {dig(nad, 'metadata', 'namespace', default='')}", []).append(nad)
    shared = {subnet: nads for subnet, nads in by_range.items() if len({_device(seen, nad) for nad in nads}) > 1}
    if shared:
        yield conclude(
            SHARED_SUBNET,
            "Networks of several rails hand out addresses of one subnet, so a pod on two of them has two ways to each peer.",
            evidence=capped(
                Evidence(str(ref_of(nad)), "ipam", subnet) for subnet, nads in sorted(shared.items()) for nad in nads
            ),
            remedy=Remedy(
                "Give each rail its own range, one pool a network; or chain the sbr and tuning plugins behind it.",
                ("railwright plan",),
            ),
            about=(f"nad:{ref_of(nad).namespace}/{ref_of(nad).name}" for nads in shared.values() for nad in nads),
        )


def _ranges(ipam: Any) -> Iterator[str]:
    if not isinstance(ipam, Mapping):
        return
    pool, texts = ipam.get("poolName"), [ipam.get("range"), ipam.get("subnet")]
    if isinstance(pool, str):
        yield f"pool {pool}"
    entries = ipam.get("ipRanges") or ipam.get("ranges") or ()
    for entry in entries if isinstance(entries, list) else ():
        first = entry[0] if isinstance(entry, list) and entry else entry
        if isinstance(first, Mapping):
            texts += [first.get("range"), first.get("subnet")]
    for text in texts:
        try:
            yield str(ipaddress.ip_network(str(text).rpartition("-")[2].strip(), strict=False))
        except ValueError:
            continue


def _device(seen: Seen, nad: KubeObject) -> str:
    """What a network hands out: its resource, else its master."""
    annotations = dig(nad, "metadata", "annotations", default={})
    resource = annotations.get(RESOURCE_NAME, "") if isinstance(annotations, Mapping) else ""
    plugins = seen.nad_plugins(nad)
    master = plugins[0].get("master", "") if plugins else ""
    return json.dumps([str(resource), str(master)])


def _swapped(seen: Seen) -> Iterator[Finding]:
    """A rail that is alone in its subnet among its like, in the subnet of another rail."""
    usual: dict[int, Counter[str]] = {}
    for rails in seen.rails.values():
        for rail in rails:
            for subnet in _subnets(rail):
                usual.setdefault(rail.index, Counter())[subnet] += 1
    home = {index: counts.most_common(1)[0][0] for index, counts in usual.items() if counts.total() > 1}
    odd = [
        on_node(name, f"{rail.name} {rail.where}", f"in {subnet}, elsewhere {home[rail.index]}")
        for name, rails in seen.rails.items()
        for rail in rails
        for subnet in _subnets(rail)
        if rail.index in home and subnet != home[rail.index] and subnet in home.values()
    ]
    if odd:
        yield conclude(
            SHARED_SUBNET,
            "A rail has an address of another rail's subnet: addresses or cables are swapped.",
            evidence=capped(odd),
            remedy=Remedy("Compare with LLDP which switch each port is on, then swap cables or addresses."),
            nodes=(item.node for item in odd if item.node),
        )


RULES = (Rule(SHARED_SUBNET, judge_subnets),)
