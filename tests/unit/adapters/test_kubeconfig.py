"""Kubeconfig files as people have them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from railwright.adapters import kubeconfig
from railwright.adapters.kubeconfig import read_login
from railwright.core.errors import UsageError


def a_kubeconfig(folder: Path, name: str = "config", **user: Any) -> str:
    content = {
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u", "namespace": "ns"}}],
        "clusters": [{"name": "c", "cluster": {"server": f"https://{name}:6443/", "certificate-authority": "ca.crt"}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / name
    path.write_text(yaml.safe_dump(content))
    return str(path)


def test_the_current_context_is_taken_and_paths_are_beside_the_file(tmp_path: Path) -> None:
    login = read_login(None, {"KUBECONFIG": a_kubeconfig(tmp_path, token="sha256~x")}, tmp_path)
    assert login.name == "config"
    assert login.server == "https://config:6443"
    assert login.token == "sha256~x"
    assert login.namespace == "ns"
    assert login.ca_file == str(tmp_path / "ca.crt")


def test_the_first_of_several_files_wins(tmp_path: Path) -> None:
    files = ":".join([a_kubeconfig(tmp_path, "one"), a_kubeconfig(tmp_path, "two"), str(tmp_path / "absent")])
    assert read_login(None, {"KUBECONFIG": files}, tmp_path).name == "one"
    second = read_login("two", {"KUBECONFIG": files}, tmp_path)
    assert (second.name, second.server) == ("two", "https://one:6443")


def test_the_file_in_the_home_directory_is_the_default(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    a_kubeconfig(tmp_path / ".kube")
    assert read_login(None, {}, tmp_path).name == "config"


def test_a_context_that_is_not_there_lists_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'other' is not in .*\(there: config\)"):
        read_login("other", {"KUBECONFIG": a_kubeconfig(tmp_path)}, tmp_path)


def test_no_kubeconfig_at_all_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        read_login(None, {}, tmp_path)
    assert "oc login" in error.value.hint


@pytest.mark.parametrize("text", ["- a\n", "a: [\n"])
def test_a_file_that_is_no_kubeconfig_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "broken").write_text(text)
    with pytest.raises(UsageError, match="broken"):
        read_login(None, {"KUBECONFIG": str(tmp_path / "broken")}, tmp_path)


def test_no_current_context_is_a_mistake_of_use(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("clusters: []\n")
    with pytest.raises(UsageError, match="no current context"):
        read_login(None, {"KUBECONFIG": str(tmp_path / "empty")}, tmp_path)


def test_an_exec_plugin_is_read_with_its_environment(tmp_path: Path) -> None:
    plugin = {"apiVersion": "v1", "command": "./bin/login", "args": ["a"], "env": [{"name": "N", "value": "v"}]}
    found = read_login(None, {"KUBECONFIG": a_kubeconfig(tmp_path, exec=plugin)}, tmp_path).plugin
    assert found is not None
    assert found.command == str(tmp_path / "bin" / "login")
    assert (found.args, found.env) == (("a",), (("N", "v"),))


def test_inside_a_pod_the_service_account_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("t")
    (tmp_path / "namespace").write_text("here\n")
    monkeypatch.setattr(kubeconfig, "SERVICE_ACCOUNT", tmp_path)
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    login = read_login(None, environment, tmp_path)
    assert login.server == "https://[fd00::1]:443"
    assert (login.namespace, login.token_file) == ("here", str(tmp_path / "token"))


@pytest.mark.parametrize("content", [b"a" * ((4 << 20) + 1), b"\x00", b"a: \xff", b"[" * 100_000, b"- 1"])
def test_a_file_that_is_no_kubeconfig_is_refused_in_no_time_and_with_the_next_step(tmp_path, content):
    (tmp_path / "config").write_bytes(content)
    with pytest.raises(UsageError, match="not a kubeconfig") as said:
        read_login(None, {"KUBECONFIG": str(tmp_path / "config")}, tmp_path)
    assert "oc login" in said.value.hint
