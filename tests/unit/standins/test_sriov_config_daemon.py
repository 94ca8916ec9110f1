"""The config daemon under an operator that is not played: when it asks for a drain, and what it does without one."""

from datetime import UTC, datetime, timedelta

from railwright.core.ids import NetDevice, NodeName, PciAddress, RdmaDevice
from railwright.core.kinds import DAEMON_SET, NODE, POD, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import KubeObject, Ref, ref_of
from railwright.standins.kinds.sriov_config_daemon import (
    CURRENT_STATE,
    DAEMON,
    DESIRED_STATE,
    NODE_STATE,
    SINCE,
    VF_CREATION_S,
    react,
)
from railwright.standins.model import NodeDevices, Objects, Port, Write

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LONG_AGO = (NOW - timedelta(seconds=VF_CREATION_S)).isoformat().replace("+00:00", "Z")
NAMESPACE = "openshift-sriov-network-operator"
PORT = Port(
    PciAddress("0000:18:00.0"),
    NetDevice("enp24s0np0"),
    RdmaDevice("mlx5_0"),
    "15b3",
    "1021",
    "ether",
    16,
    "b8:ce:f6:00:00:01",
    1500,
    400000,
)
WANTED = {"interfaces": [{"name": PORT.netdev, "pciAddress": PORT.pci, "numVfs": 8}]}
STATE = Ref(SRIOV_NETWORK_NODE_STATE, NAMESPACE, "worker-0")


def an_object(ref: Ref, **parts: object) -> KubeObject:
    metadata: dict[str, object] = {"name": ref.name, "namespace": ref.namespace, "uid": f"uid-{ref.name}"}
    metadata |= parts.pop("metadata", {})  # type: ignore[arg-type,operator]  # given as a mapping here
    return {"apiVersion": ref.kind.api_version, "kind": ref.kind.kind, "metadata": metadata, **parts}


def a_status(vfs: int) -> KubeObject:
    made = [{"vfID": number} for number in range(vfs)]
    return {"interfaces": [{"name": PORT.netdev, "Vfs": made}], "syncStatus": "Succeeded"}


def reacts(
    spec: KubeObject, status: KubeObject, *, ready: bool = True, **annotations: str
) -> dict[tuple[str, Ref], KubeObject]:
    marks = {
        {"current": CURRENT_STATE, "desired": DESIRED_STATE, "since": SINCE}[key]: annotations[key]
        for key in annotations
    }
    daemon = an_object(Ref(DAEMON_SET, NAMESPACE, DAEMON), spec={"template": {}})
    owner = {"kind": "DaemonSet", "name": DAEMON, "uid": f"uid-{DAEMON}", "controller": True}
    pod = an_object(
        Ref(POD, NAMESPACE, f"{DAEMON}-x"),
        metadata={"ownerReferences": [owner]},
        spec={"nodeName": "worker-0"},
        status={"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    )
    state = an_object(STATE, metadata={"annotations": marks}, spec=spec, status=status)
    world = [daemon, pod, state, an_object(Ref(NODE, "", "worker-0"))]
    devices = {NodeName("worker-0"): NodeDevices(0, (PORT,))}
    writes = react(Objects({ref_of(obj): obj for obj in world}, devices), NOW)
    return merged(writes)


def merged(writes: tuple[Write, ...]) -> dict[tuple[str, Ref], KubeObject]:
    said: dict[tuple[str, Ref], KubeObject] = {}
    for write in writes:
        said[write.verb, write.ref] = {**said.get((write.verb, write.ref), {}), **write.body}
    return said


def asked(said: dict[tuple[str, Ref], KubeObject]) -> set[str]:
    """What the daemon asks the operator for, on the node and on its state alike."""
    wishes = {(NODE_STATE, Ref(NODE, "", "worker-0")), (DESIRED_STATE, STATE)}
    found = {said.get(("merge", ref), {}).get("metadata", {}).get("annotations", {}).get(key) for key, ref in wishes}
    return found - {None}


def test_ports_are_reported_and_nothing_else_until_something_is_wanted() -> None:
    said = reacts({}, {})
    assert [item["name"] for item in said["status", STATE]["status"]["interfaces"]] == [PORT.netdev]
    assert reacts({}, a_status(0)) == {}


def test_first_vfs_are_made_without_a_drain_and_take_their_time() -> None:
    begun = reacts(WANTED, a_status(0))
    assert begun["status", STATE]["status"]["syncStatus"] == "InProgress"
    assert asked(begun) == set()
    assert reacts(WANTED, a_status(0), since=NOW.isoformat().replace("+00:00", "Z")) == {}
    done = reacts(WANTED, a_status(0), since=LONG_AGO)["status", STATE]["status"]
    assert (len(done["interfaces"][0]["Vfs"]), done["syncStatus"]) == (8, "Succeeded")


def test_vfs_that_are_there_are_not_touched_before_the_operator_has_drained() -> None:
    said = reacts({}, a_status(8), since=LONG_AGO)
    assert asked(said) == {"Drain_Required"}
    assert said["status", STATE]["status"] == {"syncStatus": "InProgress"}
    drained = reacts({}, a_status(8), since=LONG_AGO, current="DrainComplete", desired="Drain_Required")
    assert "Vfs" not in drained["status", STATE]["status"]["interfaces"][0]


def test_a_daemon_that_is_done_gives_the_node_back() -> None:
    assert asked(reacts(WANTED, a_status(8), current="DrainComplete", desired="Drain_Required")) == {"Idle"}


def test_the_rdma_mode_of_the_spec_becomes_that_of_the_status() -> None:
    said = reacts({"system": {"rdmaMode": "exclusive"}}, a_status(0))
    assert said["status", STATE]["status"] == {"system": {"rdmaMode": "exclusive"}}


def test_without_its_pod_nothing_happens() -> None:
    assert reacts(WANTED, a_status(0), ready=False) == {}
