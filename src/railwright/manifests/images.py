"""
`images(plan, catalog) -> ImageList`: every image that a plan needs, and what mirrors them.

Drivers stay tags: one that is given by digest loses the toolkit container that builds it on OpenShift.
Measured: NVIDIA Network Operator 26.4.1 controllers against kube-apiserver 1.36.3, 2026-11.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from railwright.catalog.model import Catalog, driver_os_tag, gpu_os_tag, minor_of
from railwright.core.objects import Kind, KubeObject
from railwright.manifests.assemble import an_object
from railwright.manifests.kinds.gpu import VENDOR_REGISTRY
from railwright.manifests.verifiers import USUAL_IMAGE
from railwright.plan.model import VERIFIED, DriverShare, GpuPolicyShare, NfdShare, NicPolicyShare, OperatorShare, Plan
from railwright.plan.operands import GPU_PACKAGE

IMAGE_SET = Kind("mirror.openshift.io/v2alpha1", "ImageSetConfiguration")
DIGEST_MIRRORS = Kind("config.openshift.io/v1", "ImageDigestMirrorSet")
TAG_MIRRORS = Kind("config.openshift.io/v1", "ImageTagMirrorSet")

PLACEHOLDER_MIRROR = "mirror.invalid"
"""Never answers (RFC 2606): stands for a registry that only the person knows."""

_INDEXES = {
    "redhat-operators": "registry.redhat.io/redhat/redhat-operator-index",
    "certified-operators": "registry.redhat.io/redhat/certified-operator-index",
}
"""The index image behind each of the platform's catalogs. Source: OpenShift docs, Red Hat-provided catalogs."""

_BUNDLE_REPOSITORIES = {
    "redhat-operators": ("registry.redhat.io/openshift4",),
    "certified-operators": ("nvcr.io/nvidia", "registry.connect.redhat.com/nvidia"),
}
"""Where a catalog's bundles and what they bring by digest are pulled from."""

_BUNDLED = {
    "nvidia-network-operator": ("network-operator", "network-operator-init"),
    "gpu-operator-certified": (
        "gpu-operator",
        "gpu-driver-manager",
        "container-toolkit",
        "gpu-device-plugin",
        "dcgm",
        "dcgm-exporter",
        "mig-manager",
    ),
}
"""Catalog keys of images that come with a package, by digest."""

_FALLBACK_ARCHITECTURE = "amd64"

ShareType = TypeVar("ShareType", DriverShare, GpuPolicyShare, NfdShare, NicPolicyShare, OperatorShare)


@dataclass(frozen=True)
class Image:
    """
    One image.

    Attributes:
        reference: with its tag or digest; with neither when the operator's bundle names it, and the bundle is not known.
        needed_by: what pulls it.
        os_tag, architecture: of the nodes that pull it; empty when it is the same for all.
        by: "tag" (mirrored by name) or "bundle" (comes along with the operator's package).
    """

    reference: str
    needed_by: str
    by: str
    os_tag: str = ""
    architecture: str = ""


@dataclass(frozen=True)
class ImageList:
    """All images, sorted; `objects` are the image set for oc-mirror and the two mirror sets; `notes` say what is open."""

    items: tuple[Image, ...]
    objects: tuple[KubeObject, ...]
    notes: tuple[str, ...]


def images(plan: Plan, catalog: Catalog, bundles: Mapping[str, tuple[str, ...]] | None = None) -> ImageList:
    """
    List what a plan pulls; what is not known is a note, never left out in silence.

    Args:
        bundles: images by the name of the CSV that brings them, where the cluster says so.
    """
    bundles = bundles or {}
    notes: list[str] = []
    systems = _systems(plan, catalog, notes)
    mirrors = _own_registries(plan)
    found = {
        *_nic_images(plan, catalog, systems),
        *_gpu_images(plan, catalog, systems, bundles, notes),
        *_operator_images(plan, catalog, bundles, notes),
        *_verifier_images(plan, catalog),
    }
    sources = {replace(image, reference=_at_vendor(image.reference, mirrors)) for image in found}
    items = tuple(sorted(sources, key=lambda image: (image.reference, image.needed_by)))
    objects = (_image_set(plan, items, notes), *_mirrors(plan, catalog, items, notes))
    return ImageList(items, objects, tuple(notes))


def _systems(plan: Plan, catalog: Catalog, notes: list[str]) -> tuple[tuple[str, str], ...]:
    """Name the nodes' systems and architectures: from their facts, else from the OpenShift release."""
    if plan.basis.node_systems:
        return plan.basis.node_systems
    release = catalog.openshift(plan.basis.openshift_version)
    if release is None:
        notes.append(f"node system of OpenShift {plan.basis.openshift_version or '?'} is not known: no driver tags")
        return ()
    notes.append(f"no node was looked at: architecture {_FALLBACK_ARCHITECTURE} is assumed")
    tag = driver_os_tag(release.os_id, release.os_version, plan.basis.openshift_version)
    if tag:
        return ((tag, _FALLBACK_ARCHITECTURE),)
    known = {tag for entry in catalog.network_operators for tag in entry.os_tags if tag.startswith(f"{release.os_id}9")}
    notes.append(f"nodes of OpenShift {release.minor} were seen with several systems: {', '.join(sorted(known))}")
    return tuple((tag, _FALLBACK_ARCHITECTURE) for tag in sorted(known))


def _nic_images(plan: Plan, catalog: Catalog, systems: tuple[tuple[str, str], ...]) -> Iterator[Image]:
    for share in _of(plan, NicPolicyShare):
        wanted = {
            "rdma-shared-device-plugin": bool(share.shared_pools),
            "sriov-device-plugin": bool(share.host_pools),
            "ipoib-cni": share.ipoib,
            "nv-ipam": share.nv_ipam,
            "ib-kubernetes": share.ib_kubernetes is not None,
        }
        for key in (key for key, is_wanted in wanted.items() if is_wanted):
            name = catalog.image(key).name
            reference = f"{share.component_repository}/{name}:{share.component_version}"
            yield Image(reference, "NicClusterPolicy", "tag")
        if share.driver is not None:
            yield from _driver_images(share.driver, systems)


def _driver_images(driver: DriverShare, systems: tuple[tuple[str, str], ...]) -> Iterator[Image]:
    for os_tag, architecture in systems:
        tag = f"{driver.version}-{os_tag}-{architecture}"
        yield Image(f"{driver.repository}/{driver.image}:{tag}", "NicClusterPolicy", "tag", os_tag, architecture)


def _gpu_images(
    plan: Plan,
    catalog: Catalog,
    systems: tuple[tuple[str, str], ...],
    bundles: Mapping[str, tuple[str, ...]],
    notes: list[str],
) -> Iterator[Image]:
    is_bundled = any(share.csv in bundles for share in _of(plan, OperatorShare) if share.package == GPU_PACKAGE)
    for share in _of(plan, GpuPolicyShare):
        version = share.driver_version or _default_gpu_driver(plan, catalog)
        if not version and not is_bundled:
            notes.append(
                "GPU driver version is the operator's own and not known here: its image is among those of the operator's"
                f" bundle ({catalog.image('gpu-driver').repository}/driver by digest), or set spec.driver.gpuVersion"
            )
        for os_tag in sorted({gpu_os_tag(tag) for tag, _ in systems}):
            if version:
                reference = catalog.image("gpu-driver").reference(driver_version=version, gpu_os_tag=os_tag)
                yield Image(reference, "ClusterPolicy", "tag", os_tag)
            if share.gds and share.gds_version:
                reference = catalog.image("gds").reference(gds_version=share.gds_version, gpu_os_tag=os_tag)
                yield Image(reference, "ClusterPolicy", "tag", os_tag)
        if share.gdrcopy and not is_bundled:
            entry = catalog.image("gdrcopy")
            yield Image(f"{entry.repository}/{entry.name}", "ClusterPolicy", "bundle")


def _default_gpu_driver(plan: Plan, catalog: Catalog) -> str:
    """Read what the planned GPU Operator installs by itself; empty when that is not known."""
    for share in _of(plan, OperatorShare):
        if share.package == GPU_PACKAGE:
            entry = catalog.gpu_operator(_version_of(share.csv))
            return entry.driver_version if entry else ""
    return ""


def _operator_images(
    plan: Plan, catalog: Catalog, bundles: Mapping[str, tuple[str, ...]], notes: list[str]
) -> Iterator[Image]:
    for share in _of(plan, OperatorShare):
        needed_by = f"package {share.package}"
        if share.csv in bundles:
            yield from (Image(reference, needed_by, "bundle") for reference in bundles[share.csv])
            continue
        for key in _BUNDLED.get(share.package, ()):
            entry = catalog.image(key)
            yield Image(f"{entry.repository}/{entry.name}", needed_by, "bundle")
        notes.append(f"what the bundle {share.csv} brings by digest is not known here: {_asking_for(share, plan)}")
    for nfd in _of(plan, NfdShare):
        if nfd.operand_image:
            yield Image(nfd.operand_image, "NodeFeatureDiscovery", "tag")


def _asking_for(share: OperatorShare, plan: Plan) -> str:
    """
    Spell the command that prints a bundle's images, one a line.

    Source: operator-framework/operator-registry, file-based catalogs: olm.bundle, relatedImages (name, image).
    """
    index = _INDEXES.get(share.catalog)
    if index is None:
        select = f'.status.channels[]|select(.currentCSV=="{share.csv}")|.currentCSVDesc.relatedImages[]'
        return f"oc get packagemanifest -n {share.catalog_namespace} {share.package} -o json | jq -r '{select}'"
    chosen = f'select(.schema=="olm.bundle" and .name=="{share.csv}")|.relatedImages[].image'
    return f"opm render {index}:v{minor_of(plan.basis.openshift_version)} | jq -r '{chosen}'"


def _verifier_images(plan: Plan, catalog: Catalog) -> Iterator[Image]:
    """What the pods of the last stage run, unless verify --image names another."""
    if plan.stage(VERIFIED).applies:
        yield Image(str(catalog.default(USUAL_IMAGE).value), f"stage {VERIFIED}", "tag")


def _image_set(plan: Plan, items: tuple[Image, ...], notes: list[str]) -> KubeObject:
    """Write what oc-mirror v2 reads: packages at exactly the planned version, and the tags."""
    minor = minor_of(plan.basis.openshift_version)
    by_index: dict[str, list[dict[str, object]]] = {}
    for share in sorted(_of(plan, OperatorShare), key=lambda share: share.package):
        index = _INDEXES.get(share.catalog)
        if index is None:
            notes.append(f"package {share.package} comes from catalog {share.catalog}: its index image is not known")
            continue
        version = _version_of(share.csv)
        bounds = {"minVersion": version, "maxVersion": version} if version else {}
        package: dict[str, object] = {"name": share.package, "channels": [{"name": share.channel, **bounds}]}
        by_index.setdefault(f"{index}:v{minor}", []).append(package)
    mirror = {
        "operators": [{"catalog": index, "packages": by_index[index]} for index in sorted(by_index)],
        "additionalImages": [{"name": image.reference} for image in items if image.by == "tag"],
    }
    return {"apiVersion": IMAGE_SET.api_version, "kind": IMAGE_SET.kind, "mirror": mirror}


def _mirrors(plan: Plan, catalog: Catalog, items: tuple[Image, ...], notes: list[str]) -> tuple[KubeObject, KubeObject]:
    """Point nodes at the mirror: what bundles bring goes by digest, what policies name goes by tag."""
    registries = _own_registries(plan)
    mirror = registries[0] if registries else PLACEHOLDER_MIRROR
    if not registries:
        notes.append(f"no spec.imageRegistry in the file: replace {PLACEHOLDER_MIRROR} by your mirror registry")
    catalogs = {share.catalog for share in _of(plan, OperatorShare)}
    by_digest = {source for name in catalogs for source in _BUNDLE_REPOSITORIES.get(name, ())}
    brought = [image.reference.partition("@")[0] for image in items if image.by == "bundle"]
    by_digest |= {
        name.rpartition("/")[0] for name in brought if not name.startswith(tuple(f"{at}/" for at in by_digest))
    }
    by_tag = {image.reference.rpartition("/")[0] for image in items if image.by == "tag"}
    if _of(plan, GpuPolicyShare):
        # A driver that somebody chooses later is pulled by tag, whether its version is known today or not.
        by_tag.add(catalog.image("gpu-driver").repository)
    return (
        an_object(DIGEST_MIRRORS, "railwright", spec={"imageDigestMirrors": _entries(by_digest, mirror)}),
        an_object(TAG_MIRRORS, "railwright", spec={"imageTagMirrors": _entries(by_tag, mirror)}),
    )


def _own_registries(plan: Plan) -> list[str]:
    return sorted({fabric.intent.image_registry for fabric in plan.fabrics if fabric.intent.image_registry})


def _at_vendor(reference: str, mirrors: list[str]) -> str:
    """Name an image where it comes from: the plan's policies name the mirror that is still to be filled."""
    for mirror in mirrors:
        if reference.startswith(f"{mirror}/"):
            return f"{VENDOR_REGISTRY}/{reference.removeprefix(f'{mirror}/')}"
    return reference


def _entries(sources: Iterable[str], mirror: str) -> list[dict[str, object]]:
    """Keep the path below the registry, as oc-mirror does."""
    return [{"source": source, "mirrors": [f"{mirror}/{source.partition('/')[2]}"]} for source in sorted(sources)]


def _version_of(csv: str) -> str:
    """Cut the version out of a CSV's name: "nvidia-network-operator.v26.4.1" -> "26.4.1"."""
    return csv.partition(".v")[2]


def _of(plan: Plan, kind: type[ShareType]) -> tuple[ShareType, ...]:
    return tuple(share for share in plan.shares if isinstance(share, kind))
