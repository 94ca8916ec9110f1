"""
What goes wrong before an API server answers, as one of our errors: names, connections, certificates, time. Pure.

In: an exception of the HTTP client or of the operating system. Out: an error of core.errors, never raised here.
"""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
from httpx2.websockets import HTTPXWSException

from railwright.core.errors import ClusterError, ClusterUnreachable

FOREIGN = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.CookieConflict,
    httpx2.StreamError,
    httpx2.SSEError,
    HTTPXWSException,
    OSError,
    ValueError,
)
"""Roots of everything that the client raises; ValueError is an answer that is no JSON. A test enumerates them."""


def unreachable(error: BaseException, what: str, server: str) -> ClusterError:
    """
    Say why there was no answer.

    Args:
        error: one of FOREIGN, or a group of them.
        what: what was asked, in words: "list Node".
        server: the URL that was asked, without credentials.
    """
    reason, hint = _reason(error, server)
    return ClusterUnreachable(f"{what}: {reason}", hint=hint, context={"server": server})


@contextmanager
def understood(what: str, server: str) -> Iterator[None]:
    """
    Take an answer apart; one that has not the form of an API server's answer is from something else.

    Raises:
        ClusterUnreachable: most often a login page or a proxy answers in the API server's place.
    """
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        detail = "something that is not JSON" if isinstance(error, ValueError) else "JSON that no API server writes"
        raise ClusterUnreachable(
            f"{what}: {server} answered {detail} ({type(error).__name__}: {str(error)[:200]})",
            hint="is it the API server, or a login page or proxy before it?",
            context={"server": server},
        ) from error


def _reason(error: BaseException, server: str) -> tuple[str, str]:
    for inner in _chain(error):
        if isinstance(inner, ssl.SSLCertVerificationError):
            why = getattr(inner, "verify_message", "") or str(inner)
            return (
                f"the certificate of {server} is not trusted: {why}",
                "compare certificate-authority-data of the kubeconfig with the cluster's",
            )
        if isinstance(inner, socket.gaierror):
            return f"the name in {server} is not found ({inner.strerror})", "is the VPN or the DNS server there?"
        if isinstance(inner, ConnectionRefusedError):
            return f"{server} refuses connections", "is the API server, or the tunnel to it, running?"
        if isinstance(inner, ConnectionResetError):
            return f"{server} cut the connection", "try again"
        if isinstance(inner, ssl.SSLError) and not isinstance(inner, ssl.SSLWantReadError | ssl.SSLWantWriteError):
            why = getattr(inner, "reason", None) or str(inner)
            return f"TLS with {server} failed: {why}", "is a proxy between here and the cluster?"
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return f"no answer from {server} in time", "is the API server overloaded, or a firewall dropping packets?"
    if isinstance(error, httpx2.ProxyError):
        return f"the proxy on the way to {server} failed: {error}", "check proxy-url and HTTPS_PROXY"
    if isinstance(error, ValueError) and not isinstance(error, httpx2.DecodingError):
        return f"{server} answered something that is not JSON", "is it the API server, or a login page before it?"
    return f"talking to {server} failed: {type(error).__name__} {error}".rstrip(), "try again"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Walk an error, the members of a group, and what each came from."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            waiting += list(current.exceptions)
