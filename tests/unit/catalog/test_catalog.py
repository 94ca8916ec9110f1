"""What the look-ups answer, and that every entry of the shipped files says where it comes from."""

from dataclasses import fields

import pytest

from railwright.catalog.load import load_catalog, read_entries
from railwright.catalog.model import GpuEntry, driver_os_tag, gpu_os_tag, minor_of

CATALOG = load_catalog()
TABLES = [field.name for field in fields(CATALOG)]
STAGES = (
    "nodes-prepared",
    "operators-installed",
    "hardware-labelled",
    "nic-driver-ready",
    "vfs-ready",
    "gpu-driver-ready",
    "devices-allocatable",
    "networks-attached",
    "verified",
)


@pytest.mark.parametrize("table", TABLES)
def test_every_entry_has_source_and_date(table):
    for entry in getattr(CATALOG, table):
        assert entry.source.strip(), entry
        assert len(entry.date) == len("2026-08-22"), entry


@pytest.mark.parametrize("table", [name for name in TABLES if name not in {"gpus", "floors"}])
def test_no_table_is_empty(table):
    assert getattr(CATALOG, table)


def test_entries_are_found_once():
    for table, key in (
        ("operators", "key"),
        ("network_operators", "version"),
        ("gpu_operators", "version"),
        ("openshift_minors", "minor"),
        ("nics", "device_id"),
        ("images", "key"),
        ("stages", "stage"),
        ("defaults", "name"),
    ):
        keys = [getattr(entry, key) for entry in getattr(CATALOG, table)]
        assert len(keys) == len(set(keys)), table


@pytest.mark.parametrize(
    ("os_id", "version_id", "openshift", "tag"),
    [
        ("rhcos", "4.18", "4.18.3", "rhcos4.18"),
        ("rhcos", "", "4.17.9", "rhcos4.17"),
        ("rhel", "9.6", "4.20.4", "rhel9.6"),
        ('"rhel"', '"9.6"', "4.19.0", "rhel9.6"),
        ("ubuntu", "24.04", "", "ubuntu24.04"),
        ("", "9.6", "4.20.4", ""),
        ("rhel", "", "4.20.4", ""),
    ],
)
def test_driver_os_tag_follows_os_release(os_id, version_id, openshift, tag):
    assert driver_os_tag(os_id, version_id, openshift) == tag


def test_gpu_images_are_tagged_with_the_major_of_rhel():
    assert gpu_os_tag("rhel9.6") == "rhel9"
    assert gpu_os_tag("rhcos4.18") == "rhcos4.18"


@pytest.mark.parametrize(
    ("version", "tag", "exists"),
    [
        ("doca3.4.1-26.04-1.1.0.0-1", "rhel9.6", True),
        ("doca3.4.1-26.04-1.1.0.0-1", "rhcos4.18", True),
        ("doca3.4.1-26.04-1.1.0.0-1", "rhcos4.20", False),
        ("24.10-0.7.0.0-0", "rhel9.6", False),
        ("24.10-0.7.0.0-0", "rhcos4.17", False),
        ("24.10-0.7.0.0-0", "ubuntu24.04", None),
        ("99.1-0", "rhel9.6", None),
    ],
)
def test_doca_image_exists_tells_no_from_not_known(version, tag, exists):
    assert CATALOG.doca_image_exists(version, tag) is exists


def test_network_operator_takes_the_component_tag_from_the_version_asked_for():
    entry = CATALOG.network_operator("v26.1.2")
    assert entry is not None
    assert (entry.version, entry.component_tag) == ("26.1.2", "network-operator-v26.1.2")
    assert CATALOG.network_operator("99.1.0") is None


def test_an_exact_version_wins_over_its_minor():
    entry = CATALOG.network_operator("26.4.0")
    assert entry is not None
    assert entry.doca_version == "doca3.4.0-26.04-0.8.6.0-0"
    assert CATALOG.network_operator("26.4.9") is None


def test_gpu_operator_of_a_known_minor():
    entry = CATALOG.gpu_operator("25.3.4")
    assert entry is not None
    assert entry.has_kernel_module_type
    assert CATALOG.gpu_operator("1.0.0") is None


def test_openshift_is_found_by_patch_version():
    entry = CATALOG.openshift("4.20.4")
    assert entry is not None
    assert (entry.kubernetes, entry.os_id, entry.os_version) == ("1.33", "rhel", "9.6")
    assert CATALOG.openshift("3.11") is None
    assert minor_of("v4.20.4") == "4.20"


def test_nics_are_found_by_upper_and_lower_case_ids():
    entry = CATALOG.nic("A2DC")
    assert entry is not None
    assert entry.bluefield
    assert entry.infiniband is False
    assert CATALOG.nic("ffff") is None
    assert CATALOG.nic("1021", vendor_id="8086") is None
    assert CATALOG.gpu("0000") is None


def test_unsupported_combinations_are_named():
    codes = {entry.code for entry in CATALOG.unsupported({"memory": "nvidia-peermem", "nic_driver": "in-box"})}
    assert codes == {"peermem-needs-doca"}
    assert CATALOG.unsupported({"memory": "dma-buf", "gpu_driver": "open", "nic_driver": "in-box"}) == ()


def test_images_are_written_with_their_tag_or_without_where_the_bundle_has_the_digest():
    driver = CATALOG.image("doca-driver")
    parts = {"doca_version": "doca3.4.1-26.04-1.1.0.0-1", "os_tag": "rhel9.6", "arch": "amd64"}
    expected = "nvcr.io/nvidia/mellanox/doca-driver:doca3.4.1-26.04-1.1.0.0-1-rhel9.6-amd64"
    assert driver.reference(**parts) == expected
    assert CATALOG.image("gpu-operator").reference() == "nvcr.io/nvidia/gpu-operator"
    with pytest.raises(KeyError):
        driver.reference(doca_version="x")


def test_every_stage_has_a_limit_above_what_is_expected():
    for name in STAGES:
        timing = CATALOG.stage(name)
        assert 0 < timing.expected_s < timing.limit_s


def test_operators_are_found_by_key_and_package():
    assert CATALOG.operator("nvidia-gpu").package == "gpu-operator-certified"
    entry = CATALOG.operator_of_package("nfd")
    assert entry is not None
    assert entry.namespace == "openshift-nfd"
    assert CATALOG.operator_of_package("other") is None


@pytest.mark.parametrize("look_up", ["operator", "image", "stage", "default"])
def test_a_look_up_by_our_own_name_raises_for_a_name_that_is_not_there(look_up):
    with pytest.raises(KeyError):
        getattr(CATALOG, look_up)("no-such-thing")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- {vendor_id: a, device_id: b, name: c, source: s, date: d, colour: red}", "unknown fields colour"),
        ("- {vendor_id: a, device_id: b, name: c, date: d}", "no source"),
        ("- {vendor_id: 1, device_id: b, name: c, source: s, date: d}", "Expected `str`"),
    ],
)
def test_a_wrong_catalog_file_is_refused_with_its_name(text, problem):
    with pytest.raises(ValueError, match=problem) as caught:
        read_entries(text, "gpus.yaml", GpuEntry)
    assert "gpus.yaml" in str(caught.value)
