"""`explain`: names of every kind are found, and a fault is no rule."""

from dataclasses import replace

import pytest
from unit.plan.clusters import a_cluster, a_node, hardware

from railwright import api
from railwright.catalog.load import load_catalog
from railwright.core.errors import UsageError
from railwright.intent.keys import KEYS, KeyDoc
from railwright.plan.plan import plan


def test_the_name_of_a_fault_is_said_to_be_one() -> None:
    document = api.explain("gpu-staged")
    assert "a fault of simulated clusters" in document.text
    assert "GPU memory of one node can't be registered" in document.text
    assert document.payload["rule"] is None


def test_a_fault_written_wrong_is_guessed() -> None:
    with pytest.raises(UsageError) as refused:
        api.explain("gpu-stagd")
    assert "gpu-staged" in refused.value.hint


@pytest.mark.parametrize("asked", ["", "  "])
def test_an_empty_name_is_answered_with_what_to_give(asked: str) -> None:
    with pytest.raises(UsageError, match="is empty") as refused:
        api.explain(asked)
    assert "did you mean" not in refused.value.hint
    assert all(api.explain(name).text for name in ("spec.network.mtu", "gate-timeout", "vfs-ready"))
    assert "spec.network.mtu, gate-timeout or vfs-ready" in refused.value.hint


def test_a_name_that_is_too_long_for_any_is_cut() -> None:
    with pytest.raises(UsageError, match="nothing is named 'kkk") as refused:
        api.explain("k" * 3000)
    assert len(refused.value.message) < 120


# --- the value in force ----------------------------------------------------------------------------------------------

INTENTS = api.parse_intents("""apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec:
  method: shared
  fabric: roce
  trafficClass: 96
  workloadNamespaces: [training]
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  operators: {channels: {nfd: stable}}
""")
PLAN = plan(INTENTS, a_cluster((a_node(0, hardware()),)), load_catalog())


def lines_in_force(document: api.Document) -> list[str]:
    return [line.strip() for line in document.text.splitlines() if line.startswith("  in force")]


@pytest.mark.parametrize("key", [key for key in KEYS if key.default and "[]" not in key.path], ids=lambda key: key.path)
def test_every_key_with_a_default_has_a_value_in_force(key: KeyDoc) -> None:
    found = lines_in_force(api.explain(key.path, PLAN))
    assert found
    assert not any("not looked up" in line for line in found)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("trafficClass", "in force: 96 (from file): asked for"),
        ("vlan", "in force: none (from default): rails are usually untagged"),
        ("operators.channels.nfd", "in force: nfd.v4.20.0-202510211040 (channel stable) (from file): asked for"),
        ("operators.catalogs.gpu-operator-certified", "in force: certified-operators (from cluster)"),
        ("driver.nicVersion", "in force: doca3.4.1-26.04-1.1.0.0-1 (from catalog): what Network Operator"),
        ("nodes", "in force: worker-0 (from cluster)"),
        ("rails", "in force: rail0 (ens0f0np0), rail1 (ens1f0np0), rail2 "),
        ("workloadNamespaces", "in force: [training] (from file)"),
        ("tolerations[].key", "in force: nvidia.com/gpu (from file)"),
        ("vfsPerRail", "in force: nothing (from default): only method sriov uses it"),
        ("mtu", "in force: 9000 (from catalog)"),
        ("gateway", "in force: false"),
        ("name", "in force: east-west (from file)"),
    ],
)
def test_a_value_in_force_says_where_it_comes_from(asked: str, said: str) -> None:
    (found,) = lines_in_force(api.explain(asked, PLAN))
    assert found.startswith(said)


def test_several_values_in_force_say_whose_they_are() -> None:
    found = lines_in_force(api.explain("operators.channels", PLAN))
    assert [line.partition(":")[0] for line in found] == [
        f"in force, operator {name}"
        for name in ("nfd", "sriov-network-operator", "nvidia-network-operator", "gpu-operator-certified")
    ]


def test_without_a_cluster_the_file_is_read_and_the_rest_is_said_to_be_open() -> None:
    (written,) = lines_in_force(api.explain("trafficClass", intents=INTENTS))
    assert written == "in force: 96 (from file): asked for"
    (left_out,) = lines_in_force(api.explain("vlan", intents=INTENTS))
    assert left_out.startswith("in force: not looked up: add --cluster")
    assert not lines_in_force(api.explain("gate-timeout"))


def test_a_driver_version_that_was_asked_for_is_not_said_to_be_the_operators() -> None:
    intents = tuple(replace(intent, driver=replace(intent.driver, nic_version="25.10-1")) for intent in INTENTS)
    decided = plan(intents, a_cluster((a_node(0, hardware()),)), load_catalog())
    (found,) = lines_in_force(api.explain("driver.nicVersion", decided))
    assert found == "in force: 25.10-1 (from file): asked for"
