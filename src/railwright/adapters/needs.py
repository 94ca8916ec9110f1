"""What talking to an API server takes before any object is meant, and what looking into nodes takes."""

from railwright.adapters.nodes import DOORS
from railwright.core.kinds import POD
from railwright.core.needs import Need, of_kind

_URLS = ("/api", "/api/*", "/apis", "/apis/*", "/version")
"""What `Serving` and `LiveCluster.version` ask for; kube-apiserver lets everybody who logged in, unless it was changed."""


def client_needs() -> tuple[Need, ...]:
    """Find out what is served, and where."""
    return tuple(Need("", url, "get") for url in _URLS)


def asking_needs() -> tuple[Need, ...]:
    """Ask whether we may, before the first write."""
    return (Need("authorization.k8s.io", "selfsubjectaccessreviews", "create"),)


def door_needs() -> tuple[Need, ...]:
    """
    Look into nodes through privileged pods, which makes root of whoever may.

    A websocket is opened with GET, so that older servers ask for `get`; newer ones ask for `create` as well.
    Measured: kube-apiserver 1.36.3, 2026-11-30, tests/bed/test_rbac.py.
    """
    return tuple(need for door in DOORS for need in _door(door.namespace))


def _door(namespace: str) -> tuple[Need, ...]:
    return (*of_kind("list", POD, namespace), *exec_needs(namespace))


def exec_needs(namespace: str) -> tuple[Need, ...]:
    """Run commands in containers of a namespace."""
    return tuple(Need("", "pods/exec", verb, namespace) for verb in ("create", "get"))
