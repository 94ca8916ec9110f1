"""
Log in on each request: bearer tokens, token files that are rotated, and exec plugins.

An exec plugin prints an ExecCredential; its token or certificate is kept until it expires or is refused:

    {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
     "status": {"expirationTimestamp": "2026-11-30T08:00:00Z", "token": "..."}}

Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from railwright.adapters.kubeconfig import ExecPlugin, Login
from railwright.adapters.tls import show_certificate
from railwright.core.errors import LoginExpired, UsageError
from railwright.core.objects import dig

PLUGIN_LIMIT_S = 60.0
"""A plugin may open a browser; after a minute nobody is there."""
_EARLY = timedelta(seconds=10)
"""A credential is renewed this much before it expires, so that it holds for the request that carries it."""
_API_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


@dataclass(frozen=True)
class Credential:
    """What a plugin printed; `expires` is None when it did not say."""

    token: str
    certificate: str
    key: str
    expires: datetime | None


def authentication(login: Login, context: ssl.SSLContext) -> httpx2.Auth | None:
    """Choose how to log in; None when the client certificate says it all. A plugin's certificate goes to `context`."""
    if login.token_file:
        return TokenFile(Path(login.token_file))
    if login.token:
        return Bearer(login.token)
    if login.plugin is not None:
        return Plugin(login, login.plugin, context)
    if login.username:
        return httpx2.BasicAuth(login.username, login.password)
    return None


class Bearer(httpx2.Auth):
    """A token that stays the same, as oc login writes it."""

    def __init__(self, token: str) -> None:
        """Keep the token."""
        self._token = token

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Add the header."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


class TokenFile(httpx2.Auth):
    """A service account's token: the kubelet rotates the file, so it is read for every request."""

    def __init__(self, path: Path) -> None:
        """Keep the path."""
        self._path = path

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Add the header with what the file holds now."""
        try:
            token = self._path.read_text().strip()
        except OSError as error:
            message = f"the token file {self._path} cannot be read: {error.strerror}"
            raise LoginExpired(message) from error
        request.headers["Authorization"] = f"Bearer {token}"
        yield request


class Plugin(httpx2.Auth):
    """A program that is asked when there is no credential yet, it is about to expire, or it was refused."""

    def __init__(self, login: Login, plugin: ExecPlugin, context: ssl.SSLContext) -> None:
        """Keep what is needed to ask; nothing is run yet."""
        self._login = login
        self._plugin = plugin
        self._context = context
        self._credential: Credential | None = None
        self._asking = asyncio.Lock()

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Add the header; once more with a new credential after a 401."""
        used = await self._fresh(refused=None)
        _carry(request, used)
        response = yield request
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            _carry(request, await self._fresh(refused=used))
            yield request

    async def _fresh(self, refused: Credential | None) -> Credential:
        async with self._asking:
            kept = self._credential
            ends = kept.expires if kept else None
            if kept is None or kept is refused or (ends is not None and ends - _EARLY <= datetime.now(UTC)):
                kept = await self._ask()
                if kept.certificate:
                    show_certificate(self._context, kept.certificate, kept.key)
                self._credential = kept
            return kept

    async def _ask(self) -> Credential:
        plugin = self._plugin
        if plugin.api_version not in _API_VERSIONS:
            message = (
                f"context {self._login.name!r}: exec plugin speaks {plugin.api_version!r}, not one of {_API_VERSIONS}"
            )
            raise UsageError(message)
        info = json.dumps(exec_info(self._login, plugin))
        environment = {**os.environ, **dict(plugin.env), "KUBERNETES_EXEC_INFO": info}
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *plugin.args,
                env=environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            message = f"context {self._login.name!r}: exec plugin {plugin.command} cannot be run: {error.strerror}"
            raise UsageError(message, hint=plugin.install_hint) from error
        try:
            async with asyncio.timeout(PLUGIN_LIMIT_S):
                out, err = await process.communicate()
        except TimeoutError as error:
            process.kill()
            await process.wait()
            message = f"exec plugin {plugin.command} did not answer within {PLUGIN_LIMIT_S:.0f} s"
            raise LoginExpired(message, hint="run it by hand: it may wait for a person") from error
        if process.returncode != 0:
            message = (
                f"exec plugin {plugin.command} ended with {process.returncode}: {err.decode(errors='replace').strip()}"
            )
            raise LoginExpired(message, hint=f"run {plugin.command} by hand, or log in again")
        return parse_credential(out.decode(errors="replace"), plugin.command)


def exec_info(login: Login, plugin: ExecPlugin) -> dict[str, Any]:
    """Make what the plugin finds in KUBERNETES_EXEC_INFO; the cluster only if it asked for it."""
    spec: dict[str, Any] = {"interactive": False}
    if plugin.wants_cluster:
        cluster = {
            "server": login.server,
            "tls-server-name": login.tls_server_name,
            "insecure-skip-tls-verify": login.insecure,
            "certificate-authority-data": login.ca_data,
            "proxy-url": login.proxy_url,
        }
        spec["cluster"] = {key: value for key, value in cluster.items() if value}
    return {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}


def parse_credential(text: str, command: str) -> Credential:
    """
    Read an ExecCredential.

    Raises:
        LoginExpired: no credential in it.
    """
    try:
        status = dig(json.loads(text), "status", default={})
        expires = str(status.get("expirationTimestamp") or "")
        ends = datetime.fromisoformat(expires) if expires else None
    except (ValueError, AttributeError) as error:
        message = f"exec plugin {command} printed something that is no ExecCredential"
        raise LoginExpired(message) from error
    token, certificate = str(status.get("token") or ""), str(status.get("clientCertificateData") or "")
    if not token and not certificate:
        message = f"exec plugin {command} printed neither a token nor a certificate"
        raise LoginExpired(message)
    return Credential(token, certificate, str(status.get("clientKeyData") or ""), ends)


def _carry(request: httpx2.Request, credential: Credential) -> None:
    if credential.token:
        request.headers["Authorization"] = f"Bearer {credential.token}"
