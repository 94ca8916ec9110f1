"""What kind of cluster it is: OpenShift's own configuration objects, reduced. Pure."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from railwright.core.foreign_text import parse_yaml
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import NodeFacts, Topology

OVN_KUBERNETES = "OVNKubernetes"
_OVN_INTERNAL = (
    (("ipv4", "internalJoinSubnet"), "100.64.0.0/16"),
    (("ipv4", "internalTransitSwitchSubnet"), "100.88.0.0/16"),
    (("gatewayConfig", "ipv4", "internalMasqueradeSubnet"), "169.254.0.0/17"),
    (("ipv6", "internalJoinSubnet"), "fd98::/64"),
    (("ipv6", "internalTransitSwitchSubnet"), "fd97::/64"),
    (("gatewayConfig", "ipv6", "internalMasqueradeSubnet"), "fd69::/112"),
)
"""
Subnets that OVN-Kubernetes uses inside, with the values that hold when nothing is configured.

Source: openshift/api 4.22, Network.operator.openshift.io, spec.defaultNetwork.ovnKubernetesConfig (field
descriptions, "The current default"). The masquerade subnet of clusters installed before 4.17 is 169.254.169.0/29,
which lies inside the one given here.
"""
_OLD_JOIN = {"ipv4": "v4InternalSubnet", "ipv6": "v6InternalSubnet"}


@dataclass(frozen=True)
class ClusterNetworks:
    """Networks that the cluster uses itself."""

    cluster: tuple[str, ...]
    service: tuple[str, ...]
    internal: tuple[str, ...]
    network_type: str


@dataclass(frozen=True)
class InstallConfig:
    """What the installer was told; None where it does not say, or could not be read."""

    machine_networks: tuple[str, ...] = ()
    fips: bool | None = None


def openshift_version_of(cluster_version: KubeObject | None) -> str:
    """Read the version that runs: the last completed update, else the wanted one; "" without the object."""
    history = dig(cluster_version, "status", "history", default=())
    done = next((str(dig(item, "version")) for item in history if dig(item, "state") == "Completed"), "")
    return done or str(dig(cluster_version, "status", "desired", "version", default=""))


def topology_of(infrastructure: KubeObject | None, nodes: tuple[NodeFacts, ...], *, is_openshift: bool) -> Topology:
    """
    Tell where the control plane runs.

    OpenShift says so itself; elsewhere it is read off the nodes, and a cluster that shows no control-plane node
    (managed, or k0s-like) stays UNKNOWN.
    """
    said = dig(infrastructure, "status", "controlPlaneTopology", default="")
    control_planes = [node for node in nodes if node.is_control_plane]
    if said == "External":
        return Topology.HOSTED
    if said == "SingleReplica":
        return Topology.SINGLE_NODE
    if not control_planes or (is_openshift and not said):
        return Topology.UNKNOWN
    if not is_openshift and len(nodes) == 1:
        return Topology.SINGLE_NODE
    if all(node.is_control_plane and node.is_worker for node in nodes):
        return Topology.COMPACT
    return Topology.STANDARD


def networks_of(config: KubeObject | None, operator: KubeObject | None) -> ClusterNetworks:
    """Read pod and service networks in force, and OVN-Kubernetes' inner subnets, configured or default."""
    in_force = {**dig(config, "spec", default={}), **dig(config, "status", default={})}
    network_type = str(in_force.get("networkType") or "")
    return ClusterNetworks(
        cluster=tuple(str(dig(item, "cidr")) for item in in_force.get("clusterNetwork") or ()),
        service=tuple(str(item) for item in in_force.get("serviceNetwork") or ()),
        internal=internal_networks_of(operator) if network_type == OVN_KUBERNETES else (),
        network_type=network_type,
    )


def internal_networks_of(operator: KubeObject | None) -> tuple[str, ...]:
    """Read the subnets that OVN-Kubernetes uses inside, configured or default."""
    ovn = dig(operator, "spec", "defaultNetwork", "ovnKubernetesConfig", default={})
    found = []
    for path, default in _OVN_INTERNAL:
        old = dig(ovn, _OLD_JOIN[path[0]]) if path[-1] == "internalJoinSubnet" else None
        found.append(str(dig(ovn, *path) or old or default))
    return tuple(found)


def has_proxy(proxy: KubeObject | None) -> bool:
    """Whether the cluster reaches the outside through a proxy."""
    settings = {**dig(proxy, "spec", default={}), **dig(proxy, "status", default={})}
    return any(settings.get(key) for key in ("httpProxy", "httpsProxy"))


def install_config_of(config_map: KubeObject | None) -> InstallConfig:
    """Read the installer's configuration (ConfigMap kube-system/cluster-config-v1); it holds no secret."""
    try:
        settings = parse_yaml(str(dig(config_map, "data", "install-config", default="")))
    except ValueError:
        return InstallConfig()
    if not isinstance(settings, Mapping):
        return InstallConfig()
    networks = dig(settings, "networking", "machineNetwork", default=())
    fips = settings.get("fips", False)
    return InstallConfig(
        machine_networks=tuple(str(dig(item, "cidr")) for item in networks if dig(item, "cidr")),
        fips=fips if isinstance(fips, bool) else None,
    )


def machine_networks_of(
    infrastructure: KubeObject | None, install: InstallConfig, nodes: tuple[NodeFacts, ...]
) -> tuple[str, ...]:
    """
    Name the networks that the nodes stand in.

    Said by the platform or the installer, else read off the nodes: the networks that their own addresses are in.
    Empty when nothing tells.
    """
    said = _stated_networks(infrastructure)
    found = {
        str(ipaddress.ip_interface(own).network)
        for node in nodes
        if node.hardware is not None
        for netdev in node.hardware.netdevs
        for own in netdev.ip_addresses
        if own.partition("/")[0] in node.addresses
    }
    return tuple(dict.fromkeys((*said, *install.machine_networks))) or tuple(sorted(found))


def _stated_networks(infrastructure: KubeObject | None) -> tuple[str, ...]:
    return tuple(
        str(network)
        for status in dig(infrastructure, "status", "platformStatus", default={}).values()
        for network in dig(status, "machineNetworks", default=())
    )


def is_infrastructure(obj: KubeObject) -> bool:
    """Whether an object has the form of an Infrastructure; what it is not is raised as one of MISSHAPEN."""
    _stated_networks(obj)
    return True


def is_fips(install: InstallConfig, nodes: tuple[NodeFacts, ...]) -> bool | None:
    """Whether nodes run in FIPS mode: the installer says, else the kernel arguments of the nodes; None without both."""
    arguments = [node.hardware.kernel_arguments.split() for node in nodes if node.hardware is not None]
    if any("fips=1" in words for words in arguments):
        return True
    return install.fips if install.fips is not None else False if any(arguments) else None
