"""Every mistake is said, with its place, key path, what was expected and what was seen."""

from pathlib import Path

import pytest
import yaml

from railwright.core.errors import IntentError
from railwright.intent.parse import parse_intents

CASES = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "intent" / "wrong.yaml").read_text(encoding="utf-8"),
)
HEAD = "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: east-west}\nspec:\n"
RIGHT = f"{HEAD}  method: sriov\n  fabric: roce\n"


def mistakes_of(text):
    with pytest.raises(IntentError) as caught:
        parse_intents(text, "f.yaml")
    return caught.value.message.splitlines()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_every_mistake_is_said(case):
    text = HEAD + "".join(f"  {line}\n" for line in case["spec"].splitlines())
    assert mistakes_of(text) == [f"f.yaml:{mistake}" for mistake in case["mistakes"]]


def test_an_intent_error_ends_with_two_and_counts_its_mistakes():
    with pytest.raises(IntentError) as caught:
        parse_intents(f"{RIGHT}  vfsPerRail: 0\n  pathMtu: 1\n", "f.yaml")
    assert caught.value.exit_code == 2
    assert caught.value.code == "intent-invalid"
    assert caught.value.context == {"file": "f.yaml", "mistakes": "2"}


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "---\n---\n", "\ufeff", "~\n"])
def test_an_empty_file_is_refused(text):
    assert mistakes_of(text) == [
        "f.yaml:1:1: the file is empty (expected a document with apiVersion, kind, metadata and spec)"
    ]


@pytest.mark.parametrize(
    ("text", "seen"), [("[1]", "a list"), ("word", '"word"'), ("5", "the number 5"), ("true", "the boolean true")]
)
def test_a_document_that_is_no_mapping_is_refused(text, seen):
    assert mistakes_of(text) == [
        f"f.yaml:1:1: a document must be a mapping (expected apiVersion, kind, metadata and spec, seen {seen})"
    ]


def test_another_kind_is_refused():
    assert mistakes_of(RIGHT.replace("RailFabric", "Pod").replace("railwright.dev/v1alpha1", "v1")) == [
        'f.yaml:1:13: apiVersion: not a value for this key (expected railwright.dev/v1alpha1, seen "v1")',
        'f.yaml:2:7: kind: not a value for this key (expected RailFabric, seen "Pod")',
    ]


def test_a_document_without_spec_says_so_once():
    assert mistakes_of("apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {}\n") == [
        "f.yaml:1:1: spec: is missing (expected mapping)",
        (
            "f.yaml:3:1: metadata.name: is missing (expected lower-case letters, digits and '-', at most 40 characters, "
            "a letter or digit at both ends)"
        ),
    ]


def test_a_control_character_is_named_with_its_place():
    assert mistakes_of(f"{RIGHT}  pullSecret: a\x00b\n") == [
        "f.yaml:7:16: a character that YAML does not allow (expected text, seen '\\x00')"
    ]


def test_mistakes_of_every_document_are_said():
    text = f"{RIGHT}  vfsPerRail: 0\n---\n{RIGHT.replace('east-west', 'north-south')}  vfsPerRail: 0\n"
    lines = mistakes_of(text)
    assert [line.partition(": ")[0] for line in lines] == ["f.yaml:7:15", "f.yaml:15:15"]


def test_two_fabrics_of_one_name_are_refused_with_both_places():
    assert mistakes_of(f"{RIGHT}---\n{RIGHT}") == [
        (
            'f.yaml:10:18: metadata.name: the same name as another RailFabric (expected each once, seen "east-west", '
            "at f.yaml:3:18)"
        )
    ]


def test_two_fabrics_with_the_same_resource_names_are_refused():
    second = RIGHT.replace("east-west", "other") + "  resourcePrefix: east-west\n"
    assert mistakes_of(f"{RIGHT}---\n{second}") == [
        (
            "f.yaml:14:19: spec.resourcePrefix: gives resources the same names as another RailFabric "
            '(expected each once, seen "east-west", at f.yaml:3:18)'
        )
    ]


def test_fabrics_whose_subnets_overlap_are_refused():
    first = f"{RIGHT}  network: {{subnets: 192.168.0.0/16}}\n"
    second = RIGHT.replace("east-west", "other") + "  network: {subnets: 192.168.7.0/24}\n"
    assert mistakes_of(f"{first}---\n{second}") == [
        (
            "f.yaml:15:22: spec.network.subnets[0]: overlaps a subnet of another RailFabric in this file "
            "(seen 192.168.7.0/24, and 192.168.0.0/16 at f.yaml:7:22)"
        )
    ]


def test_more_mistakes_than_anyone_reads_are_counted():
    lines = mistakes_of(RIGHT + "".join(f"  key{number}: 1\n" for number in range(150)))
    assert len(lines) == 101
    assert lines[-1] == "f.yaml: and 50 more mistakes"
