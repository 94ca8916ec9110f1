"""Pods, containers, events and logs: what is kept of them, and which logs are read."""

import json
from pathlib import Path

import pytest
from support.facts_fakes import FakeCluster

from railwright.core import kinds
from railwright.core.errors import PermissionMissing
from railwright.core.objects import KubeObject
from railwright.facts.pod_model import LogRef, PodFacts
from railwright.facts.pods import event_of, pod_of
from railwright.facts.reading import start_reading
from railwright.facts.troubles import MOST_EVENTS, MOST_LOGS, read_events, read_logs

CASES = Path(__file__).parents[2] / "cases" / "facts" / "pods"
OPERATORS = frozenset({"nvidia-network-operator"})


def a_pod(name: str, *states: KubeObject, namespace: str = "nvidia-network-operator", **status: object) -> KubeObject:
    names = [str(state["name"]) for state in states]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "ownerReferences": [{"kind": "DaemonSet", "name": "mofed", "controller": True}],
        },
        "spec": {"nodeName": "worker-0", "containers": [{"name": item, "image": "x"} for item in names]},
        "status": {"phase": "Running", "containerStatuses": list(states), **status},
    }


def running(name: str = "main", *, ready: bool = True, restarts: int = 0, **more: object) -> KubeObject:
    return {"name": name, "ready": ready, "restartCount": restarts, "state": {"running": {"startedAt": "T1"}}, **more}


READY = {"conditions": [{"type": "Ready", "status": "True"}]}
CRASHED = {
    "name": "main",
    "ready": False,
    "restartCount": 7,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
    "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137, "finishedAt": "T2"}},
}


def facts(obj: KubeObject) -> PodFacts:
    found = pod_of(obj, OPERATORS)
    assert found is not None
    return found


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_a_recorded_pod_is_reduced_to_what_matters(path):
    case = json.loads(path.read_text())
    pod = facts(case["pod"])
    for key, wanted in case["expected"].items():
        value = getattr(pod, key)
        assert (list(value) if isinstance(value, tuple) else value) == wanted, key
    for container, wanted in zip(pod.containers, case["containers"], strict=True):
        seen = {key: getattr(container, key) for key in wanted}
        assert {key: list(item) if isinstance(item, tuple) else item for key, item in seen.items()} == wanted


def test_a_crashing_container_keeps_how_it_ended_before():
    pod = facts(a_pod("mofed-1", CRASHED))
    (container,) = pod.containers
    assert (container.state, container.reason, container.restarts) == ("waiting", "CrashLoopBackOff", 7)
    assert (container.last_ending.reason, container.last_ending.exit_code) == ("OOMKilled", 137)
    assert not pod.is_ready


def test_variables_of_the_stack_are_kept_and_others_are_not():
    obj = a_pod("train", running())
    obj["spec"]["containers"][0]["env"] = [
        {"name": "NCCL_IB_HCA", "value": "mlx5_0"},
        {"name": "UNLOAD_STORAGE_MODULES", "value": "true"},
        {"name": "API_TOKEN", "value": "hidden"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": {"fieldRef": {}}},
    ]
    assert facts(obj).containers[0].environment == {"NCCL_IB_HCA": "mlx5_0", "UNLOAD_STORAGE_MODULES": "true"}


def test_memory_at_dev_shm_is_seen_with_its_limit():
    obj = a_pod("train", running())
    obj["spec"]["volumes"] = [
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
        {"name": "data", "hostPath": {"path": "/dev"}},
        {"name": "settings", "configMap": {"name": "x"}},
    ]
    obj["spec"]["containers"][0]["volumeMounts"] = [{"name": "shm", "mountPath": "/dev/shm"}]
    assert facts(obj).memory_volumes == {"/dev/shm": "8Gi"}


def test_somebody_elses_pod_that_is_done_holds_nothing_and_one_that_failed_is_kept():
    obj = a_pod("train", running(), namespace="team")
    obj["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "8"}}
    obj["status"]["phase"] = "Succeeded"
    assert pod_of(obj, OPERATORS) is None
    obj["status"] |= {"phase": "Failed", "reason": "TopologyAffinityError"}
    pod = facts(obj)
    assert (pod.is_over, pod.reason) == (True, "TopologyAffinityError")


def an_event(number: int, **more: object) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"e{number}", "namespace": "nvidia-network-operator"},
        "involvedObject": {"kind": "Pod", "namespace": "nvidia-network-operator", "name": "mofed-1"},
        "reason": "Unhealthy",
        "message": "Startup probe failed",
        "type": "Warning",
        "count": 3,
        "firstTimestamp": "2026-11-30T09:00:00Z",
        "lastTimestamp": f"2026-11-30T09:{number // 60 % 60:02d}:{number % 60:02d}Z",
        "source": {"component": "kubelet", "host": "worker-0"},
        **more,
    }


def test_an_event_of_the_newer_interface_has_its_times_and_count_elsewhere():
    series = {"count": 12, "lastObservedTime": "2026-11-30T09:30:00.000000Z"}
    event = event_of(
        an_event(
            0, count=None, firstTimestamp=None, lastTimestamp=None, eventTime="2026-11-30T09:00:00Z", series=series
        )
    )
    assert (event.count, event.last_at) == (12, series["lastObservedTime"])
    assert (event.kind, event.name, event.component, event.node) == ("Pod", "mofed-1", "kubelet", "worker-0")


async def test_of_too_many_events_the_newest_are_kept():
    cluster = FakeCluster()
    for number in range(MOST_EVENTS + 40):
        cluster.put({**an_event(number), "lastTimestamp": f"2026-11-30T09:00:00.{number:06d}Z"})
    reading = await start_reading(cluster)
    events = await read_events(reading, OPERATORS, ())
    assert len(events) == MOST_EVENTS
    assert events[0].last_at.endswith(".000040Z")
    assert [(item.what, "5,040 of them" in item.why) for item in reading.unseen] == [("older events", True)]


async def test_logs_that_there_is_no_room_for_are_unseen_and_those_in_trouble_come_first():
    reading = await start_reading(FakeCluster())
    pods = [facts(a_pod(f"mofed-{number:03}", running(ready=False, restarts=1))) for number in range(MOST_LOGS)]
    healthy = facts(a_pod("aaa", running(), **READY))
    logs = await read_logs(reading, [healthy, *pods], 1000)
    assert len(logs) == MOST_LOGS
    assert all(ref.pod != "aaa" for ref in logs)
    assert [item.why for item in reading.unseen] == [
        "there are 201, and only 200 were read; of containers in trouble 0 are left out"
    ]


async def test_logs_are_read_of_what_is_in_trouble_and_of_one_healthy_pod_a_daemon_set():
    cluster = FakeCluster()
    pods = [
        facts(a_pod("mofed-0", running(), **READY)),
        facts(a_pod("mofed-1", running(), **READY)),
        facts(a_pod("mofed-2", CRASHED)),
        facts(a_pod("mofed-3", running(ready=False, restarts=1))),
    ]
    logs = await read_logs(await start_reading(cluster), pods, 1000)
    assert set(logs) == {
        LogRef("nvidia-network-operator", "mofed-0", "main"),
        LogRef("nvidia-network-operator", "mofed-2", "main", previous=True),
        LogRef("nvidia-network-operator", "mofed-3", "main"),
    }


async def test_a_log_is_cut_to_its_end():
    cluster = FakeCluster()
    cluster.log_text = "begin" + "x" * 100 + "end"
    logs = await read_logs(await start_reading(cluster), [facts(a_pod("mofed-2", CRASHED))], 10)
    assert list(logs.values()) == ["xxxxxxxend"]


async def test_a_log_that_may_not_be_read_is_unseen():
    cluster = FakeCluster(log_error=PermissionMissing("may not get pods/log"))
    reading = await start_reading(cluster)
    assert await read_logs(reading, [facts(a_pod("mofed-2", CRASHED))], 10) == {}
    assert [item.what for item in reading.unseen] == ["log of nvidia-network-operator/mofed-2 main, the run before"]


async def test_events_that_may_not_be_read_are_unseen():
    cluster = FakeCluster(failing={kinds.EVENT: PermissionMissing("may not list events")}, kinds=(kinds.EVENT,))
    reading = await start_reading(cluster)
    assert await read_events(reading, OPERATORS, ()) == ()
    assert {item.what for item in reading.unseen} == {"Event in default", "Event in nvidia-network-operator"}
