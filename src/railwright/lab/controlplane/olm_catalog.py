"""
Catalogs of operators made from published bundles: a CSV and what comes with it, a folder NAME-VERSION each.

Here: which packages and channels there are, the text of a file-based catalog, and the PackageManifests that OLM's
package server would serve from it. Bundles carry their manifests themselves and no image: OLM then installs from the
catalog, and no pod has to unpack anything.

Measured: the wiring, with OLM 0.46.0, 2026-11. Source: channels of redhat-openshift-ecosystem/certified-operators
3b7b563a, catalogs (2026-08-22).
"""

import base64
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from railwright.core.kinds import CLUSTER_SERVICE_VERSION, CUSTOM_RESOURCE_DEFINITION, PACKAGE_MANIFEST
from railwright.core.objects import Kind, KubeObject, dig

CATALOG_NAMESPACE = "openshift-marketplace"
_SKIP_RANGE = "olm.skipRange"


@dataclass(frozen=True)
class Bundle:
    """One version of an operator: its CSV, and definitions and ConfigMaps beside it."""

    csv: KubeObject
    others: tuple[KubeObject, ...] = ()

    @property
    def name(self) -> str:
        """The name of the CSV."""
        return str(self.csv["metadata"]["name"])

    @property
    def version(self) -> str:
        """The version that the CSV says."""
        return str(self.csv["spec"]["version"])


@dataclass(frozen=True)
class Channel:
    """Versions that replace one another; `bundles` has the oldest first and is never empty."""

    name: str
    bundles: tuple[Bundle, ...]


@dataclass(frozen=True)
class Package:
    """An operator as a catalog offers it."""

    name: str
    catalog: str
    default_channel: str
    channels: tuple[Channel, ...]

    def bundles(self) -> tuple[Bundle, ...]:
        """Every version, each once."""
        return tuple({bundle.name: bundle for channel in self.channels for bundle in channel.bundles}.values())


@dataclass(frozen=True)
class _Published:
    """
    Where the bundles of a package are.

    Attributes:
        folder: what its folders' names begin with.
        by_release: versions are those of OpenShift, and a catalog has none that is newer than the cluster.
    """

    name: str
    catalog: str
    default_channel: str
    folder: str
    by_release: bool


_PUBLISHED = (
    _Published("nfd", "redhat-operators", "stable", "openshift-cluster-nfd-operator", by_release=True),
    _Published(
        "sriov-network-operator", "redhat-operators", "stable", "openshift-sriov-network-operator", by_release=True
    ),
    _Published("nvidia-network-operator", "certified-operators", "stable", "nvidia-network-operator", by_release=False),
    _Published("gpu-operator-certified", "certified-operators", "v26.3", "gpu-operator-certified", by_release=False),
)


def published_packages(folder: Path, release: str) -> tuple[Package, ...]:
    """
    Read the four operators from a folder of published bundles; a package without a bundle is left out.

    Args:
        release: of the cluster, "4.20".
    """
    return tuple(package for entry in _PUBLISHED if (package := _package(folder, entry, release)) is not None)


def _package(folder: Path, entry: _Published, release: str) -> Package | None:
    versions = {
        _numbers(match[1]): path
        for path in folder.iterdir()
        if (match := re.fullmatch(re.escape(entry.folder) + r"-(\d[\d.]*)", path.name))
    }
    chosen = [versions[key] for key in sorted(versions) if not entry.by_release or key <= _numbers(release)]
    bundles = tuple(read_bundle(path) for path in chosen)
    if not bundles:
        return None
    channels = [Channel("stable", bundles)]
    if not entry.by_release:
        channels += [Channel("v" + ".".join(bundle.version.split(".")[:2]), (bundle,)) for bundle in bundles]
    return Package(entry.name, entry.catalog, entry.default_channel, tuple(channels))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def read_bundle(folder: Path) -> Bundle:
    """Read one bundle; what the CSV says to replace is dropped, since the channel decides."""
    documents = [document for file in sorted(folder.glob("*.yaml")) for document in _documents(file)]
    csv = next(each for each in documents if each["kind"] == CLUSTER_SERVICE_VERSION.kind)
    csv["spec"].pop("replaces", None)
    others = [each for each in documents if each is not csv]
    for other in others:
        other.pop("status", None)
    return Bundle(csv, tuple(others))


def _documents(file: Path) -> list[dict[str, Any]]:
    """Give the Kubernetes objects of a file; annotations of a bundle and package descriptions are none."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    documents = yaml.load_all(file.read_text(), Loader=loader)
    return [each for each in documents if isinstance(each, dict) and "kind" in each]


def kinds_brought(packages: Iterable[Package]) -> frozenset[Kind]:
    """Every kind that comes with one of these operators: a bare cluster does not serve it."""
    return frozenset(
        Kind(f"{other['spec']['group']}/{version['name']}", str(other["spec"]["names"]["kind"]))
        for package in packages
        for bundle in package.bundles()
        for other in bundle.others
        if other["kind"] == CUSTOM_RESOURCE_DEFINITION.kind
        for version in other["spec"]["versions"]
    )


def catalog_text(packages: Iterable[Package]) -> str:
    """Write a file-based catalog, one JSON value a line."""
    values: list[dict[str, Any]] = []
    for package in packages:
        values.append({"schema": "olm.package", "name": package.name, "defaultChannel": package.default_channel})
        values += [_channel_value(package.name, channel) for channel in package.channels]
        values += [_bundle_value(package.name, bundle) for bundle in package.bundles()]
    return "".join(json.dumps(value) + "\n" for value in values)


def _channel_value(package: str, channel: Channel) -> dict[str, Any]:
    entries: list[dict[str, str]] = []
    for bundle in channel.bundles:
        entry = {"name": bundle.name}
        if entries:
            entry["replaces"] = entries[-1]["name"]
        skipped = dig(bundle.csv, "metadata", "annotations", _SKIP_RANGE)
        if skipped:
            entry["skipRange"] = str(skipped)
        entries.append(entry)
    return {"schema": "olm.channel", "package": package, "name": channel.name, "entries": entries}


def _bundle_value(package: str, bundle: Bundle) -> dict[str, Any]:
    definitions = dig(bundle.csv, "spec", "customresourcedefinitions", default={})
    properties = [_property("olm.package", {"packageName": package, "version": bundle.version})]
    properties += [_property("olm.gvk", _gvk(each)) for each in definitions.get("owned") or ()]
    properties += [_property("olm.gvk.required", _gvk(each)) for each in definitions.get("required") or ()]
    properties += [
        _property("olm.bundle.object", {"data": base64.b64encode(json.dumps(each).encode()).decode()})
        for each in (bundle.csv, *bundle.others)
    ]
    return {"schema": "olm.bundle", "name": bundle.name, "package": package, "image": "", "properties": properties}


def _property(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"type": name, "value": value}


def _gvk(described: dict[str, Any]) -> dict[str, str]:
    return {
        "group": described["name"].partition(".")[2],
        "version": described["version"],
        "kind": described["kind"],
    }


def package_manifest(package: Package) -> KubeObject:
    """Spell the PackageManifest of a package: of each channel its head, and the entries, newest first."""
    return {
        "apiVersion": PACKAGE_MANIFEST.api_version,
        "kind": PACKAGE_MANIFEST.kind,
        "metadata": {
            "name": package.name,
            "namespace": CATALOG_NAMESPACE,
            "labels": {"catalog": package.catalog, "catalog-namespace": CATALOG_NAMESPACE},
        },
        "status": {
            "catalogSource": package.catalog,
            "catalogSourceNamespace": CATALOG_NAMESPACE,
            "packageName": package.name,
            "defaultChannel": package.default_channel,
            "channels": [_manifest_channel(channel) for channel in package.channels],
        },
    }


def _manifest_channel(channel: Channel) -> dict[str, Any]:
    head = channel.bundles[-1]
    return {
        "name": channel.name,
        "currentCSV": head.name,
        "currentCSVDesc": {"version": head.version, "displayName": dig(head.csv, "spec", "displayName", default="")},
        "entries": [{"name": each.name, "version": each.version} for each in reversed(channel.bundles)],
    }
