"""An address that was given twice: the remedy is about the manager that gave it."""

from dataclasses import replace
from typing import Any

import pytest
from support.doctoring import asked, snapshot_of
from support.one_fact import a_job, a_nad, put, with_pod

from railwright.core.ids import NodeName
from railwright.doctor.model import Finding
from railwright.facts.model import Platform, Snapshot

HELD = "10.77.0.2"


def holding(manager: str, *more: str) -> Snapshot:
    """Two pods with one address, of networks with these managers."""
    snapshot = snapshot_of("h200-roce")
    for number, item in enumerate((manager, *(more or (manager,)))):
        name = f"rail{number}" if more else "rail"
        nad = a_nad({"type": "macvlan", "master": "x", "ipam": {"type": item}}, name)
        said = f'[{{"name": "training/{name}", "interface": "net1", "ips": ["{HELD}"]}}]'
        pod = a_job(snapshot, name="ab"[number], node=NodeName(f"worker-{number}"), networks=name, network_status=said)
        snapshot = with_pod(lambda *_, pod=pod: pod)(put(lambda _, nad=nad: nad)(snapshot, None), None)
    return snapshot


def a_pool(range_: str, allocations: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "whereabouts.cni.cncf.io/v1alpha1",
        "kind": "IPPool",
        "metadata": {"name": "10.77.0.0-24", "namespace": "openshift-multus"},
        "spec": {"range": range_, "allocations": allocations},
    }


def twice(snapshot: Snapshot) -> Finding:
    found = asked(snapshot, "rail-addresses-collide").findings
    return next(item for item in found if "hold one address at once" in item.cause)


def deleted(finding: Finding) -> list[str]:
    return [item.rpartition(" ")[2] for item in finding.remedy.commands if " delete pod " in item]


@pytest.mark.parametrize(
    ("manager", "command"),
    [
        ("whereabouts", "oc get ippools.whereabouts.cni.cncf.io -A -o yaml"),
        ("whereabouts", "oc get overlappingrangeipreservations.whereabouts.cni.cncf.io -A -o yaml"),
        ("whereabouts", "oc -n openshift-multus logs daemonset/whereabouts-reconciler"),
        ("nv-ipam", "oc get ippools.nv-ipam.nvidia.com,cidrpools.nv-ipam.nvidia.com -A -o yaml"),
        ("host-local", "oc -n training get networkattachmentdefinition.k8s.cni.cncf.io rail -o yaml"),
        ("static", "oc -n training get networkattachmentdefinition.k8s.cni.cncf.io rail -o yaml"),
        ("calico-ipam", "oc -n training get networkattachmentdefinition.k8s.cni.cncf.io rail -o yaml"),
    ],
)
def test_cause_evidence_and_remedy_are_about_the_manager_that_the_nad_names(manager: str, command: str) -> None:
    found = twice(holding(manager))
    assert f"given by {manager}." in found.cause
    assert ("ipam type", manager) in [(item.field, item.value) for item in found.evidence]
    assert command in found.remedy.commands
    others = {"whereabouts", "nv-ipam", "host-local"} - {manager}
    told = found.cause + " ".join(found.remedy.commands)
    assert [item for item in others if item in told] == []


def test_two_managers_of_one_range_are_both_named() -> None:
    found = twice(holding("whereabouts", "nv-ipam"))
    assert "given by nv-ipam and whereabouts. Neither knows of the other's." in found.cause


def test_whereabouts_reconciler_is_looked_for_where_the_platform_has_it() -> None:
    snapshot = holding("whereabouts")
    plain = replace(snapshot, cluster=replace(snapshot.cluster, platform=Platform.KUBERNETES))
    assert not any("openshift" in item for item in twice(plain).remedy.commands)


@pytest.mark.parametrize(
    ("range_", "allocations", "anew"),
    [
        ("10.77.0.0/24", {"2": {"podref": "training/b"}}, ["a"]),
        ("10.77.0.0/24", {"2": {"podref": "training/a"}}, ["b"]),
        ("10.77.0.0/24", {"3": {"podref": "training/b"}}, ["a", "b"]),
        ("10.78.0.0/24", {"2": {"podref": "training/b"}}, ["a", "b"]),
        ("10.77.0.0/24", {}, ["a", "b"]),
    ],
)
def test_the_pod_that_whereabouts_does_not_name_is_made_anew(
    range_: str, allocations: dict[str, Any], anew: list[str]
) -> None:
    found = twice(put(lambda _: a_pool(range_, allocations))(holding("whereabouts"), None))
    assert deleted(found) == anew


def test_the_world_in_which_whereabouts_freed_an_address_names_it() -> None:
    assert "given by whereabouts. Either its reconciler freed" in twice(snapshot_of("adopt+addresses-freed")).cause
