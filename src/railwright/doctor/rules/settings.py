"""Settings that do not go together, on one policy or between several, and devices that two policies claim."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from railwright.core import kinds
from railwright.core.foreign_text import whole_number
from railwright.core.ids import NodeName, PciAddress, RuleId
from railwright.core.objects import KubeObject, dig, ref_of
from railwright.core.risk import Risk
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
from railwright.doctor.needs import BY_OPERATORS, INSIDE, SRIOV_POLICIES, objects, reads
from railwright.doctor.nic_policy import HOST, SHARED
from railwright.doctor.operators import NETWORK, SRIOV
from railwright.doctor.promises import sriov_policies, sriov_prefix
from railwright.doctor.sections import SECURE_BOOT
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import DEVICE_POLICIES, POLICIES
from railwright.doctor.wanted import driver_environment
from railwright.facts.model import NodeHardware

COMBINATION_UNSUPPORTED = RuleInfo(
    name=RuleId("driver-settings-do-not-combine"),
    title="Driver settings are in force that cannot work together on these nodes",
    layer=Layer.DRIVERS,
    severity=Severity.ERROR,
    text="GPU memory reaches the NIC in one of two ways, and each has needs: dma-buf the open kernel modules, "
    "nvidia-peermem the DOCA driver and no 64 KiB pages; drivers that are built on the node are not signed, so none of "
    "them loads under Secure Boot; replacing the storage modules takes away what an NVMe root disk needs. The rule "
    "compares ClusterPolicy, NicClusterPolicy and the nodes that they reach with the combinations in the catalog.",
    source="NVIDIA/cloud-native-docs 52dcb7b8, gpu-operator/gpu-operator-rdma.rst; Mellanox/network-operator-docs "
    "0c0ecad, release notes (known limitations of ENABLE_NFSRDMA and UNLOAD_STORAGE_MODULES)",
    needs=(INSIDE, reads("meta", "modules", SECURE_BOOT), objects(kinds.CLUSTER_POLICY, kinds.NIC_CLUSTER_POLICY)),
    covers=("B030", "B037", "B038"),
    leads_to=(Condition.NIC_DRIVER_NOT_READY, Condition.GPU_DRIVER_NOT_READY, Condition.PEER_MEMORY_MISSING),
    subject=POLICIES,
)
_IS_ON = {"true", "1", "yes"}


def judge_combinations(seen: Seen) -> Iterator[Finding | Unknown]:
    """Put the settings in force on each node into words of the catalog, and look them up."""
    nic = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    gpu = next((item for item in seen.of_kind(kinds.CLUSTER_POLICY) if dig(item, "status", "state")), None)
    found: dict[str, list[NodeName]] = {}
    for name, hardware in seen.inside.items():
        node = seen.node_by_name[name]
        nic_here = nic if nic is not None and nic_policy.reaches(nic, node) else None
        gpu_here = gpu if node.labels.get("nvidia.com/gpu.deploy.driver") == "true" else None
        if nic_here is None and gpu_here is None:
            continue
        for entry in seen.catalog.unsupported(_settings(nic_here, gpu_here, hardware)):
            found.setdefault(entry.code, []).append(name)
    for code, nodes in found.items():
        entry = next(item for item in seen.catalog.combinations if item.code == code)
        yield conclude(
            COMBINATION_UNSUPPORTED,
            f"{entry.reason}.",
            evidence=(
                *(_evidence_of(obj) for obj in (nic, gpu) if obj is not None),
                *(Evidence(f"node {node}", "settings in force", code, node) for node in nodes[:6]),
            ),
            remedy=Remedy(
                f"{entry.hint}.",
                ("railwright plan", "railwright apply"),
                risk=Risk.DRIVER_RELOAD,
                disrupts="drivers of these nodes are replaced one node after the other",
            ),
            nodes=nodes,
            about=(f"combination:{code}",),
        )
    if nic is not None:
        yield from _storage(seen, nic)


def _settings(nic: KubeObject | None, gpu: KubeObject | None, hardware: NodeHardware) -> Mapping[str, str]:
    driver = dig(gpu, "spec", "driver", default={}) if gpu is not None else {}
    settings: dict[str, str] = {}
    if nic is not None:
        settings["nic_driver"] = "doca" if dig(nic, "spec", "ofedDriver") is not None else "in-box"
    if gpu is not None and driver.get("enabled", True):
        kind = str(driver.get("kernelModuleType") or "auto")
        settings |= {"gpu_driver": kind} if kind != "auto" else {}
        rdma = driver.get("rdma") or {}
        settings["memory"] = "nvidia-peermem" if rdma.get("enabled") else "dma-buf"
        if rdma.get("useHostMofed"):
            settings["nic_driver"] = "host"
        settings["gds"] = str(bool(dig(gpu, "spec", "gds", "enabled", default=False))).lower()
    if hardware.page_size_bytes is not None:
        settings["page_size_bytes"] = str(hardware.page_size_bytes)
    if hardware.secure_boot is not None:
        settings["secure_boot"] = str(hardware.secure_boot).lower()
    return settings


def _evidence_of(obj: KubeObject) -> Evidence:
    if obj["kind"] == "ClusterPolicy":
        driver = dig(obj, "spec", "driver", default={})
        said = {key: driver.get(key) for key in ("kernelModuleType", "rdma", "enabled") if key in driver}
        return Evidence(str(ref_of(obj)), "spec.driver", str(said))
    return Evidence(str(ref_of(obj)), "spec.ofedDriver", "set" if dig(obj, "spec", "ofedDriver") else "not set")


def _storage(seen: Seen, policy: KubeObject) -> Iterator[Finding]:
    environment = driver_environment(policy)
    if environment.get("ENABLE_NFSRDMA", "").lower() not in _IS_ON:
        return
    rooted = [
        name
        for name, hardware in seen.inside.items()
        if nic_policy.reaches(policy, seen.node_by_name[name]) and {"nvme", "nvme_core"} & set(hardware.modules)
    ]
    if rooted:
        yield conclude(
            COMBINATION_UNSUPPORTED,
            "ENABLE_NFSRDMA makes the DOCA driver replace the storage modules, and the nvme modules that are loaded hold "
            "symbols of them: the driver's container cannot load.",
            evidence=(
                Evidence(str(ref_of(policy)), "spec.ofedDriver.env", str(environment)),
                *(Evidence(f"node {node}", "modules", "nvme is loaded", node) for node in rooted[:6]),
            ),
            remedy=Remedy(
                "Set ENABLE_NFSRDMA to false, or blacklist nvme on nodes that do not boot from it.",
                (oc(ref_of(policy), "edit"),),
                risk=Risk.DRIVER_RELOAD,
                disrupts="the NIC driver of these nodes is loaded anew",
            ),
            nodes=rooted,
            about=(f"operator:{NETWORK}",),
        )


MODE_CONFLICT = RuleInfo(
    name=RuleId("rdma-mode-conflict"),
    title="A node's RDMA mode does not fit what hands out its devices",
    layer=Layer.KERNEL,
    severity=Severity.ERROR,
    text="The shared device plugin works only where the RDMA subsystem is shared by all network namespaces; the rdma CNI "
    "plugin, which SR-IOV networks for isolated RDMA name, only where it is exclusive. The mode is one for the whole node "
    "and is set before the driver loads, so one node cannot serve both. The rule compares the node's mode, the mode that "
    "SriovNetworkPoolConfigs ask for, and what the policies put on the node.",
    source="Mellanox/k8s-rdma-shared-dev-plugin 410b0f3, README (RDMA subsystem namespace awareness); "
    "openshift/sriov-network-operator 44199ad5, api/v1 (rdmaMode of SriovNetworkPoolConfig)",
    needs=(
        INSIDE,
        reads("values"),
        objects(
            kinds.NIC_CLUSTER_POLICY,
            kinds.SRIOV_NETWORK_POOL_CONFIG,
            kinds.SRIOV_NETWORK_NODE_STATE,
            kinds.NETWORK_ATTACHMENT_DEFINITION,
        ),
    ),
    covers=("B050", "B061", "B086"),
    leads_to=(Condition.POD_CRASHES, Condition.RESOURCE_MISSING, Condition.WORKLOAD_WAITS),
)


def judge_modes(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare the node's mode, the wanted mode and the plugins that live with only one of them."""
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    shares = policy is not None and dig(policy, "spec", SHARED) is not None
    wanted = _wanted_modes(seen)
    exclusive: list[tuple[NodeName, str]] = []
    not_isolated: list[NodeName] = []
    isolating = _isolating_networks(seen)
    for node in seen.nodes:
        hardware = seen.inside.get(node.name)
        mode = hardware.rdma_netns_mode if hardware is not None else None
        if shares and policy is not None and nic_policy.reaches(policy, node):
            if mode == "exclusive":
                exclusive.append((node.name, "the node is in exclusive mode"))
            elif wanted.get(node.name, ("", ""))[0] == "exclusive":
                exclusive.append((node.name, f"{wanted[node.name][1]} asks for exclusive mode"))
        if isolating and mode == "shared" and node.name in seen.node_states and hardware is not None:
            not_isolated.append(node.name)
    if exclusive and policy is not None:
        yield _shared_on_exclusive(policy, exclusive)
    if not_isolated:
        yield _isolation_on_shared(isolating, not_isolated, wanted)


def _wanted_modes(seen: Seen) -> Mapping[NodeName, tuple[str, str]]:
    found: dict[NodeName, tuple[str, str]] = {}
    for pool in seen.of_kind(kinds.SRIOV_NETWORK_POOL_CONFIG):
        mode = str(dig(pool, "spec", "rdmaMode", default=""))
        if mode:
            for node in seen.matching(dig(pool, "spec", "nodeSelector", default={})):
                found[node.name] = (mode, str(ref_of(pool)))
    return found


def _isolating_networks(seen: Seen) -> tuple[str, ...]:
    """NADs of VFs whose chain ends in the rdma plugin."""
    return tuple(
        str(ref_of(nad))
        for nad in seen.of_kind(kinds.NETWORK_ATTACHMENT_DEFINITION)
        if any(plugin.get("type") == "rdma" for plugin in seen.nad_plugins(nad))
    )


def _shared_on_exclusive(policy: KubeObject, nodes: list[tuple[NodeName, str]]) -> Finding:
    return conclude(
        MODE_CONFLICT,
        f"{ref_of(policy)} puts the shared device plugin on nodes whose RDMA subsystem is or will be exclusive: its pod "
        "ends with an error there.",
        evidence=(
            Evidence(str(ref_of(policy)), f"spec.{SHARED}", "is set"),
            *(Evidence(f"node {node}", "RDMA mode", why, node) for node, why in nodes[:6]),
        ),
        remedy=Remedy(
            "Keep one mode a node: leave the shared plugin off these nodes (nodeAffinity), or put them back to shared mode "
            "(remove `options ib_core netns_mode=0` and the pool's rdmaMode; it takes a reboot).",
            (oc(ref_of(policy), "edit"), "oc get sriovnetworkpoolconfigs.sriovnetwork.openshift.io -A -o yaml"),
            risk=Risk.REBOOT,
            disrupts="the mode is set when the driver loads: these nodes are rebooted",
        ),
        nodes=(node for node, _ in nodes),
        about=("resource-kind:shared",),
    )


def _isolation_on_shared(
    networks: tuple[str, ...], nodes: list[NodeName], wanted: Mapping[NodeName, tuple[str, str]]
) -> Finding:
    pending = [node for node in nodes if wanted.get(node, ("", ""))[0] == "exclusive"]
    return conclude(
        MODE_CONFLICT,
        f"{networks[0]} isolates RDMA by the rdma plugin, which refuses pods on nodes in shared mode.",
        evidence=(
            *(Evidence(name, "plugins", "rdma") for name in networks[:3]),
            *(Evidence(f"node {node}", "RDMA mode", "shared", node) for node in nodes[:6]),
        ),
        remedy=Remedy(
            "Wait until the pool's nodes have been rebooted into exclusive mode."
            if pending
            else "Set rdmaMode exclusive in a SriovNetworkPoolConfig for these nodes, or leave the rdma plugin out.",
            ("oc get sriovnetworkpoolconfigs.sriovnetwork.openshift.io -A -o yaml",),
            risk=Risk.REBOOT,
            disrupts="the mode is set when the driver loads: these nodes are rebooted",
        ),
        nodes=nodes,
        about=(f"operator:{SRIOV}",),
        severity=Severity.WARNING if pending else Severity.ERROR,
    )


CLAIMED_TWICE = RuleInfo(
    name=RuleId("device-claimed-twice"),
    title="Two policies hand out the same port",
    layer=Layer.DEVICES,
    severity=Severity.WARNING,
    text="A port that a pool of the host-device plugin offers and a SR-IOV policy makes VFs on, or that two pools offer, is "
    "counted twice: a pod takes the port away from under the other's pods. SR-IOV policies of two resources that name the same "
    "functions make devices of one resource only. Two pools of the host-device plugin are no "
    "finding where the first alone gets the port.",
    source="k8snetworkplumbingwg/sriov-network-device-plugin 40b6f507, README (a device is offered by the first pool that "
    "selects it); openshift/sriov-network-operator 44199ad5, pkg/webhook/validate.go (ranges that overlap); inferred for pools of different plugins, which do not know of each other",
    needs=(
        INSIDE,
        reads("pci", "net", "infiniband"),
        objects(kinds.NIC_CLUSTER_POLICY, *SRIOV_POLICIES, kinds.SRIOV_NETWORK_NODE_STATE),
    ),
    uses=(BY_OPERATORS,),
    covers=("B055", "B170"),
    leads_to=(Condition.RESOURCE_MISSING, Condition.WORKLOAD_WAITS, Condition.RDMA_FAILS),
    subject=DEVICE_POLICIES,
)


def judge_claims(seen: Seen) -> Iterator[Finding | Unknown]:
    """Find ports that the host-device plugin offers whole and somebody else hands out too, then VFs that two policies claim."""
    yield from _same_functions(seen)
    policy = seen.get(kinds.NIC_CLUSTER_POLICY, nic_policy.NAME)
    if policy is None:
        return
    whole = [pool for pool in nic_policy.pools_of(policy) if pool.section == HOST]
    shared = [pool for pool in nic_policy.pools_of(policy) if pool.section == SHARED]
    if not whole:
        return
    claims: dict[tuple[str, str], list[tuple[NodeName, PciAddress]]] = {}
    for name, hardware in seen.inside.items():
        if not nic_policy.reaches(policy, seen.node_by_name[name]):
            continue
        others = {port.pci: pool.resource for pool in shared for port in nic_policy.ports_in(pool, hardware)}
        others |= _with_vfs(seen, name)
        for pool in whole:
            for port in nic_policy.ports_in(pool, hardware):
                if port.parent is None and port.pci in others:
                    claims.setdefault((pool.resource, others[port.pci]), []).append((name, port.pci))
    for (one, other), places in claims.items():
        yield conclude(
            CLAIMED_TWICE,
            f"The same ports are handed out as {one} and as {other}: one pod takes them from the other's.",
            evidence=[Evidence(f"node {node}", "port", str(pci), node) for node, pci in places[:8]],
            remedy=Remedy(
                "Let one policy have each port: narrow the selectors of the pool, or of the SR-IOV policy.",
                (oc(ref_of(policy), "edit"),),
            ),
            nodes=(node for node, _ in places),
            about=(f"resource:{one}", f"resource:{other}"),
        )


def _same_functions(seen: Seen) -> Iterator[Finding]:
    """Find SR-IOV policies that name the same functions of a port on the same nodes."""
    for one, other in combinations(sriov_policies(seen), 2):
        if dig(one, "spec", "resourceName") == dig(other, "spec", "resourceName"):
            continue
        nodes = {node.name for node in seen.selected(dig(one, "spec", "nodeSelector", default={}))}
        nodes &= {node.name for node in seen.selected(dig(other, "spec", "nodeSelector", default={}))}
        first, second = _functions_of(one), _functions_of(other)
        ports = [port for port in first if port in second and first[port] & second[port]]
        if nodes and ports:
            yield conclude(
                CLAIMED_TWICE,
                f"{ref_of(one)} and {ref_of(other)} name the same virtual functions of {', '.join(ports)}: they become devices of one "
                "of the two resources only.",
                evidence=[
                    Evidence(
                        str(ref_of(item)), "spec.nicSelector.pfNames", str(dig(item, "spec", "nicSelector", "pfNames"))
                    )
                    for item in (one, other)
                ],
                remedy=Remedy(
                    "Give each policy a range of its own (NAME#0-3 and NAME#4-7, with the same numVfs), or ports of its own.",
                    (oc(ref_of(one), "edit"),),
                    risk=Risk.DRAIN,
                    disrupts="nodes are drained while their VFs are made anew",
                ),
                nodes=nodes,
                about=(f"object:{ref_of(one)}", f"object:{ref_of(other)}"),
            )


def _functions_of(policy: KubeObject) -> Mapping[str, frozenset[int]]:
    """Functions that a policy claims, by the name or address of their port."""
    every = range(int(dig(policy, "spec", "numVfs", default=0)))
    found: dict[str, frozenset[int]] = {}
    selector = dig(policy, "spec", "nicSelector", default={})
    for text in (*(selector.get("pfNames") or ()), *(selector.get("rootDevices") or ())):
        name, _, part = str(text).partition("#")
        start, _, end = part.partition("-")
        first, last = whole_number(start), whole_number(end or start)
        numbers = range(first, last + 1) if first is not None and last is not None else every
        found[name] = frozenset(numbers)
    return found


def _with_vfs(seen: Seen, node: NodeName) -> Mapping[PciAddress, str]:
    policies = {str(item["metadata"]["name"]): item for item in sriov_policies(seen)}
    found: dict[PciAddress, str] = {}
    prefix = sriov_prefix(seen)
    for port in dig(seen.node_states.get(node), "spec", "interfaces", default=()):
        for group in port.get("vfGroups") or ():
            owner: Any = policies.get(str(group.get("policyName")))
            if owner is not None:
                name = f"{prefix}/{group.get('resourceName')}" if prefix else f"{group.get('resourceName')} (SR-IOV)"
                found[PciAddress(str(port.get("pciAddress")))] = name
    return found


RULES = (
    Rule(COMBINATION_UNSUPPORTED, judge_combinations),
    Rule(MODE_CONFLICT, judge_modes),
    Rule(CLAIMED_TWICE, judge_claims),
)
