"""The network policy of verification pods: whom it selects, and what it lets through, read as a network plugin reads it."""

from typing import Any

import pytest

from railwright.core import kinds
from railwright.core.ids import FabricName, NodeName
from railwright.core.objects import KubeObject, Ref, labels_of, ref_of
from railwright.manifests.kinds.pods import WORKLOAD_LABEL
from railwright.manifests.verifiers import RUN_LABEL, Run, Verifier, access_of, pod_of


def a_run(name: str) -> Run:
    return Run(name, "training", FabricName("east-west"), "image", 60.0, has_scc=True)


def pods_of(run: Run) -> list[dict[str, str]]:
    return [dict(labels_of(pod_of(run, number, Verifier(NodeName(f"w{number}"), (), {})))) for number in range(2)]


ONE, OTHER = a_run("0302080000"), a_run("0302080001")
FIRST, SECOND = pods_of(ONE)
STRANGERS = (
    {},
    {"app": "training"},
    {WORKLOAD_LABEL: "railwright-verify-0302080000-0"},
    {RUN_LABEL: ""},
    *pods_of(OTHER),
)
"""Labels of pods of the same namespace that are none of this run's."""


def policy_of(run: Run) -> KubeObject:
    (found,) = (obj for obj in access_of(run) if obj["kind"] == "NetworkPolicy")
    return found


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """An empty selector selects everything."""
    assert set(selector) <= {"matchLabels"}
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())


def lets_through(rules: list[dict[str, Any]], end: str, peer: dict[str, str] | None, protocol: str) -> bool:
    """
    Whether rules of one direction allow a peer; None is what is no pod of the namespace, such as DNS or the API server.

    Source: Kubernetes documentation, Network Policies: a rule without peers is for all, one without ports as well.
    """
    for rule in rules:
        peers = rule.get(end)
        met = not peers or any(set(item) == {"podSelector"} and peer is not None for item in peers)
        if met and peers and peer is not None:
            met = any(selects(item["podSelector"], peer) for item in peers)
        ports = rule.get("ports")
        if met and (not ports or any(port["protocol"] == protocol and "port" not in port for port in ports)):
            return True
    return False


def test_it_is_there_before_the_pods_and_carries_the_name_of_the_run() -> None:
    assert ref_of(policy_of(ONE)) == Ref(kinds.NETWORK_POLICY, "training", ONE.name)


@pytest.mark.parametrize("labels", STRANGERS, ids=str)
def test_pods_that_are_not_of_the_run_are_not_selected(labels: dict[str, str]) -> None:
    """A pod that no policy selects may do whatever it could do before."""
    assert not selects(policy_of(ONE)["spec"]["podSelector"], labels)


@pytest.mark.parametrize("labels", [FIRST, SECOND], ids=str)
def test_pods_of_the_run_are_selected_in_both_directions(labels: dict[str, str]) -> None:
    spec = policy_of(ONE)["spec"]
    assert selects(spec["podSelector"], labels)
    assert spec["policyTypes"] == ["Ingress", "Egress"]


@pytest.mark.parametrize(("direction", "end"), [("ingress", "from"), ("egress", "to")])
@pytest.mark.parametrize(
    ("peer", "protocol", "allowed"),
    [
        (SECOND, "TCP", True),
        (SECOND, "UDP", False),
        (SECOND, "SCTP", False),
        (None, "TCP", False),
        (None, "UDP", False),
        *((labels, "TCP", False) for labels in STRANGERS),
    ],
    ids=str,
)
def test_halves_meet_by_tcp_and_nothing_else_passes(
    direction: str, end: str, peer: dict[str, str] | None, protocol: str, *, allowed: bool
) -> None:
    assert lets_through(policy_of(ONE)["spec"][direction], end, peer, protocol) is allowed
