"""
The Node port on a live cluster: run the script in a privileged pod that is on the node already.

Nothing is created on a cluster only to look at it. Pods are tried from the one that sees most of the host.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from railwright.core.errors import RailwrightError
from railwright.core.ids import NodeName
from railwright.core.kinds import POD
from railwright.core.objects import KubeObject, dig
from railwright.ports.cluster import Cluster, Selection
from railwright.ports.node import NodeAnswer


@dataclass(frozen=True)
class Door:
    """
    A kind of privileged pod to look through.

    Attributes:
        labels: selects the pods, in any namespace named here.
        container: the privileged container.
        shell: the command that reads the script; chroot where the host's root is mounted, to see its files.
    """

    namespace: str
    labels: str
    container: str
    shell: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """A container to run the script in, and the shell that reads it."""

    namespace: str
    pod: str
    container: str
    shell: tuple[str, ...]


_LOOK_AGAIN_S = 10.0
_PLAIN = ("sh", "-s")
DOORS = (
    Door(
        "openshift-machine-config-operator",
        "k8s-app=machine-config-daemon",
        "machine-config-daemon",
        ("chroot", "/rootfs", "sh", "-s"),
    ),
    Door(
        "openshift-sriov-network-operator",
        "app=sriov-network-config-daemon",
        "sriov-network-config-daemon",
        ("chroot", "/host", "sh", "-s"),
    ),
    Door(
        "sriov-network-operator",
        "app=sriov-network-config-daemon",
        "sriov-network-config-daemon",
        ("chroot", "/host", "sh", "-s"),
    ),
    Door("nvidia-gpu-operator", "app.kubernetes.io/component=nvidia-driver", "nvidia-driver-ctr", _PLAIN),
    Door("nvidia-network-operator", "nvidia.com/ofed-driver", "mofed-container", _PLAIN),
    Door("openshift-multus", "app=multus", "kube-multus", _PLAIN),
)
"""
Privileged pods, the one that sees most of its node first.

The first three mount the node's root and share its network and processes. The GPU driver's pod shares the processes
only: the script enters the node's network from there. The DOCA driver's and multus share the network only, so that
mounts and process 1 of the node stay unknown, and a plan that needs them is refused.

Source, names, labels and mounts (read 2026-11-30): openshift/machine-config-operator
manifests/machineconfigdaemon/daemonset.yaml at 2510cff; k8snetworkplumbingwg/sriov-network-operator
bindata/manifests/daemon/daemonset.yaml at 027fde0; NVIDIA/gpu-operator assets/state-driver/0500_daemonset.yaml at
06faaf0; Mellanox/network-operator manifests/state-ofed-driver/0050_ofed-driver-ds.yaml at c88cfdb;
openshift/cluster-network-operator bindata/network/multus/multus.yaml at e59cbf3. Never tried on a cluster.
"""
NO_DOOR = (
    "no privileged pod to look through (machine-config-daemon, sriov-network-config-daemon, driver pods, multus); "
    "--allow-debug-pod would start one for a moment"
)


class ExecNodes:
    """Reads nodes through pods; which pod is on which node is read once, and again when one is missing."""

    def __init__(self, cluster: Cluster) -> None:
        """Look through the pods of this cluster."""
        self._cluster = cluster
        self._pods: dict[NodeName, tuple[Place, ...]] | None = None
        self._found_s = 0.0
        self._unread: list[str] = []
        self._finding = asyncio.Lock()

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        """Run the script through the best pod that answers."""
        now_s = asyncio.get_running_loop().time
        ends_s = now_s() + timeout_s
        try:
            places = await self._places(node, now_s())
        except RailwrightError as error:
            return NodeAnswer("", "", error.message)
        problems: list[str] = []
        for place in places:
            left_s = ends_s - now_s()
            if left_s <= 0:
                break
            answer = await in_container(self._cluster, place, script, timeout_s=left_s)
            if not answer.problem:
                return answer
            problems.append(answer.problem)
        return NodeAnswer("", "", "; ".join(problems) or "; ".join([NO_DOOR, *self._unread]))

    async def _places(self, node: NodeName, now_s: float) -> tuple[Place, ...]:
        """Give the pods to look through, best first; all nodes' are read at once, and again when one has none (yet)."""
        async with self._finding:
            if self._pods is None or (node not in self._pods and now_s - self._found_s > _LOOK_AGAIN_S):
                self._pods = await self._find()
                self._found_s = now_s
            return self._pods.get(node, ())

    async def _find(self) -> dict[NodeName, tuple[Place, ...]]:
        """Map nodes to the running pods to look through, best first; namespaces we may not read are noted."""
        found: dict[NodeName, tuple[Place, ...]] = {}
        self._unread = []
        failures: list[RailwrightError] = []
        for door in DOORS:
            try:
                async for pod in self._cluster.list(Selection(POD, namespace=door.namespace, labels=door.labels)):
                    if _runs(pod, door.container):
                        node = NodeName(str(dig(pod, "spec", "nodeName", default="")))
                        place = Place(door.namespace, str(pod["metadata"]["name"]), door.container, door.shell)
                        found[node] = (*found.get(node, ()), place)
            except RailwrightError as error:
                failures.append(error)
                self._unread.append(error.message)
        if len(failures) == len(DOORS):
            raise failures[0]
        return found


def _runs(pod: KubeObject, container: str) -> bool:
    states: list[Mapping[str, object]] = dig(pod, "status", "containerStatuses", default=[])
    if dig(pod, "metadata", "deletionTimestamp"):
        return False
    return any(state.get("name") == container and dig(state, "state", "running") is not None for state in states)


async def in_container(cluster: Cluster, place: Place, script: str, *, timeout_s: float) -> NodeAnswer:
    """Run the script in a container."""
    pod, stdin = f"{place.namespace}/{place.pod}", f"{script}\nexit $?\n"
    try:
        result = await cluster.exec(
            place.namespace, place.pod, place.container, place.shell, stdin=stdin, timeout_s=timeout_s
        )
    except RailwrightError as error:
        return NodeAnswer("", "", error.message)
    if result.exit_code != 0:
        said = result.stderr.strip().splitlines()[-1:] or ["nothing"]
        return NodeAnswer("", "", f"the script in {pod} ended with {result.exit_code} and said: {said[0]}")
    return NodeAnswer(result.stdout, f"exec {pod}")
