"""
The layout of `oc adm must-gather` and `oc adm inspect`, of any image that gathers with them, several in one folder.

    IMAGE/cluster-scoped-resources/GROUP/PLURAL.yaml            a list
    IMAGE/cluster-scoped-resources/GROUP/PLURAL/NAME.yaml       one object
    IMAGE/namespaces/NS/NS.yaml                                 the namespace
    IMAGE/namespaces/NS/GROUP/PLURAL.yaml                       a list: everything of that kind in the namespace
    IMAGE/namespaces/NS/GROUP/PLURAL/NAME.yaml                  one object
    IMAGE/namespaces/NS/pods/POD/POD.yaml                       one pod
    IMAGE/namespaces/NS/pods/POD/CONTAINER/CONTAINER/logs/current.log, previous.log
    IMAGE/namespaces/NS/pods/sriov-network-config-daemon-ID/kernel-cmdline, lockdown, ...   from inside a node
    IMAGE/nodes/NODE/proc_cmdline                               from inside a node (performance profiles)
    IMAGE/timestamp                                             begin and end

A file that is not there says nothing: inspect writes none for a kind without objects where it writes single ones.

Source: openshift/oc 91589c6c, pkg/cli/admin/inspect/resource.go, util.go, namespace.go, pod.go; openshift/must-gather
0a0636bb, collection-scripts/gather_sriov, gather_nfd, gather_olm, gather_ppc_single_node, common.sh.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from railwright.adapters.archive.holdings import Holdings, LogKey, Shelf
from railwright.adapters.archive.partial_record import partial_record
from railwright.adapters.archive.plurals import kinds_of
from railwright.adapters.archive.tree import Tree, read_end, read_log
from railwright.adapters.archive.yaml_text import objects_of
from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, dig
from railwright.ports.node import NodeAnswer

_CLUSTER = re.compile(r"(?:^|.*/)cluster-scoped-resources/([^/]+)/([^/]+?)(?:/([^/]+))?\.ya?ml")
_NAMESPACED = re.compile(r"(?:^|.*/)namespaces/([^/]+)/([^/]+)/([^/]+?)(?:/([^/]+))?\.ya?ml")
_NAMESPACE = re.compile(r"(?:^|.*/)namespaces/([^/]+)/\1\.ya?ml")
_POD = re.compile(r"(?:^|.*/)namespaces/([^/]+)/pods/([^/]+)/\2\.ya?ml")
_LOG = re.compile(r"(?:^|.*/)namespaces/([^/]+)/pods/([^/]+)/([^/]+)/(?:[^/]+/)?logs/(current|previous)\.log")
_IN_POD = re.compile(r"(?:^|.*/)namespaces/([^/]+)/pods/([^/]+)/(kernel-cmdline|lockdown)")
_IN_NODE = re.compile(r"(?:^|.*/)nodes/([^/]+)/(proc_cmdline)")
_TOP = re.compile(r"(?:^|/)(cluster-scoped-resources|namespaces)/")
_TIMESTAMP = re.compile(r"(?:^|[^/]+/|[^/]+/[^/]+/)timestamp")
_SECTIONS = {"kernel-cmdline": "cmdline", "lockdown": "lockdown", "proc_cmdline": "cmdline"}

GATHERED_WHOLE = frozenset(
    {
        kinds.CLUSTER_VERSION,
        kinds.NODE,
        kinds.MACHINE_CONFIG,
        kinds.MACHINE_CONFIG_POOL,
        kinds.KUBELET_CONFIG,
        kinds.SUBSCRIPTION,
        kinds.CLUSTER_SERVICE_VERSION,
        kinds.INSTALL_PLAN,
        kinds.OPERATOR_GROUP,
        kinds.CATALOG_SOURCE,
        kinds.NODE_NETWORK_CONFIGURATION_POLICY,
        kinds.SRIOV_OPERATOR_CONFIG,
        kinds.SRIOV_NETWORK_POOL_CONFIG,
        kinds.SRIOV_NETWORK_NODE_POLICY,
        kinds.SRIOV_NETWORK_NODE_STATE,
        kinds.SRIOV_NETWORK,
        kinds.SRIOV_IB_NETWORK,
        kinds.NODE_FEATURE_DISCOVERY,
        kinds.NODE_FEATURE_RULE,
        kinds.NETWORK_ATTACHMENT_DEFINITION,
    }
)
"""Kinds of which the gather scripts take every object, of all namespaces: where there is one there are all."""

_Place = tuple[Kind, str]


def is_there(tree: Tree) -> bool:
    """Whether something in this layout is here."""
    return any(_CLUSTER.fullmatch(path) or _NAMESPACED.fullmatch(path) for path in tree.sizes)


def holdings_of(tree: Tree) -> Holdings:
    """Read the layout; objects are read when they are asked for."""
    lists: dict[_Place, str] = {}
    singles: dict[Kind, dict[str, str]] = {}
    logs: dict[LogKey, Callable[[], str]] = {}
    inside: dict[tuple[str, str], dict[str, str]] = {}
    for path in sorted(tree.sizes):
        if match := _LOG.fullmatch(path):
            key = LogKey(match[1], match[2], match[3], match[4] == "previous")
            logs.setdefault(key, partial(read_log, tree, path))
        elif match := _IN_POD.fullmatch(path) or _IN_NODE.fullmatch(path):
            owner = (match[1], match[2]) if match.re is _IN_POD else ("", match[1])
            inside.setdefault(owner, {})[_SECTIONS[match[match.lastindex or 0]]] = path
        else:
            _take_objects(path, lists, singles)
    singles = _not_in_a_list(singles, lists)
    shelves = [
        Shelf(kind, partial(objects_of, tree, (path,), kind), namespace, size_bytes=tree.sizes[path])
        for (kind, namespace), path in lists.items()
    ]
    shelves += [
        Shelf(
            kind,
            partial(objects_of, tree, tuple(paths.values()), kind),
            is_complete=kind in GATHERED_WHOLE,
            size_bytes=sum(tree.sizes[path] for path in paths.values()),
        )
        for kind, paths in singles.items()
    ]
    return Holdings(
        shelves=tuple(shelves),
        logs=logs,
        nodes=_nodes(tree, inside, shelves),
        node_problem="a must-gather holds little of the inside of nodes: run `railwright collect`",
        taken_at=_taken_at(tree),
        notes=(_about(tree),),
    )


def _about(tree: Tree) -> str:
    """Name it, with the number of images that gathered."""
    images = {path[: match.start(1)] for path in tree.sizes if (match := _TOP.search(path))}
    return f"OpenShift must-gather{f' of {len(images)} images' if len(images) > 1 else ''}"


def _take_objects(path: str, lists: dict[_Place, str], singles: dict[Kind, dict[str, str]]) -> None:
    if match := _NAMESPACE.fullmatch(path):
        singles.setdefault(kinds.NAMESPACE, {}).setdefault(match[1], path)
    elif match := _POD.fullmatch(path):
        singles.setdefault(kinds.POD, {}).setdefault(f"{match[1]}/{match[2]}", path)
    elif match := _CLUSTER.fullmatch(path):
        _take(path, "", match[1], match[2], match[3], lists, singles)
    elif match := _NAMESPACED.fullmatch(path):
        _take(path, match[1], match[2], match[3], match[4], lists, singles)


def _take(
    path: str,
    namespace: str,
    group: str,
    plural: str,
    name: str | None,
    lists: dict[_Place, str],
    singles: dict[Kind, dict[str, str]],
) -> None:
    for kind in kinds_of(group, plural):
        if kind == kinds.SECRET:
            continue
        if name is None:
            lists.setdefault((kind, namespace), path)
        else:
            singles.setdefault(kind, {}).setdefault(f"{namespace}/{name}", path)


def _not_in_a_list(
    singles: Mapping[Kind, Mapping[str, str]], lists: Mapping[_Place, str]
) -> dict[Kind, dict[str, str]]:
    """Leave out objects of which there is a list, as pods of a namespace: they would be read twice."""
    left = {
        kind: {
            name: path
            for name, path in paths.items()
            if (kind, name.rpartition("/")[0]) not in lists and (kind, "") not in lists
        }
        for kind, paths in singles.items()
    }
    return {kind: paths for kind, paths in left.items() if paths}


def _nodes(
    tree: Tree, inside: Mapping[tuple[str, str], Mapping[str, str]], shelves: list[Shelf]
) -> dict[NodeName, Callable[[], NodeAnswer]]:
    """Find the nodes whose inside something is of; pods say which node they were on."""
    found: dict[NodeName, Callable[[], NodeAnswer]] = {}
    places = {place for place in inside if place[0]}
    names = dict(_nodes_of_pods(shelves, places)) if places else {}
    for place, files in inside.items():
        node = names.get(place) if place[0] else place[1]
        if node:
            via = f"must-gather, pod {place[0]}/{place[1]}" if place[0] else "must-gather"
            found.setdefault(NodeName(node), partial(partial_record, tree, node, files, via))
    return found


def _nodes_of_pods(shelves: list[Shelf], places: set[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], str]]:
    namespaces = {namespace for namespace, _ in places}
    for shelf in shelves:
        if shelf.kind == kinds.POD and shelf.namespace in {*namespaces, ""}:
            for pod in shelf.read():
                place = (str(dig(pod, "metadata", "namespace")), str(dig(pod, "metadata", "name")))
                if place in places:
                    yield place, str(dig(pod, "spec", "nodeName", default=""))


def _taken_at(tree: Tree) -> str:
    """Read when the gathering ended: the last line of `timestamp`, as Go writes times ("2026-11-30 10:00:00.1 +0000 UTC")."""
    ends = []
    for path in tree.sizes:
        if _TIMESTAMP.fullmatch(path):
            lines = read_end(tree, path, 4096).decode(errors="replace").split("\n")
            ends += [
                f"{match[1]}T{match[2]}{match[3]}:{match[4]}"
                for line in lines
                if (match := re.match(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)[.\d]* ([+-]\d\d)(\d\d)", line))
            ]
    return max(ends, default="")
