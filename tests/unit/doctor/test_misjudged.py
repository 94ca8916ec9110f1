"""What rules once took for something else: nodes that are out, the majority, plugins and names that a rule does not speak of."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from support.doctoring import asked, snapshot_of
from support.one_fact import a_job, a_nad, gpu_node, of_node, put, with_pod

from railwright.core.ids import NodeName
from railwright.doctor.model import Finding, Severity
from railwright.facts.model import NodeFacts, NodeHardware, Snapshot

GPU_UPGRADE = "nvidia.com/gpu-driver-upgrade-state"


def out_for(minutes: int, **labels: str) -> Snapshot:
    """A world of which one node with GPUs has not been ready for so long."""
    snapshot = snapshot_of("adopt")
    since = (datetime.fromisoformat(snapshot.taken_at) - timedelta(minutes=minutes)).isoformat()

    def out(node: NodeFacts, _: object) -> NodeFacts:
        gpu = {"nvidia.com/gpu.present": "true"}
        return replace(node, ready=False, not_ready_since=since, labels={**node.labels, **gpu, **labels})

    return of_node(out)(snapshot, None)


@pytest.mark.parametrize(
    ("minutes", "labels", "severity"),
    [
        (1, {}, Severity.WARNING),
        (44, {}, Severity.WARNING),
        (46, {}, Severity.ERROR),
        (10, {GPU_UPGRADE: "pod-restart-required"}, Severity.INFO),
        (10, {GPU_UPGRADE: "upgrade-done"}, Severity.WARNING),
        (46, {GPU_UPGRADE: "pod-restart-required"}, Severity.ERROR),
    ],
)
def test_a_node_that_is_out_is_told_from_its_first_minute(
    minutes: int, labels: dict[str, str], severity: Severity
) -> None:
    snapshot = out_for(minutes, **labels)
    found = [item for item in asked(snapshot, "rollout-does-not-end").findings if "not ready" in item.cause]
    assert [(item.severity, item.nodes) for item in found] == [(severity, (gpu_node(snapshot),))]


def test_a_node_that_is_out_while_its_pool_rolls_out_is_a_remark() -> None:
    snapshot = out_for(10)
    pools = tuple(replace(pool, updating=True, nodes=(gpu_node(snapshot),)) for pool in snapshot.cluster.pools[:1])
    rolling = replace(snapshot, cluster=replace(snapshot.cluster, pools=pools))
    found = [item for item in asked(rolling, "rollout-does-not-end").findings if "not ready" in item.cause]
    assert [item.severity for item in found] == [Severity.INFO]


# --- devices of a chassis --------------------------------------------------------------------------------------------


def a_row(*ports: int) -> Snapshot:
    """As many nodes of one chassis as there are numbers, each with so many ConnectX ports."""
    snapshot = snapshot_of("h200-roce")
    model = next(node for node in snapshot.nodes if node.name == gpu_node(snapshot))
    nodes = tuple(
        replace(model, name=NodeName(f"row-{index}"), hardware=with_ports(model.hardware, count))
        for index, count in enumerate(ports)
    )
    return replace(snapshot, nodes=nodes)


def with_ports(hardware: NodeHardware | None, count: int) -> NodeHardware:
    assert hardware is not None
    ours = [port for port in hardware.ports if port.vendor_id == "15b3" and port.parent is None]
    extra = [replace(ours[0], pci=f"{ours[0].pci[:5]}f{number}:00.0") for number in range(max(0, count - len(ours)))]
    return replace(hardware, ports=(*ours[:count], *extra))


def short(snapshot: Snapshot) -> list[Finding]:
    found = asked(snapshot, "node-unlike-its-group").findings
    return [item for item in found if any(proof.field == "ConnectX ports" for proof in item.evidence)]


@pytest.mark.parametrize(
    ("ports", "named"),
    [
        ((8, 8, 8, 8, 8, 8, 8, 9), []),
        ((8, 8, 8, 8, 8, 8, 8, 7), ["row-7"]),
        ((8, 7), []),
        ((8, 8, 7, 7), []),
        ((8, 8, 7), ["row-2"]),
        ((9, 8, 8, 8, 7), ["row-4"]),
    ],
)
def test_only_nodes_below_a_strict_majority_are_short_of_devices(ports: tuple[int, ...], named: list[str]) -> None:
    assert [node for item in short(a_row(*ports)) for node in item.nodes] == named


def test_for_a_device_that_is_missing_nobody_is_told_to_update_firmware() -> None:
    (found,) = short(a_row(8, 8, 8, 7))
    assert "NicFirmwareTemplate" not in found.remedy.text
    assert "dmesg" in " ".join((found.remedy.text, *found.remedy.commands))


# --- networks --------------------------------------------------------------------------------------------------------


def a_child(plugin: str) -> Snapshot:
    """A network of a plugin, with an MTU above that of its master."""
    snapshot = snapshot_of("adopt")
    hardware = next(node.hardware for node in snapshot.nodes if node.name == gpu_node(snapshot))
    assert hardware is not None
    port = next(item.pci for item in hardware.ports if item.vendor_id == "15b3" and item.rdma is not None)
    master = next(item for item in hardware.netdevs if item.pci == port)
    body = {"type": plugin, "master": master.name, "mtu": master.mtu_bytes + 1, "ipam": {"type": "static"}}
    return put(lambda _: a_nad(body))(snapshot, None)


@pytest.mark.parametrize(("plugin", "is_refused"), [("macvlan", True), ("ipvlan", False)])
def test_only_the_macvlan_plugin_refuses_a_child_larger_than_its_master(plugin: str, *, is_refused: bool) -> None:
    causes = [item.cause for item in asked(a_child(plugin), "network-attachment-unusable").findings]
    assert (
        any("above that of its master" in cause and "the macvlan plugin refuses" in cause for cause in causes)
        is is_refused
    )
    assert any("above that" in cause for cause in causes) is is_refused


# --- pods ------------------------------------------------------------------------------------------------------------


def hindered(**environment: str) -> list[str]:
    snapshot = with_pod(lambda world, _: a_job(world, environment=environment))(snapshot_of("adopt"), None)
    return [
        item.cause for item in asked(snapshot, "pod-settings-hinder-rdma").findings if "no RDMA device" in item.cause
    ]


@pytest.mark.parametrize(
    ("variable", "value", "is_found"),
    [
        ("NCCL_IB_HCA", "mlx5_77", True),
        ("NCCL_IB_HCA", "bnxt_re0,irdma1", False),
        ("NCCL_IB_HCA", "^mlx5_77", False),
        ("UCX_NET_DEVICES", "mlx5_77:1", True),
        ("UCX_NET_DEVICES", "bnxt_re0:1", False),
        ("UCX_NET_DEVICES", "^mlx5_0:1,mlx5_77:1", False),
    ],
)
def test_names_of_other_drivers_and_what_is_left_out_are_not_judged(
    variable: str, value: str, *, is_found: bool
) -> None:
    assert bool(hindered(**{variable: value})) is is_found


@pytest.mark.parametrize(
    ("reason", "is_made_anew"), [("UnexpectedAdmissionError", True), ("OutOfcpu", False), ("NodeAffinity", False)]
)
def test_only_a_pod_whose_devices_were_not_there_is_made_anew(reason: str, *, is_made_anew: bool) -> None:
    turned_away = with_pod(lambda world, _: a_job(world, phase="Failed", reason=reason, message="x"))
    found = asked(turned_away(snapshot_of("adopt"), None), "workload-pod-does-not-start").findings
    commands = [command for item in found for command in item.remedy.commands if "job-0" in command]
    assert commands
    assert any("delete pod" in command for command in commands) is is_made_anew
