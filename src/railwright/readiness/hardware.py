"""Judges of what the plan expects inside a node: rails and drivers, from the node's own record."""

from railwright.core.ids import NodeName
from railwright.facts.model import LinkLayer, NicPort, NodeHardware
from railwright.intent.model import Fabric
from railwright.plan.model import DriverLoaded, RailUp
from railwright.readiness.answers import failed, progressing, ready, unknown, worst_of
from railwright.readiness.model import Companions, Judgement

_PEERMEM = "nvidia_peermem"
_MLX5 = "mlx5_core"
_LINK_LAYER = {Fabric.ROCE: LinkLayer.ETHERNET, Fabric.INFINIBAND: LinkLayer.INFINIBAND}


def judge_rail(expectation: RailUp, companions: Companions) -> Judgement:
    """Judge one rail on one node: active, with carrier, and addressed as its fabric needs it."""
    hardware = companions.hardware.get(expectation.node)
    if hardware is None:
        return _unread(expectation.node, companions)
    what = f"rail {expectation.rail} on node {expectation.node} ({expectation.pci})"
    port = next((item for item in hardware.ports if item.pci == expectation.pci), None)
    if port is None:
        return failed(f"{what}: there is no NIC port at this PCI address")
    if port.rdma is None or not port.state:
        return progressing(f"{what}: it has no RDMA device: its driver is not loaded")
    wanted = _LINK_LAYER[expectation.fabric]
    if port.link_layer not in {wanted, LinkLayer.UNKNOWN}:
        return failed(f"{what}: its link is {port.link_layer}, {wanted} is wanted")
    if port.state != "ACTIVE":
        return progressing(f"{what}: port {port.rdma} is {port.state}")
    if port.carrier is False:
        return progressing(f"{what}: no carrier")
    if port.carrier is None and port.netdev is not None:
        return unknown(f"{what}: the kernel does not say whether there is a carrier")
    if expectation.mtu_bytes is not None and (port.mtu_bytes or 0) < expectation.mtu_bytes:
        return progressing(f"{what}: its MTU is {port.mtu_bytes or 'not known'}, {expectation.mtu_bytes} is wanted")
    return _addressed(what, port, expectation.fabric, hardware)


def judge_driver(expectation: DriverLoaded, companions: Companions) -> Judgement:
    """Judge which drivers run on a node."""
    node, hardware = expectation.node, companions.hardware.get(expectation.node)
    if hardware is None:
        return _unread(node, companions)
    answers = []
    if expectation.mlx5 == "doca" and not hardware.mlx5_driver:
        answers.append(progressing(f"node {node}: {_MLX5} is the kernel's own, the DOCA driver is not loaded"))
    if expectation.mlx5 == "in-box" and hardware.mlx5_driver:
        answers.append(progressing(f"node {node}: {_MLX5} is {hardware.mlx5_driver}, the kernel's own is wanted"))
    if expectation.mlx5 and _MLX5 not in hardware.modules:
        answers.append(progressing(f"node {node}: {_MLX5} is not loaded"))
    if expectation.gpu and not hardware.nvidia_driver.startswith(expectation.gpu):
        seen = hardware.nvidia_driver or "not loaded"
        answers.append(progressing(f"node {node}: the GPU driver is {seen}, {expectation.gpu} is wanted"))
    if expectation.peermem is not None and (_PEERMEM in hardware.modules) != expectation.peermem:
        state = "not loaded" if expectation.peermem else "still loaded"
        answers.append(progressing(f"node {node}: {_PEERMEM} is {state}"))
    loaded = [module for module in expectation.absent if module in hardware.modules]
    if loaded:
        answers.append(progressing(f"node {node}: {', '.join(loaded)} still loaded"))
    return worst_of(answers, ready(f"node {node} runs the drivers that are wanted"))


def _addressed(what: str, port: NicPort, fabric: Fabric, hardware: NodeHardware) -> Judgement:
    if fabric is Fabric.INFINIBAND:
        if port.lid is None or port.sm_lid is None:
            return unknown(f"{what}: its LID or its subnet manager's could not be read")
        if not port.lid or not port.sm_lid:
            return progressing(
                f"{what}: LID {port.lid}, subnet manager's LID {port.sm_lid}: no subnet manager has set it up"
            )
        return ready(f"{what}: ACTIVE, LID {port.lid}")
    if any(gid.type == "RoCE v2" for gid in port.gids):
        return ready(f"{what}: ACTIVE with a RoCE v2 GID")
    unread = next((item.why for item in hardware.unseen if "gid" in item.what.lower()), "")
    if unread:
        return unknown(f"{what}: its GIDs could not be read: {unread}")
    return progressing(f"{what}: it has no RoCE v2 GID")


def _unread(node: NodeName, companions: Companions) -> Judgement:
    why = companions.hardware_problems.get(node, "it was not read")
    return unknown(f"the inside of node {node} is not known: {why}")
