"""Running the node script through pods that are there, and on this machine."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from railwright.adapters.local import LocalNode
from railwright.adapters.nodes import ExecNodes
from railwright.core.errors import ClusterUnreachable, PermissionMissing, RailwrightError
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject
from railwright.ports.cluster import ExecResult, Selection

MCD = "openshift-machine-config-operator"
SRIOV = "openshift-sriov-network-operator"
NODE = NodeName("w1")


def a_pod(name: str, container: str, *, node: str = "w1", running: bool = True) -> dict[str, Any]:
    state = {"running": {}} if running else {"waiting": {"reason": "CrashLoopBackOff"}}
    return {
        "metadata": {"name": name},
        "spec": {"nodeName": node},
        "status": {"containerStatuses": [{"name": container, "state": state}]},
    }


class Pods:
    """A cluster of pods: what each namespace holds, and what exec in it answers."""

    def __init__(self, **pods: list[dict[str, Any]] | RailwrightError) -> None:
        self.pods = {name.replace("_", "-"): held for name, held in pods.items()}
        self.answers: dict[str, ExecResult | RailwrightError] = {}
        self.ran: list[tuple[str, str, str]] = []

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        held = self.pods.get(selection.namespace, [])
        if isinstance(held, RailwrightError):
            raise held
        for pod in held:
            yield pod

    async def exec(
        self, namespace: str, pod: str, container: str, command: Sequence[str], *, stdin: str = "", timeout_s: float
    ) -> ExecResult:
        self.ran.append((pod, " ".join(command), stdin))
        answer = self.answers.get(namespace, ExecResult("record", "", 0))
        if isinstance(answer, RailwrightError):
            raise answer
        return answer


async def test_the_machine_config_daemon_is_looked_through_first_with_the_host_s_root() -> None:
    pods = Pods(
        openshift_machine_config_operator=[a_pod("mcd-x", "machine-config-daemon")],
        openshift_multus=[a_pod("multus-x", "kube-multus")],
    )
    answer = await ExecNodes(pods).read(NODE, "echo", timeout_s=1)  # type: ignore[arg-type]  # the calls it makes
    assert (answer.text, answer.via, answer.problem) == ("record", f"exec {MCD}/mcd-x", "")
    assert pods.ran == [("mcd-x", "chroot /rootfs sh -s", "echo\nexit $?\n")]


@pytest.mark.parametrize("failure", [ExecResult("", "chroot: no", 127), ClusterUnreachable("no kubelet")])
async def test_the_next_pod_is_tried_when_one_fails(failure: ExecResult | RailwrightError) -> None:
    pods = Pods(
        openshift_machine_config_operator=[a_pod("mcd-x", "machine-config-daemon")],
        openshift_sriov_network_operator=[a_pod("scd-x", "sriov-network-config-daemon")],
    )
    pods.answers[MCD] = failure
    answer = await ExecNodes(pods).read(NODE, "echo", timeout_s=1)  # type: ignore[arg-type]  # the calls it makes
    assert answer.via == f"exec {SRIOV}/scd-x"


async def test_when_all_fail_each_reason_is_said() -> None:
    pods = Pods(openshift_machine_config_operator=[a_pod("mcd-x", "machine-config-daemon")])
    pods.answers[MCD] = ExecResult("", "first\nlast", 2)
    answer = await ExecNodes(pods).read(NODE, "echo", timeout_s=1)  # type: ignore[arg-type]  # the calls it makes
    assert answer.text == ""
    assert f"the script in {MCD}/mcd-x ended with 2 and said: last" in answer.problem


@pytest.mark.parametrize(
    "pod",
    [
        a_pod("mcd-x", "machine-config-daemon", node="w2"),
        a_pod("mcd-x", "machine-config-daemon", running=False),
        {**a_pod("mcd-x", "machine-config-daemon"), "metadata": {"name": "mcd-x", "deletionTimestamp": "now"}},
    ],
)
async def test_a_node_without_such_a_pod_names_the_way_out(pod: dict[str, Any]) -> None:
    pods = Pods(openshift_machine_config_operator=[pod])
    answer = await ExecNodes(pods).read(NODE, "echo", timeout_s=1)  # type: ignore[arg-type]  # the calls it makes
    assert "--allow-debug-pod" in answer.problem
    assert pods.ran == []


async def test_a_namespace_that_may_not_be_read_is_said_with_it() -> None:
    pods = Pods(openshift_machine_config_operator=PermissionMissing("dev may not list pods"))
    answer = await ExecNodes(pods).read(NODE, "echo", timeout_s=1)  # type: ignore[arg-type]  # the calls it makes
    assert "dev may not list pods" in answer.problem


async def test_this_machine_runs_the_script_itself() -> None:
    answer = await LocalNode().read(NODE, "echo hello", timeout_s=2)
    assert (answer.text, answer.via, answer.problem) == ("hello\n", "local", "")


@pytest.mark.parametrize(
    ("script", "words"),
    [("echo bad >&2; exit 4", "ended with 4 and said: bad"), ("exit 4", "said: nothing"), ("sleep 60", "did not end")],
)
async def test_a_script_that_fails_here_is_a_problem_not_an_exception(script: str, words: str) -> None:
    answer = await LocalNode().read(NODE, script, timeout_s=0.3)
    assert words in answer.problem
    assert answer.text == ""


async def test_a_machine_without_a_shell_is_a_problem_too() -> None:
    assert "cannot be run" in (await LocalNode("/nonexistent/sh").read(NODE, "", timeout_s=1)).problem
