"""Catalogs made from published bundles: channels, texts, PackageManifests."""

import base64
import json
from pathlib import Path

import pytest

from railwright.core.objects import Kind
from railwright.facts.packages import package_of
from railwright.lab.controlplane.olm_catalog import (
    Bundle,
    Channel,
    Package,
    catalog_text,
    kinds_brought,
    package_manifest,
    published_packages,
)

CSV = """apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {{name: {package}.v{version}, annotations: {{olm.skipRange: '<{version}'}}}}
spec:
  version: {version}
  displayName: An operator
  replaces: {package}.v0.0.1
  customresourcedefinitions:
    owned: [{{name: things.example.org, version: v1, kind: Thing}}]
    required: [{{name: needs.example.org, version: v2, kind: Need}}]
"""
DEFINITION = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec: {group: example.org, names: {kind: Thing}, versions: [{name: v1}, {name: v1beta1}]}
status: {conditions: []}
"""


def published(folder: Path, name: str, package: str, version: str) -> None:
    bundle = folder / name
    bundle.mkdir()
    (bundle / "x.clusterserviceversion.yaml").write_text(CSV.format(package=package, version=version))
    (bundle / "example.org_things.yaml").write_text(DEFINITION)
    (bundle / "bundle-annotations.yaml").write_text("annotations: {x: y}\n")
    (bundle / "x.package.yaml").write_text("packageName: x\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for release in ("4.9", "4.18", "4.20", "4.22"):
        published(tmp_path, f"openshift-cluster-nfd-operator-{release}", "nfd", f"{release}.0")
    for version in ("25.3.4", "26.3.3"):
        published(tmp_path, f"gpu-operator-certified-{version}", "gpu-operator-certified", version)
    published(tmp_path, "nvidia-network-operator-webhook-schemas-26.7.0", "other", "26.7.0")
    return tmp_path


def channels(package: Package) -> dict[str, list[str]]:
    return {channel.name: [bundle.version for bundle in channel.bundles] for channel in package.channels}


def test_openshift_s_own_operators_are_not_newer_than_the_cluster(folder: Path) -> None:
    nfd, _ = published_packages(folder, "4.20")
    assert nfd.name == "nfd"
    assert channels(nfd) == {"stable": ["4.9.0", "4.18.0", "4.20.0"]}


def test_certified_operators_have_a_channel_a_version_too(folder: Path) -> None:
    _, gpu = published_packages(folder, "4.20")
    assert channels(gpu) == {"stable": ["25.3.4", "26.3.3"], "v25.3": ["25.3.4"], "v26.3": ["26.3.3"]}
    assert gpu.default_channel == "v26.3"


def test_a_package_without_a_bundle_is_left_out(folder: Path) -> None:
    assert [package.name for package in published_packages(folder, "4.8")] == ["gpu-operator-certified"]


def test_kinds_brought_are_those_of_every_served_version(folder: Path) -> None:
    assert kinds_brought(published_packages(folder, "4.20")) == {
        Kind("example.org/v1", "Thing"),
        Kind("example.org/v1beta1", "Thing"),
    }


def test_in_a_catalog_the_channel_says_what_replaces_what(folder: Path) -> None:
    values = [json.loads(line) for line in catalog_text(published_packages(folder, "4.18")[:1]).splitlines()]
    assert values[0] == {"schema": "olm.package", "name": "nfd", "defaultChannel": "stable"}
    assert values[1]["entries"] == [
        {"name": "nfd.v4.9.0", "skipRange": "<4.9.0"},
        {"name": "nfd.v4.18.0", "replaces": "nfd.v4.9.0", "skipRange": "<4.18.0"},
    ]
    assert [value["name"] for value in values[2:]] == ["nfd.v4.9.0", "nfd.v4.18.0"]


def test_a_bundle_carries_its_manifests_and_no_image(folder: Path) -> None:
    values = [json.loads(line) for line in catalog_text(published_packages(folder, "4.9")[:1]).splitlines()]
    bundle = values[2]
    by_type: dict[str, list[dict[str, str]]] = {}
    for item in bundle["properties"]:
        by_type.setdefault(item["type"], []).append(item["value"])
    objects = [json.loads(base64.b64decode(value["data"])) for value in by_type["olm.bundle.object"]]
    assert bundle["image"] == ""
    assert by_type["olm.package"] == [{"packageName": "nfd", "version": "4.9.0"}]
    assert by_type["olm.gvk"] == [{"group": "example.org", "version": "v1", "kind": "Thing"}]
    assert by_type["olm.gvk.required"] == [{"group": "example.org", "version": "v2", "kind": "Need"}]
    assert [each["kind"] for each in objects] == ["ClusterServiceVersion", "CustomResourceDefinition"]
    assert "replaces" not in objects[0]["spec"]
    assert "status" not in objects[1]


def test_facts_read_our_package_manifest_as_the_real_one(folder: Path) -> None:
    _, gpu = published_packages(folder, "4.20")
    (facts,) = package_of(package_manifest(gpu))
    assert (facts.package, facts.catalog, facts.default_channel) == (gpu.name, "certified-operators", "v26.3")
    assert {channel.name: channel.head_csv for channel in facts.channels} == {
        "stable": "gpu-operator-certified.v26.3.3",
        "v25.3": "gpu-operator-certified.v25.3.4",
        "v26.3": "gpu-operator-certified.v26.3.3",
    }


def test_a_bundle_may_bring_nothing_but_its_csv() -> None:
    csv = {"apiVersion": "v1", "kind": "ClusterServiceVersion", "metadata": {"name": "a.v1"}, "spec": {"version": "1"}}
    package = Package("a", "c", "stable", (Channel("stable", (Bundle(csv),)),))
    channel, bundle = (json.loads(line) for line in catalog_text([package]).splitlines()[1:])
    assert channel["entries"] == [{"name": "a.v1"}]
    assert [item["type"] for item in bundle["properties"]] == ["olm.package", "olm.bundle.object"]
    assert kinds_brought([package]) == frozenset()
