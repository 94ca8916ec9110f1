"""A virtual cluster between commands: found only while its keeper lives, refused with what to do otherwise."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from railwright.core.errors import ClusterUnreachable, UsageError
from railwright.lab.cluster import standing
from railwright.lab.cluster.keeper import PROGRESS, Told
from railwright.lab.cluster.shape import Shape
from railwright.ports.progress import Note


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAILWRIGHT_CACHE", str(tmp_path))
    folder = standing.place()
    folder.mkdir(parents=True)
    return folder


def test_a_folder_of_definitions_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        standing.check_wish(Shape(), tmp_path / "absent")


def is_there(path: Path) -> bool:
    return path.exists()


class Heard:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def emit(self, event: object) -> None:
        assert isinstance(event, Note)
        self.texts.append(event.text)


async def test_a_keeper_that_has_ended_is_no_cluster(place: Path) -> None:
    """Its number may belong to another program by now, such as this one."""
    (place / "process").write_text(str(os.getpid()))
    (place / "kubeconfig").write_text("{}")
    assert standing.standing() is None
    assert "no virtual cluster is up" in await standing.status()
    with pytest.raises(UsageError, match="no virtual cluster is up"):
        standing.kubeconfig()
    with pytest.raises(UsageError, match="no virtual cluster is up"):
        await standing.run_in("node-1", "true")


async def test_down_removes_what_a_killed_keeper_left(place: Path) -> None:
    (place / "tmp").mkdir()
    assert await standing.down() == "no virtual cluster is up\n"
    assert not is_there(place)


@pytest.mark.parametrize("shape", [Shape(nodes=9), Shape(rails=5)])
def test_more_than_there_are_addresses_for_is_refused(shape: Shape) -> None:
    with pytest.raises(UsageError, match="too many"):
        standing.check_wish(shape, None)


async def _keeper(text: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-c", text)


async def test_notes_of_the_keeper_are_passed_on_until_it_is_up(place: Path) -> None:
    told, heard = Told(place / PROGRESS), Heard()
    told.emit(Note("building kubelet"))
    told.say("up", "")
    keeper = await _keeper("")
    await standing._follow(place, keeper, heard)
    await keeper.wait()
    assert heard.texts == ["building kubelet"]


@pytest.mark.parametrize(
    ("progress", "log", "said"),
    [
        (json.dumps({"kind": "failed", "text": "kubelet could not be built"}) + "\n", "", "kubelet could not be built"),
        ("", "Traceback\nOSError: no space left\n", "OSError: no space left"),
        ('{"kind": "no', "", "its keeper ended"),
    ],
)
async def test_a_cluster_that_does_not_come_up_says_why(place: Path, progress: str, log: str, said: str) -> None:
    (place / PROGRESS).write_text(progress)
    (place / "keeper.log").write_text(log)
    keeper = await _keeper("")
    with pytest.raises(ClusterUnreachable, match=said):
        await standing._follow(place, keeper, Heard())
    await keeper.wait()
