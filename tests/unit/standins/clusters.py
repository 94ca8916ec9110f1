"""What several tests of stand-ins begin with."""

from unit.simulator.walk import install_operators, node

from railwright.core.kinds import CLUSTER_POLICY, NIC_CLUSTER_POLICY
from railwright.core.objects import Ref
from railwright.simulator.open import open_simulator

POLICY = Ref(NIC_CLUSTER_POLICY, "", "nic-cluster-policy")
GPU_POLICY = Ref(CLUSTER_POLICY, "", "gpu-cluster-policy")
SHARED = {"configList": [{"resourceName": "rail0", "rdmaHcaMax": 63, "selectors": {"ifNames": ["enp24s0np0"]}}]}


async def ready_cluster(spec="h200-roce"):
    world = open_simulator(spec)
    await install_operators(world)
    return world


async def label(world, name):
    return (await node(world))["metadata"]["labels"].get(name)
