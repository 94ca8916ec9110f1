"""Strings with entries of several owners: apart and together again without loss; what cannot be read is an error."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.changes.embedded import format_named, merge
from railwright.changes.equality import same
from railwright.changes.model import MISSING

SCALARS = st.one_of(st.integers(0, 9), st.booleans(), st.text("ab0.", max_size=3))
KEYS = st.text("ab.", min_size=1, max_size=3)
NESTED = st.recursive(SCALARS, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=8)


@given(st.dictionaries(KEYS, NESTED, max_size=4))
@settings(deadline=None)
def test_nfd_config_comes_back_from_its_entries(data: dict[str, Any]) -> None:
    fmt = format_named("nfd-config")
    entries = fmt.entries(yaml.safe_dump(data))
    assert (yaml.safe_load(fmt.text(entries)) or {}) == data


@given(st.dictionaries(st.sampled_from(["a", "b"]), SCALARS), st.lists(st.sampled_from(["x", "y"]), max_size=4))
@settings(deadline=None)
def test_pools_come_back_from_their_entries_even_two_of_one_name(settings_: dict[str, Any], names: list[str]) -> None:
    data = {**settings_, "configList": [{"resourceName": name, "number": at} for at, name in enumerate(names)]}
    fmt = format_named("rdma-shared")
    assert json.loads(fmt.text(fmt.entries(json.dumps(data)))) == data


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rdma-shared", "{"),
        ("rdma-shared", "[]"),
        ("rdma-shared", '{"configList": 3}'),
        ("sriov-device-plugin", '{"resourceList": ["x"]}'),
        ("nfd-config", "- a list"),
        ("nfd-config", "a: [1"),
        ("nfd-config", "1: number as a key"),
        ("ipam", "type: whereabouts"),
    ],
)
def test_text_that_its_reader_would_not_take_is_an_error(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        format_named(name).entries(text)


def test_a_prefix_is_part_of_a_pools_name() -> None:
    text = json.dumps({"resourceList": [{"resourceName": "a", "resourcePrefix": "nvidia.com"}, {"resourceName": "a"}]})
    assert list(format_named("sriov-device-plugin").entries(text)) == [
        "{resourceName=nvidia.com/a}",
        "{resourceName=a}",
    ]


def test_something_below_a_scalar_of_someone_else_is_an_error_and_never_replaces_it() -> None:
    with pytest.raises(ValueError, match="something below it is wanted"):
        merge(format_named("nfd-config"), "sources: none", {"{sources.pci.deviceLabelFields}": ["vendor"]}, {})


def test_merging_nothing_new_gives_the_same_bytes() -> None:
    text = '{ "type":"whereabouts" }'
    assert merge(format_named("ipam"), text, {"{type}": "whereabouts"}, {"{range}": MISSING})[0] == text


def test_an_empty_string_has_no_entries() -> None:
    assert format_named("nfd-config").entries(" \n") == {}
    assert format_named("nfd-config").entries("# only a comment\n") == {}


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("1000m", 1, True),
        ("1Gi", 1024**3, True),
        ("8", 8, True),
        ("8", "9", False),
        ("x", 8, False),
        (True, 1, False),
        ({"cpu": "1"}, {"cpu": 1}, True),
        ({"cpu": "1"}, {"memory": 1}, False),
    ],
)
def test_quantities_are_equal_by_amount(left: Any, right: Any, equal: bool) -> None:
    assert same(("spec", "resources", "limits"), left, right) is equal


def test_true_is_not_one_anywhere() -> None:
    assert not same(("spec", "a"), left=True, right=1)
