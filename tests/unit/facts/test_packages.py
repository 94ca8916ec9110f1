"""What operators' bundles bring: as the CSV that is installed names it, and as the catalog offers it."""

from dataclasses import replace

from support.scenarios import open_for

from railwright import api
from railwright.core.kinds import CLUSTER_SERVICE_VERSION
from railwright.core.objects import Ref
from railwright.facts.packages import bundle_images, package_of

IMAGE, OTHER = "nvcr.io/nvidia/gpu-operator:v26.3.3@sha256:65", "nvcr.io/nvidia/driver@sha256:f8"


def a_package(**described):
    head = {"name": "v26.3", "currentCSV": "gpu-operator-certified.v26.3.3", "currentCSVDesc": described}
    return {"metadata": {"name": "gpu-operator-certified"}, "status": {"channels": [head]}}


async def a_cluster(packages=(), csvs=()):
    """Facts of a cluster whose catalogs and CSVs are these."""
    facts = (await api.discover(await open_for("roce"))).cluster
    objects = {
        Ref(CLUSTER_SERVICE_VERSION, "nvidia-gpu-operator", name): {
            "apiVersion": CLUSTER_SERVICE_VERSION.api_version,
            "kind": CLUSTER_SERVICE_VERSION.kind,
            "metadata": {"name": name, "namespace": "nvidia-gpu-operator"},
            "spec": spec,
        }
        for name, spec in csvs
    }
    return replace(facts, packages=tuple(packages), objects=objects)


async def test_a_channels_head_brings_what_its_package_manifest_says():
    (package,) = package_of(a_package(relatedImages=[IMAGE, OTHER]))
    assert package.channels[0].related_images == (IMAGE, OTHER)
    assert bundle_images(await a_cluster([package])) == {"gpu-operator-certified.v26.3.3": (IMAGE, OTHER)}


async def test_an_installed_bundle_brings_what_its_csv_says_each_image_once():
    related = [
        {"name": "operator", "image": IMAGE},
        {"name": "validator", "image": IMAGE},
        {"name": "d", "image": OTHER},
    ]
    cluster = await a_cluster(csvs=[("gpu-operator-certified.v26.3.3", {"relatedImages": related})])
    assert bundle_images(cluster) == {"gpu-operator-certified.v26.3.3": (IMAGE, OTHER)}


async def test_a_bundle_that_names_no_images_is_not_known_to_bring_none():
    cluster = await a_cluster(package_of(a_package()), [("gpu-operator-certified.v26.3.2", {"relatedImages": None})])
    assert bundle_images(cluster) == {}
