"""What the adapter does when the API server misbehaves; what it does otherwise is in tests/contract."""

import asyncio
import itertools
from typing import Any

import httpx2
import pytest
from unit.adapters.an_api_server import CORE, LOGIN, Lines, a_cluster, status

from railwright.adapters import paging, transport, watching
from railwright.core.errors import ClusterBusy, ClusterUnreachable, KindNotServed, PermissionMissing
from railwright.core.kinds import CONFIG_MAP, NODE
from railwright.core.objects import Ref
from railwright.ports.cluster import Selection


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "pause_s", lambda *_: 0.0)
    monkeypatch.setattr(watching, "pause_s", lambda *_: 0.0)
    monkeypatch.setattr(watching, "BETWEEN_STREAMS_S", 0.0)


def a_node(version: str, name: str = "w") -> dict[str, Any]:
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "resourceVersion": version}}


async def test_a_list_is_read_page_by_page_and_items_get_their_kind() -> None:
    asked: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/api/v1":
            return httpx2.Response(200, json=CORE)
        asked.append(request.url.params.get("continue", ""))
        token = {"": "page2", "page2": ""}[asked[-1]]
        return httpx2.Response(200, json={"metadata": {"continue": token}, "items": [{"metadata": {"name": "n"}}]})

    listed = [obj async for obj in a_cluster(handler).list(Selection(NODE))]
    assert asked == ["", "page2"]
    assert [(obj["apiVersion"], obj["kind"]) for obj in listed] == [("v1", "Node")] * 2


@pytest.mark.parametrize(
    ("token_of_page", "items", "said", "most"),
    [
        (lambda _page: "same", 1, "a page that it gave before", 2),
        (lambda page: "ab"[page % 2], 1, "a page that it gave before", 3),
        (str, 0, "more than 100 empty pages", 101),
        (str, 1, "more than 300 pages", 300),
    ],
    ids=["the same page", "two pages in turn", "empty pages", "pages"],
)
@pytest.mark.parametrize("kind", [NODE, CONFIG_MAP], ids=lambda kind: kind.kind)
async def test_a_list_that_does_not_end_is_an_error(monkeypatch, kind, token_of_page, items, said, most) -> None:
    monkeypatch.setattr(paging, "MOST_PAGES", 300)
    pages = itertools.count()
    asked: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/api/v1":
            return httpx2.Response(200, json=CORE)
        asked.append(request.url.params.get("continue", ""))
        found = [{"metadata": {"name": "n"}}] * items
        return httpx2.Response(200, json={"metadata": {"continue": token_of_page(next(pages))}, "items": found})

    with pytest.raises(ClusterUnreachable, match="the list does not end: .* " + said):
        [obj async for obj in a_cluster(handler).list(Selection(kind, brief=True))]
    assert len(asked) == most


async def test_a_page_may_be_empty_and_have_a_next_one() -> None:
    tokens = {"": "a", "a": "b", "b": ""}

    def handler(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/api/v1":
            return httpx2.Response(200, json=CORE)
        token = tokens[request.url.params.get("continue", "")]
        found = [] if token else [{"metadata": {"name": "n"}}]
        return httpx2.Response(200, json={"metadata": {"continue": token}, "items": found})

    assert len([obj async for obj in a_cluster(handler).list(Selection(NODE))]) == 1


async def test_a_read_is_tried_again_when_the_server_is_busy() -> None:
    answers = iter([status(429, "slow down"), status(500, "etcdserver: leader changed")])
    cluster = a_cluster(lambda _: next(answers, httpx2.Response(200, json={"gitVersion": "v1.33.4"})))
    assert await cluster.version() == "v1.33.4"


async def test_an_answer_without_end_is_cut_off_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "ANSWER_LIMIT_BYTES", 8)
    with pytest.raises(ClusterUnreachable, match="answers with more than"):
        await a_cluster(lambda _: httpx2.Response(200, json={"gitVersion": "v1.33.4"})).version()


async def test_a_server_that_stays_busy_is_reported_after_a_few_attempts() -> None:
    asked: list[httpx2.Request] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return status(503, "no")

    with pytest.raises(ClusterBusy):
        await a_cluster(handler).version()
    assert len(asked) == transport.READ_ATTEMPTS


async def test_a_write_is_sent_once_only() -> None:
    asked: list[str] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(200, json=CORE)
        asked.append(request.method)
        raise httpx2.ReadError("reset")

    with pytest.raises(ClusterUnreachable):
        await a_cluster(handler).patch(Ref(NODE, "", "n"), {})
    assert asked == ["PATCH"]


async def test_a_request_that_hangs_ends_at_its_deadline() -> None:
    async def handler(_: httpx2.Request) -> httpx2.Response:
        await asyncio.Event().wait()
        raise AssertionError

    line = transport.Transport(LOGIN, transport=httpx2.MockTransport(handler))
    with pytest.raises(ClusterUnreachable, match="no answer from"):
        await line.json(transport.Request("PATCH", "/x", "apply x"), limit_s=0.05)


async def test_a_login_page_in_place_of_json_is_unreachable_not_a_crash() -> None:
    with pytest.raises(ClusterUnreachable, match="not JSON"):
        await a_cluster(lambda _: httpx2.Response(200, text="<html>")).version()


async def test_a_definition_that_was_deleted_is_looked_up_anew() -> None:
    looked_up = 0

    def handler(request: httpx2.Request) -> httpx2.Response:
        nonlocal looked_up
        if request.url.path == "/api/v1":
            looked_up += 1
            return httpx2.Response(200, json=CORE)
        return httpx2.Response(404, text="404 page not found")

    cluster = a_cluster(handler)
    for _ in range(2):
        with pytest.raises(KindNotServed):
            await cluster.get(Ref(NODE, "", "n"))
    assert looked_up == 2


@pytest.mark.parametrize(
    ("root", "answer"),
    [
        ("/api", {"kind": "APIVersions", "versions": ["v1"]}),
        (
            "/api",
            {
                "kind": "APIGroupDiscoveryList",
                "items": [
                    {
                        "metadata": {"name": ""},
                        "versions": [
                            {
                                "version": "v1",
                                "resources": [
                                    {
                                        "resource": "configmaps",
                                        "scope": "Namespaced",
                                        "responseKind": {"kind": "ConfigMap"},
                                    }
                                ],
                            }
                        ],
                    }
                ],
            },
        ),
    ],
)
async def test_both_forms_of_discovery_are_read(root: str, answer: dict[str, Any]) -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        empty = {"kind": "APIGroupList", "groups": []}
        return httpx2.Response(200, json={root: answer, "/api/v1": CORE}.get(request.url.path, empty))

    served = await a_cluster(handler).served_kinds()
    assert ("configmaps", True) in [(each.plural, each.namespaced) for each in served if each.kind == CONFIG_MAP]


class Watched:
    """A collection at version 5 whose streams are given one after the other."""

    def __init__(self, *streams: httpx2.Response | Lines) -> None:
        self.streams = iter(streams)
        self.from_versions: list[str] = []
        self.listed = 0
        self.exhausted = asyncio.Event()

    async def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/api/v1":
            return httpx2.Response(200, json=CORE)
        if "watch" not in request.url.params:
            self.listed += 1
            return httpx2.Response(200, json={"metadata": {"resourceVersion": str(4 + self.listed)}, "items": []})
        self.from_versions.append(request.url.params["resourceVersion"])
        stream = next(self.streams, None)
        if stream is None:
            self.exhausted.set()
            await asyncio.Event().wait()
        if isinstance(stream, httpx2.Response):
            return stream
        return httpx2.Response(200, stream=stream)


async def seen_by(watched: Watched) -> list[str]:
    async with a_cluster(watched).watch([Selection(NODE)]) as watch:
        seen = [each.obj["metadata"]["name"] for each in await watch.next(1)]
        await watched.exhausted.wait()
    return seen


async def test_a_stream_that_ends_goes_on_from_the_last_bookmark() -> None:
    watched = Watched(
        Lines({"type": "BOOKMARK", "object": a_node("9")}), Lines({"type": "ADDED", "object": a_node("11")})
    )
    assert await seen_by(watched) == ["w"]
    assert watched.from_versions == ["5", "9", "11"]


async def test_a_stream_that_breaks_goes_on_from_the_last_event() -> None:
    broken = Lines({"type": "ADDED", "object": a_node("7")}, then=httpx2.ReadError("reset"))
    watched = Watched(broken)
    assert await seen_by(watched) == ["w"]
    assert watched.from_versions == ["5", "7"]
    assert watched.listed == 1


@pytest.mark.parametrize(
    "too_old",
    [
        Lines({"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}),
        status(410, "too old resource version"),
    ],
)
async def test_a_version_that_is_too_old_wakes_the_caller_with_nothing(too_old: httpx2.Response | Lines) -> None:
    watched = Watched(too_old)
    assert await seen_by(watched) == []
    assert watched.from_versions == ["5", "6"]
    assert watched.listed == 2


async def test_a_right_that_is_taken_away_ends_the_watch_with_its_error() -> None:
    with pytest.raises(PermissionMissing):
        await seen_by(Watched(status(403, "forbidden")))


async def test_a_deletion_is_seen_as_gone() -> None:
    watched = Watched(Lines({"type": "DELETED", "object": a_node("7")}))
    async with a_cluster(watched).watch([Selection(NODE)]) as watch:
        assert [each.gone for each in await watch.next(1)] == [True]
