from dataclasses import replace

import pytest
from unit.manifests.plans import CONFIGURATIONS, a_plan

from railwright.catalog.load import load_catalog
from railwright.catalog.model import Catalog
from railwright.intent.model import Fabric, Method
from railwright.manifests.images import ImageList, images
from railwright.plan import model as m


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def tags(result: ImageList) -> list[str]:
    return [image.reference for image in result.items if image.by == "tag"]


def of_kind(result: ImageList, kind: str):
    return next(obj for obj in result.objects if obj["kind"] == kind)


def with_share(plan: m.Plan, kind: type, **changes: object) -> m.Plan:
    return replace(plan, shares=tuple(replace(s, **changes) if isinstance(s, kind) else s for s in plan.shares))


@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
def test_exactly_the_components_of_the_method_are_listed(method: Method, fabric: Fabric, catalog: Catalog) -> None:
    names = {
        reference.rpartition("/")[2].partition(":")[0] for reference in tags(images(a_plan(method, fabric), catalog))
    }
    plugin = {
        Method.SHARED: {"k8s-rdma-shared-dev-plugin"},
        Method.HOST_DEVICE: {"sriov-network-device-plugin"},
        Method.SRIOV: set(),
    }[method]
    ipoib = {"ipoib-cni"} if (method, fabric) == (Method.SHARED, Fabric.INFINIBAND) else set()
    assert names == {"doca-driver", "driver", "nvidia-k8s-ipam", "nvidia-tools"} | plugin | ipoib


def test_drivers_are_tags_of_the_nodes_system_and_architecture(catalog: Catalog) -> None:
    systems = (("rhel9.6", "amd64"), ("rhel9.6", "arm64"))
    found = tags(images(a_plan(node_systems=systems), catalog))
    base = "nvcr.io/nvidia/mellanox/doca-driver:doca3.4.1-26.04-1.1.0.0-1-rhel9.6"
    assert [reference for reference in found if "doca-driver" in reference] == [f"{base}-amd64", f"{base}-arm64"]
    assert [reference for reference in found if "/driver:" in reference] == ["nvcr.io/nvidia/driver:595.91.07-rhel9"]
    assert not any("@" in reference for reference in found)


def test_without_nodes_the_release_says_the_system_and_a_note_says_so(catalog: Catalog) -> None:
    result = images(a_plan(openshift_version="4.18.3"), catalog)
    assert any(reference.endswith("-rhcos4.18-amd64") for reference in tags(result))
    assert any("amd64 is assumed" in note for note in result.notes)


def test_the_image_of_the_last_stage_is_mirrored_where_that_stage_runs(catalog: Catalog) -> None:
    plan = a_plan()
    found = {image.needed_by: image.reference for image in images(plan, catalog).items}
    assert found["stage verified"] == catalog.default("workload_test_image").value
    stages = tuple(replace(stage, applies=stage.name != m.VERIFIED) for stage in plan.stages)
    without = images(replace(plan, stages=stages), catalog)
    assert not any("verified" in image.needed_by for image in without.items)


def test_a_release_with_several_systems_lists_them_all(catalog: Catalog) -> None:
    result = images(a_plan(openshift_version="4.22.1"), catalog)
    suffixes = {reference.rpartition("-rhel")[2] for reference in tags(result) if "doca-driver" in reference}
    assert suffixes == {"9.6-amd64", "9.8-amd64"}
    assert any("several systems" in note for note in result.notes)


def test_an_unknown_release_is_said_and_not_guessed(catalog: Catalog) -> None:
    result = images(a_plan(openshift_version="9.9.9"), catalog)
    assert not any("doca-driver" in reference for reference in tags(result))
    assert any("9.9.9" in note for note in result.notes)


def test_an_unknown_gpu_driver_is_said_and_not_guessed(catalog: Catalog) -> None:
    plan = with_share(a_plan(), m.OperatorShare, csv="gpu-operator-certified.v99.1.0")
    result = images(plan, catalog)
    assert not any("/driver:" in reference for reference in tags(result))
    assert any("GPU driver version" in note for note in result.notes)


def test_a_chosen_gpu_driver_and_gds_are_listed(catalog: Catalog) -> None:
    plan = with_share(a_plan(), m.GpuPolicyShare, driver_version="580.105.08", gds=True, gds_version="2.29.4")
    found = tags(images(plan, catalog))
    assert "nvcr.io/nvidia/driver:580.105.08-rhel9" in found
    assert "nvcr.io/nvidia/cloud-native/nvidia-fs:2.29.4-rhel9" in found


def test_guid_pools_and_an_operand_of_ones_own_are_listed(catalog: Catalog) -> None:
    plan = with_share(a_plan(Method.SRIOV, Fabric.INFINIBAND), m.NicPolicyShare, ib_kubernetes={"ufmSecret": "ufm"})
    plan = with_share(plan, m.NfdShare, operand_image="registry.test/nfd:1")
    found = tags(images(plan, catalog))
    assert "nvcr.io/nvidia/mellanox/ib-kubernetes:network-operator-v26.4.1" in found
    assert "registry.test/nfd:1" in found


def test_the_image_set_holds_exactly_the_planned_versions(catalog: Catalog) -> None:
    result = images(a_plan(), catalog)
    mirror = of_kind(result, "ImageSetConfiguration")["mirror"]
    packages = {package["name"]: package["channels"] for index in mirror["operators"] for package in index["packages"]}
    assert packages["nvidia-network-operator"] == [{"name": "v26.4", "minVersion": "26.4.1", "maxVersion": "26.4.1"}]
    assert set(packages) == {"nfd", "sriov-network-operator", "nvidia-network-operator", "gpu-operator-certified"}
    assert [index["catalog"].rpartition(":")[2] for index in mirror["operators"]] == ["v4.20", "v4.20"]
    assert [image["name"] for image in mirror["additionalImages"]] == tags(result)


def test_a_catalog_of_ones_own_is_said_and_left_out(catalog: Catalog) -> None:
    result = images(with_share(a_plan(), m.OperatorShare, catalog="our-mirror"), catalog)
    assert of_kind(result, "ImageSetConfiguration")["mirror"]["operators"] == []
    assert sum("comes from catalog our-mirror" in note for note in result.notes) == 4


def test_every_tag_has_a_tag_mirror_and_every_bundle_a_digest_mirror(catalog: Catalog) -> None:
    result = images(a_plan(), catalog)
    by_tag = [entry["source"] for entry in of_kind(result, "ImageTagMirrorSet")["spec"]["imageTagMirrors"]]
    assert all(any(reference.startswith(f"{source}/") for source in by_tag) for reference in tags(result))
    by_digest = [entry["source"] for entry in of_kind(result, "ImageDigestMirrorSet")["spec"]["imageDigestMirrors"]]
    assert by_digest == ["nvcr.io/nvidia", "registry.connect.redhat.com/nvidia", "registry.redhat.io/openshift4"]


NIC_CSV, GPU_CSV = "nvidia-network-operator.v26.4.1", "gpu-operator-certified.v26.7.0"


def test_what_a_bundle_brings_is_listed_as_it_names_it(catalog: Catalog) -> None:
    brought = {
        NIC_CSV: ("nvcr.io/nvidia/cloud-native/network-operator@sha256:11",),
        GPU_CSV: ("nvcr.io/nvidia/driver@sha256:22", "registry.test/other/tool:1@sha256:33"),
    }
    plan = with_share(a_plan(), m.GpuPolicyShare, driver_version="", gdrcopy=True)
    result = images(plan, catalog, brought)
    bundled = {image.reference: image.needed_by for image in result.items if image.by == "bundle"}
    assert bundled == {
        "nvcr.io/nvidia/cloud-native/network-operator@sha256:11": "package nvidia-network-operator",
        "nvcr.io/nvidia/driver@sha256:22": "package gpu-operator-certified",
        "registry.test/other/tool:1@sha256:33": "package gpu-operator-certified",
    }
    by_digest = [entry["source"] for entry in of_kind(result, "ImageDigestMirrorSet")["spec"]["imageDigestMirrors"]]
    assert "registry.test/other" in by_digest
    assert not any(csv in note for csv in brought for note in result.notes)


def test_a_bundle_that_is_not_known_is_said_with_the_command_that_tells(catalog: Catalog) -> None:
    notes = images(a_plan(), catalog).notes
    assert (
        f"what the bundle {NIC_CSV} brings by digest is not known here: opm render"
        " registry.redhat.io/redhat/certified-operator-index:v4.20 | jq -r"
        f""" 'select(.schema=="olm.bundle" and .name=="{NIC_CSV}")|.relatedImages[].image'"""
    ) in notes
    assert sum("opm render" in note for note in notes) == 4
    own = images(with_share(a_plan(), m.OperatorShare, catalog="our-mirror"), catalog).notes
    asked = [note for note in own if "oc get packagemanifest -n openshift-marketplace" in note]
    assert len(asked) == 4
    assert any(f'select(.currentCSV=="{GPU_CSV}")|.currentCSVDesc.relatedImages[]' in note for note in asked)


def test_a_gpu_driver_by_tag_has_its_mirror_before_its_version_is_known(catalog: Catalog) -> None:
    plan = with_share(a_plan(), m.OperatorShare, csv="gpu-operator-certified.v26.3.3")
    result = images(with_share(plan, m.GpuPolicyShare, driver_version=""), catalog)
    assert not any("/driver:" in reference for reference in tags(result))
    assert any("GPU driver version" in note and "spec.driver.gpuVersion" in note for note in result.notes)
    assert "nvcr.io/nvidia" in [
        entry["source"] for entry in of_kind(result, "ImageTagMirrorSet")["spec"]["imageTagMirrors"]
    ]


def test_mirrors_point_at_the_registry_of_the_file(catalog: Catalog) -> None:
    plan = a_plan()
    fabric = replace(plan.fabrics[0], intent=replace(plan.fabrics[0].intent, image_registry="mirror.test:5000"))
    result = images(replace(plan, fabrics=(fabric,)), catalog)
    entries = of_kind(result, "ImageTagMirrorSet")["spec"]["imageTagMirrors"]
    assert entries[0] == {"source": "nvcr.io/nvidia", "mirrors": ["mirror.test:5000/nvidia"]}
    verifier = {"source": "quay.io/edge-infrastructure", "mirrors": ["mirror.test:5000/edge-infrastructure"]}
    assert verifier in entries
    assert not any("imageRegistry" in note for note in result.notes)


def test_an_image_set_names_the_vendor_where_policies_name_the_mirror(catalog: Catalog) -> None:
    """What oc-mirror reads must be where images come from, not where they go to."""
    plan = with_share(a_plan(), m.NicPolicyShare, component_repository="mirror.test/nvidia/mellanox")
    fabric = replace(plan.fabrics[0], intent=replace(plan.fabrics[0].intent, image_registry="mirror.test"))
    found = tags(images(replace(plan, fabrics=(fabric,)), catalog))
    assert "nvcr.io/nvidia/mellanox/nvidia-k8s-ipam:network-operator-v26.4.1" in found
    assert not any("mirror.test" in reference for reference in found)


def test_operators_that_no_package_installs_leave_the_gpu_driver_open(catalog: Catalog) -> None:
    plan = a_plan()
    result = images(replace(plan, shares=tuple(s for s in plan.shares if not isinstance(s, m.OperatorShare))), catalog)
    assert not any("/driver:" in reference for reference in tags(result))
    assert any("GPU driver version" in note for note in result.notes)
