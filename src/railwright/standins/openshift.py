"""
What makes a bare cluster an OpenShift cluster: configuration, pools, the daemon on every node, catalogs.

Only objects: whoever seeds a world with them plays the operators behind them, too.
"""

from typing import Any

from railwright.core.objects import KubeObject

_CHANNELS = {
    # package: catalog, default channel, ((channel, head version), ...)
    "nfd": ("redhat-operators", "stable", (("stable", "4.20.0-202511191710"),)),
    "sriov-network-operator": ("redhat-operators", "stable", (("stable", "4.20.0-202511191710"),)),
    "nvidia-network-operator": (
        "certified-operators",
        "stable",
        (("stable", "26.4.1"), ("v25.7", "25.7.0"), ("v25.10", "25.10.0"), ("v26.1", "26.1.0"), ("v26.4", "26.4.1")),
    ),
    "gpu-operator-certified": (
        "certified-operators",
        "v26.3",
        (("stable", "26.7.0"), ("v26.3", "26.3.3"), ("v26.7", "26.7.0")),
    ),
}
"""Source: redhat-openshift-ecosystem/certified-operators 3b7b563a, catalogs/v4.20 (2026-08-22)."""

RELEASE_IMAGE = "quay.io/openshift-release-dev/ocp-release:4.20.4-x86_64"


def thing(api_version: str, kind: str, name: str, namespace: str = "", **parts: Any) -> KubeObject:
    """Spell an object; `labels` and `annotations` go into its metadata, the rest beside it."""
    metadata: dict[str, Any] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    for key in ("labels", "annotations"):
        if key in parts:
            metadata[key] = parts.pop(key)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}


def configuration(topology: str) -> tuple[KubeObject, ...]:
    """Spell ClusterVersion, Infrastructure, Network and Proxy."""
    api = "config.openshift.io/v1"
    own = {"clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}], "serviceNetwork": ["172.30.0.0/16"]}
    networks = {**own, "networkType": "OVNKubernetes"}
    release = {"version": "4.20.4", "image": RELEASE_IMAGE}
    times = {"startedTime": "2026-02-02T08:00:00Z", "completionTime": "2026-02-02T08:40:00Z"}
    history = [{**release, **times, "state": "Completed", "verified": True}]
    workers = "SingleReplica" if topology == "SingleReplica" else "HighlyAvailable"
    return (
        thing(
            api,
            "ClusterVersion",
            "version",
            spec={"clusterID": "5d1f5f0a-0000-4000-8000-000000000001", "channel": "stable-4.20"},
            status={
                "desired": release,
                "history": history,
                "availableUpdates": [],
                "observedGeneration": 1,
                "versionHash": "",
            },
        ),
        thing(
            api,
            "Infrastructure",
            "cluster",
            spec={"platformSpec": {"type": "BareMetal"}},
            status={
                "controlPlaneTopology": topology,
                "infrastructureTopology": workers,
                "infrastructureName": "sim",
                "platform": "BareMetal",
                "platformStatus": {"type": "BareMetal", "baremetal": {"machineNetworks": ["10.0.0.0/24"]}},
            },
        ),
        thing(api, "Network", "cluster", spec=networks, status={**networks, "clusterNetworkMTU": 1400}),
        thing(api, "Proxy", "cluster", spec={}, status={}),
        thing(
            "operator.openshift.io/v1",
            "Network",
            "cluster",
            spec={**own, "defaultNetwork": {"type": "OVNKubernetes", "ovnKubernetesConfig": {}}},
        ),
        thing(
            "image.openshift.io/v1",
            "ImageStream",
            "driver-toolkit",
            "openshift",
            spec={"tags": [{"name": "9.6.20251106-0"}]},
        ),
    )


def pools() -> tuple[KubeObject, ...]:
    """Spell the two usual MachineConfigPools with one MachineConfig each."""
    made: list[KubeObject] = []
    for role in ("master", "worker"):
        role_label = "machineconfiguration.openshift.io/role"
        made += [
            thing(
                "machineconfiguration.openshift.io/v1",
                "MachineConfig",
                f"00-{role}",
                labels={role_label: role},
                spec={"config": {"ignition": {"version": "3.4.0"}}},
            ),
            thing(
                "machineconfiguration.openshift.io/v1",
                "MachineConfigPool",
                role,
                labels={f"pools.operator.machineconfiguration.openshift.io/{role}": ""},
                spec={
                    "machineConfigSelector": {"matchLabels": {role_label: role}},
                    "nodeSelector": {"matchLabels": {f"node-role.kubernetes.io/{role}": ""}},
                    "paused": False,
                },
            ),
        ]
    return tuple(made)


def machine_config_daemon() -> KubeObject:
    """Spell the DaemonSet whose privileged pods run on every node."""
    labels = {"app": "machine-config-daemon", "k8s-app": "machine-config-daemon"}
    return thing(
        "apps/v1",
        "DaemonSet",
        "machine-config-daemon",
        "openshift-machine-config-operator",
        labels=labels,
        spec={
            "selector": {"matchLabels": labels},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "hostPID": True,
                    "hostNetwork": True,
                    "tolerations": [{"operator": "Exists"}],
                    "containers": [
                        {
                            "name": "machine-config-daemon",
                            "image": "quay.io/openshift-release-dev/ocp-v4.0-art-dev:machine-config-operator",
                            "securityContext": {"privileged": True},
                        }
                    ],
                },
            },
        },
    )


def catalogs() -> tuple[KubeObject, ...]:
    """Spell the two CatalogSources and the PackageManifests of the four operators."""
    made: list[KubeObject] = [
        thing(
            "operators.coreos.com/v1alpha1",
            "CatalogSource",
            name,
            "openshift-marketplace",
            spec={"sourceType": "grpc", "displayName": name},
            status={"connectionState": {"lastObservedState": "READY"}},
        )
        for name in ("redhat-operators", "certified-operators")
    ]
    return (*made, *(package(name) for name in _CHANNELS))


def package(name: str) -> KubeObject:
    """Spell one PackageManifest."""
    catalog, default, channels = _CHANNELS[name]
    return thing(
        "packages.operators.coreos.com/v1",
        "PackageManifest",
        name,
        "openshift-marketplace",
        labels={"catalog": catalog, "catalog-namespace": "openshift-marketplace"},
        spec={},
        status={
            "catalogSource": catalog,
            "catalogSourceNamespace": "openshift-marketplace",
            "packageName": name,
            "defaultChannel": default,
            "channels": [
                {
                    "name": channel,
                    "currentCSV": f"{name}.v{version}",
                    "currentCSVDesc": {"version": version, "displayName": name},
                    "entries": [{"name": f"{name}.v{version}", "version": version}],
                }
                for channel, version in channels
            ],
        },
    )
