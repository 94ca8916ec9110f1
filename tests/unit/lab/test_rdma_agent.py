"""The agent over standard input and output, as on a host with its own soft-RoCE; and a pod's endpoint on top of it."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from railwright.adapters.clock import RealClock
from railwright.core.errors import ClusterUnreachable
from railwright.dataplane.model import EngineRequest, EvidenceRequest, Meeting, PerftestRequest, RailEnd
from railwright.lab.rdma.endpoints import PodEndpoint, Spoiling
from railwright.lab.rdma.machine import Link
from railwright.lab.rdma.topology import Shape, pods

POD = pods(Shape("shared"))[0]


@pytest_asyncio.fixture
async def link() -> AsyncIterator[Link]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "railwright.lab.rdma.guest.agent"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    opened = Link(process.stdout, process.stdin)
    try:
        await opened.greeting(60.0)
        yield opened
    finally:
        await opened.close()
        await process.wait()


async def test_shell_text_runs_and_its_end_is_told(link: Link) -> None:
    done = await link.shell("echo out; echo err >&2; exit 3")
    assert (done.exit_code, done.out, done.err) == (3, "out\n", "err\n")


async def test_shell_text_that_hangs_is_ended(link: Link) -> None:
    assert (await link.shell("echo begun; sleep 60", timeout_s=0.3)).exit_code is None


async def test_a_failing_line_of_a_set_up_is_an_error_with_its_words(link: Link) -> None:
    with pytest.raises(ClusterUnreachable, match="no such thing"):
        await link.must("echo no such thing >&2; false; echo never")


async def test_requests_run_at_the_same_time(link: Link) -> None:
    first = asyncio.create_task(link.shell("sleep 60", timeout_s=60.0))
    assert (await link.shell("echo second")).out == "second\n"
    assert not first.done()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_shell_text_that_is_cancelled_ends_with_all_that_it_has_started(link: Link, tmp_path: Path) -> None:
    told = tmp_path / "child"
    first = asyncio.create_task(link.shell(f"sleep 60 & echo $! >{told}.new; mv {told}.new {told}; wait"))
    while not told.exists():
        await RealClock().sleep(0.01)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert (
        await link.shell(f"while kill -0 {told.read_text().strip()}; do sleep 0.01; done", timeout_s=10.0)
    ).exit_code == 0


async def test_a_half_runs_and_replies(link: Link) -> None:
    said = await link.probe({"probe": "evidence"}, {}, timeout_s=30.0)
    assert (said["probe"], said["evidence"]["user_id"] >= 0) == ("evidence", True)


async def test_an_endpoint_gives_a_reply_whatever_happens(link: Link) -> None:
    """No such namespace here: the half cannot be put in its place, and that is its answer."""
    reply = await PodEndpoint(link, POD).run(EvidenceRequest(), timeout_s=30.0)
    assert reply.problem is not None
    assert reply.problem.code == "not-permitted"


class _DeadLink:
    """A link whose halves are killed, or that answers nonsense."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self._answer = answer

    async def probe(self, *_: object, **__: object) -> dict[str, Any]:
        """Answer."""
        return self._answer


REQUEST = EngineRequest(Meeting("listen", "10.99.0.1", 20000), RailEnd())


@pytest.mark.parametrize(("answer", "code"), [({}, "died"), ({"probe": "engine", "speed": 1}, "timed-out")])
async def test_no_answer_is_a_problem_and_never_an_exception(answer: dict[str, Any], code: str) -> None:
    reply = await PodEndpoint(_DeadLink(answer), POD).run(REQUEST, timeout_s=1.0)  # type: ignore[arg-type]
    assert reply.problem is not None
    assert (reply.problem.code, reply.role) == (code, "listen")


async def test_what_a_fault_starts_beside_a_half_ends_with_it() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def beside(_: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    class Waits(_DeadLink):
        async def probe(self, *_: object, **__: object) -> dict[str, Any]:
            await begun.wait()
            return {}

    await PodEndpoint(Waits({}), POD, Spoiling(meanwhile=beside)).run(REQUEST, timeout_s=1.0)  # type: ignore[arg-type]
    assert ended.is_set()


async def test_acknowledgements_get_the_time_that_an_emulated_processor_takes() -> None:
    asked: list[dict[str, Any]] = []

    class Hears(_DeadLink):
        async def probe(self, probe: dict[str, Any], *_: object, **__: object) -> dict[str, Any]:  # type: ignore[override]
            asked.append(probe["wire"])
            return {}

    for request in (REQUEST, PerftestRequest(REQUEST.meeting, REQUEST.rail)):
        await PodEndpoint(Hears({}), POD).run(request, timeout_s=1.0)  # type: ignore[arg-type]
    assert [(wire["timeout_exponent"], wire["retry_count"]) for wire in asked] == [(19, 2)] * 2
