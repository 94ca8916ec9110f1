"""
What the two network operators make of network objects: NetworkAttachmentDefinitions.

Measured: Network Operator 26.4.1 and SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, 2026-11.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from railwright.core.kinds import (
    HOST_DEVICE_NETWORK,
    IPOIB_NETWORK,
    MACVLAN_NETWORK,
    NAMESPACE,
    NETWORK_ATTACHMENT_DEFINITION,
    SRIOV_IB_NETWORK,
    SRIOV_NETWORK,
)
from railwright.core.multus import RESOURCE_NAME
from railwright.core.objects import KubeObject, dig
from railwright.standins.model import Objects, Write
from railwright.standins.operators import NETWORK, SRIOV, is_running, running_namespace
from railwright.standins.view import (
    create,
    delete,
    everything,
    find,
    merge,
    name_of,
    of_kind,
    owned_by,
    set_status,
    short_hash,
)

REVISION = "nvidia.network-operator.revision"
LAST_NAMESPACE = "operator.sriovnetwork.openshift.io/last-network-namespace"
FINALIZER = "netattdef.finalizers.sriovnetwork.openshift.io"


def react_nvidia(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Make the NAD of every MacvlanNetwork, IPoIBNetwork and HostDeviceNetwork."""
    del now
    if not is_running(world, NETWORK) or "nad-missing" in world.troubles:
        return ()
    writes: list[Write] = []
    for kind, state, link in (
        (MACVLAN_NETWORK, "state-Macvlan-Network", "macvlanNetworkAttachmentDef"),
        (IPOIB_NETWORK, "state-IPoIB-Network", "ipoibNetworkAttachmentDef"),
        (HOST_DEVICE_NETWORK, "state-host-device-network", "hostDeviceNetworkAttachmentDef"),
    ):
        for network in of_kind(world, kind):
            writes += _nvidia(world, network, state, link)
    return tuple(writes)


def _nvidia(world: Objects, network: KubeObject, state: str, link: str) -> tuple[Write, ...]:
    spec, name = network["spec"], name_of(network)
    namespace = spec.get("networkNamespace") or "default"
    is_host_device = network["kind"] == "HostDeviceNetwork"
    if find(world, NAMESPACE, namespace) is None:
        reason = f'failed to create/update objects: namespaces "{namespace}" not found'
        failed: dict[str, Any] = {"state": "notReady", "reason": reason}
        return set_status(network, failed)
    annotations = {REVISION: short_hash(spec)}
    if is_host_device:
        annotations[RESOURCE_NAME] = f"nvidia.com/{str(spec.get('resourceName', '')).removeprefix('nvidia.com/')}"
    body = {
        "apiVersion": NETWORK_ATTACHMENT_DEFINITION.api_version,
        "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"nvidia.network-operator.state": state},
            "annotations": annotations,
            "ownerReferences": owned_by(network),
        },
        "spec": {"config": _config(network)},
    }
    writes = list(_write_nad(world, body))
    status: dict[str, Any] = {"state": "ready"}
    if spec.get("networkNamespace"):
        status[link] = f"k8s.cni.cncf.io/v1/namespaces/{namespace}/NetworkAttachmentDefinition/{name}"
    if is_host_device:
        status["appliedStates"] = [{"name": state, "state": "ready"}]
    return (*writes, *set_status(network, status))


def _write_nad(world: Objects, body: Mapping[str, Any]) -> tuple[Write, ...]:
    meta = body["metadata"]
    live = find(world, NETWORK_ATTACHMENT_DEFINITION, meta["name"], meta["namespace"])
    if live is None:
        return (create(body),)
    if dig(live, "metadata", "annotations", REVISION) == meta["annotations"][REVISION]:
        return ()
    return merge(
        live,
        {
            "spec": body["spec"],
            "metadata": {"annotations": meta["annotations"], "ownerReferences": meta["ownerReferences"]},
        },
    )


def _config(network: KubeObject) -> str:
    """Spell a CNI config as the operator does: one line; an ipam that is not JSON goes in as it is."""
    spec, name = network["spec"], name_of(network)
    ipam = str(spec.get("ipam") or "{}")
    try:
        minified = json.dumps(json.loads(ipam), separators=(",", ":"))
    except ValueError:
        minified = ipam
    if network["kind"] == "HostDeviceNetwork":
        return f'{{ "cniVersion":"0.3.1", "name":"{name}", "type":"host-device", "ipam":{ipam} }}'
    if network["kind"] == "IPoIBNetwork":
        return f'{{ "cniVersion":"0.3.1", "name":"{name}", "type":"ipoib", "master": "{spec.get("master", "")}", "ipam":{minified} }}'
    master = f'"master": "{spec["master"]}",' if spec.get("master") else ""
    mtu = f'"mtu" : {spec["mtu"]},' if spec.get("mtu") else ""
    return f'{{ "cniVersion":"0.3.1", "name":"{name}", "type":"macvlan",{master}"mode" : "{spec.get("mode", "bridge")}",{mtu}"ipam":{minified} }}'


def react_sriov(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Make and remove the NADs of SriovNetworks and SriovIBNetworks of the operator's namespace."""
    del now
    namespace = running_namespace(world, SRIOV)
    if namespace is None:
        return _let_go(world)
    if "nad-missing" in world.troubles:
        return ()
    writes: list[Write] = []
    for kind in (SRIOV_NETWORK, SRIOV_IB_NETWORK):
        for network in everything(world, kind, namespace):
            writes += _sriov(world, network)
    return tuple(writes)


def _let_go(world: Objects) -> tuple[Write, ...]:
    """Take the finalizer off SriovNetworks, as the operator does when it is stopped; SriovIBNetworks keep theirs."""
    held = [
        item
        for item in everything(world, SRIOV_NETWORK)
        if FINALIZER in dig(item, "metadata", "finalizers", default=())
    ]
    return tuple(write for item in held for write in merge(item, {"metadata": {"finalizers": None}}))


def _sriov(world: Objects, network: KubeObject) -> tuple[Write, ...]:
    spec, name = network["spec"], name_of(network)
    target = spec.get("networkNamespace") or network["metadata"]["namespace"]
    nad = find(world, NETWORK_ATTACHMENT_DEFINITION, name, target)
    if dig(network, "metadata", "deletionTimestamp"):
        gone = (delete(nad),) if nad is not None else ()
        return (*gone, *merge(network, {"metadata": {"finalizers": None}}))
    if find(world, NAMESPACE, target) is None:
        return ()
    config = _sriov_config(network)
    if config is None:
        return ()
    body = {
        "apiVersion": NETWORK_ATTACHMENT_DEFINITION.api_version,
        "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": name,
            "namespace": target,
            "annotations": {RESOURCE_NAME: f"openshift.io/{spec.get('resourceName', '')}"},
        },
        "spec": {"config": config},
    }
    made = (
        (create(body),)
        if nad is None
        else merge(nad, {"spec": body["spec"], "metadata": {"annotations": dig(body, "metadata", "annotations")}})
    )
    marks = {"metadata": {"finalizers": [FINALIZER], "annotations": {LAST_NAMESPACE: target}}}
    return (*made, *merge(network, marks))


def _sriov_config(network: KubeObject) -> str | None:
    """Spell a CNI config as the operator does; None when its parts are not JSON (only its log says so)."""
    spec, name = network["spec"], name_of(network)
    try:
        ipam = json.loads(spec.get("ipam") or "{}")
        more = json.loads(f"[{spec.get('metaPlugins') or ''}]")
    except ValueError:
        return None
    if network["kind"] == "SriovIBNetwork":
        plugin: dict[str, Any] = {"type": "ib-sriov", "link_state": spec.get("linkState", "auto"), "ipam": ipam}
    else:
        plugin = {
            "type": "sriov",
            "vlan": spec.get("vlan", 0),
            "vlanQoS": spec.get("vlanQoS", 0),
            "link_state": spec.get("linkState", "auto"),
            "logLevel": "info",
            "ipam": ipam,
        }
    head: dict[str, Any] = {"cniVersion": "1.0.0", "name": name}
    return json.dumps(head | ({"plugins": [plugin, *more]} if more else plugin), indent=4)
