"""
The layout of the GPU operator's must-gather, alone or as an image folder of an OpenShift one.

    openshift_version.yaml                       ClusterVersion
    cluster_policy.yaml, cluster_policy.missing  ClusterPolicy, or that there is none
    gpu_operator_pod.yaml, .log, .previous.log   the operator's pod
    gpu_operand_pods.yaml, gpu_operand_ds.yaml   everything of that kind in the operator's namespace
    gpu_operand_pod_POD.log, .previous.log       all containers, each line begins with [pod/POD/CONTAINER]

Source: NVIDIA/gpu-operator 1fc7c1d8, hack/must-gather.sh.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from railwright.adapters.archive.holdings import Holdings, LogKey, Shelf
from railwright.adapters.archive.tree import Tree, read_log
from railwright.adapters.archive.yaml_text import objects_of
from railwright.core import kinds
from railwright.core.objects import Kind, KubeObject, dig

_MARKS = ("gpu_operand_pods.yaml", "cluster_policy.yaml", "cluster_policy.missing", "gpu_operator_pod.yaml")
_OPERAND_LOG = re.compile(r"gpu_operand_pod_(.+?)(\.previous)?\.log")


def folder_of(tree: Tree) -> str | None:
    """Find the folder of this layout; None when there is none."""
    found = [path for path in tree.sizes if path.rpartition("/")[2] in _MARKS]
    return min(found, key=len).rpartition("/")[0] if found else None


def holdings_of(tree: Tree, folder: str) -> Holdings:
    """Read the layout."""
    files = {
        path.removeprefix(f"{folder}/" if folder else ""): path
        for path in tree.sizes
        if path.rpartition("/")[0] == folder
    }
    operator = _first(tree, files.get("gpu_operator_pod.yaml"), kinds.POD)
    namespace = str(dig(operator, "metadata", "namespace", default=""))
    namespace = namespace or str(
        dig(_first(tree, files.get("gpu_operand_pods.yaml"), kinds.POD), "metadata", "namespace", default="")
    )
    shelves = [
        Shelf(
            kind, partial(objects_of, tree, (files[name],), kind), place, name=only, size_bytes=tree.sizes[files[name]]
        )
        for name, kind, place, only in (
            ("openshift_version.yaml", kinds.CLUSTER_VERSION, "", "version"),
            ("cluster_policy.yaml", kinds.CLUSTER_POLICY, "", ""),
            ("gpu_operand_pods.yaml", kinds.POD, namespace, ""),
            ("gpu_operand_ds.yaml", kinds.DAEMON_SET, namespace, ""),
        )
        if name in files and (namespace or kind not in {kinds.POD, kinds.DAEMON_SET})
    ]
    if "cluster_policy.missing" in files:
        shelves.append(Shelf(kinds.CLUSTER_POLICY, _nothing))
    return Holdings(
        shelves=tuple(shelves),
        logs=_logs(tree, files, namespace, str(dig(operator, "metadata", "name", default=""))),
        node_problem="the GPU operator's must-gather holds no node record: run `railwright collect`",
        notes=("must-gather of the GPU operator",),
    )


def _logs(tree: Tree, files: dict[str, str], namespace: str, operator: str) -> dict[LogKey, Callable[[], str]]:
    found: dict[LogKey, Callable[[], str]] = {}
    for name, path in files.items():
        match = _OPERAND_LOG.fullmatch(name)
        if match:
            found[LogKey(namespace, match[1], "", match[2] is not None)] = partial(read_log, tree, path)
    for name, previous in (("gpu_operator_pod.log", False), ("gpu_operator_pod.previous.log", True)):
        if name in files and operator:
            found[LogKey(namespace, operator, "", previous)] = partial(read_log, tree, files[name])
    return found


def _nothing() -> Iterator[KubeObject]:
    return iter(())


def _first(tree: Tree, path: str | None, kind: Kind) -> KubeObject | None:
    return next(objects_of(tree, (path,), kind), None) if path is not None else None
