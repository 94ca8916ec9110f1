"""A simulated world, written down the way that other tools gather clusters: layouts for tests, content from the world."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from railwright.core import kinds
from railwright.core.needs import plural_of
from railwright.core.objects import Kind, KubeObject, dig
from railwright.ports.cluster import Selection
from railwright.ports.world import World


class _Plain(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # whichever is there
    """As kubectl prints: no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def write_yaml(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.dump(value, Dumper=_Plain, default_flow_style=False, sort_keys=True))


def a_list(kind: Kind, objects: Iterable[KubeObject]) -> dict[str, Any]:
    return {
        "apiVersion": kind.api_version,
        "items": list(objects),
        "kind": f"{kind.kind}List",
        "metadata": {"resourceVersion": ""},
    }


async def listed(world: World, kind: Kind, namespace: str = "") -> list[KubeObject]:
    return [obj async for obj in world.cluster.list(Selection(kind, namespace))]


async def served(world: World) -> set[Kind]:
    return {item.kind for item in await world.cluster.served_kinds()}


INSPECTED = (kinds.POD, kinds.DAEMON_SET, kinds.DEPLOYMENT, kinds.CONFIG_MAP, kinds.EVENT)
"""What `oc adm inspect ns/NS` takes of a namespace, as far as railwright names it."""
SINGLES = (
    kinds.NODE,
    kinds.MACHINE_CONFIG,
    kinds.MACHINE_CONFIG_POOL,
    kinds.SUBSCRIPTION,
    kinds.CLUSTER_SERVICE_VERSION,
    kinds.INSTALL_PLAN,
    kinds.OPERATOR_GROUP,
    kinds.CATALOG_SOURCE,
    kinds.SRIOV_OPERATOR_CONFIG,
    kinds.SRIOV_NETWORK_NODE_POLICY,
    kinds.SRIOV_NETWORK_NODE_STATE,
    kinds.SRIOV_NETWORK,
    kinds.NODE_FEATURE_DISCOVERY,
    kinds.NETWORK_ATTACHMENT_DEFINITION,
)
CONFIGURATION = (kinds.CLUSTER_VERSION, kinds.INFRASTRUCTURE, kinds.PROXY, kinds.NETWORK_CONFIG)


def by_default(namespace: str) -> bool:
    """Whether `oc adm must-gather` without other images inspects a namespace: the platform's and SR-IOV's, not NVIDIA's."""
    return namespace == "default" or namespace.startswith(("openshift", "kube-"))


async def must_gather(
    world: World,
    root: Path,
    image: str = "quay-io-openshift-release-dev-sha256-abc",
    inspects: Callable[[str], bool] = lambda _: True,
) -> Path:
    """Write what `oc adm must-gather` does, with the SR-IOV gather; `inspects` says which namespaces it takes whole."""
    top = root / image
    known = await served(world)
    for kind in CONFIGURATION:
        if kind in known:
            group = top / "cluster-scoped-resources" / kind.group
            write_yaml(group / f"{plural_of(kind)}.yaml", a_list(kind, await listed(world, kind)))
    for kind in SINGLES:
        for obj in await listed(world, kind) if kind in known else ():
            write_yaml(_place(top, kind, obj), obj)
    for namespace in await listed(world, kinds.NAMESPACE):
        name = namespace["metadata"]["name"]
        if not inspects(name):
            continue
        folder = top / "namespaces" / name
        write_yaml(folder / f"{name}.yaml", namespace)
        for kind in INSPECTED:
            group = folder / (kind.group or "core")
            write_yaml(group / f"{plural_of(kind)}.yaml", a_list(kind, await listed(world, kind, name)))
        for pod in await listed(world, kinds.POD, name):
            _write_pod(folder / "pods" / pod["metadata"]["name"], pod)
    (top / "timestamp").write_text(
        "2026-03-02 08:00:00.5 +0000 UTC m=+0.1\n2026-03-02 08:30:00.5 +0000 UTC m=+1800.1\n"
    )
    (top / "version").write_text("openshift/must-gather\n4.20.0\n")
    return root


def _place(top: Path, kind: Kind, obj: KubeObject) -> Path:
    namespace = dig(obj, "metadata", "namespace", default="")
    folder = top / "namespaces" / namespace if namespace else top / "cluster-scoped-resources"
    return folder / (kind.group or "core") / plural_of(kind) / f"{obj['metadata']['name']}.yaml"


def _write_pod(folder: Path, pod: KubeObject) -> None:
    write_yaml(folder / f"{pod['metadata']['name']}.yaml", pod)
    for container in dig(pod, "spec", "containers", default=()):
        logs = folder / container["name"] / container["name"] / "logs"
        logs.mkdir(parents=True)
        (logs / "current.log").write_text("2026-03-02T08:29:00Z started\n2026-03-02T08:29:01Z ready\n")
        (logs / "previous.log").write_text("")
    if "config-daemon" in str(pod["metadata"]["name"]):
        (folder / "kernel-cmdline").write_text("BOOT_IMAGE=x iommu=pt\n")
        (folder / "lockdown").write_text("[none] integrity confidentiality\n")


async def gpu_gather(world: World, folder: Path, namespace: str = "nvidia-gpu-operator") -> Path:
    """Write what the GPU operator's must-gather does."""
    policies = await listed(world, kinds.CLUSTER_POLICY) if kinds.CLUSTER_POLICY in await served(world) else []
    pods = await listed(world, kinds.POD, namespace)
    write_yaml(folder / "gpu_operand_pods.yaml", a_list(Kind("v1", ""), pods))
    write_yaml(folder / "gpu_operand_ds.yaml", a_list(Kind("v1", ""), await listed(world, kinds.DAEMON_SET, namespace)))
    if policies:
        write_yaml(folder / "cluster_policy.yaml", policies[0])
    else:
        (folder / "cluster_policy.missing").touch()
    for number, pod in enumerate(pods):
        name = pod["metadata"]["name"]
        if number == 0:
            write_yaml(folder / "gpu_operator_pod.yaml", pod)
        (folder / f"gpu_operand_pod_{name}.log").write_text(
            f"[pod/{name}/one] first\n[pod/{name}/two] other\n[pod/{name}/one] second\n"
        )
    return folder


async def sosreport(world: World, top: Path, namespace: str = "nvidia-network-operator") -> Path:
    """Write what `kubectl netop-sosreport` does."""
    write_yaml(
        top / "metadata" / "cluster-version.yaml", {"serverVersion": {"gitVersion": await world.cluster.version()}}
    )
    (top / "metadata" / "collection-info.txt").write_text(
        f"Script Version: v26.1.0\nCollection Time: Mon Mar  2 08:30:00 UTC 2026\nOperator Namespace: {namespace}\n"
    )
    rows = ["NAME                 SHORTNAMES   APIVERSION    NAMESPACED   KIND"]
    rows += [
        f"{item.plural}   {item.kind.api_version}   {str(item.namespaced).lower()}   {item.kind.kind}"
        for item in await world.cluster.served_kinds()
    ]
    (top / "metadata" / "api-resources.txt").write_text("\n".join(rows) + "\n")
    known = await served(world)
    for kind in sorted(known):
        if kind.group.endswith(("mellanox.com", "nvidia.com", "openshift.io")) and (found := await listed(world, kind)):
            write_yaml(top / "crds" / "instances" / plural_of(kind) / "all.yaml", a_list(Kind("v1", ""), found))
    write_yaml(top / "nodes" / "all-nodes.yaml", a_list(Kind("v1", ""), await listed(world, kinds.NODE)))
    operator = top / "operator"
    write_yaml(operator / "configmaps.yaml", a_list(Kind("v1", ""), await listed(world, kinds.CONFIG_MAP, namespace)))
    components: dict[str, list[KubeObject]] = defaultdict(list)
    for pod in await listed(world, kinds.POD, namespace):
        components["ofed-driver" if "mofed" in pod["metadata"]["name"] else "other"].append(pod)
    for component, pods in components.items():
        for pod in pods:
            name = pod["metadata"]["name"]
            folder = operator / "components" / component / "pods"
            write_yaml(folder / f"{name}.yaml", pod)
            (folder / f"{name}-mofed-container.log").write_text("building\nloaded\n")
    return top
