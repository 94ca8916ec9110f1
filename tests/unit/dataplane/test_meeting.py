"""Two halves find each other, wait for each other only so long, and hear of each other's failures."""

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from railwright.dataplane.meeting import Talk, meet
from railwright.dataplane.model import Meeting
from railwright.dataplane.problems import HalfFailed


@pytest.fixture
def connections() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
        with one, other:
            yield one, other


@pytest.fixture
def talks(connections: tuple[socket.socket, socket.socket]) -> Iterator[tuple[Talk, Talk]]:
    with Talk(connections[0], 0.2) as here, Talk(connections[1], 0.2) as there:
        yield here, there


def _both(first: Callable[[], object], second: Callable[[], object]) -> tuple[object, object]:
    found: list[object] = [None, None]

    def keep(index: int, work: Callable[[], object]) -> None:
        try:
            found[index] = work()
        except HalfFailed as failure:
            found[index] = failure.problem

    threads = [threading.Thread(target=keep, args=(index, work)) for index, work in enumerate((first, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    return found[0], found[1]


def test_each_hears_what_the_other_says(talks: tuple[Talk, Talk]) -> None:
    here, there = talks
    assert _both(lambda: here.exchange({"a": 1}), lambda: there.exchange({"b": 2})) == ({"b": 2}, {"a": 1})


def test_halves_at_different_steps_notice(talks: tuple[Talk, Talk]) -> None:
    here, there = talks
    one, other = _both(lambda: here.together("x"), lambda: there.together("y"))
    assert {getattr(one, "code", ""), getattr(other, "code", "")} == {"broken-request"}


def test_a_silent_half_is_not_waited_for_for_ever(talks: tuple[Talk, Talk]) -> None:
    here, _there = talks
    with pytest.raises(HalfFailed) as failed:
        here.exchange({})
    assert failed.value.problem.code == "peer-lost"


def test_a_half_that_closes_is_lost(talks: tuple[Talk, Talk]) -> None:
    here, there = talks
    with there:
        pass
    with pytest.raises(HalfFailed) as failed:
        here.exchange({})
    assert failed.value.problem.code == "peer-lost"


def test_the_reason_of_the_half_that_gave_up_reaches_the_other(talks: tuple[Talk, Talk]) -> None:
    here, there = talks
    with pytest.raises(HalfFailed), there:
        raise HalfFailed("no-gid", "no GID of net1")
    with pytest.raises(HalfFailed) as failed:
        here.exchange({})
    assert (failed.value.problem.code, failed.value.problem.status) == ("peer-lost", "no-gid")
    assert "no GID of net1" in failed.value.problem.message


def test_what_is_no_object_is_a_lost_peer(connections: tuple[socket.socket, socket.socket]) -> None:
    one, other = connections
    other.sendall(b"[1]\n")
    with pytest.raises(HalfFailed) as failed, Talk(one, 1.0) as talk:
        talk.exchange({})
    assert failed.value.problem.code == "peer-lost"


def test_nobody_listening_is_a_missing_peer() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        with pytest.raises(HalfFailed) as failed:
            meet(Meeting("connect", "127.0.0.1", port, patience_s=0.1), 1.0)
    assert failed.value.problem.code == "peer-missing"


def test_nobody_coming_is_a_missing_peer() -> None:
    with pytest.raises(HalfFailed) as failed:
        meet(Meeting("listen", "127.0.0.1", 0, patience_s=0.1), 1.0)
    assert failed.value.problem.code == "peer-missing"


def test_halves_meet_whoever_comes_first() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]

    def half(role: str) -> object:
        with meet(Meeting(role, "127.0.0.1", port, patience_s=5.0), 5.0) as talk:  # type: ignore[arg-type]
            return talk.exchange({"role": role})

    assert _both(lambda: half("connect"), lambda: half("listen")) == ({"role": "listen"}, {"role": "connect"})
