"""Pods of our own to look through: only where nothing else is, gone afterwards, and what killed runs left is removed."""

import asyncio
import os
import platform
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from railwright.adapters.debug_pod import HOLDER, LIFETIME_S, NAMESPACE, RUN_LABEL, DebugPods, remove_leftovers
from railwright.core.errors import ClusterUnreachable, NotFound, ObjectRefused, RailwrightError
from railwright.core.ids import NodeName
from railwright.core.kinds import IMAGE_STREAM
from railwright.core.objects import KubeObject, Ref
from railwright.ports.cluster import ExecResult, Selection
from railwright.ports.node import NodeAnswer

NODE = NodeName("w1")
RUNNING = {"phase": "Running", "containerStatuses": [{"name": "look", "state": {"running": {}}}]}
TOOLS = {"status": {"tags": [{"items": [{"dockerImageReference": "quay.invalid/tools@sha256:1"}]}]}}


@dataclass
class Pods:
    """A cluster of debug pods; `status` is what each gets, `answer` what exec in it does."""

    status: dict[str, Any] = field(default_factory=lambda: RUNNING)
    answer: Callable[[], ExecResult] = lambda: ExecResult("record", "", 0)
    tools: KubeObject | None = field(default_factory=lambda: TOOLS)
    delete_error: RailwrightError | None = None
    apply_error: RailwrightError | None = None
    """Comes in place of the answer, after the pod was made."""
    pods: dict[str, dict[str, Any]] = field(default_factory=dict)
    made: list[dict[str, Any]] = field(default_factory=list)
    ran: list[tuple[str, ...]] = field(default_factory=list)
    has_made: asyncio.Event = field(default_factory=asyncio.Event)

    async def get(self, ref: Ref) -> KubeObject:
        if ref.kind == IMAGE_STREAM:
            if self.tools is None:
                raise NotFound(f"{ref} does not exist")
            return self.tools
        return self.pods[ref.name]

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        assert (selection.namespace, selection.labels) == (NAMESPACE, RUN_LABEL)
        for pod in list(self.pods.values()):
            yield pod

    async def apply(self, obj: KubeObject) -> KubeObject:
        pod = {**obj, "metadata": {**obj["metadata"], "uid": f"uid-{len(self.made)}"}, "status": self.status}
        self.made.append(pod)
        self.pods[pod["metadata"]["name"]] = pod
        self.has_made.set()
        if self.apply_error is not None:
            raise self.apply_error
        return pod

    async def delete(self, ref: Ref, *, uid: str = "") -> None:
        if self.delete_error is not None:
            raise self.delete_error
        assert uid in {"", self.pods[ref.name]["metadata"].get("uid", "")}
        del self.pods[ref.name]

    async def exec(
        self, namespace: str, pod: str, container: str, command: Sequence[str], *, stdin: str, timeout_s: float
    ) -> ExecResult:
        assert (namespace, container) == (NAMESPACE, "look")
        self.ran.append(tuple(command))
        return self.answer()


@dataclass
class NoDoor:
    """A way in that finds none, or one that does."""

    text: str = ""

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        return NodeAnswer(self.text, "exec a/b" if self.text else "", "" if self.text else "no door")


async def read(cluster: Pods, first: NoDoor | None = None, image: str = "") -> NodeAnswer:
    nodes = DebugPods(cluster, first or NoDoor(), image)  # type: ignore[arg-type]  # the calls it makes
    return await nodes.read(NODE, "echo", timeout_s=1)


async def test_a_node_without_another_way_is_read_through_a_pod_that_is_gone_afterwards():
    cluster = Pods()
    answer = await read(cluster)
    assert (answer.text, answer.problem) == ("record", "")
    assert answer.via.startswith("exec default/railwright-debug-")
    assert cluster.ran == [("chroot", "/host", "sh", "-s")]
    (pod,) = cluster.made
    assert cluster.pods == {}
    spec = pod["spec"]
    assert (spec["nodeName"], spec["hostPID"], spec["hostNetwork"]) == ("w1", True, True)
    assert (spec["activeDeadlineSeconds"], spec["automountServiceAccountToken"]) == (LIFETIME_S, False)
    assert spec["containers"][0]["image"] == "quay.invalid/tools@sha256:1"
    assert spec["containers"][0]["volumeMounts"] == [{"name": "host", "mountPath": "/host", "readOnly": True}]


async def test_a_node_that_can_be_read_otherwise_gets_no_pod():
    cluster = Pods()
    assert (await read(cluster, NoDoor("record"))).via == "exec a/b"
    assert cluster.made == []


def fails() -> ExecResult:
    raise ClusterUnreachable("the kubelet is gone")


@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        (Pods(answer=fails), "the kubelet is gone"),
        (Pods(answer=lambda: ExecResult("", "chroot: cannot", 125)), "ended with 125 and said: chroot: cannot"),
        (Pods(status={"phase": "Failed", "message": "evicted"}), "does not run: evicted"),
        (
            Pods(status={"containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull", "message": "404"}}}]}),
            "does not run: ErrImagePull 404",
        ),
        (Pods(tools=None), "name one that holds sh and chroot with --debug-image"),
        (Pods(tools={"status": {}}), "ImageStream openshift/tools names none"),
        (Pods(apply_error=ClusterUnreachable("reset by peer")), "reset by peer"),
    ],
    ids=["exec fails", "script fails", "pod fails", "no image", "no tools", "tools without image", "answer lost"],
)
async def test_whatever_goes_wrong_is_said_and_no_pod_stays(cluster, said):
    answer = await read(cluster)
    assert answer.text == ""
    assert said in answer.problem
    assert cluster.pods == {}


async def test_a_pod_that_is_never_started_is_given_up_and_removed():
    cluster = Pods(status={"phase": "Pending"})
    nodes = DebugPods(cluster, NoDoor())  # type: ignore[arg-type]  # the calls it makes
    answer = await nodes.read(NODE, "echo", timeout_s=0.01)
    assert "a debug pod did not answer within 0.01 s" in answer.problem
    assert cluster.pods == {}


async def test_an_interrupted_reading_removes_its_pod():
    cluster = Pods(status={"phase": "Pending"})
    nodes = DebugPods(cluster, NoDoor())  # type: ignore[arg-type]  # the calls it makes
    reading = asyncio.ensure_future(nodes.read(NODE, "echo", timeout_s=60))
    await cluster.has_made.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert cluster.pods == {}


async def test_a_pod_that_cannot_be_deleted_is_told():
    answer = await read(Pods(delete_error=ObjectRefused("finalizers")))
    assert answer.text == "record"
    assert "could not be deleted and ends by itself: finalizers" in answer.via


async def test_a_pod_that_failed_and_cannot_be_deleted_is_told_too():
    answer = await read(Pods(answer=fails, delete_error=ObjectRefused("finalizers")))
    assert "the kubelet is gone" in answer.problem
    assert "could not be deleted and ends by itself: finalizers" in answer.problem


def left(name: str, *, holder: str, age_s: float = 1, **more: Any) -> dict[str, Any]:
    created = (datetime.now(UTC) - timedelta(seconds=age_s)).isoformat()
    metadata = {"name": name, "namespace": NAMESPACE, "uid": "u", "creationTimestamp": created}
    return {"metadata": {**metadata, "annotations": {HOLDER: holder}, **more.pop("metadata", {})}, **more}


async def test_what_killed_runs_left_behind_is_removed_and_what_is_in_use_stays():
    here = platform.node()
    found = [
        left("killed-here", holder=f"{here}/999999999"),
        left("in-use-here", holder=f"{here}/{os.getpid()}"),
        left("in-use-elsewhere", holder="laptop/1"),
        left("old-elsewhere", holder="laptop/1", age_s=LIFETIME_S + 1),
        left("ended", holder="laptop/1", status={"phase": "Failed"}),
        left("on-its-way", holder="laptop/1", age_s=9999, metadata={"deletionTimestamp": "2026-11-30T09:00:00Z"}),
    ]
    cluster = Pods(pods={pod["metadata"]["name"]: pod for pod in found})
    removed = await remove_leftovers(cluster)  # type: ignore[arg-type]  # the calls it makes
    assert set(removed) == {"killed-here", "old-elsewhere", "ended"}
    assert set(cluster.pods) == {"in-use-here", "in-use-elsewhere", "on-its-way"}


async def test_leftovers_are_removed_before_the_first_pod_is_made():
    cluster = Pods(pods={"killed": left("killed", holder=f"{platform.node()}/999999999")})
    await read(cluster)
    assert cluster.pods == {}
