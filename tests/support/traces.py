"""A cluster before and after, compared field by field; what may differ is listed here, each with its reason."""

from railwright.core.kinds import CONFIG_MAP, EVENT, INSTALL_PLAN, MACHINE_CONFIG, NODE, POD, SUBSCRIPTION
from railwright.core.objects import Ref
from railwright.ports.cluster import Cluster, Selection
from railwright.simulator.ownership import leaves

BOOKKEEPING = {
    ("metadata", "resourceVersion"): "every write moves it",
    ("metadata", "generation"): "every change of a spec moves it, back to the old value too",
    ("metadata", "managedFields"): "the API server's own account of who wrote what, with times",
}
"""Fields that say that something happened, and nothing else."""

STAYING_LABELS = ("feature.node.kubernetes.io/", "network.nvidia.com/", "nvidia.com/", "sriovnetwork.openshift.io/")
"""Node labels that operators set and nobody takes away; `clean` lists them."""
STAYING_ANNOTATIONS = (
    "machineconfiguration.openshift.io/",
    "nfd.node.kubernetes.io/",
    "nvidia.com/",
    "sriovnetwork.openshift.io/",
)
"""Node annotations that operators and the machine config daemon set."""
STAYING_KINDS = {
    "CustomResourceDefinition": "OLM leaves an operator's definitions behind",
}
_RENDERED = "rendered-"
"""The machine config operator keeps every MachineConfig that it rendered for a pool."""
_WITHDRAWN = "0"
"""A kubelet goes on listing a resource whose device plugin is gone, with none to give."""

OUR_NAMESPACE = "railwright"

_Objects = dict[Ref, dict[tuple[str, ...], object]]


async def seen_objects(cluster: Cluster) -> _Objects:
    """Read every object of every kind served, taken apart into leaves."""
    found: _Objects = {}
    for served in await cluster.served_kinds():
        if served.kind == EVENT:
            continue
        async for obj in cluster.list(Selection(served.kind)):
            ref = Ref(served.kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            found[ref] = {path: value for path, value in leaves(obj).items() if path[:2] not in BOOKKEEPING}
    return found


async def lasting_objects(cluster: Cluster) -> _Objects:
    """Read what two runs of the same job must agree on: no uids and hashes of them, no times, no names drawn by lot."""
    return {
        ref: {path: value for path, value in fields.items() if not _is_of_one_run(ref, path)}
        for ref, fields in (await seen_objects(cluster)).items()
        if ref.kind not in {POD, INSTALL_PLAN} and not (ref.kind == CONFIG_MAP and ref.namespace == OUR_NAMESPACE)
    }


def _is_of_one_run(ref: Ref, path: tuple[str, ...]) -> bool:
    return (
        path[:2] in {("metadata", "uid"), ("metadata", "creationTimestamp"), ("metadata", "ownerReferences")}
        or (ref.kind == SUBSCRIPTION and path[0] == "status")
        or path[-1] in {"lastUpdated", "nvidia.network-operator.revision"}
        or path[-1].endswith("Time")
    )


def differences(before: _Objects, after: _Objects) -> list[str]:
    """Name every object and field that is not as it was."""
    lines = [f"{ref} is gone" for ref in before if ref not in after]
    lines += [f"{ref} is left" for ref in after if ref not in before and not _may_stay(ref)]
    for ref in before.keys() & after.keys():
        for path in before[ref].keys() | after[ref].keys():
            # An empty mapping is a leaf until something is in it.
            was, now = (None if leaf == {} else leaf for leaf in (before[ref].get(path), after[ref].get(path)))
            if was != now and not _is_listed(ref, path, was, now):
                lines.append(f"{ref} {'.'.join(map(str, path))}: was {was!r}, is {now!r}")
    return sorted(lines)


def _may_stay(ref: Ref) -> bool:
    return ref.kind.kind in STAYING_KINDS or (ref.kind == MACHINE_CONFIG and ref.name.startswith(_RENDERED))


def _is_listed(ref: Ref, path: tuple[str, ...], was: object, now: object) -> bool:
    if path == ("status", "observedGeneration"):
        return True
    if path == ("status", "conditions"):
        return _without_times(was) == _without_times(now)
    if ref.kind != NODE or len(path) < 3:
        return False
    if path[:2] in {("status", "capacity"), ("status", "allocatable")}:
        return was is None and now == _WITHDRAWN
    staying = {"labels": STAYING_LABELS, "annotations": STAYING_ANNOTATIONS}.get(str(path[1]), ())
    return path[0] == "metadata" and str(path[2]).startswith(staying)


def _without_times(conditions: object) -> list[dict[str, object]]:
    """Conditions without the time at which each last changed: they went there and back."""
    found = conditions if isinstance(conditions, list) else []
    return [{key: value for key, value in item.items() if not key.endswith("Time")} for item in found]
