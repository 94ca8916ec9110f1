"""
Real OLM on a control plane: its two operators, and a catalog server for each catalog.

Not here: package-server. PackageManifests are stored objects, made from the same catalogs.

Measured: the flags, and the trap that each is for, with OLM 0.46.0 and kube-apiserver 1.36.3, 2026-11.
"""

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from urllib.parse import urlsplit

from railwright.core.errors import ClusterUnreachable
from railwright.core.kinds import CATALOG_SOURCE, NAMESPACE
from railwright.core.objects import Kind, KubeObject, dig, ref_of
from railwright.lab.controlplane.client import Answered, PlaneClient
from railwright.lab.controlplane.definitions import small_definition
from railwright.lab.controlplane.netns import network_namespace, why_no_namespace
from railwright.lab.controlplane.olm_catalog import CATALOG_NAMESPACE, Package, catalog_text, package_manifest
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.processes import Started, free_ports, must_run, start, stop
from railwright.lab.controlplane.programs import Program, Unavailable, ensure_programs
from railwright.ports.progress import Progress

READY_LIMIT_S = 120.0
"""Four seconds at a load of 15 on two cores, for the catalogs to be connected (measured 2026-11-30)."""
_LOOK_EVERY_S = 0.2
_OPERATORS = ("olm", "catalog")
_OWN_NAMESPACE = "olm"
_OLM_CONFIG = Kind("operators.coreos.com/v1", "OLMConfig")
_API_SERVER = Kind("config.openshift.io/v1", "APIServer")
"""OLM finds its group and then waits for it; without a definition OperatorGroups never get a status."""
_MODULE = "github.com/operator-framework/operator-lifecycle-manager"
OLM_PROGRAMS = (
    Program("olm", "olm", f"{_MODULE}/cmd/olm"),
    Program("olm", "catalog", f"{_MODULE}/cmd/catalog"),
    Program("olm", "fbcserve", "./fbcserve"),
)
"""The operator that installs, the one that resolves, and what serves a catalog to it."""


@dataclass(frozen=True)
class Olm:
    """
    OLM at work.

    Attributes:
        processes: what runs now; one that ended is started again, as a kubelet does.
        restarts: names of those that were, in order.
    """

    processes: list[Started]
    restarts: list[str]

    def kill_operators(self) -> None:
        """Kill the one that installs and the one that resolves, as a node that crashes does."""
        for each in self.processes:
            if each.name in _OPERATORS and each.process.returncode is None:
                os.kill(each.process.pid, signal.SIGKILL)


async def ensure_olm(progress: Progress) -> Path | Unavailable:
    """Give the folder of OLM's programs; build what is missing, or say why OLM cannot run here."""
    reason = why_no_namespace()
    if reason:
        # Both of OLM's operators listen on port 8080 of every address, and neither can be told otherwise.
        return Unavailable(f"OLM runs in a network namespace of its own: {reason}")
    return await ensure_programs(progress, OLM_PROGRAMS)


@asynccontextmanager
async def running_olm(programs: Path, plane: Plane, packages: Sequence[Package]) -> AsyncIterator[Olm]:
    """
    Run OLM on a plane for the length of a block, with catalogs of these packages.

    Args:
        programs: the folder that ensure_olm gave.
        plane: with OLM's definitions installed, and Proxy of OpenShift's configuration.

    Raises:
        ClusterUnreachable: a program ended, or a catalog was not connected in time.
    """
    started: list[Started] = []
    client = plane.client()
    port = urlsplit(plane.server).port or 443
    with tempfile.TemporaryDirectory(prefix="railwright-olm-") as work:
        try:
            async with network_namespace(port) as inside:
                job = _Job(programs, plane, Path(work), inside.command, client, started)
                try:
                    await _start(job, packages)
                    async with _kept_running(job) as restarts:
                        yield Olm(started, restarts)
                finally:
                    await stop(started)
        finally:
            await client.close()


@dataclass(frozen=True)
class _Job:
    programs: Path
    plane: Plane
    work: Path
    inside: tuple[str, ...]
    client: PlaneClient
    started: list[Started]
    commands: list[list[str]] = field(default_factory=list)
    """Of each of them."""

    async def start(self, name: str, program: str, *arguments: str) -> None:
        """Start a program in the namespace; with CI set OLM refuses objects without its own label."""
        environment = ("env", "--unset=CI", f"KUBECONFIG={self.plane.kubeconfig}")
        self.commands.append([*self.inside, *environment, str(self.programs / program), *arguments])
        self.started.append(await start(name, self.commands[-1], self.work))

    async def keep(self, restarts: list[str]) -> None:
        """Start again what ended, until cancelled."""
        while True:
            for index, each in enumerate(self.started):
                if each.process.returncode is not None:
                    self.started[index] = await start(each.name, self.commands[index], self.work)
                    restarts.append(each.name)
            await asyncio.sleep(_LOOK_EVERY_S)

    async def put(self, obj: KubeObject) -> None:
        """Create an object, unless there is one."""
        try:
            await self.client.create(obj, ref_of(obj))
        except Answered as answer:
            if answer.status_code != 409:
                message = f"{ref_of(obj)}: {answer}"
                raise ClusterUnreachable(message) from answer


@asynccontextmanager
async def _kept_running(job: _Job) -> AsyncIterator[list[str]]:
    """Start again what ends, for the length of a block; gives the names as they come."""
    restarts: list[str] = []
    task = asyncio.create_task(job.keep(restarts))
    try:
        yield restarts
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _start(job: _Job, packages: Sequence[Package]) -> None:
    configuration = small_definition(_API_SERVER)
    await job.put({**configuration, "spec": {**configuration["spec"], "scope": "Cluster"}})
    for namespace in (_OWN_NAMESPACE, CATALOG_NAMESPACE):
        await job.put(_object(NAMESPACE, namespace))
    await job.put(_object(_OLM_CONFIG, "cluster"))
    by_catalog = groupby(sorted(packages, key=lambda package: package.catalog), lambda package: package.catalog)
    for catalog, offered in by_catalog:
        await _serve(job, catalog, tuple(offered))
    await job.start("olm", "olm", f"--namespace={_OWN_NAMESPACE}", "--interval=30s")
    kubeconfig = f"--kubeconfig={job.plane.kubeconfig}"
    await job.start("catalog", "catalog", kubeconfig, f"--namespace={CATALOG_NAMESPACE}", "--interval=30s")
    await _wait_connected(job)


async def _serve(job: _Job, catalog: str, packages: tuple[Package, ...]) -> None:
    folder = job.work / catalog
    folder.mkdir()
    (folder / "catalog.json").write_text(catalog_text(packages))
    address = f"127.0.0.1:{free_ports(1)[0]}"
    await job.start(f"catalog-{catalog}", "fbcserve", str(folder), address)
    spec = {"sourceType": "grpc", "address": address, "displayName": catalog, "publisher": "railwright lab"}
    await job.put({**_object(CATALOG_SOURCE, catalog, CATALOG_NAMESPACE), "spec": spec})
    for package in packages:
        await job.put(package_manifest(package))


def _object(kind: Kind, name: str, namespace: str = "") -> KubeObject:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}


async def _wait_connected(job: _Job) -> None:
    waiting: list[str] = []
    try:
        async with asyncio.timeout(READY_LIMIT_S):
            while True:
                for each in job.started:
                    must_run(each)
                sources, _ = await job.client.list(CATALOG_SOURCE)
                waiting = [str(ref_of(each)) for each in sources if not _is_connected(each)]
                if sources and not waiting:
                    return
                await asyncio.sleep(0.2)
    except TimeoutError as error:
        message = f"catalogs not connected after {READY_LIMIT_S:.0f} s: {', '.join(waiting)}; {job.started[-1].tail()}"
        raise ClusterUnreachable(message) from error


def _is_connected(source: KubeObject) -> bool:
    return bool(dig(source, "status", "connectionState", "lastObservedState") == "READY")
