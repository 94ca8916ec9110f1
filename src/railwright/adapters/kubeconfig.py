"""
Where an API server is and how to log in, read from kubeconfig files or from inside a pod.

In: a context's name, the environment, files. Out: `Login`, with every path absolute and no file content beyond what
the kubeconfig itself holds. Making TLS contexts and running plugins is in `tls.py` and `credentials.py`.

Source: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/ (fields), kubectl's merging: the first file
that names a context, cluster or user wins.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from railwright.core.errors import UsageError
from railwright.core.foreign_text import parse_yaml
from railwright.core.objects import dig

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
IN_CLUSTER = "in-cluster"


@dataclass(frozen=True)
class ExecPlugin:
    """A program that prints a credential."""

    command: str
    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    api_version: str
    wants_cluster: bool
    install_hint: str


@dataclass(frozen=True)
class Login:
    """
    One context, resolved.

    Attributes:
        name: the context's name.
        server: URL of the API server.
        ca_file: path of the authority's certificates, or "" (then `ca_data`, base64, or the machine's own).
        client_cert: path, or base64 data; with `client_key` of the same form.
        tls_server_name: the name in the server's certificate, when it is not the URL's.
        namespace: default namespace of the context.
    """

    name: str
    server: str
    ca_file: str = ""
    ca_data: str = ""
    insecure: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    token: str = ""
    token_file: str = ""
    username: str = ""
    password: str = ""
    client_cert_file: str = ""
    client_key_file: str = ""
    client_cert_data: str = ""
    client_key_data: str = ""
    plugin: ExecPlugin | None = None
    namespace: str = "default"


_MAX_BYTES = 4 << 20
"""A kubeconfig of a thousand clusters with their certificates has less."""
_ANEW = "oc login writes it anew; or export KUBECONFIG=FILE for another one"


def read_login(context: str | None, environment: Mapping[str, str], home: Path) -> Login:
    """
    Find the login for a context; without a name the current context, else the pod's own service account.

    Raises:
        UsageError: no kubeconfig, a context that is not there, or a file that cannot be read.
    """
    files = _files(environment, home)
    if not files:
        if context is None and "KUBERNETES_SERVICE_HOST" in environment and (SERVICE_ACCOUNT / "token").exists():
            return _in_cluster(environment)
        message = "no kubeconfig: neither $KUBECONFIG nor ~/.kube/config names a file that exists"
        raise UsageError(message, hint="oc login, or export KUBECONFIG=FILE, or --cluster sim:h200-roce")
    merged = _Merged()
    for file in files:
        merged.add(file, _load(file))
    return merged.login(context)


def _files(environment: Mapping[str, str], home: Path) -> list[Path]:
    named = environment.get("KUBECONFIG", "")
    paths = [Path(part) for part in named.split(os.pathsep) if part] if named else [home / ".kube" / "config"]
    return [path for path in paths if path.is_file()]


def _load(file: Path) -> Mapping[str, Any]:
    try:
        with file.open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            message = f"{file}: not a kubeconfig (expected at most {_MAX_BYTES:,} bytes, seen more)"
            raise UsageError(message, hint=_ANEW)
        value = parse_yaml(content.decode())
    except (OSError, ValueError) as error:
        message = f"{file}: not a kubeconfig that can be read: {error}"
        raise UsageError(message, hint=_ANEW) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        message = f"{file}: not a kubeconfig (expected a mapping with clusters, contexts and users)"
        raise UsageError(message, hint=_ANEW)
    return value


class _Merged:
    """Several kubeconfig files as one; the first that names a thing wins."""

    def __init__(self) -> None:
        self.current = ""
        self.files: list[str] = []
        self.tables: dict[str, dict[str, tuple[Path, Mapping[str, Any]]]] = {
            "context": {},
            "cluster": {},
            "user": {},
        }

    def add(self, file: Path, content: Mapping[str, Any]) -> None:
        self.current = self.current or str(content.get("current-context") or "")
        self.files.append(str(file))
        for kind, table in self.tables.items():
            for entry in _entries(content, kind, file):
                table.setdefault(str(entry.get("name")), (file.parent.absolute(), entry.get(kind) or {}))

    def find(self, kind: str, name: str) -> tuple[Path, Mapping[str, Any]]:
        found = self.tables[kind].get(name)
        if found is None:
            known = ", ".join(sorted(self.tables[kind])) or "none"
            message = f"{kind} {name!r} is not in {', '.join(self.files)} (there: {known})"
            raise UsageError(message, hint="oc config get-contexts")
        return found

    def login(self, wanted: str | None) -> Login:
        name = wanted or self.current
        if not name:
            message = f"no current context in {', '.join(self.files)}"
            raise UsageError(message, hint="oc config use-context NAME, or --cluster NAME")
        _, context = self.find("context", name)
        cluster_folder, cluster = self.find("cluster", str(context.get("cluster")))
        user_folder, user = self.find("user", str(context["user"])) if context.get("user") else (Path(), {})
        server = str(cluster.get("server") or "").rstrip("/")
        if not server.startswith(("https://", "http://")):
            message = (
                f"cluster {context.get('cluster')!r} in {', '.join(self.files)}: server is {server!r}, expected a URL"
            )
            raise UsageError(message, hint="oc login SERVER writes it")
        return Login(
            name=name,
            server=server,
            ca_file=_absolute(cluster_folder, cluster.get("certificate-authority")),
            ca_data=str(cluster.get("certificate-authority-data") or ""),
            insecure=bool(cluster.get("insecure-skip-tls-verify", False)),
            tls_server_name=str(cluster.get("tls-server-name") or ""),
            proxy_url=str(cluster.get("proxy-url") or ""),
            token=str(user.get("token") or ""),
            token_file=_absolute(user_folder, user.get("tokenFile")),
            username=str(user.get("username") or ""),
            password=str(user.get("password") or ""),
            client_cert_file=_absolute(user_folder, user.get("client-certificate")),
            client_key_file=_absolute(user_folder, user.get("client-key")),
            client_cert_data=str(user.get("client-certificate-data") or ""),
            client_key_data=str(user.get("client-key-data") or ""),
            plugin=_plugin(user_folder, user.get("exec")),
            namespace=str(context.get("namespace") or "default"),
        )


def _entries(content: Mapping[str, Any], kind: str, file: Path) -> list[Mapping[str, Any]]:
    """Give the entries of one table. Raises UsageError for what is no list of named mappings."""
    entries = content.get(f"{kind}s") or []
    if isinstance(entries, list) and all(
        isinstance(entry, dict) and isinstance(entry.get(kind) or {}, dict) for entry in entries
    ):
        return entries
    message = f"{file}: not a kubeconfig: {kind}s must be a list of mappings with name and {kind}"
    raise UsageError(message, hint="oc login writes it anew")


def _absolute(folder: Path, path: Any) -> str:
    """Resolve a path against the folder of the file that names it."""
    return str(folder / str(path)) if path else ""


def _plugin(folder: Path, value: Any) -> ExecPlugin | None:
    if not isinstance(value, dict):
        return None
    command = str(value.get("command") or "")
    if not command:
        message = "the kubeconfig's user logs in by an exec plugin, but names no command"
        raise UsageError(message, hint="oc login writes a user that works")
    if "/" in command:
        command = _absolute(folder, command)
    args, env = value.get("args") or [], value.get("env") or []
    if not (isinstance(args, list) and isinstance(env, list) and all(_is_variable(item) for item in env)):
        message = (
            f"the kubeconfig's exec plugin {command}: expected args as a list, and env as a list of names with values"
        )
        raise UsageError(message, hint="oc login writes a user that works")
    return ExecPlugin(
        command=command,
        args=tuple(str(arg) for arg in args),
        env=tuple((str(item["name"]), str(item["value"])) for item in env),
        api_version=str(value.get("apiVersion", "")),
        wants_cluster=bool(value.get("provideClusterInfo", False)),
        install_hint=str(dig(value, "installHint", default="")).strip(),
    )


def _is_variable(item: Any) -> bool:
    return isinstance(item, dict) and {"name", "value"} <= set(item)


def _in_cluster(environment: Mapping[str, str]) -> Login:
    host = environment["KUBERNETES_SERVICE_HOST"]
    port = environment.get("KUBERNETES_SERVICE_PORT", "443")
    namespace_file = SERVICE_ACCOUNT / "namespace"
    return Login(
        name=IN_CLUSTER,
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ca_file=str(SERVICE_ACCOUNT / "ca.crt"),
        token_file=str(SERVICE_ACCOUNT / "token"),
        namespace=namespace_file.read_text().strip() if namespace_file.exists() else "default",
    )
