"""Text of anybody's on the cluster is read, or is a ValueError; it never ends a command."""

import json

import pytest

from railwright.core.foreign_text import inert, inert_json, is_inert, parse_json, parse_yaml, whole_number
from railwright.core.multus import networks_of, plugins_of
from railwright.doctor.nic_policy import read_config
from railwright.facts.announced import announced_by
from railwright.facts.platform import InstallConfig, install_config_of
from railwright.facts.sources.network_status import parse_network_status
from railwright.readiness.nads import is_json

DEEP = "[" * 5_000 + "]" * 5_000
ENDLESS = "[" * 5_000


@pytest.mark.parametrize("text", [DEEP, ENDLESS, "{", '{"a": [' * 5_000])
@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
def test_whatever_cannot_be_read_is_a_value_error(parse, text):
    with pytest.raises(ValueError, match=r"\w"):
        parse(text)


@pytest.mark.parametrize("text", ["day: 2026-02-31", "a: *nobody", "!!python/object:os.system {}"])
def test_yaml_that_names_what_is_not_there_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"\w"):
        parse_yaml(text)


def test_what_can_be_read_is_read():
    assert parse_json('{"a": [1]}') == parse_yaml("a: [1]") == {"a": [1]}
    assert parse_yaml("") is None


@pytest.mark.parametrize("text", [DEEP, ENDLESS])
def test_nobodys_annotation_ends_a_command(text):
    assert networks_of(text, "training") == ()
    assert plugins_of(text) == ()
    assert parse_network_status(text) == ()
    assert not is_json(text)
    assert read_config(text)[1].startswith("no JSON")
    assert {item.address for item in announced_by({"k8s.ovn.org/l3-gateway-config": text})} == {""}
    assert install_config_of({"data": {"install-config": text}}) == InstallConfig()


@pytest.mark.parametrize("text", ["!!bool x", "!!int ''", "!!float x", "!!timestamp x", "a: 2026-13-45", "!!set [a]"])
def test_a_tag_or_a_date_that_does_not_fit_its_value_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_yaml(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("007", 7),
        ("", None),
        ("-1", None),
        (" 7", None),
        ("\u00b2", None),
        ("\u0663", None),
        ("9" * 5000, None),
    ],
)
def test_a_number_is_ascii_digits_and_not_too_many(text: str, number: int | None) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("\x9b31m", "\\x9b31m"),
        ("\x07\x08\x7f", "\\x07\\x08\\x7f"),
        ("over\rwritten", "over\\rwritten"),
        ("gnp\u202eexe", "gnp\\u202eexe"),
        ("\u2028\ufeff\u200f", "\\u2028\\ufeff\\u200f"),
        ("\ud800", "\\ud800"),
        ("tabs\tand\nlines", "tabs\tand\nlines"),
        ("caf\u00e9 \u6f22\u5b57 \U0001f600", "caf\u00e9 \u6f22\u5b57 \U0001f600"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert inert(text) == shown
    assert is_inert(text) is (text == shown)
    written = inert_json(json.dumps(text, ensure_ascii=False))
    assert is_inert(written)
    assert json.loads(written) == text
