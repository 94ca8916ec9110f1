"""Virtual functions on virtual nodes: made as node states ask, where the daemon runs, and taken away when nobody asks."""

from pathlib import Path
from typing import Any

import pytest

from railwright.core.errors import ClusterUnreachable
from railwright.core.kinds import SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import KubeObject, ref_of
from railwright.lab.cluster import vfs
from railwright.lab.cluster.vfs import VfMaker, Wanted, plugin_pods, wanted_vfs
from railwright.lab.rdma.machine import ShellResult
from railwright.standins.model import Objects
from railwright.standins.workloads import daemon_set

NAMESPACE = "openshift-sriov-network-operator"
OWNER: KubeObject = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", "uid": "1"}}
DAEMON = daemon_set("sriov-network-config-daemon", NAMESPACE, OWNER, containers=[("d", "i")], node_selector={})
PORT = {"name": "rail0", "pciAddress": "0000:01:00.0", "numVfs": 4}


def world(*interfaces: dict[str, Any], ready: bool = True) -> Objects:
    daemon = {**DAEMON, "metadata": {**DAEMON["metadata"], "uid": "daemon"}}
    pod: KubeObject = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": NAMESPACE, "ownerReferences": [{"uid": "daemon"}]},
        "spec": {"nodeName": "node-1"},
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }
    state: KubeObject = {
        "apiVersion": SRIOV_NETWORK_NODE_STATE.api_version,
        "kind": SRIOV_NETWORK_NODE_STATE.kind,
        "metadata": {"name": "node-1", "namespace": NAMESPACE},
        "spec": {"interfaces": list(interfaces)},
    }
    return Objects({ref_of(obj): obj for obj in (daemon, pod, state)})


def test_functions_are_wanted_where_the_daemon_runs_and_with_the_mtu_of_the_rail_unless_told_otherwise() -> None:
    assert wanted_vfs(world(PORT, ready=False)) == {}
    assert wanted_vfs(world(PORT)) == {"node-1": (Wanted("0000:01:00.0", 4, 4200),)}
    assert wanted_vfs(world({**PORT, "mtu": 1500})) == {"node-1": (Wanted("0000:01:00.0", 4, 1500),)}


class Link:
    def __init__(self) -> None:
        self.commands: list[str] = []
        self.exit_code = 0

    async def shell(self, text: str, *, timeout_s: float) -> ShellResult:
        self.commands.append(text)
        return ShellResult(self.exit_code, "", "")

    async def close(self) -> None:
        pass


async def test_functions_are_made_once_and_go_when_nobody_asks_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    link = Link()

    async def connected(_: Path) -> Link:
        return link

    monkeypatch.setattr(vfs, "connected", connected)
    maker = VfMaker(Path("/nowhere"))
    wishes = ((Wanted("0000:01:00.0", 4, 4200),), (Wanted("0000:01:00.0", 4, 4200),), ())
    assert [await maker.bring("node-1", wanted) for wanted in wishes] == [True, False, True]
    assert link.commands == [
        "/usr/lib/railwright/vfs 0000:01:00.0 4 4200",
        "/usr/lib/railwright/vfs 0000:01:00.0 0 4200",
    ]


async def test_a_port_that_refuses_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    link = Link()
    link.exit_code = 1

    async def connected(_: Path) -> Link:
        return link

    monkeypatch.setattr(vfs, "connected", connected)
    maker = VfMaker(Path("/nowhere"))
    for _ in range(2):
        assert not await maker.bring("node-1", (Wanted("0000:01:00.0", 4, 4200),))
    assert len(link.commands) == 2


def test_the_plugin_that_begins_anew_is_that_of_the_node() -> None:
    def pod(name: str, owner: str, node: str) -> KubeObject:
        meta = {"name": name, "namespace": NAMESPACE, "ownerReferences": [{"name": owner}]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"nodeName": node}}

    pods = (
        pod("a", "sriov-device-plugin", "node-1"),
        pod("b", "sriov-device-plugin", "node-2"),
        pod("c", "sriov-network-config-daemon", "node-1"),
    )
    assert [ref.name for ref in plugin_pods(Objects({ref_of(each): each for each in pods}), "node-1")] == ["a"]


async def test_a_node_that_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(_: Path) -> Link:
        raise ClusterUnreachable("no")

    monkeypatch.setattr(vfs, "connected", silent)
    maker = VfMaker(Path("/nowhere"))
    await maker.bring("node-1", (Wanted("0000:01:00.0", 4, 4200),))
    assert maker.there == {}
