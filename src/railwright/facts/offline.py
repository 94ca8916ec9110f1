"""A Snapshot of a cluster that nobody looked at: for rendering files before there is a cluster to read."""

import re

from railwright.core.errors import UsageError
from railwright.facts.model import ClusterFacts, Platform, Snapshot, Topology
from railwright.facts.platform import OVN_KUBERNETES, networks_of

OFFLINE = "offline"
_VERSION = re.compile(r"4\.\d+(?:\.\d+)?|[5-9]\.\d+(?:\.\d+)?")
_KUBERNETES_OF_4_0 = 13
"""OpenShift 4.Y is Kubernetes 1.(Y+13). Source: Red Hat solution 4870701 (4.20 is 1.33)."""


def offline_snapshot(openshift_version: str) -> Snapshot:
    """
    Stand in for a cluster of a given version: no nodes, nothing installed, nothing known of its networks.

    Raises:
        UsageError: not a version such as "4.20" or "4.20.4".
    """
    version = openshift_version.strip()
    if not _VERSION.fullmatch(version):
        message = f"not an OpenShift version: {openshift_version!r} (expected 4.20 or 4.20.4)"
        raise UsageError(message, hint="railwright render --openshift 4.20 --to DIR")
    major, minor = version.split(".")[:2]
    networks = networks_of({"spec": {"networkType": OVN_KUBERNETES}}, None)
    cluster = ClusterFacts(
        name=OFFLINE,
        simulated=False,
        platform=Platform.OPENSHIFT,
        openshift_version=version,
        kubernetes_version=f"v1.{int(minor) + _KUBERNETES_OF_4_0}.0" if major == "4" else "",
        topology=Topology.STANDARD,
        cluster_networks=(),
        service_networks=(),
        machine_networks=(),
        internal_networks=networks.internal,
        network_type=networks.network_type,
        proxy=False,
        fips=None,
        served_kinds=(),
        packages=(),
        packages_problem="no cluster was read",
        pools=(),
        pods=(),
    )
    return Snapshot(taken_at="", cluster=cluster, nodes=())
