"""
The real SR-IOV network operator and its webhook on a control plane, as processes that follow their pods.

The operator runs while its Deployment is available, the webhook while its DaemonSet has a ready pod: whoever plays
kubelets decides. Played here: OLM, which brings the ConfigMap of NICs, and OpenShift's service-ca, which makes the
webhook's certificate and has the API server trust it. Not here: the config daemon, and the resources injector.

Measured: flags and environment, with SR-IOV network operator 1.6.0 and kube-apiserver 1.36.3, 2026-11.
"""

import asyncio
import base64
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from railwright.core.errors import ClusterUnreachable
from railwright.core.kinds import CONFIG_MAP, DAEMON_SET, DEPLOYMENT
from railwright.core.objects import Kind, KubeObject, Ref, dig, ref_of
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.controlplane.netns import NetNamespace, network_namespace, why_no_namespace
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.processes import Started, must_run, start, stop
from railwright.lab.controlplane.programs import Files, Program, Unavailable, ensure_programs
from railwright.ports.progress import Progress

_MODULE = "github.com/k8snetworkplumbingwg/sriov-network-operator"
SRIOV_PROGRAMS = (
    Program("sriov", "sriov-network-operator", _MODULE),
    Program("sriov", "sriov-webhook", f"{_MODULE}/cmd/webhook"),
    Files("sriov", "bindata", _MODULE),
)
"""The operator, its webhook, and the templates that the operator reads beneath its working folder."""
NAMESPACE = "openshift-sriov-network-operator"
LOOK_EVERY_S = 0.2
STOP_LIMIT_S = 30.0
"""An operator that is ended takes its finalizers off networks and makes its webhooks harmless before it goes."""
_SERVICE = Ref(Kind("v1", "Service"), NAMESPACE, "operator-webhook-service")
_WEBHOOK_PORT = 6443
_CONFIGURATIONS = tuple(
    Ref(Kind("admissionregistration.k8s.io/v1", kind), "", "sriov-operator-webhook-config")
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
)
_IMAGES = (
    "SRIOV_CNI",
    "SRIOV_INFINIBAND_CNI",
    "OVS_CNI",
    "RDMA_CNI",
    "SRIOV_DEVICE_PLUGIN",
    "NETWORK_RESOURCES_INJECTOR",
    "SRIOV_NETWORK_CONFIG_DAEMON",
    "SRIOV_NETWORK_WEBHOOK",
    "METRICS_EXPORTER",
    "METRICS_EXPORTER_KUBE_RBAC_PROXY",
)
_ENVIRONMENT = {
    "NAMESPACE": NAMESPACE,
    "WATCH_NAMESPACE": NAMESPACE,
    "OPERATOR_NAME": "sriov-network-operator",
    "RESOURCE_PREFIX": "openshift.io",
    "CLUSTER_TYPE": "openshift",
    "RELEASE_VERSION": "4.22.0",
    "ADMISSION_CONTROLLERS_ENABLED": "true",
    "ADMISSION_CONTROLLERS_CERTIFICATES_OPERATOR_SECRET_NAME": "operator-webhook-service",
    "ADMISSION_CONTROLLERS_CERTIFICATES_INJECTOR_SECRET_NAME": "network-resources-injector-secret",
    "METRICS_EXPORTER_PORT": "9110",
    "METRICS_EXPORTER_SECRET_NAME": "metrics-exporter-cert",
    **{f"{name}_IMAGE": f"lab.invalid/{name.lower().replace('_', '-')}" for name in _IMAGES},
}
"""As the Deployment in OpenShift's CSV has it; nothing pulls the images."""


async def ensure_sriov(progress: Progress) -> Path | Unavailable:
    """Give the folder of the operator's programs; build what is missing, or say why it cannot run here."""
    reason = why_no_namespace()
    if reason:
        # The webhook listens at a port of every address, and is called at port 443 of its Service.
        return Unavailable(f"the SR-IOV operator's webhook runs in a network namespace of its own: {reason}")
    return await ensure_programs(progress, SRIOV_PROGRAMS)


@dataclass
class SriovProcesses:
    """What runs now, and how often each was started."""

    operator: Started | None = None
    webhook: Started | None = None
    starts: list[str] = field(default_factory=list)

    def kill_operator(self) -> None:
        """Kill the operator, as a node that crashes does; whoever follows its pods starts it anew."""
        if self.operator is not None:
            self.operator.process.kill()
            self.operator = None


@asynccontextmanager
async def running_sriov(programs: Path, plane: Plane, nics: Mapping[str, str]) -> AsyncIterator[SriovProcesses]:
    """
    Run the operator and its webhook, whenever their pods are there, for the length of a block.

    Args:
        programs: the folder that ensure_sriov gave.
        plane: with the operator's definitions installed, and those of OpenShift that it reads.
        nics: what the operator supports, name -> "VENDOR PF-ID VF-ID", as its bundle has it.

    Raises:
        ClusterUnreachable: a program ended by itself; the message holds the end of its log.
    """
    client, processes = plane.client(), SriovProcesses()
    with tempfile.TemporaryDirectory(prefix="railwright-sriov-") as work:
        certificate = await asyncio.to_thread(_make_certificate, Path(work))
        async with network_namespace(urlsplit(plane.server).port or 443) as inside, AsyncExitStack() as webhook:
            follower = _Follower(
                programs, plane, Path(work), inside, client, dict(nics), certificate, processes, webhook
            )
            task = asyncio.create_task(follower.follow())
            try:
                yield processes
            finally:
                task.cancel()
                ends = await asyncio.gather(task, return_exceptions=True)
                await follower.end()
                await client.close()
    for end in ends:
        if isinstance(end, Exception):
            raise end


@dataclass
class _Follower:
    programs: Path
    plane: Plane
    work: Path
    inside: NetNamespace
    client: PlaneClient
    nics: dict[str, str]
    certificate: bytes
    processes: SriovProcesses
    serving: AsyncExitStack

    async def follow(self) -> None:
        """Look again and again what should run, until cancelled."""
        while True:
            await self._follow_operator()
            await self._follow_webhook()
            await asyncio.sleep(LOOK_EVERY_S)

    async def end(self) -> None:
        """End what runs, the webhook last: the operator's own last writes pass it."""
        if self.processes.operator is not None:
            await stop([self.processes.operator], STOP_LIMIT_S)
        await self._end_webhook()

    async def _follow_operator(self) -> None:
        deployment = await self._find(DEPLOYMENT, "sriov-network-operator")
        wanted = bool(dig(deployment, "status", "availableReplicas", default=0))
        running = self.processes.operator
        if running is not None and not wanted:
            await stop([running], STOP_LIMIT_S)
            self.processes.operator = None
        elif running is None and wanted:
            await self._bring_nics()
            argv = ["sriov-network-operator", "--metrics-bind-address=0", "--health-probe-bind-address=127.0.0.1:0"]
            self.processes.operator = await self._start(argv)
        elif running is not None:
            must_run(running)

    async def _follow_webhook(self) -> None:
        daemon_set = await self._find(DAEMON_SET, "operator-webhook")
        wanted = bool(dig(daemon_set, "status", "numberReady", default=0))
        running = self.processes.webhook
        if running is not None and not wanted:
            await self._end_webhook()
        elif running is None and wanted:
            await self._serve_webhook()
        elif running is not None:
            must_run(running)
            await self._have_it_trusted()

    async def _serve_webhook(self) -> None:
        address = str(dig(await self.client.read(_SERVICE), "spec", "clusterIP"))
        files = (f"--tls-private-key-file={self.work / 'tls.key'}", f"--tls-cert-file={self.work / 'tls.crt'}")
        argv = ["sriov-webhook", "start", f"--port={_WEBHOOK_PORT}", *files]
        self.processes.webhook = await self._start(argv)
        await self.serving.enter_async_context(self.inside.published(_WEBHOOK_PORT, address, 443))

    async def _end_webhook(self) -> None:
        await self.serving.aclose()
        if self.processes.webhook is not None:
            await stop([self.processes.webhook])
            self.processes.webhook = None

    async def _start(self, argv: list[str]) -> Started:
        program, *arguments = argv
        self.processes.starts.append(program)
        return await start(
            program,
            [*self.inside.command, str(self.programs / program), *arguments],
            self.work,
            cwd=self.programs,
            environment={**_ENVIRONMENT, "KUBECONFIG": str(self.plane.kubeconfig)},
        )

    async def _find(self, kind: Kind, name: str) -> KubeObject | None:
        found, _ = await self.client.list(kind)
        return next((obj for obj in found if ref_of(obj) == Ref(kind, NAMESPACE, name)), None)

    async def _bring_nics(self) -> None:
        """Make the ConfigMap that OLM makes from the bundle, unless it is there."""
        ref = Ref(CONFIG_MAP, NAMESPACE, "supported-nic-ids")
        metadata = {"name": ref.name, "namespace": ref.namespace}
        try:
            await self.client.create(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": self.nics}, ref
            )
        except Answered as answer:
            if answer.status_code != 409:
                message = f"{ref}: {answer}"
                raise ClusterUnreachable(message) from answer

    async def _have_it_trusted(self) -> None:
        """Write the certificate into the webhook's configurations, as service-ca does; the operator leaves it there."""
        bundle = base64.b64encode(self.certificate).decode()
        for ref in _CONFIGURATIONS:
            try:
                webhooks = (await self.client.read(ref))["webhooks"]
                if any(dig(item, "clientConfig", "caBundle") != bundle for item in webhooks):
                    trusting = [
                        {**item, "clientConfig": {**item["clientConfig"], "caBundle": bundle}} for item in webhooks
                    ]
                    await self.client.merge(ref, {"webhooks": trusting})
            except Answered as answer:
                if answer.status_code not in {404, 409}:
                    message = f"{ref}: {answer}"
                    raise ClusterUnreachable(message) from answer


def _make_certificate(work: Path) -> bytes:
    """Make the webhook's key and certificate; openssl is on every machine that builds these programs."""
    host = f"{_SERVICE.name}.{NAMESPACE}.svc"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={host}"]
    files = ["-keyout", str(work / "tls.key"), "-out", str(work / "tls.crt")]
    subprocess.run([*request, "-addext", f"subjectAltName=DNS:{host}", *files], check=True, capture_output=True)
    return (work / "tls.crt").read_bytes()
