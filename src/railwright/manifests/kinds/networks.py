"""What gives pods a rail: the network kinds of both operators, NADs by hand, and nv-ipam's pools."""

from collections.abc import Callable, Mapping
from typing import Any

from railwright.core.kinds import (
    HOST_DEVICE_NETWORK,
    IPOIB_NETWORK,
    MACVLAN_NETWORK,
    NETWORK_ATTACHMENT_DEFINITION,
    NV_IPAM_CIDR_POOL,
    NV_IPAM_IP_POOL,
    SRIOV_IB_NETWORK,
    SRIOV_NETWORK,
)
from railwright.core.multus import RESOURCE_NAME
from railwright.core.objects import Kind
from railwright.manifests.assemble import a_manifest, an_object, json_string, node_terms, without_empty
from railwright.manifests.model import Manifest
from railwright.plan.model import CidrPoolShare, IpPoolShare, NetworkShare

CNI_VERSION = "0.3.1"
"""As in the operator's own NADs. Source: Mellanox/network-operator b06827e0, manifests/state-macvlan-network."""

_RESOURCE_PREFIX = {"sriov": "openshift.io", "ib-sriov": "openshift.io", "host-device": "nvidia.com"}


def ip_pool(share: IpPoolShare) -> tuple[Manifest, ...]:
    """Render one rail's addresses: a block a node. nv-ipam looks at pools of its own namespace only."""
    terms = node_terms([share.node_labels])
    spec = {
        "subnet": share.subnet,
        "perNodeBlockSize": share.per_node_block,
        "gateway": share.gateway,
        "exclusions": [{"startIP": first, "endIP": last} for first, last in share.exclude],
        "routes": [{"dst": destination} for destination in share.routes],
        "nodeSelector": {"nodeSelectorTerms": terms} if terms else None,
    }
    obj = an_object(NV_IPAM_IP_POOL, share.name, namespace=share.namespace, spec=without_empty(spec))
    return (a_manifest(obj, share.stage, [share.fabric]),)


def cidr_pool(share: CidrPoolShare) -> tuple[Manifest, ...]:
    """Render one rail's addresses as a subnet a node, each with its own router."""
    terms = node_terms([share.node_labels])
    spec = {
        "cidr": share.cidr,
        "perNodeNetworkPrefix": share.per_node_prefix,
        "gatewayIndex": share.gateway_index,
        "exclusions": [{"startIP": first, "endIP": last} for first, last in share.exclude],
        "routes": [{"dst": destination} for destination in share.routes],
        "nodeSelector": {"nodeSelectorTerms": terms} if terms else None,
    }
    obj = an_object(NV_IPAM_CIDR_POOL, share.name, namespace=share.namespace, spec=without_empty(spec))
    return (a_manifest(obj, share.stage, [share.fabric]),)


def network(share: NetworkShare) -> tuple[Manifest, ...]:
    """
    Render one rail's network for one workload namespace.

    Its `ipam` string is ours as a whole: a route that the plan no longer wants must not stay in it.

    Raises:
        ValueError: a kind or setting that this file was not taught (a bug of ours).
    """
    if share.kind not in _KINDS:
        message = f"network {share.name}: no way to render kind {share.kind}"
        raise ValueError(message)
    kind, fill, settings = _KINDS[share.kind]
    unknown = sorted(set(share.settings) - settings)
    if unknown:
        message = f"{share.kind} {share.name}: settings {unknown} have no field there; {sorted(settings)} have"
        raise ValueError(message)
    annotations: dict[str, str] = {}
    spec = fill(share)
    if kind == NETWORK_ATTACHMENT_DEFINITION:
        annotations = _resource_annotation(share)
        name, namespace = share.nad, share.target_namespace
    else:
        name, namespace = share.name, share.namespace
    obj = an_object(kind, name, namespace=namespace, annotations=annotations, spec=spec)
    return (a_manifest(obj, share.stage, [share.fabric]),)


def _macvlan(share: NetworkShare) -> dict[str, Any]:
    return without_empty(
        {
            "networkNamespace": share.target_namespace,
            "master": share.master,
            "mode": share.settings.get("mode", "bridge"),
            "mtu": share.mtu_bytes,
            "ipam": json_string(share.ipam),
        }
    )


def _ipoib(share: NetworkShare) -> dict[str, Any]:
    return {
        "networkNamespace": share.target_namespace,
        "master": share.master,
        "ipam": json_string(share.ipam),
    }


def _host_device(share: NetworkShare) -> dict[str, Any]:
    return {
        "networkNamespace": share.target_namespace,
        "resourceName": share.resource,
        "ipam": json_string(share.ipam),
    }


def _sriov(share: NetworkShare) -> dict[str, Any]:
    settings = share.settings
    return without_empty(
        {
            **_sriov_ib(share),
            "vlan": settings.get("vlan"),
            "vlanQoS": settings.get("vlan_qos"),
            "spoofChk": settings.get("spoof_check"),
            "trust": settings.get("trust"),
        }
    )


def _sriov_ib(share: NetworkShare) -> dict[str, Any]:
    settings = share.settings
    return without_empty(
        {
            "networkNamespace": share.target_namespace,
            "resourceName": share.resource,
            "linkState": settings.get("link_state"),
            "capabilities": _json_or_none(settings.get("capabilities")),
            "metaPlugins": _meta_plugins(settings.get("meta_plugins")),
            "ipam": json_string(share.ipam),
        }
    )


def _by_hand(share: NetworkShare) -> dict[str, Any]:
    """Write the CNI configuration itself: given whole as `cni`, or the ib-sriov one that a PKey needs."""
    cni = share.settings.get("cni")
    config = dict(cni) if isinstance(cni, Mapping) else _ib_sriov_config(share.settings)
    config = {"cniVersion": CNI_VERSION, "name": share.nad, **config}
    if "plugins" not in config:
        config.setdefault("ipam", share.ipam)
    return {"config": json_string(config)}


def _ib_sriov_config(settings: Mapping[str, Any]) -> dict[str, Any]:
    pooled = bool(settings.get("ib_kubernetes"))
    return without_empty(
        {
            "type": "ib-sriov",
            "pkey": settings.get("pkey"),
            "link_state": settings.get("link_state"),
            "rdmaIsolation": settings.get("rdma_isolation"),
            "ibKubernetesEnabled": True if pooled else None,
            "capabilities": {"infinibandGUID": True} if pooled else settings.get("capabilities"),
        }
    )


def _resource_annotation(share: NetworkShare) -> dict[str, str]:
    """Name the resource whose device Multus hands to the CNI; a network without a device has none."""
    if not share.resource:
        return {}
    cni = share.settings.get("cni")
    plugins = cni.get("plugins", [cni]) if isinstance(cni, Mapping) else [{"type": "ib-sriov"}]
    prefix = _RESOURCE_PREFIX.get(str(plugins[0].get("type", "")), "rdma")
    return {RESOURCE_NAME: share.resource if "/" in share.resource else f"{prefix}/{share.resource}"}


def _json_or_none(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json_string(value)


def _meta_plugins(value: Any) -> str | None:
    """Write chained plugins as the SR-IOV operator reads them: JSON objects, comma between them, no brackets."""
    if isinstance(value, list | tuple):
        return ",".join(json_string(item) for item in value) or None
    return _json_or_none(value)


_SRIOV_IB = frozenset({"link_state", "capabilities", "meta_plugins"})
_KINDS: Mapping[str, tuple[Kind, Callable[[NetworkShare], dict[str, Any]], frozenset[str]]] = {
    "MacvlanNetwork": (MACVLAN_NETWORK, _macvlan, frozenset({"mode"})),
    "IPoIBNetwork": (IPOIB_NETWORK, _ipoib, frozenset()),
    "HostDeviceNetwork": (HOST_DEVICE_NETWORK, _host_device, frozenset()),
    "SriovNetwork": (SRIOV_NETWORK, _sriov, _SRIOV_IB | {"vlan", "vlan_qos", "spoof_check", "trust"}),
    "SriovIBNetwork": (SRIOV_IB_NETWORK, _sriov_ib, _SRIOV_IB),
    "NetworkAttachmentDefinition": (
        NETWORK_ATTACHMENT_DEFINITION,
        _by_hand,
        frozenset({"cni", "pkey", "link_state", "capabilities", "ib_kubernetes", "rdma_isolation"}),
    ),
}
"""Kind, what fills its spec, and the settings that it has a field for."""
