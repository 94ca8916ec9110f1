"""Text of anybody's on the cluster is read, or is a ValueError; it never ends a command."""

import pytest

from railwright.core.foreign_text import parse_json, parse_yaml
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
