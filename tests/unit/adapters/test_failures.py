"""Nothing that the HTTP client raises leaves the adapters as it is."""

import inspect
import socket
import ssl

import httpx2
import httpx2.websockets
import pytest

from railwright.adapters.failures import FOREIGN, unreachable
from railwright.core.errors import ClusterUnreachable

SERVER = "https://api.example.com:6443"


def exceptions_of(module: object) -> list[type[BaseException]]:
    found = [value for _, value in inspect.getmembers(module, inspect.isclass) if issubclass(value, BaseException)]
    assert found
    return found


@pytest.mark.parametrize("kind", [*exceptions_of(httpx2), *exceptions_of(httpx2.websockets)])
def test_every_exception_of_the_client_is_caught_by_the_roots_we_catch(kind: type[BaseException]) -> None:
    assert issubclass(kind, FOREIGN)


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (ssl.SSLCertVerificationError("unable to get local issuer certificate"), "is not trusted"),
        (socket.gaierror(-2, "Name or service not known"), "is not found"),
        (ConnectionRefusedError(111, "refused"), "refuses connections"),
        (ConnectionResetError(104, "reset"), "cut the connection"),
        (ssl.SSLError("WRONG_VERSION_NUMBER"), "TLS with"),
        (OSError(113, "No route to host"), "No route to host"),
    ],
)
def test_the_reason_under_the_client_s_words_is_said(cause: OSError, words: str) -> None:
    cause_of = httpx2.ConnectError(str(cause))
    cause_of.__cause__ = cause
    found = unreachable(cause_of, "list Node", SERVER)
    assert type(found) is ClusterUnreachable
    assert words in found.message
    assert "list Node" in found.message
    assert found.context == {"server": SERVER}
    assert found.hint


@pytest.mark.parametrize("error", [httpx2.ReadTimeout("x"), httpx2.ConnectTimeout("x"), TimeoutError()])
def test_a_server_that_does_not_answer_is_told_from_one_that_is_not_there(error: Exception) -> None:
    assert "no answer from" in unreachable(error, "get Node a", SERVER).message


def test_a_wait_that_tls_was_in_is_no_failure_of_tls() -> None:
    late = httpx2.ReadTimeout("x")
    late.__context__ = ssl.SSLWantReadError("The operation did not complete (read)")
    assert "no answer from" in unreachable(late, "exec in a/b", SERVER).message


def test_a_login_page_in_place_of_json_is_said_so() -> None:
    assert "not JSON" in unreachable(ValueError("x"), "get Node a", SERVER).message


def test_the_members_of_a_group_are_looked_at() -> None:
    group = BaseExceptionGroup("streams", [ConnectionResetError(104, "reset")])
    assert "cut the connection" in unreachable(group, "exec", SERVER).message


def test_a_proxy_that_fails_is_named() -> None:
    assert "the proxy" in unreachable(httpx2.ProxyError("407"), "get Node a", SERVER).message
