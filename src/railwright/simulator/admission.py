"""
What the operators' admission webhooks refuse, as recorded; only where the operator runs.

Measured: webhooks of Network Operator 26.4.1 and SR-IOV network operator 1.6.0 with kube-apiserver 1.36.3, 2026-11.
"""

import json
import re
from typing import Any

from railwright.core.errors import ObjectRefused
from railwright.core.kinds import (
    NIC_CLUSTER_POLICY,
    NODE,
    SRIOV_NETWORK_NODE_POLICY,
    SRIOV_NETWORK_NODE_STATE,
    SRIOV_OPERATOR_CONFIG,
)
from railwright.core.objects import KubeObject, dig, labels_of, ref_of
from railwright.standins.model import Objects
from railwright.standins.operators import NETWORK, SRIOV, is_running, running_namespace
from railwright.standins.view import find, matches, name_of, of_kind

_RESOURCE = re.compile(r"^[a-zA-Z0-9_]+$")
_MOST_VFS = 128


def admit(world: Objects, obj: KubeObject) -> None:
    """Let an object through, or raise ObjectRefused with the words of the webhook."""
    kind = ref_of(obj).kind
    text = ""
    if kind == NIC_CLUSTER_POLICY and is_running(world, NETWORK):
        text = _nic_policy(obj)
        name = "vnicclusterpolicy.kb.io"
    elif kind in {SRIOV_NETWORK_NODE_POLICY, SRIOV_OPERATOR_CONFIG} and is_running(world, SRIOV):
        text = _sriov(world, obj)
        name = "operator-webhook.sriovnetwork.openshift.io"
    if text:
        message = f'admission webhook "{name}" denied the request: {text}'
        raise ObjectRefused(message, context={"object": str(ref_of(obj))})


def _nic_policy(obj: KubeObject) -> str:
    spec = dig(obj, "spec", default={})
    if dig(spec, "ofedDriver") is not None and not dig(spec, "ofedDriver", "version"):
        return "ofedDriver.version: Required value"
    for section, key, label in (
        ("rdmaSharedDevicePlugin", "configList", "RdmaSharedDevicePluginConfig"),
        ("sriovDevicePlugin", "resourceList", "SriovNetworkDevicePluginConfig"),
    ):
        if dig(spec, section, "config") is None:
            continue
        try:
            pools = json.loads(spec[section]["config"])[key]
        except (ValueError, KeyError, TypeError):
            return f"Invalid json of {label}: {spec[section]['config']!r}"
        found = next((text for text in (_pool(pool, section) for pool in pools) if text), "")
        if found:
            return found
    return ""


def _pool(pool: Any, section: str) -> str:
    prefix = pool.get("resourcePrefix", "")
    if prefix and "." not in prefix:
        return f"Invalid Resource prefix, it must be a valid FQDN: {prefix}"
    if section == "rdmaSharedDevicePlugin":
        if "rdmaHcaMax" not in pool:
            return "rdmaHcaMax is required"
        if not pool.get("selectors"):
            return "selectors is required"
    elif not _RESOURCE.match(str(pool.get("resourceName", ""))):
        return f"Invalid Resource name, it must consist of alphanumeric characters or '_': {pool.get('resourceName')}"
    return ""


def _sriov(world: Objects, obj: KubeObject) -> str:
    namespace, name = running_namespace(world, SRIOV) or "", name_of(obj)
    if obj["kind"] == "SriovOperatorConfig":
        if (name, obj["metadata"].get("namespace")) != ("default", namespace):
            return f"only default SriovOperatorConfig in {namespace} namespace is used"
        return ""
    config = find(world, SRIOV_OPERATOR_CONFIG, "default", namespace)
    if not dig(config, "spec", "enableOperatorWebhook", default=False) or obj["metadata"].get("namespace") != namespace:
        return ""
    spec = obj["spec"]
    if not _RESOURCE.match(str(spec.get("resourceName", ""))):
        return f'resource name "{spec.get("resourceName")}" contains invalid characters, the accepted syntax of the regular expressions is: "^[a-zA-Z0-9_]+$"'
    if int(spec.get("numVfs", 0)) > _MOST_VFS:
        return f"numVfs({spec['numVfs']}) in CR {name} exceed the maximum allowed value({_MOST_VFS}) interface"
    wanted = dig(spec, "nodeSelector", default={})
    chosen = [name_of(node) for node in of_kind(world, NODE) if matches(labels_of(node), wanted)]
    if not chosen:
        return f"no matched node is selected by the nodeSelector in CR {name}"
    states = [item for item in of_kind(world, SRIOV_NETWORK_NODE_STATE, namespace) if name_of(item) in chosen]
    ports = [port for state in states for port in dig(state, "status", "interfaces", default=())]
    if not any(_fits(port, dig(spec, "nicSelector", default={})) for port in ports):
        return f"no supported NIC is selected by the nicSelector in CR {name}"
    return ""


def _fits(port: Any, selector: Any) -> bool:
    names = [str(item).partition("#")[0] for item in selector.get("pfNames") or ()]
    return (
        (not names or port["name"] in names)
        and (not selector.get("rootDevices") or port["pciAddress"] in selector["rootDevices"])
        and selector.get("vendor") in {None, "", port["vendor"]}
        and selector.get("deviceID") in {None, "", port["deviceID"]}
    )
