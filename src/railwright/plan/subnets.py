"""Which subnets each rail has: what was asked for, or a private range that nothing on the cluster uses."""

import ipaddress
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from railwright.facts.model import ClusterFacts
from railwright.plan.notes import Notes
from railwright.plan.others import subnets_in_use
from railwright.plan.settings import Settings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

DEFAULT_SUBNETS = ("192.168.0.0/16", "172.24.0.0/14", "10.192.0.0/11")
"""Private ranges (RFC 1918), tried in this order when none was asked for."""
LONGEST_PREFIX = {4: 29, 6: 125}
"""Of one rail, by family: eight addresses."""


@dataclass(frozen=True)
class RailSubnets:
    """The subnets of each rail, in rail order: one, or one of each family."""

    by_rail: tuple[tuple[str, ...], ...]


def subnets_for(
    settings: Settings, names: tuple[str, ...], cluster: ClusterFacts, taken: Iterable[str], notes: Notes
) -> RailSubnets:
    """
    Give each rail its subnets: one prefix is cut into equal parts, a list gives one a rail.

    Args:
        names: of the rails, in their order.
        taken: subnets of other fabrics.
    """
    rails = len(names)
    if rails == 0:
        return RailSubnets(())
    busy = [*_busy(cluster), *((text, "another fabric") for text in taken)]
    asked = settings.intent.network.subnets or _by_rail(settings, names)
    where = str(settings.intent.place("spec.network.subnets") or settings.name)
    if asked is None:
        in_use = [*busy, *subnets_in_use(cluster)]
        free = next((text for text in DEFAULT_SUBNETS if not _overlaps(text, in_use)), None)
        if free is None:
            notes.refuse(
                "no-free-subnet",
                f"every subnet that would be taken by itself ({', '.join(DEFAULT_SUBNETS)}) is in use",
                hint="name a free one in spec.network.subnets",
            )
            return RailSubnets(())
        notes.decide(
            f"{settings.name}: spec.network.subnets",
            free,
            "default",
            "private, and free of the cluster's networks and of others' address pools",
            "RFC 1918",
        )
        asked = (free,)
    for text in asked:
        for other, owner in _overlaps(text, busy):
            notes.refuse(
                "subnet-overlaps",
                f"subnet {text} overlaps {other}, which is the {owner}'s",
                where=where,
                expected="a range that nothing else uses",
                seen=f"{text} and {other}",
                hint="name a free one in spec.network.subnets",
            )
        for other, owner in _overlaps(text, subnets_in_use(cluster)):
            notes.warn("subnet-of-others", f"subnet {text} overlaps {other}, which {owner} hands out", settings.name)
    families = [[net for text in asked if (net := ipaddress.ip_network(text)).version == version] for version in (4, 6)]
    cut = [_cut(family, rails, where, notes) for family in families if family]
    return RailSubnets(tuple(tuple(str(part[index]) for part in cut if part) for index in range(rails)))


def _by_rail(settings: Settings, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Give the subnets that rails were asked for with, rail by rail; None when they were not."""
    asked = {rail.name: rail.subnet for rail in settings.intent.rails or () if rail.subnet is not None}
    return tuple(asked[name] for name in names if name in asked) or None


def _cut(family: list[Any], rails: int, where: str, notes: Notes) -> list[Network]:
    if len(family) == rails:
        return list(family)
    if len(family) > 1:
        notes.refuse(
            "subnets-do-not-fit-rails",
            f"{len(family)} subnets of one family for {rails} rails",
            where=where,
            expected=f"one prefix, or {rails}",
            seen=str(len(family)),
            hint="several rails in one subnet answer ARP for each other; give one prefix, it is cut into equal parts",
        )
        return []
    prefix = family[0].prefixlen + math.ceil(math.log2(rails))
    if prefix > LONGEST_PREFIX[family[0].version]:
        notes.refuse(
            "subnet-too-small",
            f"{family[0]} cannot be cut into {rails} subnets that hold addresses",
            where=where,
            expected=f"/{LONGEST_PREFIX[family[0].version] - math.ceil(math.log2(rails))} or larger",
            seen=f"/{family[0].prefixlen}",
        )
        return []
    parts = family[0].subnets(new_prefix=prefix)
    return [next(parts) for _ in range(rails)]


def _busy(cluster: ClusterFacts) -> list[tuple[str, str]]:
    kinds = (
        ("cluster network", cluster.cluster_networks),
        ("service network", cluster.service_networks),
        ("machine network", cluster.machine_networks),
        ("network plugin", cluster.internal_networks),
    )
    return [(text, owner) for owner, networks in kinds for text in networks]


def _overlaps(text: str, busy: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    mine = ipaddress.ip_network(text)
    found = []
    for other, owner in busy:
        theirs = ipaddress.ip_network(other, strict=False)
        if overlap(mine, theirs):
            found.append((other, owner))
    return found


def overlap(first: Network, second: Network) -> bool:
    """Whether two networks of one family share an address."""
    if isinstance(first, ipaddress.IPv4Network):
        return isinstance(second, ipaddress.IPv4Network) and first.overlaps(second)
    return isinstance(second, ipaddress.IPv6Network) and first.overlaps(second)
