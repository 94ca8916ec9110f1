"""
The layout of the sosreport of NVIDIA's network operator (`kubectl netop-sosreport`).

    metadata/collection-info.txt, cluster-version.yaml, api-resources.txt
    crds/instances/PLURAL/all.yaml                 everything of that kind in all namespaces; no file where there is none
    nodes/all-nodes.yaml
    operator/namespace.yaml, configmaps.yaml, events.yaml, rbac/...     of the operator's namespace
    operator/components/NAME/daemonset.yaml, deployment.yaml            by their labels
    operator/components/NAME/pods/POD.yaml, POD-CONTAINER.log, POD-CONTAINER-previous.log
    related-operators/sriov-network-operator/daemonsets.yaml, deployments.yaml

The diagnostics in it are excerpts (`lsmod | grep mlx`) taken inside the driver's container: no facts of a node.

Source: Mellanox/network-operator 065fe4c3, scripts/sosreport/kubectl-netop_sosreport (v26.1.0), README.md.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

from railwright.adapters.archive.holdings import Holdings, LogKey, Shelf
from railwright.adapters.archive.limits import MAX_OBJECT_BYTES
from railwright.adapters.archive.plurals import kinds_by_plural, known_kinds
from railwright.adapters.archive.tree import Tree, read_end, read_log, read_whole
from railwright.adapters.archive.yaml_text import objects_of, values
from railwright.core import kinds
from railwright.core.objects import Kind, dig
from railwright.ports.cluster import ServedKind

_MARK = "metadata/collection-info.txt"
_INSTANCES = re.compile(r"crds/instances/([^/]+)/[^/]+\.ya?ml")
_OF_NAMESPACE = {
    "configmaps": kinds.CONFIG_MAP,
    "events": kinds.EVENT,
    "serviceaccounts": kinds.SERVICE_ACCOUNT,
    "roles": kinds.ROLE,
    "rolebindings": kinds.ROLE_BINDING,
}
"""Files that hold everything of a kind in the operator's namespace."""
_SOME = {
    "namespace": kinds.NAMESPACE,
    "daemonset": kinds.DAEMON_SET,
    "deployment": kinds.DEPLOYMENT,
    "clusterroles": kinds.CLUSTER_ROLE,
    "clusterrolebindings": kinds.CLUSTER_ROLE_BINDING,
}
"""Files that hold some of a kind, by their labels."""
_SRIOV_NAMESPACE = "openshift-sriov-network-operator"
_SRIOV = "related-operators/sriov-network-operator/"
_ALL_OF_SRIOV = {"deployments": kinds.DEPLOYMENT, "daemonsets": kinds.DAEMON_SET}
_TIME = re.compile(r"Collection Time: \w{3} (\w{3}) +(\d+) (\d\d:\d\d:\d\d) (?:(AM|PM) )?UTC (\d{4})")
_NAMESPACE = re.compile(r"Operator Namespace: ([a-z0-9-]+)")


def folder_of(tree: Tree) -> str | None:
    """Find the folder of this layout, with its slash; None when there is none."""
    found = [path for path in tree.sizes if path == _MARK or path.endswith(f"/{_MARK}")]
    return min(found, key=len).removesuffix(_MARK) if found else None


def holdings_of(tree: Tree, top: str) -> Holdings:
    """Read the layout."""
    info = read_end(tree, f"{top}{_MARK}", 64 << 10).decode(errors="replace")
    said = _NAMESPACE.search(info)
    namespace = said[1] if said else ""
    shelves: list[Shelf] = []
    some: dict[Kind, list[str]] = {}
    for path in sorted(tree.sizes):
        inside = path.removeprefix(top)
        if not path.startswith(top) or not inside.endswith((".yaml", ".yml")):
            continue
        for kind, place, is_all in _kinds_in(inside, namespace):
            if is_all:
                shelves.append(
                    Shelf(kind, partial(objects_of, tree, (path,), kind), place, size_bytes=tree.sizes[path])
                )
            else:
                some.setdefault(kind, []).append(path)
    shelves += [
        Shelf(kind, partial(objects_of, tree, tuple(paths), kind), is_complete=False) for kind, paths in some.items()
    ]
    return Holdings(
        shelves=tuple(shelves),
        served=_served(tree, f"{top}metadata/api-resources.txt"),
        version=_version(tree, f"{top}metadata/cluster-version.yaml"),
        logs=_logs(tree, top, namespace),
        node_problem="the network operator's sosreport holds no node record: run `railwright collect`",
        taken_at=_taken_at(info),
        notes=("sosreport of NVIDIA's network operator",),
    )


def _kinds_in(inside: str, namespace: str) -> Iterator[tuple[Kind, str, bool]]:
    """Tell which kinds a file holds, where from, and whether it holds all of them."""
    folder, _, name = inside.rpartition("/")
    stem = name.rpartition(".")[0]
    if match := _INSTANCES.fullmatch(inside):
        same = [some for (_, plural), some in kinds_by_plural().items() if plural == match[1]]
        yield from ((kind, "", True) for some in same for kind in some)
    elif inside == "nodes/all-nodes.yaml":
        yield kinds.NODE, "", True
    elif inside == "network/network-attachment-definitions.yaml":
        yield kinds.NETWORK_ATTACHMENT_DEFINITION, "", True
    elif inside.startswith(_SRIOV) and stem in _ALL_OF_SRIOV:
        yield _ALL_OF_SRIOV[stem], _SRIOV_NAMESPACE, True
    elif folder in {"operator", "operator/rbac"} and stem in _OF_NAMESPACE and namespace:
        yield _OF_NAMESPACE[stem], namespace, True
    elif folder.endswith("/pods"):
        yield kinds.POD, "", False
    elif stem in _SOME:
        yield _SOME[stem], "", False


def _served(tree: Tree, path: str) -> tuple[ServedKind, ...] | None:
    """
    Read what `kubectl api-resources` printed: NAME SHORTNAMES APIVERSION NAMESPACED KIND.

    It names one version a kind; a version that railwright asks for may be served beside it, so it counts as served.
    """
    if path not in tree.sizes:
        return None
    found: list[ServedKind] = []
    for line in read_whole(tree, path, MAX_OBJECT_BYTES).decode(errors="replace").splitlines():
        parts = line.split()
        if len(parts) >= 4 and parts[-2] in {"true", "false"}:
            found.append(ServedKind(Kind(parts[-3], parts[-1]), parts[0], parts[-2] == "true"))
    if not found:
        return None
    there = {item.kind for item in found}
    by_name = {(item.kind.group, item.kind.kind): item for item in found}
    also = [
        ServedKind(kind, item.plural, item.namespaced)
        for kind in sorted(known_kinds() - there)
        if (item := by_name.get((kind.group, kind.kind))) is not None
    ]
    return (*found, *also)


def _version(tree: Tree, path: str) -> str:
    """Read what `kubectl version -o yaml` printed."""
    said = next(values(tree, path), None) if path in tree.sizes else None
    return str(dig(said, "serverVersion", "gitVersion", default=""))


def _logs(tree: Tree, top: str, namespace: str) -> dict[LogKey, Callable[[], str]]:
    """Find logs: their names begin with that of a pod whose object lies beside them."""
    pods = {path.removesuffix(".yaml") for path in tree.sizes if path.startswith(top) and path.endswith(".yaml")}
    found: dict[LogKey, Callable[[], str]] = {}
    for path in sorted(tree.sizes):
        if not path.startswith(top) or not path.endswith(".log") or "/pods/" not in path:
            continue
        stem = path.removesuffix(".log")
        previous = stem.endswith("-previous")
        stem = stem.removesuffix("-previous")
        parts = stem.split("-")
        owner = next((head for n in range(len(parts), 0, -1) if (head := "-".join(parts[:n])) in pods), None)
        if owner is not None:
            key = LogKey(namespace, owner.rpartition("/")[2], stem[len(owner) + 1 :], previous)
            found.setdefault(key, partial(read_log, tree, path))
    return found


def _taken_at(info: str) -> str:
    """Read "Collection Time: Mon Nov 30 10:05:12 UTC 2026"; "" for a time in another zone."""
    match = _TIME.search(info)
    if match is None:
        return ""
    text = f"{match[5]} {match[1]} {match[2]} {match[3]} {match[4] or ''}".strip()
    try:
        if match[4]:
            return datetime.strptime(f"{text} +0000", "%Y %b %d %I:%M:%S %p %z").isoformat()
        return datetime.strptime(f"{text} +0000", "%Y %b %d %H:%M:%S %z").isoformat()
    except ValueError:
        return ""
