"""Marks of a cluster that known defects depend on: each a word, true or not. Pure."""

from collections.abc import Iterator

from railwright.core import kinds
from railwright.core.objects import dig
from railwright.doctor import nic_policy
from railwright.doctor.needs import INSIDE, SRIOV_POLICIES, objects, reads_rails
from railwright.doctor.promises import sriov_policies
from railwright.doctor.seen import Seen
from railwright.facts.model import Platform

MARKS = (objects(kinds.NIC_CLUSTER_POLICY, kinds.NETWORK_ATTACHMENT_DEFINITION, *SRIOV_POLICIES), INSIDE, reads_rails())
"""What `marks_of` looks at."""
_ON = {"true", "1", "yes"}
_EIGHT = 8


def marks_of(seen: Seen) -> frozenset[str]:
    """Every mark that is true of the cluster; what could not be seen gives none."""
    return frozenset((*_of_policies(seen), *_of_nodes(seen), *_of_sriov(seen)))


def _of_policies(seen: Seen) -> Iterator[str]:
    if seen.platform is Platform.OPENSHIFT:
        yield "openshift"
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    driver = dig(policy, "spec", "ofedDriver", default={})
    if driver:
        yield "nic-driver"
    if dig(driver, "repoConfig", "name") or dig(driver, "certConfig", "name"):
        yield "nic-repo-config"
    for item in driver.get("env") or ():
        if str(item.get("value", "")).lower() in _ON:
            yield f"env-{item.get('name')}"
    if dig(policy, "spec", "nicConfigurationOperator") is not None:
        yield "nic-configuration-operator"
    for nad in seen.of_kind(kinds.NETWORK_ATTACHMENT_DEFINITION):
        if any(dig(plugin, "ipam", "type") == "whereabouts" for plugin in seen.nad_plugins(nad)):
            yield "whereabouts"
            return


def _of_nodes(seen: Seen) -> Iterator[str]:
    for hardware in seen.inside.values():
        if len(hardware.gpus) >= _EIGHT:
            yield "eight-gpus"
        for port in hardware.ports:
            if port.vendor_id == "15b3":
                yield f"nic-{port.device_id}"
        mellanox = {port.pci for port in hardware.ports if port.vendor_id == "15b3"}
        if any(carried.pci in mellanox for carried in hardware.carried):
            yield "mellanox-uplink"


def _of_sriov(seen: Seen) -> Iterator[str]:
    policies = sriov_policies(seen)
    if policies:
        yield "sriov-policies"
    if any(str(dig(item, "spec", "linkType", default="")).lower() == "ib" for item in policies):
        yield "sriov-infiniband"
    configs = seen.of_kind(kinds.SRIOV_OPERATOR_CONFIG)
    if seen.is_whole(kinds.SRIOV_OPERATOR_CONFIG) and not any(
        dig(item, "spec", "featureGates", "mellanoxFirmwareReset") is True for item in configs
    ):
        yield "no-firmware-reset-gate"
