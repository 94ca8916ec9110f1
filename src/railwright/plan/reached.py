"""
Whom a NicClusterPolicy of others reaches: its selector is theirs, so nodes that we never asked for may be in it.

A driver that we add to such a policy comes to every node that it selects, all at once. Each of them is checked as if
it were ours; and a node of ours that it does not select gets nothing from it.
Measured: what drivers select, with Network Operator 26.4.1 controllers against kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Callable, Mapping
from typing import Any

from railwright.core.objects import KubeObject, dig
from railwright.facts.model import NodeFacts
from railwright.intent.model import NicDriver
from railwright.plan.nodes import connectx_ports
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings
from railwright.plan.uplinks import cuts, path_text

_REQUIRED = ("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")

_OPERATORS: Mapping[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda have, values: have in values,
    "NotIn": lambda have, values: have not in values,
    "Exists": lambda have, _: have is not None,
    "DoesNotExist": lambda have, _: have is None,
    "Gt": lambda have, values: have is not None and have.isdecimal() and int(have) > int(values[0]),
    "Lt": lambda have, values: have is not None and have.isdecimal() and int(have) < int(values[0]),
}


def selects(policy: KubeObject, node: NodeFacts) -> bool:
    """Whether a policy's node affinity takes a node; without one it takes every node. An unknown operator takes it."""
    terms = dig(policy, "spec", *_REQUIRED)
    if terms is None:
        return True
    return any(_term_holds(term, node) for term in terms)


def _term_holds(term: Mapping[str, Any], node: NodeFacts) -> bool:
    expressions = [(node.labels.get(item["key"]), item) for item in term.get("matchExpressions") or ()]
    expressions += [
        (node.name if item["key"] == "metadata.name" else None, item) for item in term.get("matchFields") or ()
    ]
    if not expressions:
        return False
    return all(_holds(item, have) for have, item in expressions)


def _holds(expression: Mapping[str, Any], have: str | None) -> bool:
    operator = _OPERATORS.get(expression["operator"])
    return operator is None or operator(have, expression.get("values") or [])


def check_selected(policy: KubeObject, node: NodeFacts, notes: Notes) -> None:
    """Refuse a node of a fabric that the policy leaves out: neither driver nor plugins would come to it."""
    if not selects(policy, node):
        notes.refuse(
            "policy-leaves-node-out",
            f"the NicClusterPolicy that is there does not select {node.name}: no driver and no device plugin comes to it",
            where="NicClusterPolicy spec.nodeAffinity",
            expected=f"a term that takes {node.name}",
            seen=f"{len(dig(policy, 'spec', *_REQUIRED, default=[]))} terms, none of which does",
            hint="its owner may widen it; railwright changes no selector of others",
            node=node.name,
        )


def check_driver_reaches(
    policy: KubeObject, nodes: tuple[NodeFacts, ...], all_settings: tuple[Settings, ...], notes: Notes
) -> None:
    """
    Refuse to add a driver to a policy that selects a node which it would cut off, in a fabric or not.

    Args:
        nodes: every node of the cluster.
    """
    settings = next(item for item in all_settings if item.nic_driver is NicDriver.DOCA)
    hint = "its owner may leave that node out with spec.nodeAffinity; or driver.nic: in-box with driver.memory: dma-buf"
    reached = [node for node in nodes if selects(policy, node)]
    for node in reached:
        hardware = node.hardware
        if hardware is None or (connectx_ports(hardware) and not hardware.uplinks_known):
            problem = node.hardware_problem if hardware is None else hardware.uplinks_problem
            notes.refuse(
                "uplink-unknown",
                f"the NicClusterPolicy that is there selects {node.name}, the driver would come to it, and what carries its"
                f" own traffic is not known: {problem}",
                where=node.name,
                expected="routes, mounts and the host's network namespace, readable",
                seen=problem,
                hint=hint,
            )
            continue
        for carried, why in cuts(hardware, (), settings):
            path = path_text(carried)
            notes.refuse(
                "uplink-would-be-cut",
                f"the NicClusterPolicy that is there selects {node.name}, and {carried.what} of it runs over {path}, which"
                f" would be taken: {why}",
                where=node.name,
                expected="no function that is taken carries the node's own traffic",
                seen=path,
                hint=hint,
            )
    with_ports = [node.name for node in reached if node.hardware and connectx_ports(node.hardware)]
    notes.warn(
        "driver-without-canary",
        f"the NicClusterPolicy that is there has its own selector: the driver comes to {', '.join(with_ports)} at once,"
        " without a canary",
        "NicClusterPolicy",
    )
