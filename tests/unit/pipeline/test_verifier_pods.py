"""Pods of verify that get ready, that never do, and that go away: each node has an endpoint, or a reason why not."""

import pytest

from railwright.apply.lease import ledger_is_gone, running_elsewhere
from railwright.apply.ledger import LedgerStore
from railwright.apply.writer import Writer
from railwright.core import kinds
from railwright.core.errors import (
    ClusterBusy,
    LoginExpired,
    NotFound,
    ObjectRefused,
    PermissionMissing,
    RailwrightError,
    Refused,
)
from railwright.core.ids import FabricName, NodeName
from railwright.core.objects import KubeObject, Ref
from railwright.manifests.verifiers import Run, Verifier
from railwright.pipeline.pod_events import last_complaint
from railwright.pipeline.verifier_pods import VerifierPods
from railwright.ports.progress import Silent
from railwright.simulator.open import open_simulator
from railwright.simulator.ownership import Manager

RUN = Run("0302080000", "default", FabricName("east-west"), "image", 600.0, has_scc=True)
NODES = tuple(Verifier(NodeName(f"worker-{number}"), (), {}) for number in range(2))


def objects_of(world):
    return world.cluster.engine.store.objects


async def started(world, progress=None) -> VerifierPods:
    pods = VerifierPods(world, RUN, NODES, (), {}, progress or Silent())
    await pods.start()
    return pods


async def test_every_pod_that_runs_is_an_endpoint_and_nothing_is_left_of_it() -> None:
    world = open_simulator("h200-roce")
    pods = await started(world)
    assert [item.node for item in pods.endpoints] == ["worker-0", "worker-1"]
    assert pods.absent == {}
    await pods.remove()
    assert not [ref for ref in objects_of(world) if RUN.name in ref.name]
    ledger = await LedgerStore(world.cluster, world.clock).load()
    assert not [ref for ref in ledger.entries if RUN.name in ref.name]


async def test_a_pod_that_never_gets_ready_is_given_up_and_its_node_named() -> None:
    world = open_simulator("h200-roce")
    (ready,) = (
        item
        for item in objects_of(world)[Ref(kinds.NODE, "", "worker-1")]["status"]["conditions"]
        if item["type"] == "Ready"
    )
    ready["status"] = "Unknown"
    pods = await started(world)
    assert [item.node for item in pods.endpoints] == ["worker-0"]
    assert pods.absent[NodeName("worker-1")].startswith("its pod was not ready after 300 s")


SANDBOX = (
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "35e107ef": plugin '
    'type="multus" name="multus-cni-network" failed (add): [training/p/c46e3159:east-west-rail0]: error adding container to '
    'network "east-west-rail0": invalid MTU 4200, must be [0, 1500]'
)
"""As a kubelet and Multus wrote it (virtual cluster, 2026-12-01), its ids cut short."""


def an_event(name: str, second: int, message: str, kind: str = "Warning") -> KubeObject:
    about = {"kind": "Pod", "namespace": "default", "name": name}
    stamp = f"2026-12-01T04:20:{second:02d}Z"
    meta = {"name": f"{name}.{second}", "namespace": "default"}
    said = {"involvedObject": about, "reason": "FailedCreatePodSandBox", "message": message, "type": kind}
    return {"apiVersion": "v1", "kind": "Event", "metadata": meta, **said, "lastTimestamp": stamp}


async def test_what_was_last_complained_of_about_a_pod_is_its_newest_warning() -> None:
    world = open_simulator("h200-roce")
    for event in (
        an_event("a", 10, "older"),
        an_event("a", 20, SANDBOX),
        an_event("a", 30, "Add eth0", "Normal"),
        an_event("b", 40, "of another"),
    ):
        world.cluster.engine.store.create(event, Manager("kubelet", "Update"), world.cluster.engine.now)
    said = await last_complaint(world.cluster, "default", "a")
    assert said.startswith("FailedCreatePodSandBox: ...")
    assert said.endswith("invalid MTU 4200, must be [0, 1500]")
    assert await last_complaint(world.cluster, "default", "c") == ""


async def test_events_that_may_not_be_read_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    world = open_simulator("h200-roce")

    def forbidden(*_: object) -> None:
        raise PermissionMissing("no")

    monkeypatch.setattr(type(world.cluster), "list", forbidden)
    assert "listing events in namespace default is not allowed" in await last_complaint(world.cluster, "default", "a")


async def test_a_pod_that_somebody_removes_is_said_to_be_gone() -> None:
    world = open_simulator("h200-roce")

    class Removing:
        def emit(self, event):
            pod = Ref(kinds.POD, "default", f"{RUN.name}-1")
            if type(event).__name__ == "Waiting" and pod in objects_of(world):
                world.cluster.engine.store.delete(pod, world.clock.now())

    pods = await started(world, Removing())
    assert pods.absent == {NodeName("worker-1"): "its pod is gone"}


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (ObjectRefused("violates PodSecurity"), Refused),
        (NotFound("namespaces default not found"), Refused),
        (running_elsewhere("other"), None),
        (ledger_is_gone(Ref(kinds.CONFIG_MAP, "railwright", "a")), None),
        (LoginExpired("401"), None),
        (PermissionMissing("403: create pods"), None),
        (ClusterBusy("429"), None),
    ],
    ids=lambda item: type(item).__name__ if isinstance(item, RailwrightError) else "",
)
async def test_only_what_refuses_the_pod_is_said_to_refuse_it(monkeypatch, error, seen) -> None:
    """What else goes wrong at that moment is no matter of Pod Security."""
    write = Writer.write

    async def fails_at_pods(self, change):
        if change.ref.kind == kinds.POD:
            raise error
        return await write(self, change)

    monkeypatch.setattr(Writer, "write", fails_at_pods)
    with pytest.raises(seen or type(error)) as raised:
        await started(open_simulator("h200-roce"))
    assert ("is not admitted" in raised.value.message) is (seen is Refused)
    assert seen is not None or raised.value is error
