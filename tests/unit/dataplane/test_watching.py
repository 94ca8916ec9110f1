"""Counters of rails, read twice by the half that looks around: what a port carries while nothing is asked of it."""

import pytest

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane import evidence
from railwright.dataplane.model import Counter, EvidenceRequest, RailEnd
from railwright.dataplane.port import Port
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.rail import Found
from railwright.dataplane.wire import read_reply, reply_text

RAILS = (RailEnd(NetDevice("net1")), RailEnd(NetDevice("net2")))


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A place where net1 is mlx5_0's, net2 nobody's, and a counter rises by seven at each look."""
    waits: list[float] = []
    looks: list[RdmaDevice] = []

    def find(rail: RailEnd) -> Found:
        if rail.netdev != "net1":
            raise HalfFailed("no-device", "none")
        port = Port(RdmaDevice("mlx5_0"), 1, "4: ACTIVE", "", "Ethernet", "", "", None, (rail.netdev,), ())
        return Found(port, None, rail.netdev)

    def read(device: RdmaDevice, port: int, netdev: NetDevice) -> tuple[Counter, ...]:
        looks.append(device)
        return (Counter(f"sysfs counters {device}/{port} {netdev}", "port_xmit_data", 7 * len(looks), "4 bytes"),)

    monkeypatch.setattr(evidence, "find_rail", find)
    monkeypatch.setattr(evidence, "read_counters", read)
    monkeypatch.setattr(evidence, "read_ports", lambda: ())
    monkeypatch.setattr(evidence.time, "sleep", waits.append)
    return waits


def test_a_rail_is_looked_at_twice_and_one_without_a_port_not_at_all(slept: list[float]) -> None:
    reply = evidence.run_evidence(EvidenceRequest(watched=RAILS, watch_s=1.5))
    assert reply.evidence is not None
    (seen,) = reply.evidence.watched
    assert (seen.rail, slept) == (RAILS[0], [1.5])
    assert [item.value for item in (*seen.before, *seen.after)] == [7, 14]
    assert read_reply(reply_text(reply)) == reply


@pytest.mark.parametrize("watched", [(), RAILS[1:]], ids=["nothing-asked", "nothing-found"])
def test_nothing_is_waited_for_where_there_is_nothing_to_watch(
    watched: tuple[RailEnd, ...], slept: list[float]
) -> None:
    reply = evidence.run_evidence(EvidenceRequest(watched=watched, watch_s=1.5))
    assert reply.evidence is not None
    assert (reply.evidence.watched, slept) == ((), [])
