"""
The facts that rules can need, and how to get each.

Which kinds are served is no fact of its own here: where that is not known, as in a must-gather, facts name each kind
that could not be listed.
"""

from railwright.core.objects import Kind, Ref
from railwright.doctor.model import Lack, Need
from railwright.doctor.seen import Seen


def objects(*kinds: Kind) -> Need:
    """Need every object of these kinds; a kind that the API server does not serve has none, which is an answer."""
    names = tuple(str(kind) for kind in kinds)

    def lack(seen: Seen) -> Lack | None:
        why = seen.unseen_of(names)
        return Lack(why) if why else None

    return Need(
        f"objects: {', '.join(names)}",
        "run it with rights to list them (railwright explain --rbac doctor), or collect them",
        lack,
    )


def one(ref: Ref) -> Need:
    """Need one object; that it does not exist is an answer."""

    def lack(seen: Seen) -> Lack | None:
        why = seen.unseen_of((str(ref),))
        return Lack(why) if why else None

    return Need(str(ref), f"run it with rights to get {ref}, or collect it", lack)


def _no_nodes(seen: Seen) -> Lack | None:
    why = seen.unseen_of(("Node",))
    if why or not seen.nodes:
        return Lack(why or "no node was seen")
    return None


NODES = Need("nodes", "run it with rights to list nodes, or collect them", _no_nodes)


def _not_inside(seen: Seen) -> Lack | None:
    if not seen.nodes:
        return Lack("no node was seen")
    missing = {node.name: node.hardware_problem for node in seen.nodes if node.hardware is None}
    if not missing:
        return None
    why = "; ".join(sorted(set(missing.values())))
    return Lack(why, () if len(missing) == len(seen.nodes) else tuple(missing))


INSIDE = Need(
    "inside of nodes",
    "let it read nodes: a privileged pod of an operator that is there, --allow-debug-pod, or --via ssh",
    _not_inside,
)
"""The node script's answer; a node without one is UNKNOWN, the others are judged."""
