"""
What a rule hangs on: in two unlike worlds one fact alone decides between a finding and silence, and without it the
answer is UNKNOWN. That it is one fact, and no more, is counted.
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from support.doctoring import asked, snapshot_of
from support.one_fact import (
    NIC_POLICY,
    RAIL,
    SRIOV_HOME,
    Change,
    a_job,
    a_nad,
    a_vf_policy,
    chain,
    container,
    differences,
    entry,
    field_of,
    gpu_node,
    of_inside,
    of_node,
    of_pods,
    of_port,
    put,
    setting,
    wanting,
    with_event,
    with_pod,
    within,
)

from railwright.core import kinds
from railwright.core.ids import NodeName
from railwright.core.objects import Ref
from railwright.doctor.model import Severity
from railwright.doctor.registry import RULES
from railwright.facts.model import EventFacts, Platform, Snapshot
from railwright.facts.node_model import AcsState
from railwright.facts.pod_model import Ending


@dataclass(frozen=True)
class Row:
    """One fact of a rule: the change that sets it, what breaks, and what is just as it should be."""

    rule: str
    worlds: tuple[str, str]
    change: Change
    bad: Any
    good: Any
    said: str = ""
    """Words of the cause, where the rule finds other things in these worlds too."""


SHARED = ("adopt", "adopt+rdma-exclusive")
PORTS = ("h200-roce", "vanilla")
INFINIBAND = ("h200-ib", "h200-ib+relaxed-ordering-off")


def always(change: Change, value: Any) -> Change:
    return lambda snapshot, _: change(snapshot, value)


def environment(name: str) -> Change:
    return with_pod(lambda snapshot, value: a_job(snapshot, environment={name: value}))


def closed_driver(hardware, value):
    modules = {name: count for name, count in hardware.modules.items() if "peer" not in name}
    system = replace(hardware.system, dma_buf=value)
    return replace(hardware, nvidia_driver="proprietary 550.144.03", modules=modules, system=system)


def a_gpu_policy(value):
    driver = {"enabled": True, "rdma": {"enabled": True, "useHostMofed": value}}
    head = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "gpu-cluster-policy"}}
    return {**head, "spec": {"driver": driver}}


def platform(snapshot, value):
    return replace(snapshot, cluster=replace(snapshot.cluster, platform=value))


def below(port, value):
    return port if value else replace(port, pci_path=(port.pci,))


def of_acs(hardware, value):
    bridges = tuple(
        replace(item, config=replace(item.config, acs=AcsState(0x5F, value)))
        if item is hardware.bridges[_below_switch(hardware)] and item.config is not None
        else item
        for item in hardware.bridges
    )
    return replace(hardware, bridges=bridges)


def _below_switch(hardware) -> int:
    above = {pci for gpu in hardware.gpus for pci in gpu.pci_path[:-1]}
    return next(index for index, item in enumerate(hardware.bridges) if item.pci in above and len(item.pci_path) > 2)


def a_master(hardware, value):
    first = next(item.name for item in hardware.netdevs if item.pci == _first_port(hardware))
    return replace(
        hardware, netdevs=tuple(replace(item, **value) if item.name == first else item for item in hardware.netdevs)
    )


def _first_port(hardware):
    return next(port.pci for port in hardware.ports if port.vendor_id == "15b3" and port.rdma is not None)


def on_every_master(mtu_of_child: int):
    def make(snapshot, _):
        hardware = next(node.hardware for node in snapshot.nodes if node.name == gpu_node(snapshot))
        master = next(item.name for item in hardware.netdevs if item.pci == _first_port(hardware))
        nad = a_nad({"type": "macvlan", "master": master, "mtu": mtu_of_child, "ipam": {"type": "static"}})
        return put(lambda _: nad)(snapshot, None)

    return make


def a_name(hardware, value):
    first = _first_port(hardware)
    return replace(
        hardware, netdevs=tuple(replace(item, name=value) if item.pci == first else item for item in hardware.netdevs)
    )


def a_carried(hardware, value):
    pci = hardware.carried[0].pci if value is None else value
    return replace(hardware, carried=(replace(hardware.carried[0], pci=pci), *hardware.carried[1:]))


def mlx5_port(snapshot: Snapshot):
    hardware = next(node.hardware for node in snapshot.nodes if node.name == gpu_node(snapshot))
    return _first_port(hardware)


def uplink(snapshot: Snapshot, value: bool) -> Snapshot:
    return of_inside(a_carried)(snapshot, mlx5_port(snapshot) if value else None)


def two_pods(snapshot: Snapshot, value: str) -> Snapshot:
    said = '[{"name": "training/rail", "interface": "net1", "ips": ["%s"]}]'
    other = NodeName("worker-0")
    snapshot = put(lambda _: a_nad({"type": "macvlan", "master": "x", "ipam": {"type": "static"}}))(snapshot, None)
    snapshot = with_pod(lambda s, _: a_job(s, name="one", network_status=said % "10.9.0.2"))(snapshot, None)
    return with_pod(lambda s, item: a_job(s, name="two", node=other, network_status=said % item))(snapshot, value)


def waiting_pod(snapshot: Snapshot, value: int) -> Snapshot:
    said = {"PodScheduled": f"False (Unschedulable: 0/5 nodes are available: 5 Insufficient {RAIL}.)"}
    pod = a_job(snapshot, node=None, phase="Pending", containers=(), conditions=said, requests={RAIL: value})
    return with_pod(lambda *_: pod)(snapshot, None)


def refused(value: str) -> EventFacts:
    words = "pods is forbidden: unable to validate against any security context constraint"
    place = "nvidia-network-operator"
    return EventFacts(place, "DaemonSet", "nv-ipam-node", value, words, "Warning", 9, "", "", None)


PLACE = "nvidia-network-operator"
STATUS = {"desiredNumberScheduled": 2, "currentNumberScheduled": 0}
SUB = Ref(kinds.SUBSCRIPTION, PLACE, "nvidia-network-operator-sub")
CONTROLLER = Ref(kinds.DEPLOYMENT, PLACE, "nvidia-network-operator-controller-manager")
CSV = Ref(kinds.CLUSTER_SERVICE_VERSION, PLACE, "nvidia-network-operator.v26.4.1")
STATE = Ref(kinds.SRIOV_NETWORK_NODE_STATE, SRIOV_HOME, "worker-0")
CRASH = Ending("Error", 1, finished_at="2026-03-02T07:50:00Z")


def crashing(pod, value):
    return container(
        lambda item, reason: replace(
            item, ready=False, state="waiting", reason=reason, restarts=0, message="x", last_ending=None
        )
    )(pod, value)


ROWS = [
    Row(
        "container-memlock-limited",
        ("h200-roce", "h200-ib"),
        chain(wanting, of_inside(within("runtime", setting("memlock")))),
        "64",
        "unlimited",
    ),
    Row("gpu-memory-out-of-nic-reach", ("h200-roce", "vanilla"), of_inside(closed_driver), bad=False, good=True),
    Row(
        "gpu-driver-held-in-use",
        ("adopt", "h200-roce+gdrdrv-loaded"),
        chain(
            of_node(entry("labels", "nvidia.com/gpu-driver-upgrade-state")),
            of_inside(lambda h, _: replace(h, modules={**h.modules, "nvidia": 9, "gdrdrv": 1})),
        ),
        "upgrade-required",
        "upgrade-done",
    ),
    Row("rdma-devices-missing", ("h200-roce", "h200-ib"), chain(wanting, of_port(setting("rdma"))), None, "mlx5_3"),
    Row(
        "kernel-has-no-driver",
        ("adopt+driver-crashes", "adopt+image-pull-fails"),
        of_inside(setting("kernel_version")),
        "5.14.0-570.62.1.rt14.347.el9_6.x86_64",
        "5.14.0-570.62.1.el9_6.x86_64",
    ),
    Row(
        "rdma-stack-held-by-modules",
        ("adopt+driver-crashes", "adopt+image-pull-fails"),
        chain(
            of_inside(lambda h, _: replace(h, modules={**h.modules, "ko2iblnd": 1})),
            of_inside(entry("module_users", "rdma_cm")),
        ),
        ("ko2iblnd",),
        ("rdma_ucm",),
    ),
    Row("rail-port-not-up", ("h200-roce", "h200-ib"), of_port(setting("phys_state")), "Polling", "LinkUp"),
    Row("infiniband-port-not-managed", INFINIBAND, of_port(setting("state")), "INIT", "ACTIVE"),
    Row("infiniband-partition-missing", INFINIBAND, of_port(setting("pkeys")), (0x7FFF,), (0xFFFF,)),
    Row("link-errors-or-flaps", PORTS, of_port(entry("counters", "symbol_error")), 90_000, 9),
    Row(
        "roce-address-missing",
        PORTS,
        of_port(lambda port, value: replace(port, gids=(replace(port.gids[-1], type=value),))),
        "RoCE v1",
        "RoCE v2",
    ),
    Row("rail-mtu-differs", ("h200-roce", "gb200"), of_port(setting("mtu_bytes")), 9000, 1500),
    Row(
        "rails-share-a-subnet",
        PORTS,
        of_inside(
            lambda h, value: replace(
                h,
                ports=tuple(
                    replace(p, ip_addresses=("10.5.0.3/24",))
                    if p.pci == _first_port(h)
                    else replace(p, ip_addresses=(value,))
                    if p is [q for q in h.ports if q.rdma][-1]
                    else p
                    for p in h.ports
                ),
            )
        ),
        "10.5.0.4/24",
        "10.6.0.4/24",
    ),
    Row("roce-priority-not-lossless", PORTS, of_port(within("qos", setting("traffic_class"))), 160, 106),
    Row(
        "iommu-translates-gpu-nic-traffic",
        PORTS,
        of_inside(within("iommu", lambda iommu, value: replace(iommu, present=True, default_type=value))),
        "DMA-FQ",
        "identity",
    ),
    Row("pcie-link-below-capability", ("h200-roce", "gb200"), of_port(setting("link_width_lanes")), 8, 16),
    Row(
        "pcie-settings-throttle-nic",
        ("h200-ib", "gb200"),
        of_port(within("config", setting("relaxed_ordering"))),
        bad=False,
        good=True,
    ),
    Row(
        "node-unlike-its-group",
        ("h200-roce", "vanilla"),
        of_inside(within("chassis", setting("bios_version"))),
        "0.9",
        None,
    ),
    Row("nic-driver-cuts-node-uplink", ("adopt", "adopt+driver-crashes"), uplink, bad=True, good=False),
    Row("host-interface-left-changed", ("h200-roce", "gb200"), of_inside(a_name), "net1", "ens9np0"),
    Row(
        "operator-controller-down", ("adopt", "adopt+second-nfd"), chain(field_of(CONTROLLER, "spec", "replicas")), 0, 1
    ),
    Row(
        "device-policy-unusable",
        ("adopt", "vanilla"),
        put(lambda value: a_vf_policy(deviceType=value)),
        "vfio-pci",
        "netdevice",
    ),
    Row(
        "device-claimed-twice",
        ("adopt", "vanilla"),
        chain(
            put(lambda _: a_vf_policy("a", nicSelector={"pfNames": ["ens1f0np0#0-1"]})),
            put(lambda value: a_vf_policy("b", resourceName="b", nicSelector={"pfNames": [value]})),
        ),
        "ens1f0np0#1-3",
        "ens1f0np0#2-3",
    ),
    Row(
        "driver-settings-do-not-combine",
        ("adopt", "adopt+driver-crashes"),
        chain(
            of_inside(lambda h, _: replace(h, modules={**h.modules, "nvme": 2})),
            field_of(NIC_POLICY, "spec", "ofedDriver", "env"),
        ),
        [{"name": "ENABLE_NFSRDMA", "value": "true"}],
        [{"name": "ENABLE_NFSRDMA", "value": "false"}],
    ),
    Row(
        "rdma-mode-conflict",
        ("adopt", "adopt+driver-crashes"),
        of_inside(setting("rdma_netns_mode")),
        "exclusive",
        "shared",
    ),
    Row(
        "driver-not-available-for-node",
        ("adopt", "adopt+driver-crashes"),
        of_node(entry("labels", "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION")),
        "9.9.20990101-0",
        "9.6.20251106-0",
    ),
    Row(
        "hardware-not-labelled",
        ("adopt", "vanilla+peermem-without-doca"),
        of_node(entry("labels", "feature.node.kubernetes.io/pci-15b3.present")),
        "",
        "true",
    ),
    Row(
        "selector-fits-no-node",
        ("adopt", "vanilla"),
        put(lambda value: a_vf_policy(nodeSelector={"kubernetes.io/os": value})),
        "windows",
        "linux",
    ),
    Row(
        "policy-not-carried-out",
        ("adopt", "adopt+driver-crashes"),
        field_of(NIC_POLICY, "status", "appliedStates"),
        [{"name": "state-OFED", "state": "error", "message": "cannot render"}],
        [{"name": "state-OFED", "state": "ready", "message": "cannot render"}],
    ),
    Row(
        "network-attachment-unusable",
        ("h200-roce", "gb200"),
        chain(on_every_master(1500), of_inside(a_master)),
        {"mtu_bytes": 1400},
        {"mtu_bytes": 1500},
    ),
    Row("rail-addresses-collide", ("adopt", "h200-roce"), two_pods, "10.9.0.2", "10.9.0.3", "10.9.0.2"),
    Row(
        "pod-asks-for-what-does-not-fit",
        ("adopt", "h200-ib"),
        chain(
            put(lambda _: a_nad({"type": "macvlan", "master": "x", "ipam": {"type": "static"}})),
            with_pod(lambda s, value: a_job(s, networks=value)),
        ),
        "rial",
        "rail",
    ),
    Row("pod-settings-hinder-rdma", ("adopt", "h200-ib"), environment("NCCL_NET_GDR_LEVEL"), "LOC", "PHB"),
    Row("workload-pod-does-not-start", ("adopt", "adopt+second-nfd"), waiting_pod, 64, 4, "no node has more"),
    Row(
        "rollout-does-not-end",
        ("adopt", "vanilla+peermem-without-doca"),
        chain(
            of_node(
                lambda node, _: replace(
                    node,
                    labels={**node.labels, "nvidia.com/gpu.present": "true"},
                    not_ready_since="2026-03-01T08:00:00Z",
                )
            ),
            of_node(setting("ready")),
        ),
        bad=False,
        good=True,
    ),
    Row(
        "vfs-not-as-wanted",
        ("adopt+whole-and-sliced", "adopt+policy-vfio"),
        chain(
            always(field_of(STATE, "status", "lastSyncError"), "no such device"),
            field_of(STATE, "status", "syncStatus"),
        ),
        "Failed",
        "Succeeded",
        "no such device",
    ),
    Row("resource-not-allocatable", ("adopt", "adopt+second-nfd"), of_node(entry("allocatable", RAIL)), 0, 10),
    Row(
        "operand-image-not-pulled",
        ("adopt", "adopt+second-nfd"),
        of_pods("nvidia-driver", crashing),
        "ImagePullBackOff",
        "ContainerCreating",
    ),
    Row(
        "operand-crashes",
        ("adopt", "adopt+second-nfd"),
        of_pods("nfd-worker", crashing),
        "CrashLoopBackOff",
        "ContainerCreating",
    ),
    Row(
        "operand-not-started",
        ("adopt", "adopt+second-nfd"),
        chain(always(field_of(Ref(kinds.DAEMON_SET, PLACE, "nv-ipam-node"), "status"), STATUS), with_event(refused)),
        "FailedCreate",
        "SuccessfulCreate",
    ),
    Row(
        "version-known-to-fail-here",
        ("adopt", "adopt+second-nfd"),
        chain(
            always(field_of(NIC_POLICY, "spec", "ofedDriver"), {"repoConfig": {"name": "x"}}),
            field_of(SUB, "status", "installedCSV"),
        ),
        "nvidia-network-operator.v24.1.0",
        "nvidia-network-operator.v24.1.1",
        "do not reach",
    ),
    Row(
        "operator-not-installed", ("adopt", "adopt+second-nfd"), field_of(CSV, "status", "phase"), "Failed", "Succeeded"
    ),
    Row(
        "operator-resource-not-in-force",
        ("vanilla", "h200-roce+mlx5-uplink"),
        put(a_gpu_policy),
        bad=False,
        good=True,
        said="driver",
    ),
    Row(
        "two-installations-collide",
        ("adopt", "adopt+driver-crashes"),
        chain(always(field_of(NIC_POLICY, "spec", "secondaryNetwork"), {"multus": {"image": "multus"}}), platform),
        Platform.OPENSHIFT,
        Platform.KUBERNETES,
    ),
    Row("rail-far-from-gpu", ("h200-roce", "vanilla"), of_port(below), bad=False, good=True),
    Row("pcie-acs-redirects-gpu-nic-path", ("h200-roce", "vanilla"), of_inside(of_acs), 0x1D, 0x00),
]


def found(snapshot: Snapshot, row: Row) -> list[str]:
    said = asked(snapshot, row.rule)
    return [item.cause for item in said.findings if row.said in item.cause and item.severity is not Severity.INFO]


CASES = [pytest.param(row, world, id=f"{row.rule}-{world}") for row in ROWS for world in row.worlds]


@pytest.mark.parametrize(("row", "world"), CASES)
def test_one_fact_decides(row: Row, world: str) -> None:
    broken, near = (row.change(snapshot_of(world), value) for value in (row.bad, row.good))
    assert len(list(differences(broken, near))) == 1
    assert found(broken, row)
    assert not found(near, row)


def test_every_rule_on_facts_has_a_row() -> None:
    """What the last verify said is no fact of a snapshot (test_proof.py); UNKNOWN is asked of all in test_parts.py and test_inside.py."""
    assert {str(rule.info.name) for rule in RULES} - {row.rule for row in ROWS} == {"verification-failed"}
