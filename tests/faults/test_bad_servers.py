"""Servers that answer badly, over real HTTP: each command ends in time, with its exit code and words for a person."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from support.http_api import Call, HttpApi, Saboteur, answered, drip, honest, http_api
from support.stepped_http import Yes, state, world_of

from railwright.adapters import cluster as live
from railwright.adapters import transport
from railwright.adapters.transport import Transport
from railwright.catalog.load import load_catalog
from railwright.cli.app import main
from railwright.core.errors import ClusterBusy, RailwrightError
from railwright.core.ids import StageName
from railwright.core.objects import KubeObject, Ref, dig
from railwright.core.verdicts import Verdict
from railwright.intent.parse import parse_intents
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.model import ApplyRecord
from railwright.ports.progress import Silent

RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: shared, fabric: roce, workloadNamespaces: [training]}
"""
CONTEXT = "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x"
COMMANDS = ("discover", "plan -f rails.yaml", "apply --yes -f rails.yaml", "status", "clean --yes")
UNKNOWN_FIELD = "failed to create typed patch object (x): .spec.y: field not declared in schema"
WEBHOOK = 'Internal error occurred: failed calling webhook "operator-webhook": connect: connection refused'
FORBIDDEN = 'nodes is forbidden: User "bob" cannot get path "/version"'


def answering(code: int, message: str = "", reason: str = "", **headers: str) -> Saboteur:
    return lambda call: call.status(code, message, reason, **headers)


def saying(body: bytes, code: int = 200, kind: str = "application/json", **headers: str) -> Saboteur:
    def answer(call: Call) -> bool:
        call.send(code, body, kind, **headers)
        return True

    return answer


SERVERS: dict[str, tuple[Saboteur, str, str]] = {
    "login expired": (answering(401, "Unauthorized"), "login-expired", "oc login"),
    "a login page": (saying(b"<html>log in</html>", 401, "text/html"), "login-expired", "oc login"),
    "sent to a login page": (saying(b"", 302, Location="https://login.example.com/"), "login-expired", "login.example"),
    "forbidden": (answering(403, FORBIDDEN), "permission-missing", "bob"),
    "nothing there": (answering(404, "the server could not find it"), "cluster-unreachable", "is no API server"),
    "a conflict": (answering(409, "the object has been modified"), "write-conflict", "has been modified"),
    "busy": (answering(429, "too many requests", Retry_After="1"), "cluster-busy", "come back later"),
    "busy for a day": (answering(429, "too many requests", Retry_After="86400"), "cluster-busy", "in a minute"),
    "busy until a date": (answering(429, "no", Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"), "cluster-busy", "later"),
    "broken": (answering(500, "boom"), "cluster", "HTTP 500: boom"),
    "unavailable": (answering(503, "shutting down"), "cluster-busy", "shutting down"),
    "cuts": (Call.cut, "cluster-unreachable", "without sending a response"),
    "cuts in the middle": (lambda call: call.cut(after=b'{"items": ['), "cluster-unreachable", "closed connection"),
    "hangs": (Call.hang, "cluster-unreachable", "in time"),
    "drips": (drip, "cluster-unreachable", "in time"),
    "a web page": (saying(b"<html>hello</html>", kind="text/html"), "cluster-unreachable", "not JSON"),
    "half of an answer": (saying(b'{"kind": "List", "items": ['), "cluster-unreachable", "not JSON"),
    "nothing in it": (saying(b""), "cluster-unreachable", "not JSON"),
    "a list": (saying(b"[1]"), "cluster-unreachable", "a list where an object was expected"),
    "another API": (saying(b'{"items": [null]}'), "cluster-unreachable", "no API server writes"),
}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(transport, "pause_s", lambda *_: 0.001)
    monkeypatch.setattr(live, "VERSION_LIMIT_S", 0.5)
    Path("rails.yaml").write_text(RAILS)


def ended(
    api: HttpApi, command: str, monkeypatch: pytest.MonkeyPatch, told: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Run a command against a server: its exit code, result and words."""
    monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(Path.cwd())))
    code = main(command.split())
    out, words = told.readouterr()
    assert "Traceback" not in words
    assert "a bug of railwright" not in words
    return code, out, words


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_that_never_answers_well_is_named_with_what_it_said(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    saboteur, code, expected = SERVERS[name]
    with http_api(saboteur) as api:
        exit_code, out, words = ended(api, "plan -f rails.yaml", monkeypatch, capsys)
        assert len(api.asked) <= transport.READ_ATTEMPTS, "asked again and again"
    assert (exit_code, out) == (3, "")
    assert words.splitlines()[0].startswith(f"error: {code}  (exit 3")
    assert expected in words


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["login expired", "busy", "cuts", "hangs", "a web page"])
def test_every_command_ends_soon_with_exit_3(
    command: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with http_api(SERVERS[name][0]) as api:
        assert ended(api, command, monkeypatch, capsys)[:2] == (3, "")
        assert not [line for line in api.asked if not line.startswith("GET")]


def test_a_definition_that_is_not_served_is_a_fact_and_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_machine_configs(call: Call) -> bool:
        return "machineconfiguration" in call.path and call.status(404, "the server could not find it")

    with http_api(without_machine_configs) as api:
        code, out, _ = ended(api, "discover", monkeypatch, capsys)
    assert code == 6
    assert "MachineConfigPool" in out
    assert "does not serve this kind" in out


def test_a_read_that_is_forbidden_names_the_permission_and_is_never_an_empty_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = 'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope'

    def without_nodes(call: Call) -> bool:
        return call.where == "/api/v1/nodes" and call.status(403, words, "Forbidden")

    with http_api(without_nodes) as api:
        code, out, _ = ended(api, "discover", monkeypatch, capsys)
        assert code == 6
        assert "bob may not list nodes" in out
        assert ended(api, "apply --yes -f rails.yaml", monkeypatch, capsys)[0] in {3, 7}


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "false"}}, "ended with 1"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "nosuch-plugin"}}, "cannot be run"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "echo"}}, "no ExecCredential"),
        ({"exec": {"apiVersion": "v0", "command": "true"}}, "exec plugin speaks"),
        ({"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}, "names no command"),
        ({"tokenFile": "nosuch"}, "nosuch"),
        ({"client-certificate": "nosuch.pem", "client-key": "nosuch.key"}, "cannot be used"),
        ({"client-certificate-data": "!!", "client-key-data": "!!"}, "cannot be used"),
    ],
)
def test_a_login_that_cannot_be_had_is_named(
    user: dict[str, object], expected: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with http_api() as api:
        monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(Path.cwd(), **user)))
        assert main(["status"]) in {2, 3}
        assert api.asked == []
    words = capsys.readouterr().err
    assert expected in words
    assert "Traceback" not in words
    assert "a bug of railwright" not in words


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "no current context"),
        ("a: [", "not a kubeconfig"),
        ("- 1", "not a kubeconfig"),
        ("current-context: x", "context 'x' is not in"),
        ("contexts: 7", "not a kubeconfig"),
        ("contexts: [7]", "not a kubeconfig"),
        ("clusters: [{name: c, cluster: 3}]", "not a kubeconfig"),
        (
            "clusters: [{name: c, cluster: {}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x",
            "server",
        ),
        (f"clusters: [{{name: c, cluster: {{server: nonsense}}}}]\n{CONTEXT}", "server"),
        (f"clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:1'}}}}]\n{CONTEXT}", "refuses connections"),
        ("\x00\x01", "not a kubeconfig"),
    ],
)
def test_a_bad_kubeconfig_is_named_with_what_is_wrong_in_it(
    content: str, expected: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("config").write_text(content)
    monkeypatch.setenv("KUBECONFIG", "config")
    assert main(["status"]) in {2, 3}
    words = capsys.readouterr().err
    assert expected in words
    assert "Traceback" not in words
    assert "a bug of railwright" not in words


# --- in the middle of an apply ------------------------------------------------------------------------------------


async def applied(api: HttpApi, until: str = "operators-installed") -> ApplyRecord:
    async with world_of(api) as world:
        stage = StageName(until)
        return await apply_fabrics(world, parse_intents(RAILS), load_catalog(), Silent(), Yes(), until=stage)


def first_of_each_write(saboteur: Saboteur) -> Saboteur:
    """Sabotage the first write to each object, and no other."""
    seen: set[str] = set()

    def sabotage(call: Call) -> bool:
        key = f"{call.command} {call.where}"
        if call.command == "GET" or key in seen:
            return False
        seen.add(key)
        return saboteur(call)

    return sabotage


def lost(call: Call) -> bool:
    """Do what was asked, and cut the connection before the answer."""
    with call.server.lock, suppress(RailwrightError):
        asyncio.run(answered(call.server.cluster, call))
    return call.cut()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[Ref, KubeObject]:
    with pytest.MonkeyPatch.context() as patched, http_api() as api:
        patched.chdir(tmp_path_factory.mktemp("undisturbed"))
        assert [record.verdict for record in asyncio.run(applied(api)).stages][-1] is Verdict.PASS
        return state(api)


BREAKS: dict[str, Saboteur] = {
    "busy": answering(429, "too many requests", Retry_After="1"),
    "unavailable": answering(503, "etcd leader changed"),
    "a webhook that does not answer": answering(500, WEBHOOK),
    "cut before": Call.cut,
    "cut after": lost,
    "object moved": lambda call: (
        bool(dig(call.body, "metadata", "resourceVersion")) and call.status(409, "the object has been modified")
    ),
    "half of an answer": lambda call: call.cut(after=b"{"),
    "hangs": Call.hang,
}


@pytest.mark.parametrize("name", BREAKS)
async def test_an_apply_whose_every_write_breaks_once_ends_in_the_same_state(
    name: str, undisturbed: dict[Ref, KubeObject], monkeypatch: pytest.MonkeyPatch
) -> None:
    for method in (Transport.json, Transport.content):
        monkeypatch.setitem(method.__kwdefaults__, "limit_s", 0.25 if name == "hangs" else 30.0)
    with http_api(first_of_each_write(BREAKS[name])) as api:
        record = await applied(api)
        assert record.stages[-1].verdict is Verdict.PASS, record.stages[-1].reason
        assert state(api) == undisturbed


async def test_a_field_that_the_server_does_not_know_is_sent_once_and_named(
    undisturbed: dict[Ref, KubeObject],
) -> None:
    def unknown_field(call: Call) -> bool:
        return call.command == "PATCH" and "subscriptions" in call.where and call.status(500, UNKNOWN_FIELD)

    with http_api(unknown_field) as api:
        record = await applied(api)
        assert record.stages[-1].verdict is Verdict.FAIL
        assert "field not declared in schema" in record.stages[-1].reason
        sent = [line for line in api.asked if line.startswith("PATCH") and "subscriptions" in line]
        assert len(sent) == len(set(sent)), "what is refused for good was sent again"
        api.saboteur = honest
        assert (await applied(api)).stages[-1].verdict is Verdict.PASS
        assert state(api) == undisturbed


async def test_a_server_that_is_busy_for_ever_ends_an_apply_in_minutes_with_what_it_waits_for() -> None:
    def busy_with_subscriptions(call: Call) -> bool:
        return call.command == "PATCH" and "subscriptions" in call.where and call.status(503, "shutting down")

    with http_api(busy_with_subscriptions) as api:
        began_s = api.cluster.engine.elapsed_s
        with pytest.raises(ClusterBusy, match=r"apply Subscription .*shutting down"):
            await applied(api)
        assert api.cluster.engine.elapsed_s - began_s < 3600
