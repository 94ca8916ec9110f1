"""
The real NFD on a control plane: its master and garbage collector, and a worker for each node, which looks at a made-up host.

The master and the collector run while their Deployments are available, a node's worker looks once when its pod is ready:
whoever plays NFD's operator and kubelets decides. The worker is the real one, linked to see a host's files beneath its
working folder; what it reads from the kernel itself (version, processor) is this machine's. What OpenShift's own NFD
adds to upstream's is a rule here, evaluated by the real master.

Measured: flags, with NFD 0.18.3 and kube-apiserver 1.36.3, 2026-11.
"""

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from railwright.core.errors import ClusterUnreachable
from railwright.core.ids import NodeName
from railwright.core.kinds import DEPLOYMENT, NODE, NODE_FEATURE_DISCOVERY, POD
from railwright.core.objects import Kind, KubeObject, dig, ref_of
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.processes import Started, free_ports, must_run, start, stop
from railwright.lab.controlplane.programs import Linked, Program
from railwright.standins.model import NodeDevices
from railwright.standins.view import is_pod_ready

_MODULE = "sigs.k8s.io/node-feature-discovery"
NFD_PROGRAMS = (
    Program("nfd", "nfd-master", f"{_MODULE}/cmd/nfd-master"),
    Program("nfd", "nfd-gc", f"{_MODULE}/cmd/nfd-gc"),
    Linked("nfd", "nfd-worker", f"{_MODULE}/cmd/nfd-worker", f"{_MODULE}/pkg/utils/hostpath.pathPrefix=host/"),
)
LOOK_EVERY_S = 0.2
NODE_FEATURE = Kind("nfd.k8s-sigs.io/v1alpha1", "NodeFeature")
_CONTROLLERS = ("nfd-master", "nfd-gc")


NODE_FEATURE_RULE = Kind("nfd.k8s-sigs.io/v1alpha1", "NodeFeatureRule")
OPENSHIFT_RULE = "lab-openshift-os-release"
"""
Plays what OpenShift's own NFD adds to upstream's: labels of more fields of os-release.

Source: openshift/node-feature-discovery e43aa39b, source/system/system.go:38-40.
"""
_OPENSHIFT_FIELDS = ("OSTREE_VERSION", "RHEL_VERSION", "OPENSHIFT_VERSION")
_LABELS = (
    "{{ range .system.osrelease }}feature.node.kubernetes.io/system-os_release.{{ .Name }}={{ .Value }}\n{{ end }}"
)
_WORKER = "nfd-worker"
_VERSION = re.compile(r"(\d+\.\d+)\S*")
_GPU = {"class": "0x030200", "vendor": "0x10de", "device": "0x2335"}


@dataclass
class NfdProcesses:
    """
    What runs now, and what was looked at.

    Attributes:
        looks: node -> the worker's configuration when it looked last.
    """

    controllers: dict[str, Started] = field(default_factory=dict)
    looks: dict[NodeName, str] = field(default_factory=dict)


@asynccontextmanager
async def running_nfd(
    programs: Path, plane: Plane, devices: Mapping[NodeName, NodeDevices]
) -> AsyncIterator[NfdProcesses]:
    """
    Run NFD's controllers and workers, whenever their pods are there, for the length of a block.

    Args:
        programs: the folder that ensure_programs gave for NFD_PROGRAMS.
        plane: with NFD's definitions installed.
        devices: what the workers find.

    Raises:
        ClusterUnreachable: a program ended by itself, or a worker could not look; the end of its log is in the message.
    """
    client, processes = plane.client(), NfdProcesses()
    with tempfile.TemporaryDirectory(prefix="railwright-nfd-") as work:
        task = asyncio.create_task(_Follower(programs, plane, Path(work), client, devices, processes).follow())
        try:
            yield processes
        finally:
            task.cancel()
            ends = await asyncio.gather(task, return_exceptions=True)
            await stop(list(processes.controllers.values()))
            await client.close()
    for end in ends:
        if isinstance(end, Exception):
            raise end


@dataclass(frozen=True)
class _Follower:
    programs: Path
    plane: Plane
    work: Path
    client: PlaneClient
    devices: Mapping[NodeName, NodeDevices]
    processes: NfdProcesses

    async def follow(self) -> None:
        """Look again and again what should run, until cancelled."""
        while True:
            namespace = await self._follow_controllers()
            if namespace:
                await self._look_at_nodes(namespace)
            else:
                self.processes.looks.clear()
            await asyncio.sleep(LOOK_EVERY_S)

    async def _follow_controllers(self) -> str:
        """Run what has a Deployment that is available. Gives the namespace of the master; "" while there is none."""
        found = {ref_of(obj).name: obj for obj in await self._list(DEPLOYMENT) if ref_of(obj).name in _CONTROLLERS}
        available = {name for name, obj in found.items() if dig(obj, "status", "availableReplicas", default=0)}
        running = self.processes.controllers
        for name in set(running) - available:
            await stop([running.pop(name)])
        for name in available - set(running):
            running[name] = await self._start(name, ref_of(found[name]).namespace)
            if name == "nfd-master":
                await self._add_openshift_rule(ref_of(found[name]).namespace)
        for each in running.values():
            must_run(each)
        return ref_of(found["nfd-master"]).namespace if "nfd-master" in running else ""

    async def _start(self, name: str, namespace: str) -> Started:
        configuration = self.work / f"{name}.conf"
        configuration.write_text("{}")
        arguments = [f"-kubeconfig={self.plane.kubeconfig}", f"-port={free_ports(1)[0]}"]
        if name == "nfd-master":
            arguments.append(f"-config={configuration}")
        # The master ends when the node that it is told to run on is not there.
        nodes = sorted(ref_of(node).name for node in await self._list(NODE))
        return await start(
            name,
            [str(self.programs / name), *arguments],
            self.work,
            environment={"KUBERNETES_NAMESPACE": namespace, "NODE_NAME": nodes[0]},
        )

    async def _add_openshift_rule(self, namespace: str) -> None:
        """Have the master evaluate, from features that the workers found, what OpenShift's own writes by itself."""
        rules = [
            {
                "name": field_name,
                "labelsTemplate": _LABELS,
                "matchFeatures": [
                    {"feature": "system.osrelease", "matchExpressions": {field_name: {"op": "Exists"}}},
                ],
            }
            for field_name in _OPENSHIFT_FIELDS
        ]
        rule = {
            "apiVersion": NODE_FEATURE_RULE.api_version,
            "kind": NODE_FEATURE_RULE.kind,
            "metadata": {"name": OPENSHIFT_RULE, "namespace": namespace},
            "spec": {"rules": rules},
        }
        try:
            await self.client.create(rule, ref_of(rule))
        except Answered as answer:
            if answer.status_code != 409:
                message = f"{ref_of(rule)}: {answer}"
                raise ClusterUnreachable(message) from answer

    async def _look_at_nodes(self, namespace: str) -> None:
        instances = [obj for obj in await self._list(NODE_FEATURE_DISCOVERY) if ref_of(obj).namespace == namespace]
        if not instances:
            return
        text = str(dig(instances[0], "spec", "workerConfig", "configData", default="")) or "{}"
        ready = {
            NodeName(str(dig(pod, "spec", "nodeName", default="")))
            for pod in await self._list(POD)
            if ref_of(pod).namespace == namespace and ref_of(pod).name.startswith(_WORKER) and is_pod_ready(pod)
        }
        for node in await self._list(NODE):
            name = NodeName(ref_of(node).name)
            if name in ready and self.processes.looks.get(name) != text:
                await self._look(node, namespace, text)
                self.processes.looks[name] = text

    async def _look(self, node: KubeObject, namespace: str, text: str) -> None:
        """Let a worker look once at the node's host."""
        name = ref_of(node).name
        folder = self.work / name
        folder.mkdir(exist_ok=True)
        image = str(dig(node, "status", "nodeInfo", "osImage", default=""))
        make_host(folder / "host", self.devices.get(NodeName(name), NodeDevices(0, ())), image)
        (folder / "worker.conf").write_text(text)
        arguments = ["-oneshot", "-no-owner-refs", f"-kubeconfig={self.plane.kubeconfig}", "-config=worker.conf"]
        environment = {"KUBERNETES_NAMESPACE": namespace, "NODE_NAME": name}
        argv = [str(self.programs / _WORKER), *arguments, f"-port={free_ports(1)[0]}"]
        started = await start(f"{_WORKER}-{name}", argv, self.work, cwd=folder, environment=environment)
        try:
            code = await started.process.wait()
        finally:
            await stop([started])
        if code != 0:
            message = f"the worker of node {name} ended with {code}: {started.tail()}"
            raise ClusterUnreachable(message)

    async def _list(self, kind: Kind) -> list[KubeObject]:
        try:
            return (await self.client.list(kind))[0]
        except Answered as answer:
            if answer.status_code == 404:
                return []
            raise


def make_host(root: Path, devices: NodeDevices, os_image: str) -> None:
    """Write the files of a host that a worker reads: its PCI devices, and the name of its system."""
    (root / "etc").mkdir(parents=True, exist_ok=True)
    (root / "etc" / "os-release").write_text(os_release(os_image))
    pci = root / "sys" / "bus" / "pci" / "devices"
    ports = {
        str(port.pci): {
            "class": "0x020700" if port.link_type == "infiniband" else "0x020000",
            "vendor": f"0x{port.vendor_id}",
            "device": f"0x{port.device_id}",
            "sriov_totalvfs": str(port.sriov_total_vfs),
        }
        for port in devices.ports
    }
    gpus = {f"0000:{0xE0 + number:02x}:00.0": _GPU for number in range(devices.gpus)}
    for address, values in {**ports, **gpus}.items():
        (pci / address).mkdir(parents=True, exist_ok=True)
        for key, value in {**values, "subsystem_vendor": values["vendor"], "subsystem_device": "0x0001"}.items():
            (pci / address / key).write_text(f"{value}\n")


def os_release(os_image: str) -> str:
    """
    Spell the os-release of a node's system.

    Sample: "Red Hat Enterprise Linux CoreOS 9.6.20251103-0 (Plow)" has ID="rhel", VERSION_ID="9.6" and more of its own.
    """
    found = _VERSION.search(os_image)
    build, version = (found[0], found[1]) if found else ("", "")
    is_coreos = "CoreOS" in os_image
    name = "rhel" if is_coreos else os_image.partition(" ")[0].lower()
    lines = {"NAME": os_image, "ID": name, "VERSION_ID": version}
    if is_coreos:
        lines |= {"OSTREE_VERSION": build, "RHEL_VERSION": version}
    return "".join(f'{key}="{value}"\n' for key, value in lines.items())
