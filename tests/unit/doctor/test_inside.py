"""Rules on what is inside nodes: fired by unlike worlds, silent on what only looks alike, UNKNOWN without the fact."""

import json
from dataclasses import replace

import pytest
from support.doctoring import asked, inside, ports, snapshot_of, without_inside

from railwright.core.ids import NodeName
from railwright.core.objects import ref_of
from railwright.doctor.model import Severity
from railwright.doctor.registry import RULES
from railwright.doctor.rules import gpu_driver, hosts, kernel, link, pci, placement, roce, subnets
from railwright.facts.model import ContainerFacts, NicPort, NodeHardware, PodFacts, Snapshot, Unseen
from railwright.facts.node_model import AcsState, IommuState

OURS = (pci, placement, kernel, gpu_driver, link, roce, subnets, hosts)
NAMES = sorted({str(rule.info.name) for module in OURS for rule in module.RULES})

FIRES = [
    ("pcie-acs-redirects-gpu-nic-path", "h200-roce+acs-redirect"),
    ("pcie-acs-redirects-gpu-nic-path", "vanilla+acs-redirect"),
    ("iommu-translates-gpu-nic-traffic", "h200-ib+iommu-translates"),
    ("iommu-translates-gpu-nic-traffic", "vanilla+iommu-translates"),
    ("pcie-link-below-capability", "h200-roce+pcie-half-width"),
    ("pcie-link-below-capability", "gb200+pcie-half-width"),
    ("pcie-link-below-capability", "vanilla+gpu-half-width"),
    ("rail-far-from-gpu", "h200-roce+nic-wrong-slot"),
    ("rail-far-from-gpu", "vanilla+nic-wrong-slot"),
    ("rail-far-from-gpu", "h200-ib+virtual-machine"),
    ("pcie-settings-throttle-nic", "h200-ib+relaxed-ordering-off"),
    ("pcie-settings-throttle-nic", "gb200+relaxed-ordering-off"),
    ("rdma-stack-held-by-modules", "adopt+storage-over-rdma"),
    ("rdma-stack-held-by-modules", "adopt+host-ofed"),
    ("kernel-has-no-driver", "adopt+realtime-kernel"),
    ("kernel-has-no-driver", "adopt+stale-driver-build"),
    ("rdma-devices-missing", "adopt+rdma-stack-absent"),
    ("container-memlock-limited", "adopt"),
    ("container-memlock-limited", "adopt+memlock-64k"),
    ("gpu-memory-out-of-nic-reach", "h200-roce+proprietary-gpu-driver"),
    ("gpu-memory-out-of-nic-reach", "vanilla+proprietary-gpu-driver"),
    ("gpu-driver-held-in-use", "adopt+gdrdrv-loaded"),
    ("rail-port-not-up", "h200-ib+rail-no-carrier"),
    ("rail-port-not-up", "adopt+rail-no-carrier"),
    ("infiniband-port-not-managed", "h200-ib+no-sm"),
    ("infiniband-port-not-managed", "h200-ib+second-sm"),
    ("link-errors-or-flaps", "h200-roce+rail-half-rate"),
    ("link-errors-or-flaps", "h200-ib+rail-half-rate"),
    ("link-errors-or-flaps", "h200-roce+link-flaps"),
    ("link-errors-or-flaps", "h200-ib+link-flaps"),
    ("link-errors-or-flaps", "vanilla+packets-lost"),
    ("roce-address-missing", "h200-roce+no-ipv6"),
    ("roce-address-missing", "gb200+no-ipv6"),
    ("rail-mtu-differs", "h200-roce+mtu-unlike"),
    ("rail-mtu-differs", "gb200+mtu-unlike"),
    ("rails-share-a-subnet", "h200-roce+one-subnet"),
    ("rails-share-a-subnet", "vanilla+cables-swapped"),
    ("roce-priority-not-lossless", "h200-roce+wrong-traffic-class"),
    ("roce-priority-not-lossless", "gb200+qos-unlike"),
    ("infiniband-partition-missing", "h200-ib+limited-partition"),
    ("node-unlike-its-group", "h200-roce+odd-node"),
    ("node-unlike-its-group", "vanilla+odd-node"),
    ("node-unlike-its-group", "h200-ib+odd-chassis"),
    ("nic-driver-cuts-node-uplink", "adopt+mlx5-uplink"),
    ("nic-driver-cuts-node-uplink", "adopt+mlx5-storage"),
    ("host-interface-left-changed", "h200-roce+renamed-by-pod"),
    ("host-interface-left-changed", "gb200+renamed-by-pod"),
]


@pytest.mark.parametrize(("rule", "world"), FIRES)
def test_a_rule_finds_what_a_fault_broke(rule: str, world: str) -> None:
    found = asked(snapshot_of(world), rule).findings
    assert [finding.rule for finding in found] == [rule] * len(found)
    assert found
    assert all(finding.nodes and finding.evidence and finding.cause for finding in found)
    assert all(finding.remedy.text and finding.source for finding in found)


def test_stored_builds_are_deleted_on_every_node_and_then_the_pods_that_are_to_start_again() -> None:
    commands = asked(snapshot_of("adopt+stale-driver-build"), "kernel-has-no-driver").findings[0].remedy.commands
    deleted = [item for item in commands if "mofed-container/inventory" in item]
    assert [item.split()[2] for item in deleted] == ["node/worker-0", "node/worker-1"]
    assert [item.rpartition("-")[0] for item in commands[len(deleted) :]] == [
        "oc -n nvidia-network-operator delete pod mofed-rhel9.6-75cdcb5967-ds"
    ] * 2


def test_every_rule_on_nodes_is_listed() -> None:
    assert set(NAMES) <= {str(rule.info.name) for rule in RULES}


@pytest.mark.parametrize("rule", NAMES)
def test_a_node_that_cannot_be_entered_is_unknown_and_no_pass(rule: str) -> None:
    said = asked(without_inside(snapshot_of("h200-roce"), "worker-1"), rule)
    assert [(item.missing, item.nodes) for item in said.unknown][:1] == [("inside of nodes", ("worker-1",))]
    assert said.passed == ()


@pytest.mark.parametrize("rule", NAMES)
@pytest.mark.parametrize("world", ["h200-roce", "h200-ib", "gb200", "vanilla", "sno", "hcp"])
def test_a_healthy_world_is_silent(rule: str, world: str) -> None:
    said = asked(snapshot_of(world), rule)
    assert (said.findings, said.unknown) == ((), ())


# --- near misses: what looks like it and is not ----------------------------------------------------------------------


def silent(snapshot: Snapshot, rule: str) -> bool:
    said = asked(snapshot, rule)
    return not said.findings and not said.unknown


def with_acs(hardware: NodeHardware, *, root_ports: bool) -> NodeHardware:
    acs = AcsState(0x5F, 0x1D)
    bridges = tuple(
        replace(item, config=replace(item.config, acs=acs))
        if item.config is not None and (len(item.pci_path) == 1) is root_ports
        else item
        for item in hardware.bridges
    )
    return replace(hardware, bridges=bridges)


def test_acs_above_the_common_switch_does_not_matter() -> None:
    snapshot = snapshot_of("h200-roce")
    above = inside(snapshot, lambda hardware: with_acs(hardware, root_ports=True))
    below = inside(snapshot, lambda hardware: with_acs(hardware, root_ports=False))
    assert silent(above, "pcie-acs-redirects-gpu-nic-path")
    assert asked(below, "pcie-acs-redirects-gpu-nic-path").findings


def test_acs_does_not_matter_where_translated_requests_pass() -> None:
    def translated(hardware: NodeHardware) -> NodeHardware:
        bridges = tuple(
            replace(item, config=replace(item.config, acs=AcsState(0x5F, 0x5D))) if item.config else item
            for item in hardware.bridges
        )
        return replace(hardware, bridges=bridges)

    def with_ats(port: NicPort) -> NicPort:
        return replace(port, config=replace(port.config, ats_enabled=True)) if port.config else port

    redirected = inside(snapshot_of("h200-roce"), translated)
    assert asked(redirected, "pcie-acs-redirects-gpu-nic-path").findings
    assert silent(ports(redirected, with_ats), "pcie-acs-redirects-gpu-nic-path")


@pytest.mark.parametrize("world", ["gb200+acs-redirect", "gb200+iommu-translates"])
def test_what_grace_needs_is_no_fault_there(world: str) -> None:
    for rule in ("pcie-acs-redirects-gpu-nic-path", "iommu-translates-gpu-nic-traffic"):
        assert silent(snapshot_of(world), rule)


def test_hidden_config_space_is_unknown() -> None:
    said = asked(snapshot_of("h200-roce+config-unreadable"), "pcie-acs-redirects-gpu-nic-path")
    assert [item.missing for item in said.unknown] == ["config space of bridges"]
    assert not said.findings


@pytest.mark.parametrize(("kind", "is_found"), [("identity", False), ("DMA-FQ", True), ("mixed", True), ("", False)])
def test_an_iommu_that_passes_through_is_silent(kind: str, is_found: bool) -> None:
    state = IommuState(present=bool(kind), default_type=kind)
    said = asked(inside(snapshot_of("h200-roce"), lambda item: replace(item, iommu=state)), RULE_IOMMU)
    assert bool(said.findings) is is_found


RULE_IOMMU = "iommu-translates-gpu-nic-traffic"


def test_an_iommu_that_was_not_seen_is_unknown() -> None:
    unseen = inside(snapshot_of("h200-roce"), lambda item: replace(item, iommu=IommuState()))
    assert [item.missing for item in asked(unseen, RULE_IOMMU).unknown] == ["IOMMU groups"]


def test_an_iommu_below_a_hypervisor_is_not_judged() -> None:
    virtual = inside(
        snapshot_of("h200-roce+iommu-translates"),
        lambda item: replace(item, processor=replace(item.processor, under_hypervisor=True)),
    )
    assert silent(virtual, RULE_IOMMU)


def test_an_old_slot_that_is_still_faster_than_the_port_is_silent() -> None:
    def older(port: NicPort) -> NicPort:
        return replace(port, rate_gbps=100.0, link_speed_gts=16.0, max_link_speed_gts=16.0)

    assert silent(ports(snapshot_of("h200-roce"), older), "pcie-link-below-capability")


def test_a_gpu_that_idles_at_a_lower_speed_is_silent() -> None:
    def idle(hardware: NodeHardware) -> NodeHardware:
        return replace(hardware, gpus=tuple(replace(gpu, link_speed_gts=2.5) for gpu in hardware.gpus))

    assert silent(inside(snapshot_of("h200-roce"), idle), "pcie-link-below-capability")


def test_a_link_that_is_not_shown_is_unknown() -> None:
    hidden = ports(snapshot_of("h200-roce"), lambda port: replace(port, link_speed_gts=None))
    assert [item.missing for item in asked(hidden, "pcie-link-below-capability").unknown] == ["PCIe links of NICs"]


def test_gpus_and_nics_that_meet_at_the_cpu_are_as_they_should_be_on_grace() -> None:
    assert silent(snapshot_of("gb200"), "rail-far-from-gpu")


def test_a_virtual_machine_hides_what_is_near() -> None:
    def flat(hardware: NodeHardware) -> NodeHardware:
        processor = replace(hardware.processor, under_hypervisor=True)
        found = tuple(
            replace(port, pci_path=(port.pci,), root="pci0000:ff") if port.vendor_id == "15b3" else port
            for port in hardware.ports
        )
        return replace(hardware, processor=processor, ports=found)

    found = asked(inside(snapshot_of("h200-roce"), flat), "rail-far-from-gpu").findings
    assert [(item.severity, "virtual machine" in item.cause) for item in found] == [(Severity.INFO, True)]


def test_large_reads_without_relaxed_ordering_are_the_only_thing_that_warns() -> None:
    def small_reads(port: NicPort) -> NicPort:
        return replace(port, config=replace(port.config, max_read_request_bytes=512)) if port.config else port

    found = asked(ports(snapshot_of("h200-roce"), small_reads), "pcie-settings-throttle-nic").findings
    assert [item.severity for item in found] == [Severity.INFO]


def test_storage_modules_that_nobody_uses_are_no_matter_once_the_drivers_run() -> None:
    running = inside(
        snapshot_of("adopt"), lambda item: replace(item, modules={**item.modules, "nvme_rdma": 3}, mlx5_driver="26.04")
    )
    assert silent(running, "rdma-stack-held-by-modules")


def test_a_driver_that_runs_proves_that_its_kernel_fits() -> None:
    realtime = inside(
        snapshot_of("adopt"),
        lambda item: replace(item, kernel_version="5.14.0-570.62.1.rt14.347.el9_6.x86_64", mlx5_driver="26.04"),
    )
    assert silent(realtime, "kernel-has-no-driver")


def test_a_missing_issm_file_is_no_fault() -> None:
    def without_issm(hardware: NodeHardware) -> NodeHardware:
        files = tuple(name for name in hardware.system.rdma_char_devices or () if not name.startswith("issm"))
        return replace(hardware, system=replace(hardware.system, rdma_char_devices=files))

    assert silent(inside(snapshot_of("adopt"), without_issm), "rdma-devices-missing")


def test_a_folder_of_device_files_that_cannot_be_seen_is_unknown() -> None:
    def hidden(hardware: NodeHardware) -> NodeHardware:
        return replace(hardware, system=replace(hardware.system, rdma_char_devices=None))

    said = asked(inside(snapshot_of("adopt"), hidden), "rdma-devices-missing")
    assert [item.missing for item in said.unknown] == ["/dev/infiniband"]


def memlock(limit: str) -> Snapshot:
    def limited(hardware: NodeHardware) -> NodeHardware:
        return replace(hardware, memlock_limit=limit or None, runtime=replace(hardware.runtime, memlock=limit))

    return inside(snapshot_of("adopt"), limited)


def test_an_unlimited_memlock_is_silent_and_an_unread_one_unknown() -> None:
    assert silent(memlock("unlimited"), "container-memlock-limited")
    said = asked(memlock(""), "container-memlock-limited")
    assert [item.missing for item in said.unknown] == ["locked memory limit of containers"]


def test_nobody_minds_a_small_memlock_where_nobody_wants_rdma() -> None:
    assert silent(snapshot_of("h200-roce+memlock-64k"), "container-memlock-limited")


def test_peermem_makes_up_for_a_driver_without_dma_buf() -> None:
    loaded = inside(
        snapshot_of("h200-roce+proprietary-gpu-driver"),
        lambda item: replace(item, modules={**item.modules, "nvidia_peermem": 0}),
    )
    assert silent(loaded, "gpu-memory-out-of-nic-reach")


def test_whether_dma_buf_works_may_be_unknown() -> None:
    unread = inside(
        snapshot_of("h200-roce+proprietary-gpu-driver"),
        lambda item: replace(item, system=replace(item.system, dma_buf=None)),
    )
    said = asked(unread, "gpu-memory-out-of-nic-reach")
    assert (len(said.findings), len(said.unknown)) == (0, 1)


def test_gdrdrv_is_welcome_while_the_driver_is_settled() -> None:
    loaded = inside(snapshot_of("adopt"), lambda item: replace(item, modules={**item.modules, "gdrdrv": 1}))
    assert silent(loaded, "gpu-driver-held-in-use")


def test_a_port_that_a_pod_holds_is_not_down() -> None:
    held = ports(
        snapshot_of("h200-roce"), lambda port: replace(port, netdev=None, rdma=None, state="", carrier=None, gids=())
    )
    for rule in ("rail-port-not-up", "roce-address-missing", "rdma-devices-missing"):
        assert silent(held, rule)


def test_a_link_is_an_error_where_rdma_is_wanted() -> None:
    found = asked(snapshot_of("adopt+rail-no-carrier"), "rail-port-not-up").findings
    assert [item.severity for item in found] == [Severity.ERROR]


def test_one_subnet_manager_for_all_is_silent_whatever_its_lid() -> None:
    moved = ports(snapshot_of("h200-ib"), lambda port: replace(port, sm_lid=41))
    assert silent(moved, "infiniband-port-not-managed")


def test_a_virtual_function_without_a_lid_blames_the_subnet_manager() -> None:
    def with_function(hardware: NodeHardware) -> NodeHardware:
        port = next(item for item in hardware.ports if item.rdma is not None)
        function = replace(port, pci="0000:18:00.2", parent=port.pci, rdma="mlx5_9", lid=0xFFFF, state="DOWN")
        return replace(hardware, ports=(*hardware.ports, function))

    found = asked(inside(snapshot_of("h200-ib"), with_function), "infiniband-port-not-managed").findings
    assert ["does not support virtual functions" in item.cause for item in found] == [True]


def test_a_few_counts_since_the_start_are_no_flapping() -> None:
    some = ports(
        snapshot_of("h200-roce"),
        lambda port: replace(port, counters={**port.counters, "link_downed": 2, "symbol_error": 9}),
    )
    assert silent(some, "link-errors-or-flaps")


def test_counters_that_were_not_read_are_unknown() -> None:
    unread = ports(snapshot_of("h200-roce"), lambda port: replace(port, counters={}, hw_counters={}))
    said = asked(unread, "link-errors-or-flaps")
    assert [item.missing for item in said.unknown] == ["counters of ports"]


def test_an_mtu_that_all_nodes_have_is_silent() -> None:
    larger = ports(snapshot_of("h200-roce"), lambda port: replace(port, mtu_bytes=4200))
    assert silent(larger, "rail-mtu-differs")


def test_rails_of_one_subnet_are_silent_where_arp_and_routes_keep_them_apart() -> None:
    snapshot = snapshot_of("h200-roce+one-subnet")

    def tuned(hardware: NodeHardware) -> NodeHardware:
        sysctls = {
            **hardware.system.sysctls,
            "net.ipv4.conf.all.arp_ignore": "1",
            "net.ipv4.conf.all.arp_announce": "2",
        }
        rules = tuple(
            f"100: from {address.partition('/')[0]} lookup 100"
            for port in hardware.ports
            for address in port.ip_addresses
        )
        return replace(hardware, system=replace(hardware.system, sysctls=sysctls, rules=rules))

    assert silent(inside(snapshot, tuned), "rails-share-a-subnet")


def test_a_traffic_class_in_the_lossless_priority_is_silent() -> None:
    def lossless(port: NicPort) -> NicPort:
        return replace(port, qos=replace(port.qos, traffic_class=106)) if port.qos else port

    assert silent(ports(snapshot_of("h200-roce"), lossless), "roce-priority-not-lossless")


@pytest.mark.parametrize("keys", [(0xFFFF,), (0x7FFF, 0x8001)])
def test_full_membership_in_any_partition_is_silent(keys: tuple[int, ...]) -> None:
    def member(hardware: NodeHardware) -> NodeHardware:
        found = tuple(replace(port, pkeys=keys) if port.pkeys else port for port in hardware.ports)
        return replace(hardware, ports=found, netdevs=tuple(replace(item, pkey=None) for item in hardware.netdevs))

    assert silent(inside(snapshot_of("h200-ib"), member), "infiniband-partition-missing")


def test_an_ipoib_device_outside_the_ports_partitions_is_found() -> None:
    def outside(hardware: NodeHardware) -> NodeHardware:
        netdevs = tuple(replace(item, pkey=0x8044) if item.pkey is not None else item for item in hardware.netdevs)
        return replace(hardware, netdevs=netdevs)

    found = asked(inside(snapshot_of("h200-ib"), outside, "worker-0"), "infiniband-partition-missing").findings
    assert [item.nodes for item in found] == [("worker-0",)]


def test_uplinks_on_other_makers_nics_are_in_no_danger() -> None:
    assert silent(snapshot_of("adopt"), "nic-driver-cuts-node-uplink")


def test_an_uplink_that_is_not_known_is_unknown() -> None:
    said = asked(snapshot_of("adopt+uplink-unknown"), "nic-driver-cuts-node-uplink")
    assert [item.missing for item in said.unknown] == [
        "in nodes: IPv4 routes (route4), IPv4 routes of all tables (route4_tables)"
    ]


def test_an_address_on_an_idle_virtual_function_is_found() -> None:
    def leased(hardware: NodeHardware) -> NodeHardware:
        port = next(item for item in hardware.ports if item.rdma is not None)
        function = replace(port, pci="0000:18:00.2", parent=port.pci, netdev="ens1v0")
        netdev = replace(
            next(item for item in hardware.netdevs if item.pci == port.pci),
            name="ens1v0",
            pci="0000:18:00.2",
            dynamic_addresses=("10.9.8.7/24",),
        )
        return replace(hardware, ports=(*hardware.ports, function), netdevs=(*hardware.netdevs, netdev))

    found = asked(inside(snapshot_of("h200-roce"), leased), "host-interface-left-changed").findings
    assert ["DHCP" in item.cause for item in found] == [True]


def test_a_pod_that_uses_gpus_without_asking_holds_the_driver_of_a_node_that_waits() -> None:
    snapshot = snapshot_of("adopt")
    waiting = tuple(
        replace(node, labels={**node.labels, "nvidia.com/gpu-driver-upgrade-state": "upgrade-required"})
        for node in snapshot.nodes
    )
    rider = PodFacts(
        namespace="monitoring",
        name="gpu-watch",
        node=NodeName("worker-0"),
        phase="Running",
        owner="DaemonSet/gpu-watch",
        requests={},
        networks="",
        runtime_class="nvidia",
    )
    cluster = replace(snapshot.cluster, pods=(*snapshot.cluster.pods, rider))
    found = asked(replace(snapshot, nodes=waiting, cluster=cluster), "gpu-driver-held-in-use").findings
    assert [item.object for item in found[0].evidence if item.object.startswith("pod")] == ["pod monitoring/gpu-watch"]


def test_a_missing_rdma_cm_file_is_found_though_the_modules_are_there() -> None:
    def without_cm(hardware: NodeHardware) -> NodeHardware:
        files = tuple(name for name in hardware.system.rdma_char_devices or () if name != "rdma_cm")
        return replace(hardware, system=replace(hardware.system, rdma_char_devices=files))

    found = asked(inside(snapshot_of("adopt"), without_cm), "rdma-devices-missing").findings
    assert [item.value for item in found[0].evidence] == ["no rdma_cm", "no rdma_cm"]


def test_a_pod_that_is_not_root_makes_a_small_memlock_an_error() -> None:
    snapshot = snapshot_of("adopt")
    container = ContainerFacts(
        name="w", image="x", requests={"rdma/rail0": 1}, capabilities=("IPC_LOCK",), run_as_user=1000
    )
    pod = PodFacts(
        namespace="train",
        name="w-0",
        node=NodeName("worker-0"),
        phase="Running",
        owner="",
        requests={"rdma/rail0": 1},
        networks="",
        containers=(container,),
    )
    cluster = replace(snapshot.cluster, pods=(*snapshot.cluster.pods, pod))
    found = asked(replace(snapshot, cluster=cluster), "container-memlock-limited").findings
    assert [item.severity for item in found] == [Severity.ERROR]
    as_root = replace(pod, containers=(replace(container, run_as_user=0),))
    cluster = replace(snapshot.cluster, pods=(*snapshot.cluster.pods, as_root))
    found = asked(replace(snapshot, cluster=cluster), "container-memlock-limited").findings
    assert [item.severity for item in found] == [Severity.WARNING]


def test_networks_of_several_rails_must_not_share_a_pool() -> None:
    snapshot = snapshot_of("h200-roce")

    def a_nad(number: int, pool: str) -> dict[str, object]:
        config = {"type": "macvlan", "master": f"rail{number}", "ipam": {"type": "nv-ipam", "poolName": pool}}
        return {
            "apiVersion": "k8s.cni.cncf.io/v1",
            "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": f"rail{number}", "namespace": "train"},
            "spec": {"config": json.dumps(config)},
        }

    def with_pools(*pools: str) -> Snapshot:
        nads = [a_nad(number, pool) for number, pool in enumerate(pools)]
        objects = {**snapshot.cluster.objects, **{ref_of(nad): nad for nad in nads}}
        return replace(snapshot, cluster=replace(snapshot.cluster, objects=objects))

    assert asked(with_pools("rails", "rails"), "rails-share-a-subnet").findings
    assert silent(with_pools("rail0", "rail1"), "rails-share-a-subnet")


def test_gids_flow_control_and_partitions_that_were_not_read_are_unknown() -> None:
    without_gids = inside(snapshot_of("h200-roce"), lambda item: replace(item, unseen=(Unseen("gids", "cut short"),)))
    assert [item.missing for item in asked(without_gids, "roce-address-missing").unknown] == ["in nodes: GIDs (gids)"]
    without_qos = ports(snapshot_of("adopt"), lambda port: replace(port, qos=None))
    assert [item.missing for item in asked(without_qos, "roce-priority-not-lossless").unknown] == [
        "flow control of ports"
    ]
    without_keys = ports(snapshot_of("h200-ib"), lambda port: replace(port, pkeys=()))
    said = asked(without_keys, "infiniband-partition-missing")
    assert [item.missing for item in said.unknown] == ["partition keys of ports"]


@pytest.mark.parametrize(
    ("world", "fields"),
    [
        # the GPU driver, which says the VBIOS, runs in the first of them only
        ("adopt+odd-node", {"BIOS", "NIC firmware", "NIC part number", "GPU VBIOS"}),
        ("h200-ib+odd-node", {"BIOS", "NIC firmware", "NIC part number"}),
        # another chassis has another BIOS and mainboard, which says nothing more
        ("h200-ib+odd-chassis", {"chassis"}),
        ("h200-roce+supernics", set()),
    ],
)
def test_what_differs_is_named_and_what_goes_with_a_chassis_only_within_it(world: str, fields: set[str]) -> None:
    found = asked(snapshot_of(world), "node-unlike-its-group").findings
    assert {proof.field for item in found for proof in item.evidence} == fields
