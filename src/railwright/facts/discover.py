"""The one function of this package: read a cluster and its nodes into a Snapshot. It writes nothing."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC

from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, Ref
from railwright.facts import cluster as objects_of
from railwright.facts import platform
from railwright.facts.cluster import ClusterObjects, read_everywhere, read_namespaces, read_singles
from railwright.facts.hardware import NOT_ASKED, read_hardware
from railwright.facts.model import (
    ClusterFacts,
    EventFacts,
    LogRef,
    NodeFacts,
    PackageFacts,
    Platform,
    PoolFacts,
    Scope,
    Snapshot,
    Unseen,
)
from railwright.facts.nodes import node_of, pools_of
from railwright.facts.packages import read_packages
from railwright.facts.platform import InstallConfig
from railwright.facts.reading import Reading, both, start_reading
from railwright.facts.troubles import read_events, read_logs
from railwright.ports import progress as events
from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster, Selection
from railwright.ports.node import Node
from railwright.ports.progress import Progress

_CLUSTER_STEPS = 5
Troubles = tuple[tuple[EventFacts, ...], Mapping[LogRef, str]]


async def discover(cluster: Cluster, node: Node, scope: Scope, progress: Progress, clock: Clock) -> Snapshot:
    """
    Read everything that is there; changes nothing.

    Returns:
        A Snapshot; what may not be read, or failed, is in its `unseen`, or is a node's `hardware_problem`.

    Raises:
        ClusterUnreachable: the API server does not answer.
        LoginExpired: it does not know us (any more).
    """
    taken_at = clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    progress.emit(events.Reading("cluster", 0, _CLUSTER_STEPS))
    reading = await start_reading(cluster)
    kubernetes_version = await reading.attempt("Kubernetes version", cluster.version, "")
    progress.emit(events.Reading("cluster", 1, _CLUSTER_STEPS))
    singles = {ref: obj for ref, obj in (await read_singles(reading)).items() if _is_understood(reading, ref, obj)}
    is_openshift = _is_openshift(reading, singles)
    everywhere, pools = await read_everywhere(reading)
    progress.emit(events.Reading("cluster", 2, _CLUSTER_STEPS))
    every_node, found = await both(
        _read_nodes(reading, has_worker_label=is_openshift), read_namespaces(reading, everywhere)
    )
    progress.emit(events.Reading("cluster", 3, _CLUSTER_STEPS))
    packages = await read_packages(reading)
    told = await _read_troubles(reading, found, scope)
    progress.emit(events.Reading("cluster", 4, _CLUSTER_STEPS))
    install = await _read_install_config(reading, is_openshift=is_openshift)
    progress.emit(events.Reading("cluster", _CLUSTER_STEPS, _CLUSTER_STEPS))

    chosen = _in_scope(every_node, scope, reading)
    raw: Mapping[NodeName, str] = {}
    if scope.hardware:
        servers = tuple(address for facts in every_node if facts.is_control_plane for address in facts.addresses)
        chosen, raw = await read_hardware(chosen, node, scope, progress, servers)
    else:
        chosen = tuple(replace(facts, hardware_problem=NOT_ASKED) for facts in chosen)
    facts = _cluster_facts(
        reading,
        kubernetes_version=kubernetes_version,
        singles=singles,
        every_node=every_node,
        nodes=chosen,
        found=found,
        pools=reading.understand(kinds.MACHINE_CONFIG_POOL, lambda: pools_of(pools, every_node), ()),
        packages=packages,
        install=install,
        is_openshift=is_openshift,
        told=told,
    )
    return Snapshot(taken_at=taken_at, cluster=facts, nodes=chosen, raw_nodes=raw)


async def _read_troubles(reading: Reading, found: ClusterObjects, scope: Scope) -> Troubles:
    return (
        await read_events(reading, found.namespaces, found.pods) if scope.events else (),
        await read_logs(reading, found.operator_pods, scope.log_limit_bytes) if scope.logs else {},
    )


_READ_OF_SINGLES: Mapping[Ref, Callable[[KubeObject], object]] = {
    objects_of.CLUSTER_VERSION: platform.openshift_version_of,
    objects_of.INFRASTRUCTURE: platform.is_infrastructure,
    objects_of.PROXY: platform.has_proxy,
    objects_of.NETWORK_CONFIG: lambda obj: platform.networks_of(obj, None),
    objects_of.NETWORK_OPERATOR: platform.internal_networks_of,
}


def _is_understood(reading: Reading, ref: Ref, obj: KubeObject) -> bool:
    """Whether an object can be taken apart; one that cannot is as good as not seen."""

    def read() -> bool:
        _READ_OF_SINGLES.get(ref, bool)(obj)
        return True

    return reading.understand(ref, read, otherwise=False)


def _is_openshift(reading: Reading, singles: dict[Ref, KubeObject]) -> bool:
    """OpenShift serves ClusterVersion and has one; where that may not be read, what is served decides."""
    if objects_of.CLUSTER_VERSION in singles:
        return True
    hidden = any(item.what == str(objects_of.CLUSTER_VERSION) for item in reading.unseen)
    return hidden and reading.served is not None and not reading.not_served(kinds.CLUSTER_VERSION)


async def _read_nodes(reading: Reading, *, has_worker_label: bool) -> tuple[NodeFacts, ...]:
    found: list[NodeFacts] = []
    await reading.each(
        Selection(kinds.NODE, brief=True), lambda obj: found.append(node_of(obj, has_worker_label=has_worker_label))
    )
    return tuple(sorted(found, key=lambda facts: facts.name))


async def _read_install_config(reading: Reading, *, is_openshift: bool) -> InstallConfig:
    config_map = await reading.get(objects_of.INSTALL_CONFIG) if is_openshift else None
    return reading.understand(
        objects_of.INSTALL_CONFIG, lambda: platform.install_config_of(config_map), platform.InstallConfig()
    )


def _in_scope(nodes: tuple[NodeFacts, ...], scope: Scope, reading: Reading) -> tuple[NodeFacts, ...]:
    """Keep the nodes that were asked for, and name those that do not exist."""
    if not scope.nodes:
        return nodes
    known = {facts.name for facts in nodes}
    reading.unseen.extend(
        Unseen(f"Node {name}", "not-found: the cluster has no such node") for name in scope.nodes if name not in known
    )
    return tuple(facts for facts in nodes if facts.name in scope.nodes)


def _cluster_facts(
    reading: Reading,
    *,
    kubernetes_version: str,
    singles: dict[Ref, KubeObject],
    every_node: tuple[NodeFacts, ...],
    nodes: tuple[NodeFacts, ...],
    found: ClusterObjects,
    pools: tuple[PoolFacts, ...],
    packages: tuple[tuple[PackageFacts, ...], str],
    install: InstallConfig,
    is_openshift: bool,
    told: Troubles,
) -> ClusterFacts:
    infrastructure = singles.get(objects_of.INFRASTRUCTURE)
    networks = platform.networks_of(singles.get(objects_of.NETWORK_CONFIG), singles.get(objects_of.NETWORK_OPERATOR))
    return ClusterFacts(
        name=reading.cluster.name,
        simulated=reading.cluster.simulated,
        platform=Platform.OPENSHIFT if is_openshift else Platform.KUBERNETES,
        openshift_version=platform.openshift_version_of(singles.get(objects_of.CLUSTER_VERSION)),
        kubernetes_version=kubernetes_version,
        topology=platform.topology_of(infrastructure, every_node, is_openshift=is_openshift),
        cluster_networks=networks.cluster,
        service_networks=networks.service,
        machine_networks=platform.machine_networks_of(infrastructure, install, nodes),
        internal_networks=networks.internal,
        network_type=networks.network_type,
        proxy=platform.has_proxy(singles.get(objects_of.PROXY)),
        fips=platform.is_fips(install, nodes),
        served_kinds=reading.served or (),
        packages=packages[0],
        packages_problem=packages[1],
        pools=pools,
        pods=found.pods,
        objects={**singles, **found.objects},
        events=told[0],
        logs=told[1],
        unseen=tuple(sorted(reading.unseen, key=lambda item: (item.what, item.why))),
        whole_in=frozenset(reading.whole_in),
    )
