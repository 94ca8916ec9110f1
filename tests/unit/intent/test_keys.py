"""The documentation of keys is complete, true, and what the schema and the page are made of."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from railwright.catalog.load import load_catalog
from railwright.core.errors import IntentError
from railwright.intent.docs import keys_markdown
from railwright.intent.key_doc import MAX_PODS, MAX_VFS, MAX_VFS_INFINIBAND, PACKAGES, PATH_MTUS
from railwright.intent.keys import KEYS, children, find_key, parents_of, row_of
from railwright.intent.parse import parse_intents, read_intents
from railwright.intent.schema import json_schema

CATALOG = load_catalog()
SCHEMA = json_schema()
EXAMPLES = Path(__file__).parents[3] / "examples"
HEAD = "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: east-west}\n"


def paths_of(schema, path=""):
    for name, below in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        yield here
        yield from paths_of(below, here)
    for alternative in schema.get("anyOf", []):
        yield from paths_of(alternative, path)
    if isinstance(schema.get("items"), dict):
        yield from paths_of(schema["items"], f"{path}[]")


def test_every_key_has_a_row_and_every_row_a_key():
    assert sorted(key.path for key in KEYS) == sorted(paths_of(SCHEMA))


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_a_row_says_what_a_person_needs(key):
    assert key.meaning.endswith(".")
    assert key.required or not key.default or key.why
    assert all(key.allowed)
    assert bool(key.allowed) is bool(key.allowed_text)
    if key.type == "integer":
        assert key.allowed_text


@pytest.mark.parametrize("key", [key for key in KEYS if key.example], ids=lambda key: key.path)
def test_an_example_is_yaml_of_its_key(key):
    assert list(yaml.safe_load(key.example)) == [key.path.rpartition(".")[2]]


@pytest.mark.parametrize(
    ("path", "row"),
    [
        ("spec.network.mtu", "spec.network.mtu"),
        ("network.mtu", "spec.network.mtu"),
        ("spec.rails[3].gpu", "spec.rails[].gpu"),
        ("rails[].gpu", "spec.rails[].gpu"),
        ("spec.nodes.labels.example.com/rack", "spec.nodes.labels"),
        ("spec.workloadNamespaces[0]", "spec.workloadNamespaces"),
        ("metadata.name", "metadata.name"),
    ],
)
def test_a_key_is_found_by_the_ways_people_write_it(path, row):
    found = find_key(path)
    assert found is not None
    assert found.path == row


def test_a_key_that_is_not_there_is_not_found():
    assert find_key("spec.colour") is None
    assert find_key("") is None
    with pytest.raises(KeyError):
        row_of("spec.colour")


def test_keys_below_a_path_and_places_of_a_name():
    assert children("metadata") == ("name",)
    assert "pciAddress" in children("spec.rails[]")
    assert parents_of("mtu") == ("spec.network.mtu",)


def test_packages_and_bounds_are_those_of_the_catalog():
    assert set(PACKAGES) == {entry.package for entry in CATALOG.operators}
    assert CATALOG.default("max_vfs_per_rail").value == MAX_VFS
    assert CATALOG.default("max_vfs_per_rail_infiniband").value == MAX_VFS_INFINIBAND
    assert CATALOG.default("path_mtu_bytes").value == max(PATH_MTUS)
    assert int(str(CATALOG.default("pods_per_rail").value)) <= MAX_PODS


@pytest.mark.parametrize(
    ("path", "default"),
    [
        ("spec.vfsPerRail", "vfs_per_rail"),
        ("spec.podsPerRail", "pods_per_rail"),
        ("spec.network.ipam", "ipam"),
        ("spec.driver.nic", "nic_driver"),
        ("spec.driver.gpu", "gpu_driver"),
        ("spec.driver.memory", "gpu_memory"),
        ("spec.driver.gdrcopy", "gdrcopy"),
        ("spec.driver.gds", "gds"),
        ("spec.operators.approval", "approval"),
        ("spec.upgrade.auto", "auto_upgrade"),
        ("spec.upgrade.maxParallel", "max_parallel"),
        ("spec.upgrade.drainTimeoutSeconds", "drain_timeout_s"),
    ],
)
def test_a_default_that_is_told_is_the_one_in_force(path, default):
    key = find_key(path)
    assert key is not None
    value = CATALOG.default(default).value
    assert key.default == (str(value).lower() if isinstance(value, bool) else str(value))


def test_the_schema_is_a_schema_and_says_no_null():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert "'null'" not in str(SCHEMA)
    assert "$ref" not in str(SCHEMA)


@pytest.mark.parametrize(
    ("spec", "right"),
    [
        ("{method: sriov, fabric: roce}", True),
        ("{method: sriov, fabric: roce, rails: auto, network: {subnets: 10.0.0.0/8}}", True),
        ("{method: sriov, fabric: roce, rails: [{name: rail0, netdev: e, gpu: 1}]}", True),
        ("{method: sriov, fabric: roce, nodes: {labels: {a: b}}}", True),
        ("{method: sriov}", False),
        ("{method: other, fabric: roce}", False),
        ("{method: sriov, fabric: roce, vfsPerRail: 0}", False),
        ("{method: sriov, fabric: roce, rails: all}", False),
        ("{method: sriov, fabric: roce, rails: [{netdev: e}]}", False),
        ("{method: sriov, fabric: roce, colour: red}", False),
        ("{method: sriov, fabric: roce, network: {mtu: '9000'}}", False),
    ],
)
def test_the_schema_and_the_parser_agree(spec, right):
    text = f"{HEAD}spec: {spec}\n"
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(yaml.safe_load(text)) is right
    if right:
        parse_intents(text)
    else:
        with pytest.raises(IntentError):
            parse_intents(text)


def test_the_page_has_a_row_for_every_key():
    page = keys_markdown()
    for key in KEYS:
        assert key.path == "spec" or f"| `{key.path}` |" in page
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") == 7 for line in rows)


PAGE = (Path(__file__).parents[3] / "docs" / "rails-yaml.md").read_text(encoding="utf-8")


def test_the_pages_table_is_fresh():
    told = PAGE.split("<!-- generated: keys -->")[1].split("<!-- end of generated -->")[0]
    assert told.strip() == keys_markdown().strip()


def test_the_pages_first_example_is_right():
    example = PAGE.split("```yaml\n")[1].split("```")[0]
    assert parse_intents(example)[0].name == "east-west"


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_an_example_names_the_schema_that_editors_check_it_with(example):
    mark, _, schema = example.read_text().splitlines()[0].partition("$schema=")
    assert mark == "# yaml-language-server: "
    named = json.loads((EXAMPLES / schema).read_text())
    assert named["$id"] == json_schema()["$id"]
    assert read_intents(example)
