"""The SR-IOV operator's own settings, and the VFs of rails."""

from typing import Any

from railwright.core.kinds import SRIOV_NETWORK_NODE_POLICY, SRIOV_NETWORK_POOL_CONFIG, SRIOV_OPERATOR_CONFIG
from railwright.manifests.assemble import a_manifest, an_object, plain, without_empty
from railwright.manifests.model import Manifest
from railwright.plan.model import SriovConfigShare, SriovPolicyShare, SriovPoolShare

CONFIG_NAME = "default"
"""Any other is refused by the webhook. Source: openshift/sriov-network-operator 44199ad5, pkg/webhook/validate.go."""


def operator_config(share: SriovConfigShare) -> tuple[Manifest, ...]:
    """
    Render the operator's settings; installed from the command line it makes none itself, and no daemon runs.

    Of existing settings only the daemon's node selector and feature gates are taken; our workloads carry their resources themselves, so
    the injector may be off.
    """
    selector = without_empty(
        {"configDaemonNodeSelector": plain(share.daemon_node_selector), "featureGates": plain(share.feature_gates)}
    )
    if share.adopted and not selector:
        return ()
    own = {"enableInjector": share.injector, "enableOperatorWebhook": share.webhook, "logLevel": 2}
    obj = an_object(
        SRIOV_OPERATOR_CONFIG,
        CONFIG_NAME,
        namespace=share.namespace,
        ours=not share.adopted,
        spec=selector if share.adopted else {**own, **selector},
    )
    return (a_manifest(obj, share.stage, partial=share.adopted),)


def pool_config(share: SriovPoolShare) -> tuple[Manifest, ...]:
    """Render how many nodes drain at once, and the RDMA mode where it is not left alone."""
    spec = {
        "nodeSelector": {"matchLabels": plain(share.node_labels)},
        "maxUnavailable": share.max_unavailable,
        "rdmaMode": share.rdma_mode,
    }
    obj = an_object(SRIOV_NETWORK_POOL_CONFIG, share.name, namespace=share.namespace, spec=without_empty(spec))
    return (a_manifest(obj, share.stage, [share.fabric]),)


def node_policy(share: SriovPolicyShare) -> tuple[Manifest, ...]:
    """Render one rail's VFs: netdevices with RDMA, in legacy mode."""
    selector = {
        "vendor": share.vendor,
        "pfNames": plain(share.pf_names),
        "rootDevices": plain(share.root_devices),
    }
    spec: dict[str, Any] = {
        "resourceName": share.resource,
        "nodeSelector": plain(share.node_labels),
        "nicSelector": without_empty(selector),
        "numVfs": share.vfs,
        "priority": share.priority,
        "deviceType": "netdevice",
        "isRdma": True,
        "linkType": share.link_type,
        "mtu": share.mtu_bytes,
    }
    obj = an_object(SRIOV_NETWORK_NODE_POLICY, share.name, namespace=share.namespace, spec=without_empty(spec))
    return (a_manifest(obj, share.stage, [share.fabric]),)
