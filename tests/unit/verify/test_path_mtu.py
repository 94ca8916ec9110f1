"""A way that drops large packets and carries small ones is told from one that carries none."""

import asyncio
from dataclasses import replace

import pytest
from support.verifying import CATALOG, endpoints

from railwright.core.ids import NodeName, PciAddress
from railwright.dataplane.model import EngineRequest, Problem, Reply, Request
from railwright.ports.endpoint import HeldRail
from railwright.ports.progress import Silent
from railwright.simulator.datapath.switchboard import SimEndpoint
from railwright.verify.judge import Measured
from railwright.verify.layout import layout_of_endpoints
from railwright.verify.model import VerifyRecord
from railwright.verify.planned import Options, plan_run
from railwright.verify.verify import verify


class Narrow:
    """An endpoint between which and every other one packets pass up to a size."""

    simulated = True

    def __init__(self, inner: SimEndpoint, most_bytes: int) -> None:
        self._inner, self._most = inner, most_bytes
        self.name, self.meeting_address = inner.name, inner.meeting_address
        self.node: NodeName = inner.node
        self.rails: tuple[HeldRail, ...] = tuple(replace(rail, gpu=PciAddress("")) for rail in inner.rails)

    async def run(self, request: Request, *, timeout_s: float) -> Reply:
        """Fail what is too large."""
        reply = await self._inner.run(request, timeout_s=timeout_s)
        if not isinstance(request, EngineRequest) or (request.wire.path_mtu_bytes or 4096) <= self._most:
            return reply
        problem = Problem("transfer-failed", "transport retry counter exceeded")
        return replace(reply, problem=problem, digests=(), used=replace(reply.used, path_mtu_bytes=4096))


async def _verified(most_bytes: int) -> VerifyRecord:
    made = endpoints(2, rails=1)
    narrow = [Narrow(each, most_bytes) for each in made]
    layout = layout_of_endpoints(narrow, bed="simulator", not_real=(), method="shared")
    planned = plan_run(layout, Options(families=("engine",), quick=True))
    return await verify(planned, narrow, CATALOG, made[0].board.clock, Silent())


async def test_small_packets_that_arrive_name_the_path_mtu() -> None:
    record = await _verified(1500)
    assert record.exit_code == 5
    (culprit,) = record.culprits
    assert "large packets do not arrive: packets of 4096 bytes fail and packets of 1024 pass" in culprit.text
    assert any(".small-packets." in name for name in record.raw)


@pytest.mark.parametrize("most_bytes", [0, 512])
async def test_where_small_ones_fail_too_nothing_is_said_of_their_size(most_bytes: int) -> None:
    record = await _verified(most_bytes)
    assert record.exit_code == 5
    assert "large packets" not in " ".join(culprit.text for culprit in record.culprits)


async def test_what_passes_is_not_tried_again() -> None:
    record = await _verified(4096)
    assert record.exit_code == 0
    assert not any("small-packets" in name for name in record.raw)


async def test_an_interrupt_while_sizes_are_tried_takes_nothing_of_what_was_confirmed(monkeypatch) -> None:
    async def interrupted(*_: object) -> tuple[Measured, ...]:
        raise asyncio.CancelledError

    monkeypatch.setattr("railwright.verify.verify.try_small_packets", interrupted)
    record = await _verified(512)
    assert (record.summary.interrupted, record.exit_code) == (True, 130)
    assert {cell.confirmed for cell in record.cells} == {True}
