"""Make virtual machines members of the cluster, as a cloud's controller does: addresses, the first taint, labels."""

import asyncio
from collections.abc import Callable

from railwright.core.errors import ClusterUnreachable
from railwright.core.kinds import NODE
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.lab.cluster.shape import Shape, kubelet_address, node_address, node_name
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.standins.openshift import machine_config_daemon

READY_LIMIT_S = 900.0
"""33 s on a quiet machine; a busy one takes many times that (measured 2026-11-30)."""
_STEP_S = 0.5
_NOT_FOUND = 404
_WORKER = "node-role.kubernetes.io/worker"
_LABELS = {
    "feature.node.kubernetes.io/pci-15b3.present": "true",
    "feature.node.kubernetes.io/pci-10de.present": "true",
}
"""What Node Feature Discovery would say of what the node shows; on a bare cluster it is installed, and says so itself."""
_UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"


async def join_all(client: PlaneClient, shape: Shape, still_runs: Callable[[], None]) -> None:
    """
    Wait until every node has registered, make it a member, and wait until all are Ready and can be looked into.

    Args:
        still_runs: raises when a machine has ended.

    Raises:
        ClusterUnreachable: one did not register or get ready in time; the message has what its kubelet said.
    """
    waiting = "nothing"
    try:
        async with asyncio.timeout(READY_LIMIT_S):
            for number in shape.numbers():
                waiting = f"{node_name(number)}: its kubelet has not registered"
                while not await _join(client, shape, number):
                    still_runs()
                    await asyncio.sleep(_STEP_S)
            while words := await _not_ready(client, shape) or await _no_way_in(client, shape):
                waiting = words
                still_runs()
                await asyncio.sleep(_STEP_S)
    except TimeoutError:
        raise ClusterUnreachable(f"not all nodes got ready within {READY_LIMIT_S:.0f} s: {waiting}") from None


async def _join(client: PlaneClient, shape: Shape, number: int) -> bool:
    """Give one node its addresses and labels, once it is there."""
    ref = Ref(NODE, "", node_name(number))
    node = await _read(client, ref)
    if node is None:
        return False
    addresses = [
        {"type": "InternalIP", "address": node_address(number)},
        {"type": "ExternalIP", "address": kubelet_address(shape, number)},
        {"type": "Hostname", "address": node_name(number)},
    ]
    await client.merge(ref, {"status": {"addresses": addresses}}, status=True)
    taints = [taint for taint in dig(node, "spec", "taints", default=()) if taint.get("key") != _UNINITIALIZED]
    labels = {_WORKER: "", **({} if shape.bare else _LABELS)}
    await client.merge(ref, {"metadata": {"labels": labels}, "spec": {"taints": taints}})
    return True


async def _not_ready(client: PlaneClient, shape: Shape) -> str:
    """Say which nodes are not Ready, and why; "" when all are."""
    words = []
    for number in shape.numbers():
        node = await _read(client, Ref(NODE, "", node_name(number)))
        conditions: list[dict[str, str]] = dig(node or {}, "status", "conditions", default=[])
        ready: dict[str, str] = next((each for each in conditions if each["type"] == "Ready"), {})
        if ready.get("status") != "True":
            words.append(f"{node_name(number)}: {ready.get('message', 'no word')}")
    return "; ".join(words)


async def _no_way_in(client: PlaneClient, shape: Shape) -> str:
    """Say that nodes cannot be looked into yet; "" when they can, and where nobody but a person looks."""
    if not shape.bare:
        return ""
    daemon = await _read(client, ref_of(machine_config_daemon()))
    ready = dig(daemon or {}, "status", "numberReady", default=0)
    return "" if ready >= shape.nodes else f"{ready} of {shape.nodes} nodes can be looked into: machine-config-daemon"


async def _read(client: PlaneClient, ref: Ref) -> KubeObject | None:
    try:
        return await client.read(ref)
    except Answered as answer:
        if answer.status_code != _NOT_FOUND:
            raise
        return None
