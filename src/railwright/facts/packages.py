"""Operator packages as the live catalogs offer them (PackageManifest), for the four operators only."""

from collections.abc import Mapping

from railwright.core.kinds import CLUSTER_SERVICE_VERSION, PACKAGE_MANIFEST
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import ClusterFacts, PackageChannel, PackageFacts
from railwright.facts.reading import Reading
from railwright.ports.cluster import Selection

PACKAGES = frozenset({"nfd", "sriov-network-operator", "nvidia-network-operator", "gpu-operator-certified"})
"""Source: OLM packages in the catalogs of OpenShift 4.18 to 4.22 (2026-08-22)."""


async def read_packages(reading: Reading) -> tuple[tuple[PackageFacts, ...], str]:
    """Read what the catalogs offer, and why that could not be read ("" when it could)."""
    found: list[PackageFacts] = []
    if reading.not_served(PACKAGE_MANIFEST):
        return (), f"{PACKAGE_MANIFEST} is not served: OLM's package server is not there, or does not answer"
    before = len(reading.unseen)
    if await reading.each(Selection(PACKAGE_MANIFEST), lambda obj: found.extend(package_of(obj))):
        return tuple(sorted(found, key=lambda item: (item.package, item.catalog_namespace, item.catalog))), ""
    why = next((item.why for item in reading.unseen[before:] if item.what == str(PACKAGE_MANIFEST)), "not read")
    return (), why


def package_of(obj: KubeObject) -> tuple[PackageFacts, ...]:
    """Reduce one PackageManifest; nothing for a package that is none of the four operators'."""
    status = dig(obj, "status", default={})
    name = str(dig(status, "packageName") or dig(obj, "metadata", "name", default=""))
    if name not in PACKAGES:
        return ()
    channels = tuple(
        PackageChannel(
            name=str(dig(channel, "name", default="")),
            head_csv=str(dig(channel, "currentCSV", default="")),
            related_images=tuple(
                str(image) for image in dig(channel, "currentCSVDesc", "relatedImages", default=()) or () if image
            ),
        )
        for channel in dig(status, "channels", default=())
    )
    return (
        PackageFacts(
            package=name,
            catalog=str(dig(status, "catalogSource", default="")),
            catalog_namespace=str(dig(status, "catalogSourceNamespace", default="")),
            default_channel=str(dig(status, "defaultChannel", default="")),
            channels=channels,
        ),
    )


def bundle_images(cluster: ClusterFacts) -> Mapping[str, tuple[str, ...]]:
    """
    Give the images that bundles bring, by the name of their CSV: of what is installed, and of the heads of channels.

    A bundle that names none is left out: it is not known to bring none.
    Source: operator-framework/api 0.45.0, ClusterServiceVersion spec.relatedImages (name, image);
    operator-framework/operator-lifecycle-manager 0.46.0, PackageManifest currentCSVDesc.relatedImages (names of images).
    """
    offered = {
        channel.head_csv: channel.related_images
        for package in cluster.packages
        for channel in package.channels
        if channel.related_images
    }
    installed = {
        csv["metadata"]["name"]: tuple(
            dict.fromkeys(str(dig(item, "image")) for item in dig(csv, "spec", "relatedImages", default=()) or ())
        )
        for csv in cluster.of_kind(CLUSTER_SERVICE_VERSION)
    }
    return {**offered, **{name: found for name, found in installed.items() if found}}
