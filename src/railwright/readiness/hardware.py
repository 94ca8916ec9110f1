"""Judges of what the plan expects inside a node: rails and drivers, from the node's own record."""

import re

from railwright.core.ids import NodeName
from railwright.facts.model import LinkLayer, NicPort, NodeHardware
from railwright.intent.model import Fabric
from railwright.plan.model import DriverLoaded, MemoryLockable, RailUp, VfsManaged
from railwright.readiness.answers import failed, progressing, ready, unknown, worst_of
from railwright.readiness.model import Companions, Judgement

_PEERMEM = "nvidia_peermem"
_MLX5 = "mlx5_core"
_UP = frozenset({"INIT", "ARMED", "ACTIVE"})
_NO_LID = frozenset({0, 0xFFFF})
_SWITCHED_ON = frozenset({"auto", "enable"})
_NO_GUID = frozenset({"", "00:00:00:00:00:00:00:00"})
_OFED = re.compile(r"\d\d\.\d\d-\d+\.\d+\.\d+")
_DOTTED = re.compile(r"\d+(?:\.\d+)*")
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


def judge_vfs(expectation: VfsManaged, companions: Companions) -> Judgement:
    """
    Judge whether the subnet manager cares for the VFs of an InfiniBand rail.

    A VF that is DOWN waits for nobody unless its link is switched on; which that is the node does not always show, and
    what it does not show is not judged: pods' VFs are seen by verify.
    """
    hardware = companions.hardware.get(expectation.node)
    if hardware is None:
        return _unread(expectation.node, companions)
    what = f"VFs of rail {expectation.rail} on node {expectation.node} ({expectation.pci})"
    rail = next((item for item in hardware.ports if item.pci == expectation.pci), None)
    if rail is None or rail.state != "ACTIVE":
        return progressing(f"{what}: their port is not ACTIVE")
    switched_on = {vf.pci for vf in rail.vfs if vf.link_state in _SWITCHED_ON and vf.port_guid not in _NO_GUID}
    functions = [item for item in hardware.ports if item.parent == expectation.pci and item.rdma is not None]
    waiting = [item for item in functions if _waits_for_lid(item, is_on=item.pci in switched_on)]
    if not waiting:
        return ready(f"{what}: none waits for a LID")
    first, more = waiting[0], f" (and {len(waiting) - 1} more)" if len(waiting) > 1 else ""
    return progressing(
        f"{what}: {first.rdma} is {first.state} with LID {first.lid}{more}: the subnet manager has not set it up; does it"
        " support virtualization (OpenSM: virt_enabled 2)?"
    )


def _waits_for_lid(function: NicPort, *, is_on: bool) -> bool:
    if function.lid not in _NO_LID:
        return False
    return function.state in _UP or (function.state == "DOWN" and is_on and function.phys_state == "LinkUp")


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
    elif hardware.mlx5_driver and _is_another_mlx5(hardware.mlx5_driver, expectation.mlx5_version):
        wanted = expectation.mlx5_version
        answers.append(progressing(f"node {node}: {_MLX5} is {hardware.mlx5_driver}, {wanted} is wanted"))
    if expectation.mlx5 and _MLX5 not in hardware.modules:
        answers.append(progressing(f"node {node}: {_MLX5} is not loaded"))
    if expectation.gpu and not hardware.nvidia_driver.startswith(expectation.gpu):
        seen = hardware.nvidia_driver or "not loaded"
        answers.append(progressing(f"node {node}: the GPU driver is {seen}, {expectation.gpu} is wanted"))
    elif _is_another_gpu(hardware.nvidia_driver, expectation.gpu_version):
        wanted = expectation.gpu_version
        answers.append(progressing(f"node {node}: the GPU driver is {hardware.nvidia_driver}, {wanted} is wanted"))
    if expectation.peermem is not None and (_PEERMEM in hardware.modules) != expectation.peermem:
        state = "not loaded" if expectation.peermem else "still loaded"
        answers.append(progressing(f"node {node}: {_PEERMEM} is {state}"))
    loaded = [module for module in expectation.absent if module in hardware.modules]
    if loaded:
        answers.append(progressing(f"node {node}: {', '.join(loaded)} still loaded"))
    return worst_of(answers, ready(f"node {node} runs the drivers that are wanted"))


def judge_memory(expectation: MemoryLockable, companions: Companions) -> Judgement:
    """Judge how much memory a new container may lock, as the container runtime of the node is set up."""
    node, hardware = expectation.node, companions.hardware.get(expectation.node)
    if hardware is None:
        return _unread(node, companions)
    limit = hardware.runtime.memlock or hardware.memlock_limit
    if not limit:
        return unknown(f"node {node}: how much memory a new container may lock could not be read")
    if limit != "unlimited":
        origin = f" ({hardware.runtime.memlock_origin})" if hardware.runtime.memlock_origin else ""
        return progressing(f"node {node}: a new container may lock {limit} KiB{origin}, no limit is wanted")
    return ready(f"node {node}: a new container may lock all its memory")


def _is_another_mlx5(loaded: str, wanted: str) -> bool:
    """
    Tell "26.04-1.1.0" from what "doca3.3.0-26.01-1.0.0.0-0" loads.

    The kernel shows fewer numbers than the tag has, and not in one form for ever; a form that is not known proves
    nothing, and the pod's own form, which is judged too, has to do.

    Source: Mellanox/network-operator #3104, 2026-08: OFED reports its version in another form than before.
    """
    both = [_OFED.search(text) for text in (loaded, wanted)]
    return all(both) and len({found[0] for found in both if found}) > 1


def _is_another_gpu(loaded: str, wanted: str) -> bool:
    """Tell "open 580.95.05" from what "570.195.03", or a whole branch ("570"), loads; a digest names no version."""
    if not wanted or not loaded or not _DOTTED.fullmatch(wanted):
        return False
    version = loaded.rpartition(" ")[2]
    return version != wanted and not version.startswith(f"{wanted}.")


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
