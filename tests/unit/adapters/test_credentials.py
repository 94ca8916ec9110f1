"""Exec plugins: run when needed, kept until they expire or are refused."""

import json
import ssl
import stat
from pathlib import Path

import httpx2
import pytest

from railwright.adapters.credentials import Plugin, TokenFile, authentication, exec_info, parse_credential
from railwright.adapters.kubeconfig import ExecPlugin, Login
from railwright.core.errors import LoginExpired, UsageError

V1 = "client.authentication.k8s.io/v1"


def a_plugin(folder: Path, script: str, api_version: str = V1) -> ExecPlugin:
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return ExecPlugin(str(path), (), (("WHO", "me"),), api_version, wants_cluster=True, install_hint="install it")


def a_login(plugin: ExecPlugin) -> Login:
    return Login(name="c", server="https://c:6443", tls_server_name="real", plugin=plugin)


async def asked(auth: httpx2.Auth, refuse: tuple[str, ...] = (), times: int = 1) -> list[str]:
    """Tokens that the server saw; those in `refuse` get a 401."""
    seen: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers.get("Authorization", ""))
        return httpx2.Response(401 if seen[-1] in refuse else 200)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer), auth=auth) as client:
        for _ in range(times):
            await client.get("https://c:6443/version")
    return seen


COUNTING = """
n=$(cat "$0.count" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > "$0.count"
echo "{\\"kind\\": \\"ExecCredential\\", \\"status\\": {\\"token\\": \\"$WHO-$n\\" EXPIRES}}"
"""


@pytest.mark.parametrize("api_version", [V1, "client.authentication.k8s.io/v1beta1"])
async def test_a_plugin_is_asked_once_for_many_requests(tmp_path: Path, api_version: str) -> None:
    plugin = a_plugin(tmp_path, COUNTING.replace("EXPIRES", ""), api_version)
    auth = Plugin(a_login(plugin), plugin, ssl.create_default_context())
    assert await asked(auth, times=2) == ["Bearer me-1", "Bearer me-1"]


async def test_a_credential_that_expired_is_asked_for_again(tmp_path: Path) -> None:
    past = ', \\"expirationTimestamp\\": \\"2020-01-01T00:00:00Z\\"'
    plugin = a_plugin(tmp_path, COUNTING.replace("EXPIRES", past))
    auth = Plugin(a_login(plugin), plugin, ssl.create_default_context())
    assert await asked(auth, times=2) == ["Bearer me-1", "Bearer me-2"]


async def test_a_refused_credential_is_asked_for_once_more(tmp_path: Path) -> None:
    plugin = a_plugin(tmp_path, COUNTING.replace("EXPIRES", ""))
    auth = Plugin(a_login(plugin), plugin, ssl.create_default_context())
    assert await asked(auth, refuse=("Bearer me-1",)) == ["Bearer me-1", "Bearer me-2"]


async def test_a_plugin_that_fails_is_an_expired_login_with_its_words(tmp_path: Path) -> None:
    plugin = a_plugin(tmp_path, "echo no session >&2; exit 3")
    with pytest.raises(LoginExpired, match="ended with 3: no session"):
        await asked(Plugin(a_login(plugin), plugin, ssl.create_default_context()))


async def test_a_plugin_that_is_not_installed_shows_its_hint(tmp_path: Path) -> None:
    plugin = ExecPlugin(str(tmp_path / "absent"), (), (), V1, wants_cluster=False, install_hint="install it")
    with pytest.raises(UsageError) as error:
        await asked(Plugin(a_login(plugin), plugin, ssl.create_default_context()))
    assert error.value.hint == "install it"


async def test_an_unknown_plugin_version_is_refused(tmp_path: Path) -> None:
    plugin = a_plugin(tmp_path, "true", "client.authentication.k8s.io/v1alpha1")
    with pytest.raises(UsageError, match="v1alpha1"):
        await asked(Plugin(a_login(plugin), plugin, ssl.create_default_context()))


@pytest.mark.parametrize("text", ["no json", "[]", '{"status": {}}', '{"status": {"expirationTimestamp": "soon"}}'])
def test_what_is_no_credential_is_an_expired_login(text: str) -> None:
    with pytest.raises(LoginExpired):
        parse_credential(text, "plugin")


def test_a_plugin_hears_of_the_cluster_only_when_it_asked(tmp_path: Path) -> None:
    plugin = a_plugin(tmp_path, "true")
    info = exec_info(a_login(plugin), plugin)
    assert info["spec"]["cluster"] == {"server": "https://c:6443", "tls-server-name": "real"}
    shy = ExecPlugin("x", (), (), V1, wants_cluster=False, install_hint="")
    assert "cluster" not in json.dumps(exec_info(a_login(shy), shy))


async def test_a_token_file_is_read_for_every_request(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    auth = TokenFile(file)
    assert await asked(auth) == ["Bearer one"]
    file.write_text("two\n")
    assert await asked(auth) == ["Bearer two"]
    file.unlink()
    with pytest.raises(LoginExpired):
        await asked(auth)


async def test_a_static_token_and_a_password_are_sent(tmp_path: Path) -> None:
    context = ssl.create_default_context()
    token = authentication(Login(name="c", server="", token="t"), context)
    password = authentication(Login(name="c", server="", username="u", password="p"), context)
    assert token is not None
    assert password is not None
    assert await asked(token) == ["Bearer t"]
    assert await asked(password) == ["Basic dTpw"]
    assert authentication(Login(name="c", server=""), context) is None
