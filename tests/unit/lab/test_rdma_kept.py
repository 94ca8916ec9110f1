"""A machine that has booted is kept, and woken: which file is its own, what QEMU is asked, what does not wake is forgotten."""

import asyncio
import json
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from railwright.core.errors import ClusterUnreachable
from railwright.lab.rdma import kept
from railwright.lab.rdma.build import Image
from railwright.lab.rdma.machine import MachineParts
from railwright.lab.rdma.tools import Emulator


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MachineParts:
    monkeypatch.setenv("RAILWRIGHT_CACHE", str(tmp_path / "cache"))
    program = tmp_path / "qemu"
    program.write_text("an emulator")
    return MachineParts(Emulator((str(program),), (7, 2)), Image(program, tmp_path / "initrd", "7.3.4"), b"code")


@asynccontextmanager
async def _qemu(socket: Path, status: str = "completed", *, refuses: str = "") -> AsyncIterator[list[str]]:
    """Play QEMU's monitor: greet, answer, and write the file that it is told to."""
    asked: list[str] = []
    closed = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'{"QMP": {"version": {}}}\n')
        decoder = json.JSONDecoder()
        while data := await reader.read(4096):
            request: dict[str, Any] = decoder.raw_decode(data.decode())[0]
            asked.append(request["execute"])
            if request["execute"] == "migrate":
                target = Path(shlex.split(request["arguments"]["uri"])[-1])
                await asyncio.to_thread(target.write_text, "state")
            answer = {"error": {"desc": "no"}} if request["execute"] == refuses else {"return": {"status": status}}
            writer.write(b'{"event": "STOP"}\n' + json.dumps(answer).encode() + b"\n")
        writer.close()
        await writer.wait_closed()
        closed.set()

    server = await asyncio.start_unix_server(serve, path=str(socket))
    try:
        yield asked
        await closed.wait()
    finally:
        server.close()
        await server.wait_closed()


def test_whatever_differs_has_a_state_of_its_own(parts: MachineParts) -> None:
    others = (
        replace(parts, own_code=b"newer code"),
        replace(parts, nics=("-device", "igb")),
        replace(parts, image=replace(parts.image, file_system=Path("/another"))),
        replace(parts, emulator=Emulator((*parts.emulator.command, "-L", "x"), (7, 2))),
    )
    names = {kept.state_file(each).name for each in (parts, *others)}
    assert len(names) == 1 + len(others)
    Path(parts.emulator.command[0]).write_text("an emulator that was upgraded")
    assert kept.state_file(parts).name not in names


async def test_a_machine_stands_still_while_it_is_written_and_goes_on(parts: MachineParts, tmp_path: Path) -> None:
    state, older = kept.state_file(parts), kept.state_file(replace(parts, own_code=b"older"))
    other_nics = kept.state_file(replace(parts, nics=("-device", "igb")))
    state.parent.mkdir(parents=True)
    for each in (older, other_nics):
        each.write_text("")
    async with _qemu(tmp_path / "m") as asked:
        assert await kept.keep(tmp_path / "m", state)
    wanted = ["qmp_capabilities", "migrate-set-parameters", "stop", "migrate", "query-migrate", "cont"]
    assert asked == wanted
    assert {each.name for each in state.parent.iterdir()} == {state.name, other_nics.name}


@pytest.mark.parametrize(("status", "refuses"), [("failed", ""), ("completed", "migrate")])
async def test_a_machine_that_cannot_be_kept_leaves_no_half_a_state(
    parts: MachineParts, tmp_path: Path, status: str, refuses: str
) -> None:
    state = kept.state_file(parts)
    async with _qemu(tmp_path / "m", status, refuses=refuses) as asked:
        assert not await kept.keep(tmp_path / "m", state)
    assert asked[-1] == "cont"
    assert list(state.parent.iterdir()) == []


async def test_without_a_monitor_nothing_is_kept(parts: MachineParts, tmp_path: Path) -> None:
    assert not await kept.keep(tmp_path / "nobody", kept.state_file(parts))


async def test_a_state_that_does_not_wake_is_forgotten_and_the_machine_boots(
    parts: MachineParts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Path | None] = []

    async def started(_: object, __: object, state: Path | None, **___: object) -> tuple[str, str]:
        tried.append(state)
        if state is not None:
            raise ClusterUnreachable("no")
        return "process", "link"

    async def keep(*_: object) -> bool:
        return True

    monkeypatch.setattr(kept, "_started", started)
    monkeypatch.setattr(kept, "keep", keep)
    state = kept.state_file(parts)
    state.parent.mkdir(parents=True)
    state.write_text("spoiled")
    assert await kept.wake_or_boot(parts, tmp_path / "folder") == ("process", "link")
    assert (tried, state.exists()) == ([state, None], False)
