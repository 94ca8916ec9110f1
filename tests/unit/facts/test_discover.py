"""Discover against a cluster in memory: what it keeps, what it leaves out, and what it admits it could not see."""

import json
from pathlib import Path

import pytest
from support.facts_fakes import FakeClock, FakeCluster, FakeNode, Seen

from railwright.core import kinds
from railwright.core.errors import (
    ClusterBusy,
    ClusterUnreachable,
    LoginExpired,
    NotCollected,
    PermissionMissing,
    UsageError,
)
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.facts.discover import discover
from railwright.facts.model import Platform, Scope, Snapshot, Topology
from railwright.facts.offline import offline_snapshot
from railwright.ports.node import NodeAnswer
from railwright.ports.progress import Reading

CASES = Path(__file__).parents[2] / "cases" / "facts"
RECORD = (CASES / "node-record" / "hgx-eight-gpus-eight-nics.txt").read_text()
DENIED = PermissionMissing("list of this is forbidden")


def an_object(kind: Kind, name: str, namespace: str = "", *, labels: dict | None = None, **rest) -> KubeObject:
    metadata = {"name": name, "labels": labels or {}} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **rest}


def a_node(name: str, *roles: str, address: str = "10.0.0.20", **spec) -> KubeObject:
    return an_object(
        kinds.NODE,
        name,
        labels={f"node-role.kubernetes.io/{role}": "" for role in roles},
        spec=spec,
        status={
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
            "allocatable": {"cpu": "96", "nvidia.com/gpu": "8", "rdma/rail0": "1k"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"architecture": "amd64", "kernelVersion": "5.14.0", "osImage": "RHCOS 9.6"},
        },
    )


def a_pod(name: str, namespace: str, *, resource: str = "", phase: str = "Running", count: str = "8") -> KubeObject:
    container = {"name": "c", "resources": {"limits": {resource: count, "cpu": "1"}} if resource else {}}
    return an_object(
        kinds.POD,
        name,
        namespace,
        spec={"nodeName": "worker-0", "containers": [container]},
        status={"phase": phase},
    )


def an_openshift(*, topology: str = "HighlyAvailable") -> FakeCluster:
    cluster = FakeCluster()
    for obj in (
        an_object(
            kinds.CLUSTER_VERSION,
            "version",
            status={
                "history": [{"state": "Partial", "version": "4.20.5"}, {"state": "Completed", "version": "4.20.4"}]
            },
        ),
        an_object(kinds.INFRASTRUCTURE, "cluster", status={"controlPlaneTopology": topology}),
        an_object(
            kinds.NETWORK_CONFIG,
            "cluster",
            status={
                "networkType": "OVNKubernetes",
                "clusterNetwork": [{"cidr": "10.128.0.0/14", "hostPrefix": 23}],
                "serviceNetwork": ["172.30.0.0/16"],
            },
        ),
        an_object(kinds.NETWORK_OPERATOR, "cluster", spec={"defaultNetwork": {"type": "OVNKubernetes"}}),
        an_object(kinds.PROXY, "cluster", spec={}, status={}),
        an_object(
            kinds.CONFIG_MAP,
            "cluster-config-v1",
            "kube-system",
            data={"install-config": "fips: true\nnetworking:\n  machineNetwork:\n  - cidr: 10.0.0.0/16\n"},
        ),
        a_node("master-0", "control-plane", "master", address="10.0.0.10"),
        a_node("worker-0", "worker"),
    ):
        cluster.put(obj)
    return cluster


async def look(cluster: FakeCluster, scope: Scope | None = None, node: FakeNode | None = None, seen=None) -> Snapshot:
    node = node or FakeNode(lambda _: NodeAnswer(RECORD, "exec ns/pod"))
    return await discover(cluster, node, scope or Scope(), seen or Seen(), FakeClock())


async def test_an_openshift_cluster_is_described_by_its_own_configuration():
    cluster = (await look(an_openshift())).cluster
    assert (cluster.platform, cluster.openshift_version, cluster.kubernetes_version) == (
        Platform.OPENSHIFT,
        "4.20.4",
        "v1.33.4",
    )
    assert (cluster.topology, cluster.proxy, cluster.fips) == (Topology.STANDARD, False, True)
    assert (cluster.cluster_networks, cluster.service_networks, cluster.machine_networks) == (
        ("10.128.0.0/14",),
        ("172.30.0.0/16",),
        ("10.0.0.0/16",),
    )
    assert {"100.64.0.0/16", "100.88.0.0/16", "169.254.0.0/17"} <= set(cluster.internal_networks)
    assert cluster.unseen == ()


async def test_configured_inner_subnets_replace_the_defaults():
    cluster = an_openshift()
    ovn = {"v4InternalSubnet": "100.70.0.0/16", "ipv4": {"internalTransitSwitchSubnet": "100.99.0.0/16"}}
    spec = {"defaultNetwork": {"ovnKubernetesConfig": ovn}}
    cluster.put(an_object(kinds.NETWORK_OPERATOR, "cluster", spec=spec))
    internal = (await look(cluster)).cluster.internal_networks
    assert internal[:2] == ("100.70.0.0/16", "100.99.0.0/16")


async def test_nodes_are_read_with_what_kubernetes_knows_of_them():
    snapshot = await look(an_openshift())
    worker = snapshot.node("worker-0")
    assert worker is not None
    assert worker.allocatable == {"nvidia.com/gpu": 8, "rdma/rail0": 1000}
    assert (worker.is_worker, worker.is_control_plane, worker.ready, worker.schedulable) == (True, False, True, True)
    assert worker.addresses == ("10.0.0.20",)
    assert (worker.read_via, worker.hardware_problem) == ("exec ns/pod", "")
    assert worker.hardware is not None
    assert {"API server", "node address 10.0.0.20"} <= {item.what for item in worker.hardware.carried}
    master = snapshot.node("master-0")
    assert master is not None
    assert master.hardware is not None
    assert "API server" not in {item.what for item in master.hardware.carried}
    assert snapshot.raw_nodes == {"master-0": RECORD, "worker-0": RECORD}
    assert snapshot.taken_at == "2026-11-30T08:00:00Z"


async def test_a_node_that_does_not_answer_keeps_its_reason():
    node = FakeNode(
        lambda name: NodeAnswer("", "", "timed out after 30 s") if name == "worker-0" else NodeAnswer(RECORD, "x")
    )
    snapshot = await look(an_openshift(), node=node)
    worker = snapshot.node("worker-0")
    assert worker is not None
    assert (worker.hardware, worker.hardware_problem) == (None, "timed out after 30 s")
    assert list(snapshot.raw_nodes) == ["master-0"]


async def test_a_node_that_says_nothing_is_not_an_empty_node():
    snapshot = await look(an_openshift(), node=FakeNode(lambda _: NodeAnswer("", "exec")))
    assert {(node.hardware, node.hardware_problem) for node in snapshot.nodes} == {(None, "it printed nothing")}


async def test_no_more_nodes_are_read_at_once_than_allowed_and_each_has_its_deadline():
    cluster = an_openshift()
    for number in range(20):
        cluster.put(a_node(f"w{number}", "worker"))
    node, seen = FakeNode(lambda _: NodeAnswer(RECORD, "x")), Seen()
    await look(cluster, Scope(parallel_nodes=3, node_timeout_s=7.0), node, seen)
    assert node.most_at_once == 3
    assert set(node.deadlines_s) == {7.0}
    assert Reading("nodes", 22, 22) in seen.events


async def test_only_the_nodes_asked_for_are_read_and_an_unknown_name_is_said():
    snapshot = await look(an_openshift(), Scope(nodes=("worker-0", "nobody")))
    assert [node.name for node in snapshot.nodes] == ["worker-0"]
    assert [(item.what, item.why.partition(":")[0]) for item in snapshot.cluster.unseen] == [
        ("Node nobody", "not-found")
    ]


async def test_without_hardware_no_node_is_touched():
    node = FakeNode(lambda _: pytest.fail("read"))
    snapshot = await look(an_openshift(), Scope(hardware=False), node)
    assert all(item.hardware is None and item.hardware_problem.startswith("not read") for item in snapshot.nodes)


@pytest.mark.parametrize(
    ("said", "roles", "expected"),
    [
        ("External", ("worker",), Topology.HOSTED),
        ("SingleReplica", ("control-plane", "worker"), Topology.SINGLE_NODE),
        ("HighlyAvailable", ("control-plane", "worker"), Topology.COMPACT),
    ],
)
async def test_the_topology_of_openshift(said, roles, expected):
    cluster = an_openshift(topology=said)
    for name in ("master-0", "worker-0"):
        cluster.put(a_node(name, *roles))
    assert (await look(cluster)).cluster.topology is expected


async def test_plain_kubernetes_is_no_openshift_and_says_why_there_are_no_packages():
    cluster = FakeCluster()
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    cluster.put(a_node("cp", "control-plane", taints=[taint]))
    cluster.put(a_node("w"))
    snapshot = await look(cluster)
    facts = snapshot.cluster
    assert (facts.platform, facts.openshift_version, facts.topology) == (Platform.KUBERNETES, "", Topology.STANDARD)
    assert "is not served" in facts.packages_problem
    assert [(node.name, node.is_worker, node.taints) for node in snapshot.nodes] == [
        ("cp", False, ("node-role.kubernetes.io/control-plane:NoSchedule",)),
        ("w", True, ()),
    ]
    assert facts.unseen == ()
    assert facts.machine_networks == ("10.0.0.0/24",)


async def test_packages_come_from_the_live_catalog():
    cluster = an_openshift()
    for obj in json.loads((CASES / "packages" / "four-operators.json").read_text())["objects"]:
        cluster.put(obj)
    cluster.put(
        an_object(kinds.PACKAGE_MANIFEST, "unrelated", "openshift-marketplace", status={"packageName": "unrelated"})
    )
    facts = (await look(cluster)).cluster
    assert facts.packages_problem == ""
    found = {package.package: package for package in facts.packages}
    assert sorted(found) == ["gpu-operator-certified", "nfd", "nvidia-network-operator", "sriov-network-operator"]
    gpu = found["gpu-operator-certified"]
    assert (gpu.catalog, gpu.catalog_namespace, gpu.default_channel) == (
        "certified-operators",
        "openshift-marketplace",
        "v26.3",
    )
    heads = {channel.name: channel.head_csv for channel in gpu.channels}
    assert heads["v26.3"] == "gpu-operator-certified.v26.3.3"


@pytest.mark.parametrize(
    "kind",
    [kinds.NODE, kinds.POD, kinds.NAMESPACE, kinds.SUBSCRIPTION, kinds.NIC_CLUSTER_POLICY, kinds.NETWORK_CONFIG],
    ids=str,
)
@pytest.mark.parametrize(
    "error", [DENIED, ClusterBusy("429"), NotCollected("not in the archive")], ids=lambda e: e.code
)
async def test_what_may_not_be_read_is_unseen_and_not_empty(kind, error):
    cluster = an_openshift()
    cluster.kinds = (kind,)
    cluster.failing[kind] = error
    unseen = (await look(cluster)).cluster.unseen
    assert any(kind.kind in item.what and error.code in item.why for item in unseen), unseen


async def test_packages_that_may_not_be_read_have_a_problem():
    cluster = an_openshift()
    cluster.kinds = (kinds.PACKAGE_MANIFEST,)
    cluster.failing[kinds.PACKAGE_MANIFEST] = DENIED
    facts = (await look(cluster)).cluster
    assert facts.packages == ()
    assert "permission-missing" in facts.packages_problem


async def test_a_kind_that_is_served_but_does_not_answer_is_unseen():
    cluster = an_openshift()
    cluster.kinds = (kinds.CLUSTER_POLICY,)
    cluster.not_served = frozenset({kinds.CLUSTER_POLICY})
    assert any("ClusterPolicy" in item.what for item in (await look(cluster)).cluster.unseen)


async def test_without_the_list_of_served_kinds_nothing_counts_as_absent():
    cluster = an_openshift()
    cluster.served_error = DENIED
    cluster.not_served = frozenset({kinds.CLUSTER_POLICY})
    facts = (await look(cluster)).cluster
    assert {"served kinds", "ClusterPolicy.nvidia.com"} <= {item.what for item in facts.unseen}


async def test_a_forbidden_cluster_version_still_makes_it_openshift():
    cluster = an_openshift()
    cluster.failing[kinds.CLUSTER_VERSION] = DENIED
    facts = (await look(cluster)).cluster
    assert (facts.platform, facts.openshift_version) == (Platform.OPENSHIFT, "")


@pytest.mark.parametrize("error", [ClusterUnreachable("no route"), LoginExpired("401")], ids=lambda e: e.code)
@pytest.mark.parametrize("where", ["served", "version", "list"])
async def test_a_cluster_that_can_not_be_talked_to_is_an_error(error, where):
    cluster = an_openshift()
    if where == "served":
        cluster.served_error = error
    elif where == "version":
        cluster.version_error = error
    else:
        cluster.failing[kinds.POD] = error
        cluster.kinds = (kinds.POD,)
    with pytest.raises(type(error)):
        await look(cluster)


async def test_pods_are_kept_when_they_hold_devices_or_belong_to_an_operator():
    cluster = an_openshift()
    cluster.put(an_object(kinds.NAMESPACE, "nvidia-gpu-operator"))
    for pod in (
        a_pod("trains", "team", resource="nvidia.com/gpu"),
        a_pod("rails", "team", resource="rdma/rail0", count="1k"),
        a_pod("done", "team", resource="nvidia.com/gpu", phase="Succeeded"),
        a_pod("web", "team"),
        a_pod("disk", "team", resource="example.com/disk"),
        a_pod("driver", "nvidia-gpu-operator"),
    ):
        cluster.put(pod)
    pods = (await look(cluster)).cluster.pods
    assert [(pod.name, dict(pod.requests)) for pod in pods] == [
        ("driver", {}),
        ("rails", {"rdma/rail0": 1000}),
        ("trains", {"nvidia.com/gpu": 8}),
    ]


async def test_objects_that_do_not_matter_are_left_out():
    cluster = an_openshift()
    subscription = an_object(kinds.SUBSCRIPTION, "net", "elsewhere", spec={"name": "nvidia-network-operator"})
    for obj in (
        subscription,
        an_object(kinds.NAMESPACE, "elsewhere"),
        an_object(kinds.NAMESPACE, "training"),
        an_object(kinds.NAMESPACE, "openshift-nfd"),
        an_object(kinds.NAMESPACE, "openshift-etcd"),
        an_object(kinds.CLUSTER_SERVICE_VERSION, "real", "elsewhere"),
        an_object(kinds.CLUSTER_SERVICE_VERSION, "real", "training", labels={"olm.copiedFrom": "elsewhere"}),
        an_object(kinds.MACHINE_CONFIG, "99-worker-memlock"),
        an_object(kinds.MACHINE_CONFIG, "00-worker"),
        an_object(kinds.MACHINE_CONFIG, "rendered-worker-abc"),
        an_object(kinds.SECURITY_CONTEXT_CONSTRAINTS, "privileged"),
        an_object(kinds.SECURITY_CONTEXT_CONSTRAINTS, "rdma", allowedCapabilities=["IPC_LOCK"]),
        an_object(kinds.SECURITY_CONTEXT_CONSTRAINTS, "hostaccess"),
        an_object(kinds.DAEMON_SET, "mofed", "elsewhere"),
        an_object(kinds.DAEMON_SET, "web", "training"),
        an_object(kinds.CONFIG_MAP, "plugin", "elsewhere"),
        an_object(kinds.CONFIG_MAP, "kube-root-ca.crt", "elsewhere"),
        an_object(kinds.CONFIG_MAP, "head", "railwright", labels={"railwright.dev/ledger": "head"}),
        an_object(kinds.CONFIG_MAP, "other", "railwright"),
    ):
        cluster.put(obj)
    facts = (await look(cluster)).cluster
    kept = {
        (ref.kind.kind, ref.namespace, ref.name) for ref in facts.objects if ref.kind.group != "config.openshift.io"
    }
    assert kept == {
        ("Network", "", "cluster"),
        ("Subscription", "elsewhere", "net"),
        ("Namespace", "", "elsewhere"),
        ("Namespace", "", "training"),
        ("Namespace", "", "openshift-nfd"),
        ("ClusterServiceVersion", "elsewhere", "real"),
        ("MachineConfig", "", "99-worker-memlock"),
        ("SecurityContextConstraints", "", "privileged"),
        ("SecurityContextConstraints", "", "rdma"),
        ("DaemonSet", "elsewhere", "mofed"),
        ("ConfigMap", "elsewhere", "plugin"),
        ("ConfigMap", "railwright", "head"),
    }
    assert facts.objects[Ref(kinds.SUBSCRIPTION, "elsewhere", "net")] == subscription


async def test_the_offline_snapshot_has_no_nodes_and_admits_that_nothing_was_read():
    snapshot = offline_snapshot("4.20")
    assert (snapshot.nodes, snapshot.cluster.openshift_version, snapshot.cluster.kubernetes_version) == (
        (),
        "4.20",
        "v1.33.0",
    )
    assert snapshot.cluster.packages_problem


@pytest.mark.parametrize("text", ["", "latest", "4", "v4.20", "4.20.x"])
def test_an_offline_version_that_is_none_is_refused(text):
    with pytest.raises(UsageError):
        offline_snapshot(text)


@pytest.mark.parametrize(
    ("namespace_is_there", "namespaces_are_hidden", "is_unseen"),
    [(False, False, False), (True, False, True), (False, True, True)],
    ids=["no namespace", "a namespace", "namespaces hidden"],
)
async def test_a_ledger_that_may_not_be_read_is_unseen_unless_its_namespace_is_not_there(
    namespace_is_there, namespaces_are_hidden, is_unseen
):
    cluster = an_openshift()
    cluster.kinds = (kinds.CONFIG_MAP, kinds.NAMESPACE)
    cluster.failing[kinds.CONFIG_MAP] = DENIED
    if namespace_is_there:
        cluster.put(an_object(kinds.NAMESPACE, "railwright"))
    if namespaces_are_hidden:
        cluster.failing[kinds.NAMESPACE] = DENIED
    facts = (await look(cluster)).cluster
    assert any(item.what.startswith("ConfigMap in railwright") for item in facts.unseen) is is_unseen


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"namespace": ""}, "it names no namespace"),
        ({"labels": True}, "metadata.labels is no mapping"),
        ({"annotations": ["a"]}, "metadata.annotations is no mapping"),
    ],
    ids=["no namespace", "labels", "annotations"],
)
async def test_an_object_whose_metadata_no_server_stores_is_unseen_and_the_others_are_read(metadata, said):
    cluster = an_openshift()
    good = an_object(kinds.SUBSCRIPTION, "good", "elsewhere", spec={"name": ["nfd"]})
    odd = an_object(kinds.SUBSCRIPTION, "odd", "elsewhere", spec={"name": "nfd"})
    odd["metadata"] |= metadata
    cluster.objects |= {Ref(kinds.SUBSCRIPTION, "elsewhere", item["metadata"]["name"]): item for item in (good, odd)}
    snapshot = await look(cluster)
    assert {item["metadata"]["name"] for item in snapshot.cluster.of_kind(kinds.SUBSCRIPTION)} >= {"good"}
    assert "odd" not in {item["metadata"]["name"] for item in snapshot.cluster.of_kind(kinds.SUBSCRIPTION)}
    assert any(said in item.why for item in snapshot.cluster.unseen)
