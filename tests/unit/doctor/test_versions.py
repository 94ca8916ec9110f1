"""Versions that are known to fail here: from the first that has a defect to the first without it, and only where it matters."""

from dataclasses import replace
from typing import Any

import pytest
from support.doctoring import CATALOG, asked, ports, snapshot_of

from railwright.core import kinds
from railwright.core.objects import Ref
from railwright.doctor.operators import version_number
from railwright.facts.model import Snapshot

RULE = "version-known-to-fail-here"
POLICY = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic-cluster-policy")
SUBSCRIPTIONS = {
    "nvidia-network": ("nvidia-network-operator", "nvidia-network-operator-sub", "nvidia-network-operator.v"),
    "nvidia-gpu": ("nvidia-gpu-operator", "gpu-operator-certified-sub", "gpu-operator-certified.v"),
    "sriov": ("openshift-sriov-network-operator", "sriov-network-operator-sub", "sriov-network-operator.v"),
}


def with_object(snapshot: Snapshot, ref: Ref, **fields: Any) -> Snapshot:
    live = snapshot.cluster.objects.get(ref, {"apiVersion": ref.kind.api_version, "kind": ref.kind.kind})
    metadata = {"name": ref.name, "namespace": ref.namespace} if ref.namespace else {"name": ref.name}
    body = {"metadata": metadata, **live, **fields}
    return replace(snapshot, cluster=replace(snapshot.cluster, objects={**snapshot.cluster.objects, ref: body}))


def at(version: str, key: str, snapshot: Snapshot | None = None) -> Snapshot:
    """Let an operator be of a version."""
    place, name, prefix = SUBSCRIPTIONS[key]
    ref = Ref(kinds.SUBSCRIPTION, place, name)
    return with_object(snapshot or snapshot_of("adopt"), ref, status={"installedCSV": f"{prefix}{version}"})


def policy(snapshot: Snapshot, **sections: Any) -> Snapshot:
    spec = {**snapshot.cluster.objects[POLICY]["spec"], **sections}
    return with_object(snapshot, POLICY, spec=spec)


def causes(snapshot: Snapshot) -> str:
    return "\n".join(finding.cause for finding in asked(snapshot, RULE).findings)


def variables(*names: str) -> dict[str, Any]:
    return {"version": "25.01-0.6.0.0-0", "env": [{"name": name, "value": "true"} for name in names]}


def vf_policy(snapshot: Snapshot) -> Snapshot:
    ref = Ref(kinds.SRIOV_NETWORK_NODE_POLICY, "openshift-sriov-network-operator", "a")
    return with_object(snapshot, ref, spec={"resourceName": "a", "nodeSelector": {}, "numVfs": 1})


def older_cards(snapshot: Snapshot) -> Snapshot:
    return ports(snapshot, lambda port: replace(port, device_id="101d"))


def nad(snapshot: Snapshot, ipam: str) -> Snapshot:
    ref = Ref(kinds.NETWORK_ATTACHMENT_DEFINITION, "training", "rail")
    return with_object(snapshot, ref, spec={"config": f'{{"type": "macvlan", "ipam": {{"type": "{ipam}"}}}}'})


def openshift(version: str, snapshot: Snapshot) -> Snapshot:
    return replace(snapshot, cluster=replace(snapshot.cluster, openshift_version=version))


ADOPT = "adopt"
BOTH = ("ENABLE_NFSRDMA", "UNLOAD_STORAGE_MODULES")

MATTERS = [
    (lambda s: policy(at("24.1.0", "nvidia-network", s), ofedDriver={"repoConfig": {"name": "x"}}), "do not reach"),
    (lambda s: at("25.7.0", "nvidia-network", s), "kept for the old kernel"),
    (lambda s: policy(at("25.1.0", "nvidia-network", s), ofedDriver=variables(*BOTH)), "may damage"),
    (lambda s: policy(at("26.4.1", "nvidia-network", s), nicConfigurationOperator={}), "does not answer flint"),
    (lambda s: policy(at("26.1.0", "nvidia-network", s), nicConfigurationOperator={}), "firmware mismatch"),
    (lambda s: older_cards(vf_policy(at("4.20.0", "sriov", s))), "reboots the node again and again"),
    (lambda s: openshift("4.12.30", nad(s, "whereabouts")), "second pod gets it"),
    (lambda s: policy(s, secondaryNetwork={"ipoib": {"version": "v1.1.0"}}), "default partition"),
    (lambda s: policy(s, rdmaSharedDevicePlugin={"version": "v1.3.2"}), "stay at 0"),
    (lambda s: at("24.9.2", "nvidia-gpu", s), "made for OpenShift 4.12 to 4.17"),
]
DOES_NOT = [
    (lambda s: policy(at("24.1.1", "nvidia-network", s), ofedDriver={"repoConfig": {"name": "x"}}), "do not reach"),
    (lambda s: at("24.1.0", "nvidia-network", s), "do not reach"),
    (lambda s: at("25.10.0", "nvidia-network", s), "kept for the old kernel"),
    (lambda s: policy(at("25.7.0", "nvidia-network", s), ofedDriver=variables(*BOTH)), "may damage"),
    (lambda s: policy(at("25.1.0", "nvidia-network", s), ofedDriver=variables("ENABLE_NFSRDMA")), "may damage"),
    (lambda s: vf_policy(at("4.20.0", "sriov", s)), "reboots the node again and again"),
    (lambda s: openshift("4.12.30", nad(s, "nv-ipam")), "second pod gets it"),
    (lambda s: openshift("4.15.0", nad(s, "whereabouts")), "second pod gets it"),
    (lambda s: policy(s, secondaryNetwork={"ipoib": {"version": "v1.2.0"}}), "default partition"),
    (lambda s: policy(s, rdmaSharedDevicePlugin={"version": "latest"}), "stay at 0"),
]


@pytest.mark.parametrize(("change", "said"), MATTERS, ids=[said for _, said in MATTERS])
def test_a_version_with_a_defect_that_matters_here_is_found(change, said: str) -> None:
    assert said in causes(change(snapshot_of(ADOPT)))


@pytest.mark.parametrize(("change", "said"), DOES_NOT)
def test_a_version_without_it_or_a_cluster_without_its_mark_is_not(change, said: str) -> None:
    assert said not in causes(change(snapshot_of(ADOPT)))


def test_a_version_that_is_not_known_is_not_judged() -> None:
    assert causes(at("dev-build", "nvidia-network")) == ""


def test_every_defect_names_a_component_that_can_be_looked_up_and_marks_that_exist() -> None:
    known = {
        "nvidia-network",
        "nvidia-gpu",
        "sriov",
        "nfd",
        "openshift",
        "rdmaSharedDevicePlugin",
        "secondaryNetwork.ipoib",
    }
    assert {entry.component for entry in CATALOG.defects} <= known
    for entry in CATALOG.defects:
        numbers = [version_number(text) for text in (entry.from_version, entry.fixed_in) if text]
        assert None not in numbers, entry.code
        assert sorted(numbers) == numbers, entry.code
