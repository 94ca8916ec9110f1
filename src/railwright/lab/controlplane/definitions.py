"""
The kinds that an OpenShift cluster with the four operators serves, installed as CustomResourceDefinitions.

From a folder of published definitions (a sub-folder NAME-VERSION each; the newest of each name), and for every kind
that railwright names and nobody serves after that, a small one of our own: any content is accepted, and an annotation
marks it, so that what was only stored is never taken for checked.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from railwright.core import kinds
from railwright.core.errors import ClusterUnreachable, UsageError
from railwright.core.kinds import CUSTOM_RESOURCE_DEFINITION
from railwright.core.needs import plural_of
from railwright.core.objects import Kind, KubeObject, dig, ref_of
from railwright.lab.controlplane.client import Answered, PlaneClient

MARK = "railwright.dev/definition"
ESTABLISHED_LIMIT_S = 120.0
_CLUSTER_SCOPED = frozenset(
    {
        kinds.CLUSTER_VERSION,
        kinds.INFRASTRUCTURE,
        kinds.PROXY,
        kinds.NETWORK_CONFIG,
        kinds.NETWORK_OPERATOR,
        kinds.SECURITY_CONTEXT_CONSTRAINTS,
        kinds.MACHINE_CONFIG,
        kinds.MACHINE_CONFIG_POOL,
        kinds.KUBELET_CONFIG,
        kinds.NODE_NETWORK_CONFIGURATION_POLICY,
        kinds.NIC_CLUSTER_POLICY,
        kinds.MACVLAN_NETWORK,
        kinds.IPOIB_NETWORK,
        kinds.HOST_DEVICE_NETWORK,
        kinds.CLUSTER_POLICY,
        kinds.NVIDIA_DRIVER,
    }
)


@dataclass(frozen=True)
class Installed:
    """Names of the definitions: published ones, and our own small ones, which check nothing."""

    published: tuple[str, ...]
    own: tuple[str, ...]


async def install_definitions(
    client: PlaneClient, folder: Path | None, without: frozenset[Kind] = frozenset()
) -> Installed:
    """
    Install every definition, and wait until all are served.

    Args:
        folder: of published definitions; None for our own small ones only.
        without: kinds of operators that this cluster does not have: no definition is made for them.

    Raises:
        UsageError: the API server refuses a published definition.
        ClusterUnreachable: they were not served in time.
    """
    found = published_definitions(folder) if folder else ()
    published = tuple(each for each in found if without.isdisjoint(_kinds_of(each)))
    for definition in published:
        await _create(client, definition)
    names = tuple(str(each["metadata"]["name"]) for each in published)
    taken = {kind for each in published for kind in _kinds_of(each)}
    left = [kind for kind in named_kinds() if kind not in taken and kind not in without and not _is_built_in(kind)]
    own = tuple(small_definition(kind) for kind in left)
    free = tuple(each for each in own if each["metadata"]["name"] not in names)
    for definition in free:
        await _create(client, definition)
    await _wait_established(client)
    return Installed(names, tuple(str(each["metadata"]["name"]) for each in free))


def named_kinds() -> tuple[Kind, ...]:
    """Every kind that railwright names."""
    return tuple(value for _, value in sorted(vars(kinds).items()) if isinstance(value, Kind))


def published_definitions(folder: Path) -> tuple[KubeObject, ...]:
    """Read the newest definitions in a folder; where two projects define one name, OpenShift's is taken."""
    found: dict[str, KubeObject] = {}
    for source in newest_folders([path.name for path in folder.iterdir() if path.is_dir()]):
        for file in sorted((folder / source).glob("*.yaml")):
            if "TechPreview" in file.name or file.name.endswith("clusterserviceversion.yaml"):
                continue
            for document in yaml.load_all(file.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
                if isinstance(document, dict) and document.get("kind") == CUSTOM_RESOURCE_DEFINITION.kind:
                    document.pop("status", None)
                    found.setdefault(str(document["metadata"]["name"]), document)
    return tuple(found.values())


def newest_folders(names: list[str]) -> tuple[str, ...]:
    """Choose the newest version of each name ("NAME-1.10.2"); OpenShift's come first."""
    newest: dict[str, tuple[tuple[int, ...], str]] = {}
    for name in names:
        project, _, version = name.rpartition("-")
        numbers = tuple(int(part) for part in re.findall(r"\d+", version))
        newest[project] = max(newest.get(project, ((), "")), (numbers, name))
    ordered = sorted(newest.values(), key=lambda item: (not item[1].startswith("openshift"), item[1]))
    return tuple(name for _, name in ordered)


def small_definition(kind: Kind) -> KubeObject:
    """Make a definition that accepts any content."""
    plural = plural_of(kind)
    version = kind.api_version.rpartition("/")[2]
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": CUSTOM_RESOURCE_DEFINITION.api_version,
        "kind": CUSTOM_RESOURCE_DEFINITION.kind,
        "metadata": {"name": f"{plural}.{kind.group}", "annotations": {MARK: "accepts-anything"}},
        "spec": {
            "group": kind.group,
            "scope": "Cluster" if kind in _CLUSTER_SCOPED else "Namespaced",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": plural,
                "singular": kind.kind.lower(),
            },
            "versions": [served],
        },
    }


def _is_built_in(kind: Kind) -> bool:
    return not kind.group or "." not in kind.group or kind.group.endswith(".k8s.io")


def _kinds_of(definition: Mapping[str, Any]) -> tuple[Kind, ...]:
    spec = definition["spec"]
    return tuple(
        Kind(f"{spec['group']}/{version['name']}", str(spec["names"]["kind"]))
        for version in spec["versions"]
        if version.get("served")
    )


async def _create(client: PlaneClient, definition: KubeObject) -> None:
    try:
        await client.create(definition, ref_of(definition))
    except Answered as answer:
        if answer.status_code != 409:
            message = f"definition {definition['metadata']['name']}: {answer}"
            raise UsageError(message) from answer


async def _wait_established(client: PlaneClient) -> None:
    waiting: list[str] = []
    try:
        async with asyncio.timeout(ESTABLISHED_LIMIT_S):
            while True:
                found, _ = await client.list(CUSTOM_RESOURCE_DEFINITION)
                waiting = [str(each["metadata"]["name"]) for each in found if not _is_established(each)]
                if not waiting:
                    return
                await asyncio.sleep(0.2)
    except TimeoutError as error:
        message = f"definitions not served after {ESTABLISHED_LIMIT_S:.0f} s: {', '.join(waiting)}"
        raise ClusterUnreachable(message) from error


def _is_established(definition: KubeObject) -> bool:
    conditions = dig(definition, "status", "conditions", default=[])
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
