"""A person who installs everything by hand on a simulated cluster; for tests of stand-ins and worlds."""

import json
from typing import Any

from railwright.core.kinds import INSTALL_PLAN, NODE
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.ports.cluster import Selection
from railwright.ports.world import World
from railwright.standins.operators import NFD, OPERATORS, SRIOV, Operator


def an_object(api_version: str, kind: str, name: str, namespace: str = "", **parts: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}


async def subscribe(world: World, operator: Operator, approval: str = "Automatic") -> None:
    place = operator.namespace
    catalog = "redhat-operators" if operator in {NFD, SRIOV} else "certified-operators"
    spec = {
        "name": operator.package,
        "channel": "stable",
        "source": catalog,
        "sourceNamespace": "openshift-marketplace",
        "installPlanApproval": approval,
    }
    await world.cluster.apply(an_object("v1", "Namespace", place))
    await world.cluster.apply(
        an_object("operators.coreos.com/v1", "OperatorGroup", "group", place, spec={"targetNamespaces": [place]})
    )
    await world.cluster.apply(
        an_object("operators.coreos.com/v1alpha1", "Subscription", operator.package, place, spec=spec)
    )


async def install_operators(world: World) -> None:
    for operator in OPERATORS:
        await subscribe(world, operator, "Manual")
    await world.clock.sleep(20)
    async for plan in world.cluster.list(Selection(INSTALL_PLAN)):
        await world.cluster.patch(ref_of(plan), {"spec": {"approved": True}})
    await world.clock.sleep(60)
    await world.cluster.apply(
        an_object("nfd.openshift.io/v1", "NodeFeatureDiscovery", "nfd-instance", NFD.namespace, spec={"operand": {}})
    )
    await world.clock.sleep(30)


def nic_policy(**sections: Any) -> KubeObject:
    driver = {"image": "doca-driver", "repository": "nvcr.io/nvidia/mellanox", "version": "doca3.4.1-26.04-1.1.0.0-1"}
    return an_object(
        "mellanox.com/v1alpha1", "NicClusterPolicy", "nic-cluster-policy", spec={"ofedDriver": driver, **sections}
    )


def plugin(config: Any, image: str) -> dict[str, str]:
    return {
        "image": image,
        "repository": "nvcr.io/nvidia/mellanox",
        "version": "network-operator-v26.4.1",
        "config": json.dumps(config),
    }


def gpu_policy(**driver: Any) -> KubeObject:
    spec = {
        "driver": {"enabled": True, "kernelModuleType": "open", **driver},
        "daemonsets": {},
        "toolkit": {"enabled": True},
    }
    return an_object("nvidia.com/v1", "ClusterPolicy", "gpu-cluster-policy", spec=spec)


async def node(world: World, name: str = "worker-0") -> KubeObject:
    return await world.cluster.get(Ref(NODE, "", name))


async def allocatable(world: World, resource: str, name: str = "worker-0") -> str | None:
    return dig(await node(world, name), "status", "allocatable", resource)
