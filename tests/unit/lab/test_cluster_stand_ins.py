"""What the played Network Operator starts on the virtual cluster: the real device plugin, and pods that only wait."""

from datetime import UTC, datetime
from typing import Any

import pytest

from railwright.core.kinds import CONFIG_MAP, DAEMON_SET
from railwright.core.objects import Ref
from railwright.lab.cluster.images import PAUSE, SHARED_DEVICE_PLUGIN
from railwright.lab.cluster.operands import real_operands
from railwright.standins.model import Objects, Write
from railwright.standins.workloads import config_map, daemon_set

OWNER = {
    "apiVersion": "mellanox.com/v1alpha1",
    "kind": "NicClusterPolicy",
    "metadata": {"name": "nic-cluster-policy", "uid": "1"},
}
SELECTOR = {"feature.node.kubernetes.io/pci-15b3.present": "true"}


def written(write: Write) -> Write:
    (answer,) = real_operands(lambda world, now: (write,))(Objects({}), datetime.now(UTC))
    return answer


def operand(name: str, container: str, verb: Any = "create") -> dict[str, Any]:
    image = "nvcr.io/nvidia/mellanox/x:1"
    body = daemon_set(name, "n", OWNER, containers=[(container, image)], node_selector=SELECTOR)
    answer = written(Write(verb, Ref(DAEMON_SET, "n", name), body))
    assert answer.verb == verb
    pod: dict[str, Any] = answer.body["spec"]["template"]["spec"]
    return pod


@pytest.mark.parametrize("verb", ["create", "merge"])
def test_the_shared_device_plugin_is_real_and_reads_the_policys_own_settings(verb: str) -> None:
    pod = operand("rdma-shared-dp-ds", "rdma-shared-dp", verb)
    (container,) = pod["containers"]
    assert (container["name"], container["image"]) == ("rdma-shared-dp", SHARED_DEVICE_PLUGIN)
    assert {"name": "settings", "configMap": {"name": "rdma-devices"}} in pod["volumes"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert pod["nodeSelector"] == SELECTOR


def test_an_operand_that_cannot_run_here_waits_with_no_hand_on_the_node() -> None:
    pod = operand("nv-ipam-node", "node")
    (container,) = pod["containers"]
    assert container["image"] == PAUSE
    assert "securityContext" not in container
    assert "volumes" not in pod


def test_other_objects_are_written_as_the_operator_writes_them() -> None:
    settings = config_map("rdma-devices", "n", OWNER, {"config.json": "{}"})
    write = Write("create", Ref(CONFIG_MAP, "n", "rdma-devices"), settings)
    assert written(write) == write


def test_a_deletion_has_no_pod_to_change() -> None:
    write = Write("delete", Ref(DAEMON_SET, "n", "rdma-shared-dp-ds"))
    assert written(write) == write
