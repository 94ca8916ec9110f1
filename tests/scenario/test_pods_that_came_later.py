"""A pod of somebody that stands on a rail's port after apply: a healthy cluster stays healthy, until ports are touched."""

import json

import pytest
from support.others import make
from support.scenarios import Yes, applied, intents_for, open_for

from railwright import api
from railwright.core import kinds
from railwright.core.objects import KubeObject

RAIL = "enp24s0np0"


def a_nad() -> KubeObject:
    config = json.dumps({"cniVersion": "0.3.1", "name": "logs", "type": "macvlan", "master": RAIL})
    named = {"name": "logs", "namespace": "training"}
    return {"apiVersion": "k8s.cni.cncf.io/v1", "kind": kinds.NETWORK_ATTACHMENT_DEFINITION.kind} | {
        "metadata": named,
        "spec": {"config": config},
    }


def a_pod(**more: object) -> KubeObject:
    annotations = {"k8s.v1.cni.cncf.io/networks": "logs"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "logs-0", "namespace": "training", "annotations": annotations},
        "spec": {"nodeName": "worker-1", "containers": [{"name": "logs", "image": "logs"}], **more},
        "status": {"phase": "Running"},
    }


async def a_world(**more: object) -> api.World:
    world = await open_for("roce")
    record = await applied(world, intents_for("shared", "roce"))
    assert record.exit_code == 0
    make(world, a_nad())
    make(world, a_pod(**more))
    return world


async def test_a_healthy_cluster_stays_healthy() -> None:
    world, intents = await a_world(), intents_for("shared", "roce")
    status = await api.status(world)
    assert api.status_document(status).exit_code == 0, api.status_document(status).text
    assert "pods-on-taken-port" in {item.code for item in status.warnings}
    again = await applied(world, intents)
    assert (again.exit_code, again.refused_nodes) == (0, ())
    assert (await api.verify(world, intents, approval=Yes())).exit_code == 0


async def test_what_loads_the_driver_anew_leaves_the_node_out() -> None:
    world = await a_world()
    moved = intents_for("shared", "roce", more="  driver: {nicVersion: doca3.3.0-26.01-1.0.0.0-0}\n")
    prepared = await api.plan(world, moved)
    (node,) = (item for item in prepared.plan.nodes if item.node == "worker-1")
    assert [item.code for item in node.refused] == ["port-carries-pods"]
    with pytest.raises(api.RailwrightError, match=r"worker-1: would be refused today: port-carries-pods"):
        await api.verify(world, moved, approval=Yes())


async def test_a_pod_that_claims_its_devices_is_a_workload() -> None:
    world = await a_world(resourceClaims=[{"name": "gpus", "resourceClaimTemplateName": "gpus"}])
    assert "pods-on-taken-port" not in {item.code for item in (await api.status(world)).warnings}
