"""Rules on what the API shows: fired by unlike worlds, silent on what only looks alike, UNKNOWN without the fact."""

from dataclasses import replace

import pytest
from support.doctoring import CATALOG, asked, snapshot_of

from railwright.core import kinds
from railwright.core.objects import Ref
from railwright.doctor.diagnose import diagnose
from railwright.doctor.model import Severity
from railwright.doctor.registry import RULES
from railwright.doctor.rules import (
    addresses,
    devices,
    instances,
    labels,
    networks,
    olm,
    operands,
    pod_settings,
    policies,
    rollouts,
    settings,
    versions,
    workloads,
)
from railwright.facts.model import Snapshot

OURS = (
    addresses,
    devices,
    instances,
    labels,
    networks,
    olm,
    operands,
    pod_settings,
    policies,
    rollouts,
    settings,
    versions,
    workloads,
)
NAMES = sorted({str(rule.info.name) for module in OURS for rule in module.RULES})

FIRES = [
    ("operator-not-installed", "adopt+channel-gone"),
    ("operator-not-installed", "adopt+group-for-all"),
    ("operator-not-installed", "adopt+approval-forgotten"),
    ("operator-controller-down", "adopt+channel-gone+csv-stuck"),
    ("operator-resource-not-in-force", "adopt+sriov-config-missing"),
    ("operator-resource-not-in-force", "adopt+nic-policy-misnamed"),
    ("operator-resource-not-in-force", "adopt+second-gpu-policy"),
    ("operator-resource-not-in-force", "vanilla+peermem-without-doca"),
    ("two-installations-collide", "adopt+second-nfd"),
    ("two-installations-collide", "adopt+second-multus"),
    ("hardware-not-labelled", "adopt+nfd-without-nics"),
    ("hardware-not-labelled", "adopt+no-nfd-labels"),
    ("selector-fits-no-node", "adopt+no-nfd-labels"),
    ("selector-fits-no-node", "adopt+nodes-tainted"),
    ("policy-not-carried-out", "adopt+repo-config-missing"),
    ("policy-not-carried-out", "adopt+nfd-upstream"),
    ("device-policy-unusable", "adopt+pool-wrong-words"),
    ("device-policy-unusable", "adopt+policy-vfio"),
    ("driver-settings-do-not-combine", "adopt+nfsrdma-with-nvme"),
    ("driver-settings-do-not-combine", "adopt+secure-boot"),
    ("rdma-mode-conflict", "adopt+rdma-exclusive"),
    ("device-claimed-twice", "adopt+whole-and-sliced"),
    ("version-known-to-fail-here", "adopt"),
    ("driver-not-available-for-node", "adopt+driver-too-old"),
    ("driver-not-available-for-node", "adopt+toolkit-behind"),
    ("driver-not-available-for-node", "adopt+nfd-upstream"),
    ("operand-image-not-pulled", "adopt+image-pull-fails"),
    ("operand-crashes", "adopt+driver-crashes"),
    ("operand-crashes", "adopt+gpu-driver-pod-fails"),
    ("resource-not-allocatable", "adopt+pool-old-names"),
    ("resource-not-allocatable", "adopt+plugin-finds-nothing"),
    ("vfs-not-as-wanted", "adopt+vfs-in-lockdown"),
    ("vfs-not-as-wanted", "adopt+vfs-without-sriov"),
    ("network-attachment-unusable", "adopt+network-without-device"),
    ("network-attachment-unusable", "adopt+network-old-master"),
    ("rail-addresses-collide", "adopt+addresses-doubled"),
    ("rail-addresses-collide", "adopt+range-of-cluster"),
    ("pod-asks-for-what-does-not-fit", "adopt+pod-without-network"),
    ("pod-asks-for-what-does-not-fit", "adopt+pod-elsewhere"),
    ("workload-pod-does-not-start", "adopt+pod-asks-too-much"),
    ("pod-settings-hinder-rdma", "adopt+pod-over-tcp"),
    ("pod-settings-hinder-rdma", "adopt+pod-meshed"),
    ("rollout-does-not-end", "adopt+node-left-cordoned"),
    ("rollout-does-not-end", "adopt+pool-paused-for-good"),
]


@pytest.mark.parametrize(("rule", "world"), FIRES)
def test_a_rule_finds_what_somebody_broke(rule: str, world: str) -> None:
    found = asked(snapshot_of(world), rule).findings
    assert found
    assert {str(finding.rule) for finding in found} == {rule}
    assert all(finding.evidence and finding.cause and finding.remedy.text and finding.source for finding in found)


def test_every_rule_on_objects_is_listed() -> None:
    assert set(NAMES) <= {str(rule.info.name) for rule in RULES}


@pytest.mark.parametrize("rule", NAMES)
@pytest.mark.parametrize("world", ["h200-roce", "h200-ib", "gb200", "vanilla", "sno", "hcp"])
def test_a_healthy_world_is_silent(rule: str, world: str) -> None:
    said = asked(snapshot_of(world), rule)
    assert (said.findings, said.unknown) == ((), ())


# --- near misses: what looks like it and is not ----------------------------------------------------------------------


def changed(snapshot: Snapshot, kind, name: str, *path: str, value, namespace: str = "") -> Snapshot:
    """Set one field of one object."""
    ref = Ref(kind, namespace, name)
    body = {**snapshot.cluster.objects[ref]}
    here = body
    for step in path[:-1]:
        here[step] = {**here.get(step, {})}
        here = here[step]
    here[path[-1]] = value
    objects = {**snapshot.cluster.objects, ref: body}
    return replace(snapshot, cluster=replace(snapshot.cluster, objects=objects))


def added(snapshot: Snapshot, *objects) -> Snapshot:
    found = {}
    for obj in objects:
        meta = obj["metadata"]
        found[Ref(kind_named(obj["kind"]), meta.get("namespace", ""), meta["name"])] = obj
    cluster = replace(snapshot.cluster, objects={**snapshot.cluster.objects, **found})
    return replace(snapshot, cluster=cluster)


def kind_named(name: str):
    return next(item for item in vars(kinds).values() if getattr(item, "kind", "") == name)


def pods(snapshot: Snapshot, change) -> Snapshot:
    found = tuple(change(pod) for pod in snapshot.cluster.pods)
    return replace(snapshot, cluster=replace(snapshot.cluster, pods=found))


def nodes(snapshot: Snapshot, change) -> Snapshot:
    return replace(snapshot, nodes=tuple(change(node) if node.name == "worker-1" else node for node in snapshot.nodes))


def rules_of(snapshot: Snapshot, rule: str) -> list[str]:
    return [finding.cause for finding in asked(snapshot, rule).findings]


POLICY = "nic-cluster-policy"


def test_an_upgrade_that_waits_for_approval_beside_a_running_operator_is_nothing() -> None:
    place, name = "nvidia-network-operator", "nvidia-network-operator-sub"
    snapshot = changed(
        snapshot_of("adopt"),
        kinds.SUBSCRIPTION,
        name,
        "status",
        "conditions",
        value=[{"type": "InstallPlanPending", "status": "True", "reason": "RequiresApproval"}],
        namespace=place,
    )
    snapshot = changed(
        snapshot,
        kinds.SUBSCRIPTION,
        name,
        "status",
        "currentCSV",
        value="nvidia-network-operator.v26.7.0",
        namespace=place,
    )
    assert rules_of(snapshot, "operator-not-installed") == []


def test_a_controller_that_is_scaled_to_nothing_is_found_and_told_apart() -> None:
    snapshot = changed(
        snapshot_of("vanilla"), kinds.DEPLOYMENT, "gpu-operator", "spec", "replicas", value=0, namespace="gpu-operator"
    )
    assert "scaled to 0" in rules_of(snapshot, "operator-controller-down")[0]


def test_an_operator_that_is_merely_installed_misses_nothing() -> None:
    assert rules_of(snapshot_of("vanilla"), "operator-resource-not-in-force") == []


def test_useHostMofed_needs_no_driver_container() -> None:  # noqa: N802 - the field's own spelling
    snapshot = changed(
        snapshot_of("vanilla+peermem-without-doca"),
        kinds.CLUSTER_POLICY,
        "cluster-policy",
        "spec",
        "driver",
        value={"enabled": True, "rdma": {"enabled": True, "useHostMofed": True}},
    )
    assert rules_of(snapshot, "operator-resource-not-in-force") == []


def test_one_workload_of_a_function_is_no_collision() -> None:
    assert rules_of(snapshot_of("adopt"), "two-installations-collide") == []


def test_a_node_without_nvidia_hardware_needs_no_label() -> None:
    snapshot = nodes(
        snapshot_of("adopt+no-nfd-labels"),
        lambda node: replace(node, hardware=replace(node.hardware, gpus=(), ports=())),
    )
    assert [finding.nodes for finding in asked(snapshot, "hardware-not-labelled").findings] == [("worker-0",)]


def test_a_selector_that_one_node_fits_is_fine() -> None:
    policy = {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": "a", "namespace": "openshift-sriov-network-operator"},
        "spec": {"nodeSelector": {"rack": "7"}, "resourceName": "a", "numVfs": 1},
    }
    snapshot = added(snapshot_of("adopt"), policy)
    assert "no node carries rack=7" in rules_of(snapshot, "selector-fits-no-node")[0]
    fits = nodes(snapshot, lambda node: replace(node, labels={**node.labels, "rack": "7"}))
    assert rules_of(fits, "selector-fits-no-node") == []


def test_a_state_that_is_not_ready_and_says_nothing_is_no_error_of_the_policy() -> None:
    states = [{"name": "state-OFED", "state": "notReady"}]
    snapshot = changed(snapshot_of("adopt"), kinds.NIC_CLUSTER_POLICY, POLICY, "status", "appliedStates", value=states)
    assert rules_of(snapshot, "policy-not-carried-out") == []
    states[0]["message"] = "failed to render objects: distribution not supported"
    assert "distribution not supported" in rules_of(snapshot, "policy-not-carried-out")[0]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"deviceType": "netdevice", "isRdma": True, "linkType": "ib", "numVfs": 15}, ""),
        ({"deviceType": "netdevice", "isRdma": True, "linkType": "ib", "numVfs": 16}, "16 VFs on an InfiniBand port"),
        ({"isRdma": True, "numVfs": 32}, ""),
        ({"numVfs": 8}, "isRdma is not set"),
    ],
)
def test_vf_policies_are_judged_by_what_their_fabric_can(spec: dict[str, object], found: str) -> None:
    body = {"resourceName": "a", "nodeSelector": {}, "nicSelector": {"vendor": "15b3"}, **spec}
    policy = {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetworkNodePolicy",
        "metadata": {"name": "a", "namespace": "openshift-sriov-network-operator"},
        "spec": body,
    }
    said = rules_of(added(snapshot_of("adopt"), policy), "device-policy-unusable")
    assert (found in said[0]) if found else said == []


def test_nfs_over_rdma_without_nvme_is_fine() -> None:
    snapshot = changed(
        snapshot_of("adopt"),
        kinds.NIC_CLUSTER_POLICY,
        POLICY,
        "spec",
        "ofedDriver",
        value={"version": "v", "env": [{"name": "ENABLE_NFSRDMA", "value": "true"}]},
    )
    assert rules_of(snapshot, "driver-settings-do-not-combine") == []


def test_the_shared_plugin_on_nodes_in_exclusive_mode_is_found_and_elsewhere_not() -> None:
    def exclusive(node):
        return replace(node, hardware=replace(node.hardware, rdma_netns_mode="exclusive"))

    found = asked(nodes(snapshot_of("adopt"), exclusive), "rdma-mode-conflict").findings
    assert [finding.nodes for finding in found] == [("worker-1",)]
    assert rules_of(nodes(snapshot_of("vanilla"), exclusive), "rdma-mode-conflict") == []


def test_a_pool_that_asks_for_exclusive_mode_conflicts_before_the_node_is_restarted() -> None:
    pool = {
        "apiVersion": "sriovnetwork.openshift.io/v1",
        "kind": "SriovNetworkPoolConfig",
        "metadata": {"name": "rdma", "namespace": "openshift-sriov-network-operator"},
        "spec": {"rdmaMode": "exclusive", "nodeSelector": {"matchLabels": {"kubernetes.io/hostname": "worker-0"}}},
    }
    found = asked(added(snapshot_of("adopt"), pool), "rdma-mode-conflict").findings
    assert [finding.nodes for finding in found] == [("worker-0",)]


def test_a_driver_that_is_published_for_the_nodes_is_available() -> None:
    assert rules_of(snapshot_of("adopt"), "driver-not-available-for-node") == []


def test_an_image_that_is_still_being_pulled_is_no_failure() -> None:
    def pulling(pod):
        held = tuple(
            replace(item, reason="ContainerCreating") if item.state == "waiting" else item for item in pod.containers
        )
        return replace(pod, containers=held)

    assert rules_of(pods(snapshot_of("adopt+image-pull-fails"), pulling), "operand-image-not-pulled") == []


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("manifest unknown", "has no image"),
        ("unauthorized: access to the requested resource is not authorized", "refuses"),
        ("dial tcp: lookup nvcr.io: no such host", "does not answer"),
        ("proxyconnect tcp: dial tcp 10.0.0.1:3128: i/o timeout", "does not answer"),
    ],
)
def test_why_an_image_is_not_pulled_is_told_by_meaning(words: str, cause: str) -> None:
    def said(pod):
        held = tuple(replace(item, message=words) if item.state == "waiting" else item for item in pod.containers)
        return replace(pod, containers=held)

    assert cause in rules_of(pods(snapshot_of("adopt+image-pull-fails"), said), "operand-image-not-pulled")[0]


def test_restarts_that_ended_well_are_no_crash() -> None:
    def restarted(pod):
        return replace(pod, containers=tuple(replace(item, restarts=7) for item in pod.containers))

    assert rules_of(pods(snapshot_of("adopt"), restarted), "operand-crashes") == []


def test_a_container_that_was_killed_for_memory_needs_another_limit() -> None:
    from railwright.facts.pod_model import Ending

    ending = Ending("OOMKilled", 137, finished_at="2026-03-02T08:10:00Z")

    def killed(pod):
        return replace(pod, containers=tuple(replace(item, last_ending=ending) for item in pod.containers))

    found = rules_of(pods(snapshot_of("adopt+driver-crashes"), killed), "operand-crashes")
    assert "killed for memory" in found[0]


def test_a_pod_that_no_node_takes_is_found_and_a_young_one_is_not() -> None:
    def unscheduled(pod):
        if not pod.name.startswith("nv-ipam-node"):
            return pod
        said = "False (Unschedulable: 0/5 nodes are available: 5 node(s) had untolerated taint {dedicated: x}.)"
        return replace(pod, node=None, phase="Pending", conditions={"PodScheduled": said}, containers=())

    assert "untolerated taint" in rules_of(pods(snapshot_of("adopt"), unscheduled), "operand-not-started")[0]

    def young(pod):
        if not pod.name.startswith("nv-ipam-node"):
            return pod
        held = tuple(replace(item, ready=False, state="waiting", reason="ContainerCreating") for item in pod.containers)
        return replace(pod, conditions={"Ready": "False"}, containers=held, created_at=snapshot_of("adopt").taken_at)

    assert rules_of(pods(snapshot_of("adopt"), young), "operand-not-started") == []


def test_pods_that_the_api_server_refuses_are_found_by_their_daemon_set() -> None:
    from railwright.facts.model import EventFacts

    snapshot = changed(
        snapshot_of("adopt"),
        kinds.DAEMON_SET,
        "rdma-shared-dp-ds",
        "status",
        value={"desiredNumberScheduled": 2, "currentNumberScheduled": 0},
        namespace="nvidia-network-operator",
    )
    words = "pods is forbidden: unable to validate against any security context constraint"
    event = EventFacts(
        "nvidia-network-operator", "DaemonSet", "rdma-shared-dp-ds", "FailedCreate", words, "Warning", 9, "", "", ""
    )
    told = replace(snapshot, cluster=replace(snapshot.cluster, events=(event,)))
    assert "security context" in rules_of(told, "operand-not-started")[0]
    assert rules_of(snapshot, "operand-not-started") == []


def test_as_many_vfs_as_promised_are_enough() -> None:
    assert rules_of(snapshot_of("adopt+whole-and-sliced"), "vfs-not-as-wanted") == []


def test_a_vf_without_a_guid_is_found() -> None:
    snapshot = snapshot_of("adopt+whole-and-sliced")
    ref = Ref(kinds.SRIOV_NETWORK_NODE_STATE, "openshift-sriov-network-operator", "worker-0")
    ports = [
        {**port, "Vfs": [{**vf, "guid": "0000:0000:0000:0000"} for vf in port.get("Vfs", ())]}
        for port in snapshot.cluster.objects[ref]["status"]["interfaces"]
    ]
    broken = changed(snapshot, ref.kind, ref.name, "status", "interfaces", value=ports, namespace=ref.namespace)
    assert "GUID" in rules_of(broken, "vfs-not-as-wanted")[0]


def test_a_node_state_without_its_daemon_is_old_whatever_it_says() -> None:
    def gone(pod):
        return (
            replace(pod, conditions={"Ready": "False"}) if pod.name.startswith("sriov-network-config-daemon") else pod
        )

    found = rules_of(pods(snapshot_of("adopt+whole-and-sliced"), gone), "vfs-not-as-wanted")
    assert "does not run there" in found[0]


def test_two_pods_with_their_own_addresses_do_not_collide() -> None:
    def apart(pod):
        return replace(
            pod,
            network_status=pod.network_status.replace("10.77.0.2", f"10.77.0.{3 + len(pod.name) + ord(pod.name[0])}"),
        )

    found = asked(pods(snapshot_of("adopt+addresses-doubled"), apart), "rail-addresses-collide").findings
    assert {finding.severity for finding in found} == {Severity.WARNING}, "host-local on two nodes is still a danger"


def test_devices_that_others_hold_are_only_remarked() -> None:
    def fits(pod):
        wanted = {"rdma/team_a_storage": 4}
        return replace(pod, requests=wanted) if pod.namespace == "training" else pod

    found = asked(pods(snapshot_of("adopt+pod-asks-too-much"), fits), "workload-pod-does-not-start").findings
    assert [finding.severity for finding in found] == [Severity.INFO]


def test_a_pod_that_the_topology_policy_turned_away_is_found() -> None:
    def refused(pod):
        if pod.namespace != "training":
            return pod
        return replace(pod, phase="Failed", reason="TopologyAffinityError", message="Resources cannot be allocated")

    found = rules_of(pods(snapshot_of("adopt+pod-asks-too-much"), refused), "workload-pod-does-not-start")
    assert "topology policy" in found[0]


def test_a_list_that_allows_rdma_hinders_nothing() -> None:
    def right(pod):
        held = tuple(
            replace(item, environment={"UCX_TLS": "rc,cuda,sm,self", "UCX_NET_DEVICES": "mlx5_0:1"})
            for item in pod.containers
        )
        return replace(pod, containers=held, memory_volumes={"/dev/shm": ""})

    assert rules_of(pods(snapshot_of("adopt+pod-over-tcp"), right), "pod-settings-hinder-rdma") == []


def test_a_cordoned_node_in_a_roll_out_of_its_pool_is_left_alone() -> None:
    snapshot = snapshot_of("adopt+node-left-cordoned")
    moving = tuple(replace(pool, updating=pool.name == "worker") for pool in snapshot.cluster.pools)
    assert rules_of(replace(snapshot, cluster=replace(snapshot.cluster, pools=moving)), "rollout-does-not-end") == []


@pytest.mark.parametrize(
    ("state", "severity"),
    [("upgrade-done", None), ("upgrade-failed", Severity.ERROR), ("drain-required", Severity.WARNING)],
)
def test_steps_of_a_driver_upgrade_are_told_apart(state: str, severity: Severity | None) -> None:
    label = "nvidia.com/gpu-driver-upgrade-state"
    snapshot = nodes(snapshot_of("adopt"), lambda node: replace(node, labels={**node.labels, label: state}))
    found = asked(snapshot, "rollout-does-not-end").findings
    assert [finding.severity for finding in found] == ([severity] if severity else [])


def test_a_degraded_pool_says_why() -> None:
    snapshot = snapshot_of("adopt")
    broken = tuple(
        replace(pool, degraded=pool.name == "worker", message="Node worker-1 is reporting: unexpected on-disk state")
        for pool in snapshot.cluster.pools
    )
    found = rules_of(replace(snapshot, cluster=replace(snapshot.cluster, pools=broken)), "rollout-does-not-end")
    assert "unexpected on-disk state" in found[0]


def test_an_object_of_no_right_form_takes_no_other_answers_along() -> None:
    snapshot = changed(
        snapshot_of("adopt"), kinds.NIC_CLUSTER_POLICY, POLICY, "status", "appliedStates", value=["x", 3]
    )
    said = diagnose(snapshot, CATALOG, None)
    assert [item.rule for item in said.unknown] == ["policy-not-carried-out"]
    assert "AttributeError" in said.unknown[0].why
    assert len(said.passed) > 40
