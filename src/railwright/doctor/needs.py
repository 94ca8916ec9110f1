"""
The facts that rules can need or use, and how to get each.

`objects` lets a rule be asked with whatever part of the lists is there: what it finds in it holds, and what it does not
find there is UNKNOWN. `every` is for rules that say nothing without the whole list.
"""

from collections.abc import Iterable

from railwright.core import kinds as known
from railwright.core.objects import Kind, Ref
from railwright.doctor.everything import Everything
from railwright.doctor.model import Lack, Need
from railwright.doctor.sections import in_words, ways_to

OPERATORS = (known.SUBSCRIPTION, known.DEPLOYMENT)
"""By which operators are found."""
_HOW = (
    "run it with rights to list them (railwright explain --rbac doctor), or collect them: railwright collect, or a "
    "must-gather with the images of the operators too"
)


def objects(*kinds: Kind) -> Need:
    """Need the objects of these kinds, as far as they were seen."""
    return _listed(kinds, is_part_enough=True)


def every(*kinds: Kind) -> Need:
    """Need every object of these kinds; a kind that the API server does not serve has none, which is an answer."""
    return _listed(kinds, is_part_enough=False)


def _listed(kinds: tuple[Kind, ...], *, is_part_enough: bool) -> Need:
    def lack(everything: Everything) -> Lack | None:
        missing = {kind: why for kind in kinds if (why := everything.missing_of(kind))}
        if not missing:
            return None
        return Lack("; ".join(dict.fromkeys(missing.values())), missing=_names(missing))

    return Need(_names(kinds), _HOW, lack, frozenset(kinds), is_part_enough=is_part_enough)


def _names(kinds: Iterable[Kind]) -> str:
    return f"objects: {', '.join(str(kind) for kind in kinds)}"


def pods_of(operator: str) -> Need:
    """Need the pods in the namespace of one operator; without the operator, all."""

    def lack(everything: Everything) -> Lack | None:
        homes = {item.namespace for item in everything.operators.get(operator, ())}
        if homes and all(everything.is_whole(known.POD, home) for home in homes):
            return None
        why = everything.missing_of(known.POD)
        return Lack(why) if why else None

    return Need(f"pods of operator {operator}", _HOW, lack, frozenset({known.POD}), is_part_enough=True)


def single(ref: Ref) -> Need:
    """Need one object; that it does not exist is an answer."""

    def lack(everything: Everything) -> Lack | None:
        item = everything.unseen.get(str(ref))
        return Lack(f"{item.what}: {item.why}") if item is not None else None

    how = f"run it with rights to get {ref}, or collect it"
    return Need(str(ref), how, lack, frozenset({ref.kind}), is_part_enough=True)


def _no_nodes(everything: Everything) -> Lack | None:
    why = everything.missing_of(known.NODE)
    if why or not everything.nodes:
        return Lack(why or "no node was seen")
    return None


NODES = Need("nodes", "run it with rights to list nodes, or collect them", _no_nodes, frozenset({known.NODE}))


def _not_inside(everything: Everything) -> Lack | None:
    if not everything.nodes:
        return Lack("no node was seen")
    missing = {node.name: node.hardware_problem for node in everything.nodes if node.hardware is None}
    if not missing:
        return None
    why = "; ".join(sorted(set(missing.values())))
    return Lack(why, () if len(missing) == len(everything.nodes) else tuple(missing))


INSIDE = Need(
    "inside of nodes",
    "let it read nodes: a privileged pod of an operator that is there, --allow-debug-pod, or --via ssh",
    _not_inside,
    frozenset({known.NODE}),
    is_inside=True,
)
"""The node script's answer; a node without one is UNKNOWN, the others are judged."""
_REASONS_SHOWN = 4

WHAT_CARRIES = (
    *("meta", "pci", "net", "addr", "route4", "route6", "route4_tables", "route6_tables", "rules"),
    *("mounts", "nvme", "iscsi", "storage", "sockets"),
)
"""Sections by which the node's own traffic is followed to its ports."""
RAIL_SECTIONS = (*WHAT_CARRIES, "infiniband")
"""Sections by which rails are told from other ports."""


def reads(*sections: str, relies_on: Iterable[str] = ()) -> Need:
    """
    Need sections of the node record, on every node whose inside was read.

    A node where one of them was not read whole is UNKNOWN, and is judged by the rest all the same.

    Args:
        relies_on: sections in which the rule takes what is not there for absent, and says so: a node where one of these was
            not read whole is kept from the rule.
    """
    relied = tuple(dict.fromkeys(relies_on))
    named = tuple(dict.fromkeys((*sections, *relied)))

    def lack(everything: Everything) -> Lack | None:
        gaps = {
            node: {section: why for section, why in unread.items() if section in named}
            for node, unread in everything.unread.items()
        }
        nodes = tuple(node for node, found in gaps.items() if found)
        if not nodes:
            return None
        whys = {section: why for found in gaps.values() for section, why in found.items()}
        missing = [section for section in named if section in whys]
        reasons = tuple(dict.fromkeys(f"{section}: {whys[section]}" for section in missing))
        more = f"; and {len(reasons) - _REASONS_SHOWN} more" if len(reasons) > _REASONS_SHOWN else ""
        why = "; ".join(reasons[:_REASONS_SHOWN]) + more
        return Lack(why, nodes, f"in nodes: {in_words(missing)}", ways_to(missing))

    return Need(
        f"in nodes: {in_words(named)}",
        ways_to(named),
        lack,
        is_part_enough=True,
        sections=frozenset(named),
        relies_on=frozenset(relied),
    )


def reads_rails(*sections: str, relies_on: Iterable[str] = ()) -> Need:
    """Need what tells rails from other ports, and sections besides; see `reads`."""
    return reads(*RAIL_SECTIONS, *sections, relies_on=relies_on)


def _no_ledger(everything: Everything) -> Lack | None:
    return Lack(everything.kept.problem) if everything.kept.problem else None


LEDGER = Need(
    "the ledger",
    "run it with rights to read the ledger's namespace (railwright explain --rbac doctor), or collect it: railwright collect",
    _no_ledger,
    is_ledger=True,
)
"""What railwright wrote down of what it did; a cluster without one holds nothing of ours, which is an answer."""

BY_OPERATORS = objects(*OPERATORS)
SRIOV_POLICIES = (known.SRIOV_NETWORK_NODE_POLICY, known.SRIOV_OPERATOR_CONFIG)
"""By which it is found what SR-IOV policies count."""
WHO_WANTS_RDMA = objects(known.NODE, known.NIC_CLUSTER_POLICY, *SRIOV_POLICIES, known.POD)
"""By which it is found where RDMA is wanted; resources of unusual names also by the operators."""
