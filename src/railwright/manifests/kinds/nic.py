"""NicClusterPolicy: the DOCA driver, the two device plugins, and what networks on top of them need."""

from typing import Any

from railwright.core.kinds import NIC_CLUSTER_POLICY
from railwright.manifests.assemble import a_manifest, an_object, json_string, node_terms, plain, without_empty
from railwright.manifests.model import Manifest
from railwright.plan.model import DevicePool, DriverShare, NicPolicyShare

POLICY_NAME = "nic-cluster-policy"
"""
The operator looks at no other name; its webhook accepts any.

Source: Mellanox/network-operator b06827e0, controllers/nicclusterpolicy_controller.go:161 (2026-08-19).
"""

SHARED_PREFIX = "rdma"
"""
The shared plugin's own default; written out it is refused by the webhook as no FQDN.

Source: Mellanox/network-operator b06827e0, api/v1alpha1/validator/nicpolicy_webhook.go:53-54 (2026-08-19).
"""

HOST_PREFIX = "nvidia.com"
"""The only prefix that HostDeviceNetwork looks for. Measured: Network Operator 26.4.1 controllers, 2026-11."""

PERIOD = "periodicUpdateSeconds"
"""The one number among ib-kubernetes' settings."""

LIVENESS = {"initialDelaySeconds": 30, "periodSeconds": 30}
READINESS = {"initialDelaySeconds": 10, "periodSeconds": 30}
"""Both only ask whether mlx5_core is loaded. Measured: Network Operator 26.4.1 controllers, 2026-11."""


def nic_policy(share: NicPolicyShare) -> tuple[Manifest, ...]:
    """Render the sections that some fabric wants; of an existing policy nothing else."""
    sections: dict[str, Any] = {
        "ofedDriver": _driver(share.driver) if share.driver else None,
        "rdmaSharedDevicePlugin": _shared_plugin(share),
        "sriovDevicePlugin": _host_plugin(share),
        "secondaryNetwork": _ipoib(share),
        "nvIpam": _nv_ipam(share),
        "ibKubernetes": _ib_kubernetes(share),
        "nodeAffinity": _affinity(share.node_labels),
        "tolerations": plain(share.tolerations),
    }
    spec = without_empty(sections)
    obj = an_object(NIC_CLUSTER_POLICY, POLICY_NAME, ours=not share.adopted, spec=spec)
    return (a_manifest(obj, share.stage, share.fabrics, embedded=_embedded(share), partial=share.adopted),)


def _embedded(share: NicPolicyShare) -> tuple[tuple[str, str], ...]:
    paths = []
    if share.shared_pools:
        paths.append(("spec.rdmaSharedDevicePlugin.config", "rdma-shared"))
    if share.host_pools:
        paths.append(("spec.sriovDevicePlugin.config", "sriov-device-plugin"))
    return tuple(paths)


def _component(share: NicPolicyShare, image: str, section: str) -> dict[str, Any]:
    """Name a component's image; of a section that is there already nothing: its owner chose the version."""
    if section in share.kept:
        return {}
    return without_empty(
        {
            "image": image,
            "repository": share.component_repository,
            "version": share.component_version,
            "imagePullSecrets": plain(share.pull_secrets),
        }
    )


def _ipoib(share: NicPolicyShare) -> dict[str, Any] | None:
    component = _component(share, "ipoib-cni", "secondaryNetwork.ipoib")
    return {"ipoib": component} if share.ipoib and component else None


def _nv_ipam(share: NicPolicyShare) -> dict[str, Any] | None:
    component = _component(share, "nvidia-k8s-ipam", "nvIpam")
    return {**component, "enableWebhook": False} if share.nv_ipam and component else None


def _driver(driver: DriverShare) -> dict[str, Any]:
    drain = {"enable": True, "force": True, "deleteEmptyDir": True, "timeoutSeconds": driver.drain_timeout_s}
    return without_empty(
        {
            "image": driver.image,
            "repository": driver.repository,
            "version": driver.version,
            "imagePullSecrets": plain(driver.pull_secrets),
            "env": [{"name": name, "value": driver.environment[name]} for name in sorted(driver.environment)],
            "upgradePolicy": {
                "autoUpgrade": driver.auto_upgrade,
                "maxParallelUpgrades": driver.max_parallel,
                "safeLoad": False,
                "drain": drain,
            },
            "startupProbe": {
                "initialDelaySeconds": driver.startup_initial_delay_s,
                "periodSeconds": driver.startup_period_s,
            },
            "livenessProbe": dict(LIVENESS),
            "readinessProbe": dict(READINESS),
        }
    )


def _shared_plugin(share: NicPolicyShare) -> dict[str, Any] | None:
    if not share.shared_pools:
        return None
    entries = [_shared_entry(pool) for pool in share.shared_pools]
    return {
        **_component(share, "k8s-rdma-shared-dev-plugin", "rdmaSharedDevicePlugin"),
        "config": _config("configList", entries),
    }


def _shared_entry(pool: DevicePool) -> dict[str, Any]:
    prefix = {} if pool.prefix in {"", SHARED_PREFIX} else {"resourcePrefix": pool.prefix}
    return {
        "resourceName": pool.resource,
        **prefix,
        "rdmaHcaMax": pool.share_count,
        "selectors": pool.selectors,
    }


def _host_plugin(share: NicPolicyShare) -> dict[str, Any] | None:
    if not share.host_pools:
        return None
    entries = [
        {
            "resourcePrefix": pool.prefix or HOST_PREFIX,
            "resourceName": pool.resource,
            "selectors": pool.selectors,
        }
        for pool in share.host_pools
    ]
    return {
        **_component(share, "sriov-network-device-plugin", "sriovDevicePlugin"),
        "config": _config("resourceList", entries),
    }


def _config(key: str, entries: list[dict[str, Any]]) -> str:
    """Write the plugin's JSON with one entry a line: people read it in the policy."""
    lines = ",\n".join(f"  {json_string(entry)}" for entry in entries)
    return f'{{"{key}": [\n{lines}\n]}}\n'


def _ib_kubernetes(share: NicPolicyShare) -> dict[str, Any] | None:
    """Add the pool range and the UFM secret that the plan gives, under the policy's own key names."""
    if share.ib_kubernetes is None:
        return None
    settings = plain(share.ib_kubernetes)
    if PERIOD in settings:
        settings[PERIOD] = int(settings[PERIOD])
    return {**_component(share, "ib-kubernetes", "ibKubernetes"), **settings}


def _affinity(labels: tuple[tuple[str, str], ...]) -> dict[str, Any] | None:
    terms = node_terms({key: value} for key, value in labels)
    if not terms:
        return None
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
