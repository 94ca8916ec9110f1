"""Network attachments: made of the network objects, readable, and fit for what they hand out."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from railwright.core import kinds
from railwright.core.ids import NodeName, RuleId
from railwright.core.objects import KubeObject, Ref, dig, kind_of, ref_of
from railwright.doctor import nic_policy
from railwright.doctor.commands import oc
from railwright.doctor.model import (
    Condition,
    Evidence,
    Finding,
    Layer,
    Remedy,
    Rule,
    RuleInfo,
    Severity,
    Unknown,
    conclude,
)
from railwright.doctor.needs import BY_OPERATORS, INSIDE, objects, reads_rails
from railwright.doctor.networks import Attachment, attachments
from railwright.doctor.promises import PROMISES, promises, sriov_prefix
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import NETWORKS
from railwright.facts.model import LinkLayer
from railwright.readiness.kinds.networks import judge_network
from railwright.readiness.kinds.sriov import judge_sriov_network
from railwright.readiness.model import Judgement, Readiness
from railwright.readiness.nads import read_config

_NETWORKS = (kinds.MACVLAN_NETWORK, kinds.IPOIB_NETWORK, kinds.HOST_DEVICE_NETWORK)
_SRIOV_NETWORKS = (kinds.SRIOV_NETWORK, kinds.SRIOV_IB_NETWORK)
_POOLS = (kinds.NV_IPAM_IP_POOL, kinds.NV_IPAM_CIDR_POOL)
_JUDGED_BY = (kinds.NETWORK_ATTACHMENT_DEFINITION, kinds.NAMESPACE, kinds.SRIOV_OPERATOR_CONFIG)
"""Kinds of which all must have been seen before a network is said to have no NAD."""
_PROMISED_BY = (kinds.NODE, kinds.NIC_CLUSTER_POLICY, kinds.SRIOV_NETWORK_NODE_POLICY, kinds.CLUSTER_POLICY)

_ETHERNET, _INFINIBAND = 1, 32
"""Types of devices. Source: Linux include/uapi/linux/if_arp.h."""
_MASTER_TYPES = {"macvlan": _ETHERNET, "ipvlan": _ETHERNET, "ipoib": _INFINIBAND}

ATTACHMENT_UNUSABLE = RuleInfo(
    name=RuleId("network-attachment-unusable"),
    title="A network for pods is not made, or no pod can be attached to it",
    layer=Layer.NETWORKS,
    severity=Severity.ERROR,
    text="A MacvlanNetwork, IPoIBNetwork, HostDeviceNetwork, SriovNetwork or SriovIBNetwork becomes a NAD, and says ready for "
    "text that no plugin can read and for resources that nobody has. Found: no NAD (its namespace does not exist, its ipam is "
    "no JSON, another network took its name), a NAD that differs from its network, one whose resource no policy promises or "
    "whose type does not fit the resource's ports (sriov for InfiniBand VFs, which want ib-sriov), a host-device chain with "
    "two of them or without a resource, a master that no node has, that is of the other fabric or, for macvlan, has a smaller MTU, a plugin or address manager that nobody deploys, source "
    "routing without a gateway.",
    source="Measured: Network Operator 26.4.1 and SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, 2026-11; "
    "openshift/sriov-network-operator 44199ad5 (types of NADs); containernetworking/plugins v1.6, host-device and sbr; d385120, macvlan (its MTU against its master's)",
    needs=(
        objects(kinds.NETWORK_ATTACHMENT_DEFINITION, kinds.NAMESPACE, *_NETWORKS, *_SRIOV_NETWORKS, *_POOLS),
        PROMISES,
    ),
    uses=(INSIDE, reads_rails("cni", relies_on=("pci", "net")), BY_OPERATORS),
    covers=("B071", "B078", "B079", "B084", "B087", "B089"),
    leads_to=(Condition.NETWORK_MISSING, Condition.WORKLOAD_WAITS, Condition.RDMA_FAILS),
    shows=(Condition.NETWORK_MISSING, Condition.OPERATOR_MISSING),
    subject=NETWORKS,
)


def judge_attachments(seen: Seen) -> Iterator[Finding | Unknown]:
    """Judge network objects by their NADs, then NADs by what they need."""
    groups: dict[tuple[str, str], list[KubeObject]] = defaultdict(list)
    judged = (*_NETWORKS, *_SRIOV_NETWORKS) if all(map(seen.is_whole, _JUDGED_BY)) else ()
    for network in (item for kind in judged for item in seen.of_kind(kind)):
        answer = _judge(network, seen)
        if answer.readiness in {Readiness.FAILED, Readiness.PROGRESSING}:
            problem = answer.reason.removeprefix(f"{ref_of(network)}: ").replace(ref_of(network).name, "NAME")
            groups[str(network["kind"]), problem].append(network)
    for (_, problem), networks in groups.items():
        yield _networks(problem, networks)
    for nad in seen.of_kind(kinds.NETWORK_ATTACHMENT_DEFINITION):
        problem = read_config(nad)[1]
        if problem and not dig(nad, "metadata", "ownerReferences"):
            yield _finding(ref_of(nad), problem, (Evidence(str(ref_of(nad)), "spec.config", "cannot be read"),), ())
    found = attachments(seen)
    promised, layers_of, programs = _promised(seen), _layers(seen), _programs(seen)
    for item in found:
        problems = (*_chain(item), *_resource(item, seen, promised, layers_of), *_operands(item, seen, programs))
        if problems:
            text = "; ".join(problem for problem, _ in problems)
            yield _finding(item.ref, text, tuple(evidence for _, evidence in problems), (item.thing,))
    yield from _masters(found, seen)
    yield from _unfit_masters(found, seen)
    if found:
        yield from seen.unknown_inside(ATTACHMENT_UNUSABLE, seen.everything.node_by_name)


def _judge(network: KubeObject, seen: Seen) -> Judgement:
    judge = judge_network if kind_of(network) in _NETWORKS else judge_sriov_network
    return judge(network, seen.companions, None, seen.now)


def _networks(problem: str, networks: list[KubeObject]) -> Finding:
    refs = [ref_of(network) for network in networks]
    places = [
        str(dig(item, "spec", "networkNamespace", default="") or ref.namespace or "default")
        for item, ref in zip(networks, refs, strict=True)
    ]
    return _finding(
        refs[0],
        problem.replace("NAME", refs[0].name),
        tuple(
            Evidence(str(ref), "status", str(dig(item, "status", default="not written"))[:160])
            for item, ref in list(zip(networks, refs, strict=True))[:8]
        ),
        tuple(
            thing
            for ref, place in zip(refs, places, strict=True)
            for thing in (f"nad:{place}/{ref.name}", f"object:{ref}")
        ),
        more=len(refs) - 1,
    )


def _chain(item: Attachment) -> Iterator[tuple[str, Evidence]]:
    """Judge the chain of plugins by itself."""
    moved = [plugin for plugin in item.plugins if plugin.get("type") == "host-device"]
    if len(moved) > 1:
        text = f"its chain has {len(moved)} host-device plugins, and a NAD is given one device"
        yield text, Evidence(str(item.ref), "spec.config plugins", f"{len(moved)} x host-device")
    names_device = any(key in item.plugins[0] for key in ("device", "hwaddr", "kernelpath", "pciBusID"))
    if item.type == "host-device" and not item.resource and not names_device:
        text = "it names neither a resource nor a device, so the plugin is given no device to move"
        yield text, Evidence(str(item.ref), "annotation resourceName", "none")
    routed = any(plugin.get("type") == "sbr" for plugin in item.plugins)
    needs_gateway = item.ipam.get("type") in {"static", "whereabouts", "host-local"} and not _has_gateway(item.ipam)
    if routed and needs_gateway:
        text = "it routes by source (sbr), and its addresses come without a gateway: other subnets are not reached"
        yield text, Evidence(str(item.ref), "ipam", f"{item.ipam.get('type')}, no gateway or routes")


def _has_gateway(ipam: Mapping[str, Any]) -> bool:
    text = str(ipam)
    return "gateway" in text or "'gw'" in text or bool(ipam.get("routes"))


def _promised(seen: Seen) -> Mapping[str, set[NodeName]]:
    found: dict[str, set[NodeName]] = defaultdict(set)
    for promise in promises(seen):
        found[promise.resource].add(promise.node)
    for node in seen.nodes:
        for resource in node.allocatable:
            found[resource].add(node.name)
    return found


def _resource(
    item: Attachment,
    seen: Seen,
    promised: Mapping[str, set[NodeName]],
    layers_of: Mapping[str, set[LinkLayer]],
) -> Iterator[tuple[str, Evidence]]:
    if not item.resource:
        return
    nodes = promised.get(item.resource)
    thing = Evidence(str(item.ref), "annotation resourceName", item.resource)
    if nodes is None and all(map(seen.is_whole, _PROMISED_BY)):
        near = [name for name in promised if name.rpartition("/")[2] == item.resource.rpartition("/")[2]]
        hint = f"; there is {', '.join(near)}" if near else ""
        yield f"it hands out {item.resource}, which no policy promises and no node has{hint}", thing
        return
    layers = layers_of.get(item.resource, set())
    if item.type == "sriov" and layers == {LinkLayer.INFINIBAND}:
        yield "its type is sriov, and the VFs are InfiniBand: they need ib-sriov (SriovIBNetwork)", thing
    if item.type == "ib-sriov" and layers == {LinkLayer.ETHERNET}:
        yield "its type is ib-sriov, and the VFs are Ethernet: they need sriov (SriovNetwork)", thing


def _layers(seen: Seen) -> Mapping[str, set[LinkLayer]]:
    """What the ports speak whose VFs make up a resource, by the node states."""
    prefix = sriov_prefix(seen) or "?"
    found: dict[str, set[LinkLayer]] = defaultdict(set)
    for node, state in seen.node_states.items():
        hardware = seen.inside.get(node)
        if hardware is None:
            continue
        spoken = {str(port.pci): port.link_layer for port in hardware.ports}
        for port in dig(state, "spec", "interfaces", default=()):
            layer = spoken.get(str(port.get("pciAddress")))
            for group in port.get("vfGroups") or () if layer is not None else ():
                found[f"{prefix}/{group.get('resourceName')}"].add(layer or LinkLayer.UNKNOWN)
    return found


def _programs(seen: Seen) -> Mapping[frozenset[str], list[NodeName]]:
    """Nodes with rails by the CNI plugins that they have; nodes of which that is not known are left out."""
    found: dict[frozenset[str], list[NodeName]] = defaultdict(list)
    for name in seen.rails:
        folders = seen.inside[name].system.cni_plugins
        there = frozenset(program for programs in folders.values() for program in programs)
        if there:
            found[there].append(name)
    return found


def _operands(
    item: Attachment, seen: Seen, programs: Mapping[frozenset[str], list[NodeName]]
) -> Iterator[tuple[str, Evidence]]:
    """Judge whether somebody deploys what the NAD calls: its plugins, and its address manager."""
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    ipam = str(item.ipam.get("type", ""))
    if ipam == "nv-ipam":
        if policy is not None and dig(policy, "spec", "nvIpam") is None:
            text = "its addresses come from nv-ipam, which NicClusterPolicy does not deploy"
            yield text, Evidence(f"NicClusterPolicy {nic_policy.NAME}", "spec.nvIpam", "not set")
        yield from _nv_ipam_pool(item, seen)
    if item.type == "ipoib" and policy is not None and dig(policy, "spec", "secondaryNetwork", "ipoib") is None:
        text = "it calls the ipoib plugin, which NicClusterPolicy does not deploy"
        yield text, Evidence(f"NicClusterPolicy {nic_policy.NAME}", "spec.secondaryNetwork.ipoib", "not set")
    called = {str(plugin.get("type")) for plugin in item.plugins} | ({ipam} if ipam else set())
    lacking: dict[str, list[NodeName]] = defaultdict(list)
    for there, nodes in programs.items():
        for plugin in called - there:
            lacking[plugin] += nodes
    for plugin, nodes in lacking.items():
        text = f"it calls CNI plugin {plugin}, which is not on {', '.join(nodes[:3])}{' and others' if len(nodes) > 3 else ''}"
        yield text, Evidence(f"node {nodes[0]}", "CNI folders", f"no {plugin}", nodes[0])


def _nv_ipam_pool(item: Attachment, seen: Seen) -> Iterator[tuple[str, Evidence]]:
    name, pool_type = str(item.ipam.get("poolName", "")), str(item.ipam.get("poolType") or "ippool").lower()
    kind = kinds.NV_IPAM_CIDR_POOL if pool_type == "cidrpool" else kinds.NV_IPAM_IP_POOL
    pools = {str(pool["metadata"]["name"]) for pool in seen.of_kind(kind)}
    if seen.serves(kind) and seen.is_whole(kind) and name not in pools and not {*name.split(",")} <= pools:
        said = ", ".join(sorted(pools)) or "none"
        yield f"its addresses come from {kind.kind} {name}, which does not exist", Evidence("cluster", kind.kind, said)


def _masters(found: tuple[Attachment, ...], seen: Seen) -> Iterator[Finding]:
    """Find masters that nodes do not have, on nodes whose rails are known."""
    for item in found:
        master = str(item.plugins[0].get("master") or "")
        if item.type not in _MASTER_TYPES or not master:
            continue
        without = [
            name
            for name in seen.rails
            if seen.inside[name].netdevs and not any(device.name == master for device in seen.inside[name].netdevs)
        ]
        if without and _is_meant(item, without, seen):
            every = len(without) == len(seen.rails)
            yield _finding(
                item.ref,
                f"its master {master} does not exist on {'any node with rails' if every else ', '.join(without[:4])}",
                tuple(Evidence(f"node {name}", "network devices", f"no {master}", name) for name in without[:6]),
                (item.thing,),
                nodes=tuple(without),
                severity=Severity.ERROR if every else Severity.WARNING,
            )


def _unfit_masters(found: tuple[Attachment, ...], seen: Seen) -> Iterator[Finding]:
    """Find masters of the other fabric than the plugin's, and macvlan children that would be larger than their master."""
    for item in found:
        master, wanted = str(item.plugins[0].get("master") or ""), item.plugins[0].get("mtu")
        if item.type not in _MASTER_TYPES or not master:
            continue
        problems: dict[str, list[Evidence]] = defaultdict(list)
        for name in seen.rails:
            device = next((one for one in seen.inside[name].netdevs if one.name == master), None)
            if device is None:
                continue
            if device.arp_type != _MASTER_TYPES[item.type]:
                what = "InfiniBand" if device.arp_type == _INFINIBAND else "Ethernet"
                text = f"its type is {item.type}, and its master {master} is an {what} device: no pod gets an interface"
                problems[text].append(Evidence(f"node {name}", f"{master} type", what, name))
            elif item.type == "macvlan" and isinstance(wanted, int) and wanted > device.mtu_bytes:
                text = f"its mtu is {wanted}, above that of its master {master}: the macvlan plugin refuses that"
                problems[text].append(Evidence(f"node {name}", f"{master} mtu", str(device.mtu_bytes), name))
        for text, evidence in problems.items():
            nodes = tuple(one.node for one in evidence if one.node is not None)
            if _is_meant(item, list(nodes), seen):
                yield _finding(item.ref, text, tuple(evidence[:6]), (item.thing,), nodes=nodes)


def _is_meant(item: Attachment, nodes: list[NodeName], seen: Seen) -> bool:
    """Whether a network is for these nodes: in a mixed cluster each group has its own."""
    if len(nodes) == len(seen.rails):
        return True
    planned = {
        rail.network
        for fabric in (seen.plan.fabrics if seen.plan else ())
        for rail in fabric.rails
        if rail.port_on(nodes[0])
    }
    return seen.plan is None or item.ref.name in planned


def _finding(
    ref: Ref,
    problem: str,
    evidence: tuple[Evidence, ...],
    about: tuple[str, ...],
    *,
    nodes: tuple[NodeName, ...] = (),
    severity: Severity | None = None,
    more: int = 0,
) -> Finding:
    return conclude(
        ATTACHMENT_UNUSABLE,
        f"{ref}{f' and {more} more' if more else ''}: {problem.removeprefix(f'{ref}: ').rstrip('.')}.",
        evidence=evidence,
        remedy=Remedy(
            "Correct the network object that the NAD comes of (a NAD that is edited by hand is not kept), or make what it "
            "names.",
            (oc(ref, "get", "-o yaml"), "railwright plan   # shows the difference to what apply would write"),
        ),
        nodes=nodes,
        about=about,
        severity=severity,
    )


RULES = (Rule(ATTACHMENT_UNUSABLE, judge_attachments),)
