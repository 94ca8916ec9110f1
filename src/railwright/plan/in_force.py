"""
The value in force of one key of rails.yaml, for each fabric: what plan decided, else what the file says, else the default.

Not here: what a key means (intent/key_rows.py), and the deciding itself.
"""

from collections.abc import Callable, Iterable, Iterator

from railwright.intent.keys import KeyDoc
from railwright.intent.model import Intent, Method
from railwright.intent.write import written
from railwright.plan.model import Decision, FabricPlan, OperatorShare, Plan

_SHOWN = 8
_ONLY_WITH = {
    "spec.vfsPerRail": Method.SRIOV,
    "spec.podsPerRail": Method.SHARED,
    "spec.rdmaIsolation": Method.SRIOV,
}
"""Keys that one method uses and the others have no use for."""


def in_force(plan: Plan, key: KeyDoc, entry: str = "") -> tuple[Decision, ...]:
    """
    Say what holds for a key, fabric by fabric; for a key with keys below it, what was decided of those.

    Args:
        entry: one entry of a map: the package in "spec.operators.channels.nfd".
    """
    of_all = _OF_ALL.get(key.path)
    if of_all is not None:
        found = tuple(item for item in of_all(plan) if not entry or item.key.endswith(f" {entry}"))
        if found:
            return found
    return tuple(item for fabric in plan.fabrics for item in _of_fabric(plan, fabric, key, entry))


def asked_for(intent: Intent, key: KeyDoc, entry: str = "") -> Iterator[Decision]:
    """Give what the file says of a key; nothing where it was left out."""
    path = f"{key.path}.{entry}" if entry else key.path
    text = written(intent, key.path, entry)
    if text:
        place = intent.place(path.partition("[]")[0])
        yield Decision(f"{intent.name}: {path}", text, "file", "asked for", str(place or ""))


def _of_fabric(plan: Plan, fabric: FabricPlan, key: KeyDoc, entry: str) -> Iterable[Decision]:
    own = f"{fabric.name}: {key.path}"
    decided = [item for item in plan.decisions if item.key == own or item.key.startswith(f"{own}.")]
    if not decided and key.path in _BY_NODES:
        decided = list(_BY_NODES[key.path](plan, fabric))
    if not decided:
        decided = list(asked_for(fabric.intent, key, entry))
    if decided:
        return decided
    only = _ONLY_WITH.get(key.path, fabric.method)
    if only is not fabric.method:
        return (Decision(own, "nothing", "default", f"only method {only} uses it"),)
    return (Decision(own, key.default, "default", key.why or "left out"),) if key.default else ()


def _nodes(plan: Plan, fabric: FabricPlan) -> Iterator[Decision]:
    mine = [node for node in plan.nodes if fabric.name in node.admitted]
    asked = next(asked_for(fabric.intent, _NODES), None)
    if mine:
        reasons = ", ".join(dict.fromkeys(node.reason for node in mine if node.reason))
        yield Decision(
            f"{fabric.name}: spec.nodes",
            _some(node.node for node in mine),
            "file" if asked else "cluster",
            reasons or "admitted",
            asked.source if asked else "",
        )


def _rails(plan: Plan, fabric: FabricPlan) -> Iterator[Decision]:
    del plan
    asked = next(asked_for(fabric.intent, _RAILS), None)
    if fabric.rails:
        yield Decision(
            f"{fabric.name}: spec.rails",
            _some(f"{rail.name} ({_some(sorted({port.netdev for port in rail.ports}))})" for rail in fabric.rails),
            "file" if asked else "hardware",
            "asked for" if asked else "ports in the order of the GPUs that they are nearest to",
            asked.source if asked else "",
        )


def _channels(plan: Plan) -> Iterator[Decision]:
    return (item for item in plan.decisions if item.key.startswith("operator "))


def _catalogs(plan: Plan) -> Iterator[Decision]:
    named = {package for fabric in plan.fabrics for package in fabric.intent.operators.catalogs}
    for share in plan.shares:
        if isinstance(share, OperatorShare) and share.catalog:
            asked = share.package in named and not share.adopted
            reason = "asked for" if asked else "where its Subscription takes it from"
            yield Decision(f"operator {share.package}", share.catalog, "file" if asked else "cluster", reason)


def _nic_version(plan: Plan) -> Iterator[Decision]:
    return (item for item in plan.decisions if item.key == "doca driver")


def _some(names: Iterable[object]) -> str:
    listed = [str(name) for name in names]
    rest = len(listed) - _SHOWN
    return ", ".join(listed[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


_NODES, _RAILS = KeyDoc("spec.nodes", "mapping", ""), KeyDoc("spec.rails", "list", "")
_OF_ALL: dict[str, Callable[[Plan], Iterator[Decision]]] = {
    "spec.operators.channels": _channels,
    "spec.operators.catalogs": _catalogs,
    "spec.driver.nicVersion": _nic_version,
}
"""Keys whose value is one for all fabrics, and was decided under the name of the shared thing."""
_BY_NODES: dict[str, Callable[[Plan, FabricPlan], Iterator[Decision]]] = {"spec.nodes": _nodes, "spec.rails": _rails}
