r"""
What an API server answers when it does not do what was asked, as one of our errors. Pure.

In: HTTP status, body, headers, and what was asked. Out: an error of core.errors, never raised here.

A sample, server-side apply of a field that another manager owns:

    409 {"kind": "Status", "reason": "Conflict", "message": "Apply failed with 1 conflict: ...", "details": {"causes": [
        {"reason": "FieldManagerConflict", "message": "conflict with \"kubectl\" using v1", "field": ".data.a"}]}}

Measured: answers of kube-apiserver 1.36.3, 2026-11-30.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.errors import (
    ClusterBusy,
    ClusterError,
    KindNotServed,
    LoginExpired,
    NotFound,
    ObjectRefused,
    PermissionMissing,
    WriteConflict,
)
from railwright.core.foreign_text import parse_json
from railwright.core.objects import dig

_OWNER = re.compile(r'conflict with "([^"]*)"')
_RBAC = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>\S+) resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]*)")?'
)
_COMES_BACK = (
    "failed calling webhook",
    "etcdserver:",
    "context deadline exceeded",
    "connection refused",
    "connection reset",
    "no endpoints available",
)
"""Words of a 500 that go away by themselves: a webhook or etcd that does not answer now."""
_IN_A_MINUTE = "run the same command again in a minute"
_SILENT_WEBHOOK = re.compile(r'failed calling webhook "([^"]+)"')
_OF_SRIOV = "operator-webhook.sriovnetwork.openshift.io"
_SRIOV_WEBHOOK_OBJECTS = (
    "oc delete validatingwebhookconfiguration,mutatingwebhookconfiguration sriov-operator-webhook-config"
)
"""
The only way past it while its pods are down: its own setting passes the same webhook. The operator makes both again.

Measured: SR-IOV network operator 1.6.0 and its webhook against kube-apiserver 1.36.3, 2026-11.
"""
_REFUSES_FOR_GOOD = ("typed patch", "not declared in schema")
"""Words of a 500 that stays: server-side apply answers an unknown or mistyped field so."""


@dataclass(frozen=True)
class Answer:
    """One HTTP answer that is no success; `retry_after` as the server wrote it, in seconds, or ""; `location` too."""

    status_code: int
    body: str
    retry_after: str = ""
    location: str = ""


@dataclass(frozen=True)
class Asked:
    """What was asked, in words for a person ("apply ConfigMap a/b"), and whether it would have written."""

    what: str
    writes: bool = False


def error_of(answer: Answer, asked: Asked) -> ClusterError:
    """Choose the error that says what the API server answered; the message holds its own words."""
    status = _status(answer.body)
    message = str(status.get("message") or answer.body.strip()[:500] or f"HTTP {answer.status_code} without a body")
    if "denied the request" in message and "admission webhook" in message:
        return ObjectRefused(f"{asked.what}: {message}", context=_causes(status))
    by_code = _BY_CODE.get(answer.status_code)
    if by_code is not None:
        return by_code(answer, status, message, asked)
    if 300 <= answer.status_code < 400:
        return _sent_elsewhere(answer, asked)
    if answer.status_code >= 500:
        return _server_error(answer, status, message, asked)
    return ClusterError(f"{asked.what}: HTTP {answer.status_code}: {message}", context=_code(answer))


def _status(body: str) -> Mapping[str, Any]:
    try:
        value = parse_json(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) and value.get("kind") == "Status" else {}


def _code(answer: Answer) -> dict[str, str]:
    return {"http_status": str(answer.status_code)}


def _causes(status: Mapping[str, Any]) -> dict[str, str]:
    """Give each cause under its field; causes without a field are in the message already."""
    return {str(cause["field"]): str(cause.get("message", "")) for cause in causes_of(status) if cause.get("field")}


def causes_of(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List what a Status gives as its causes; what is no cause is left out, since a proxy may have made it up."""
    causes = dig(status, "details", "causes", default=[])
    return [cause for cause in causes if isinstance(cause, dict)] if isinstance(causes, list) else []


def _refused(_answer: Answer, status: Mapping[str, Any], message: str, asked: Asked) -> ClusterError:
    return ObjectRefused(f"{asked.what}: {message}", context=_causes(status))


def _login(_answer: Answer, _status: Mapping[str, Any], message: str, asked: Asked) -> ClusterError:
    return LoginExpired(
        f"{asked.what}: the API server does not accept these credentials: {message}",
        hint="oc login, or renew the certificate or token in the kubeconfig",
    )


def _sent_elsewhere(answer: Answer, asked: Asked) -> ClusterError:
    """An API server sends nobody elsewhere; a login page before it does."""
    return LoginExpired(
        f"{asked.what}: HTTP {answer.status_code} sends us to {answer.location or 'nowhere'}, expected an answer",
        hint="log in again, and check the server's address in the kubeconfig: it must be the API server itself",
        context=_code(answer),
    )


def _forbidden(answer: Answer, status: Mapping[str, Any], message: str, asked: Asked) -> ClusterError:
    """Tell missing rights from an object that admission refuses (pod security, quota) and a namespace that goes."""
    rights = _RBAC.search(message)
    if rights is not None:
        found = {key: value for key, value in rights.groupdict().items() if value}
        where = f"in namespace {rights['namespace']}" if rights["namespace"] else "in the whole cluster"
        resource = f"{rights['resource']}.{rights['group']}" if rights["group"] else rights["resource"]
        return PermissionMissing(
            f"{asked.what}: {rights['user']} may not {rights['verb']} {resource} {where}",
            hint="ask for a role that holds this verb on this resource",
            context=found,
        )
    if "is being terminated" in message:
        return ClusterBusy(f"{asked.what}: {message}", context=_code(answer))
    if asked.writes:
        return ObjectRefused(f"{asked.what}: {message}", context=_causes(status))
    return PermissionMissing(f"{asked.what}: {message}")


def _not_found(_answer: Answer, status: Mapping[str, Any], message: str, asked: Asked) -> ClusterError:
    """A 404 without details is a path that nobody serves; with details it is an object, or its namespace."""
    if not dig(status, "details", "name", default=""):
        return KindNotServed(
            f"{asked.what}: the API server does not serve this kind ({message})",
            hint="the operator that brings it is not installed (yet)",
        )
    return NotFound(
        f"{asked.what}: {message}",
        context={"resource": str(dig(status, "details", "kind", default="")), "name": str(status["details"]["name"])},
    )


def _conflict(_answer: Answer, status: Mapping[str, Any], message: str, asked: Asked) -> ClusterError:
    owners: dict[str, str] = {}
    for cause in causes_of(status):
        match = _OWNER.search(str(cause.get("message", "")))
        if cause.get("reason") == "FieldManagerConflict" and match is not None:
            owners[str(cause.get("field", ""))] = match[1]
    if owners:
        fields = ", ".join(f"{path} ({manager})" for path, manager in owners.items())
        return WriteConflict(f"{asked.what}: fields belong to others: {fields}", context=owners)
    return WriteConflict(f"{asked.what}: {message}")


def _busy(answer: Answer, _status: Mapping[str, Any], message: str, asked: Asked) -> ClusterError:
    context = _code(answer)
    if answer.retry_after:
        context["retry_after_s"] = answer.retry_after
    return ClusterBusy(
        f"{asked.what}: the API server asks to come back later: {message}", hint=_IN_A_MINUTE, context=context
    )


def _server_error(answer: Answer, status: Mapping[str, Any], message: str, asked: Asked) -> ClusterError:
    if any(words in message for words in _REFUSES_FOR_GOOD):
        return _refused(answer, status, message, asked)
    if any(words in message for words in _COMES_BACK):
        return ClusterBusy(f"{asked.what}: {message}", hint=_way_out(message), context=_code(answer))
    return ClusterError(
        f"{asked.what}: HTTP {answer.status_code}: {message}",
        hint="the API server's own log says more; run the same command again when it is well",
        context=_code(answer),
    )


def _way_out(message: str) -> str:
    """Name the webhook whose pods do not answer, and for the one that guards its own switch what to do about it."""
    silent = _SILENT_WEBHOOK.search(message)
    if silent is None:
        return _IN_A_MINUTE
    last = f"; if they stay away: {_SRIOV_WEBHOOK_OBJECTS}" if silent[1] == _OF_SRIOV else ""
    return f"{_IN_A_MINUTE}; the pods behind webhook {silent[1]} must answer{last}"


_Maker = Callable[[Answer, Mapping[str, Any], str, Asked], ClusterError]
_BY_CODE: Mapping[int, _Maker] = {
    400: _refused,
    401: _login,
    403: _forbidden,
    404: _not_found,
    409: _conflict,
    410: _busy,
    413: _refused,
    415: _refused,
    422: _refused,
    429: _busy,
    502: _busy,
    503: _busy,
    504: _busy,
}
