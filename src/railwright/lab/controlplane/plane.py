"""
Start and end a control plane: etcd, kube-apiserver, and kube-controller-manager for namespaces and garbage.

Everything listens on loopback, on ports that were free, with its files in a folder of its own that goes with it.

Measured: the flags, and the trap that each is for, with etcd 3.7.3 and kube-apiserver 1.36.3, 2026-11.
"""

import asyncio
import json
import secrets
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from railwright.core.errors import ClusterUnreachable
from railwright.lab.controlplane.client import PlaneClient
from railwright.lab.controlplane.processes import Started, free_ports, must_run, start, stop

CONTEXT = "railwright-lab"
READY_LIMIT_S = 90.0
"""Four seconds on a quiet machine, eight at a load of 20 on two cores (measured 2026-11-30)."""
_SERVICES_FIRST = 64
"""
Services get addresses of 127.N.0.0/16, N from here on and another for each plane: loopback, so that the API server
reaches a webhook at its Service's address without a route, and nobody else does.
"""
_CONTROLLERS = ("namespace-controller", "garbage-collector-controller")
"""
Only those that no stand-in plays.

Deployments, DaemonSets and pods are made by stand-ins with the pace of the recordings; two of a kind would fight.
"""
_ADVERTISED = "10.254.0.1"
"""Never used, since endpoints are not reconciled; it must only not be a loopback address."""


@dataclass(frozen=True)
class Plane:
    """
    A control plane that runs; `kubeconfig` logs in as cluster admin.

    Attributes:
        audit_log: a JSON line for each request, with who asked and what was answered; None where none is kept.
    """

    server: str
    token: str
    kubeconfig: Path
    processes: tuple[Started, ...]
    audit_log: Path | None = None

    def client(self) -> PlaneClient:
        """Make a client of its own for setting it up."""
        return PlaneClient(self.server, self.token)


@asynccontextmanager
async def running_plane(
    programs: Path,
    controllers: Sequence[str] = (),
    *,
    audited: bool = False,
    flags: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> AsyncIterator[Plane]:
    """
    Run a control plane for the length of a block.

    Args:
        programs: the folder that ensure_programs gave.
        controllers: of kube-controller-manager, beside those that no stand-in plays.
        audited: whether kube-apiserver writes down every request.
        flags: more of them, by program; a later one wins.

    Raises:
        ClusterUnreachable: a program ended, or was not ready in time; the message holds the end of its log.
    """
    started: list[Started] = []
    with tempfile.TemporaryDirectory(prefix="railwright-plane-") as work:
        try:
            yield await _start(programs, Path(work), started, controllers, audited=audited, flags=flags)
        finally:
            await stop(started)


async def _start(
    programs: Path,
    work: Path,
    started: list[Started],
    controllers: Sequence[str],
    *,
    audited: bool,
    flags: Mapping[str, Sequence[str]],
) -> Plane:
    client_port, peer_port, api_port, manager_port = free_ports(4)
    token = secrets.token_hex(16)
    (work / "tokens.csv").write_text(f'{token},admin,admin,"system:masters"\n')
    _make_service_account_key(work)
    etcd_url = f"http://127.0.0.1:{client_port}"
    peer_url = f"http://127.0.0.1:{peer_port}"
    started.append(await start("etcd", _etcd(programs, work, etcd_url, peer_url), work))
    audit_log = work / "audit.log" if audited else None
    apiserver = [
        *_apiserver(programs, work, etcd_url, api_port),
        *_audit(work, audit_log),
        *flags.get("kube-apiserver", ()),
    ]
    started.append(await start("kube-apiserver", apiserver, work))
    server = f"https://127.0.0.1:{api_port}"
    kubeconfig = work / "kubeconfig"
    kubeconfig.write_text(json.dumps(_kubeconfig(server, token)))
    await _wait_ready(server, token, started)
    manager = _manager(programs, work, kubeconfig, manager_port, (*_CONTROLLERS, *controllers))
    manager += flags.get("kube-controller-manager", ())
    started.append(await start("kube-controller-manager", manager, work))
    return Plane(server, token, kubeconfig, tuple(started), audit_log)


async def _wait_ready(server: str, token: str, started: list[Started]) -> None:
    client = PlaneClient(server, token)
    try:
        async with asyncio.timeout(READY_LIMIT_S):
            while not await client.is_ready():
                for each in started:
                    must_run(each)
                await asyncio.sleep(0.1)
    except TimeoutError as error:
        message = f"kube-apiserver was not ready within {READY_LIMIT_S:.0f} s: {started[-1].tail()}"
        raise ClusterUnreachable(message) from error
    finally:
        await client.close()


def _make_service_account_key(work: Path) -> None:
    """Make the key that signs service account tokens; openssl is on every machine that builds these programs."""
    private, public = str(work / "sa.key"), str(work / "sa.pub")
    for argv in (
        ["openssl", "genrsa", "-out", private, "2048"],
        ["openssl", "rsa", "-in", private, "-pubout", "-out", public],
    ):
        subprocess.run(argv, check=True, capture_output=True)


def _etcd(programs: Path, work: Path, url: str, peer_url: str) -> list[str]:
    return [
        str(programs / "etcd"),
        f"--data-dir={work / 'etcd'}",
        "--unsafe-no-fsync",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        f"--listen-peer-urls={peer_url}",
        f"--initial-advertise-peer-urls={peer_url}",
        f"--initial-cluster=default={peer_url}",
        "--log-level=warn",
    ]


def _apiserver(programs: Path, work: Path, etcd_url: str, port: int) -> list[str]:
    return [
        str(programs / "kube-apiserver"),
        f"--etcd-servers={etcd_url}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={work / 'certs'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={work / 'sa.pub'}",
        f"--service-account-signing-key-file={work / 'sa.key'}",
        f"--token-auth-file={work / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        f"--service-cluster-ip-range=127.{_SERVICES_FIRST + secrets.randbelow(256 - _SERVICES_FIRST)}.0.0/16",
        "--disable-admission-plugins=ServiceAccount",
        "--endpoint-reconciler-type=none",
        f"--advertise-address={_ADVERTISED}",
    ]


def _audit(work: Path, log: Path | None) -> list[str]:
    """Write down who asked what, without bodies, once it is answered; watches when they begin."""
    if log is None:
        return []
    policy = work / "audit-policy.json"
    rule = {"level": "Metadata", "omitStages": ["RequestReceived"]}
    policy.write_text(json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [rule]}))
    return [f"--audit-policy-file={policy}", f"--audit-log-path={log}"]


def _manager(programs: Path, work: Path, kubeconfig: Path, port: int, controllers: Sequence[str]) -> list[str]:
    return [
        str(programs / "kube-controller-manager"),
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        f"--controllers={','.join(controllers)}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={work / 'certs'}",
        f"--service-account-private-key-file={work / 'sa.key'}",
        "--use-service-account-credentials=false",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]


def _kubeconfig(server: str, token: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": {"server": server, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": "admin"}}],
    }
