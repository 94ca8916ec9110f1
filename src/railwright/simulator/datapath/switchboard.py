"""Where the halves of a probe find each other in a simulated world, as real ones do over TCP."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from railwright.core.ids import NetDevice, NodeName, PciAddress, RailName, RdmaDevice
from railwright.dataplane.model import EngineRequest, EvidenceRequest, Problem, Reply, Request
from railwright.dataplane.wire import probe_of
from railwright.ports.clock import Clock
from railwright.ports.endpoint import HeldRail
from railwright.simulator.datapath.halves import evidence, replies
from railwright.simulator.datapath.wires import Wiring

_LOOK_S = 1.0


@dataclass
class _Waiting:
    """A half that listens, and its reply once there is one."""

    node: str
    request: Request
    reply: asyncio.Future[Reply]


@dataclass
class Switchboard:
    """Every half of a world that waits for its other half, by the address and port that it listens on."""

    wiring: Wiring
    clock: Clock
    waiting: dict[tuple[str, int], _Waiting] = field(default_factory=dict)

    async def run(self, node: str, address: str, request: Request, timeout_s: float) -> Reply:
        """Run one half on a node; `address` is the one that others reach it by."""
        if isinstance(request, EvidenceRequest):
            return evidence(self.wiring, node, request)
        limit_s = min(timeout_s, request.meeting.patience_s)
        if "hung-peer" in self.wiring.troubles and node == self.wiring.sick:
            await self.clock.sleep(timeout_s)
            message = f"the half did not end within {timeout_s:.0f} s and was ended"
            return Reply(probe_of(request), Problem("timed-out", message), request.meeting.role)
        if request.meeting.role == "listen":
            return await self._listen(node, (address, request.meeting.port), request, limit_s)
        return await self._connect(node, (request.meeting.address, request.meeting.port), request, limit_s)

    async def _listen(self, node: str, where: tuple[str, int], request: Request, limit_s: float) -> Reply:
        mine = _Waiting(node, request, asyncio.get_running_loop().create_future())
        self.waiting[where] = mine
        try:
            await self._until(mine.reply.done, limit_s)
            return mine.reply.result() if mine.reply.done() else _alone(request, limit_s)
        finally:
            self.waiting.pop(where, None)

    async def _connect(self, node: str, where: tuple[str, int], request: Request, limit_s: float) -> Reply:
        await self._until(lambda: where in self.waiting, limit_s)
        other = self.waiting.get(where)
        if other is None:
            return _alone(request, limit_s)
        await self.clock.sleep(_takes_s(request))
        listened, connected = replies(self.wiring, (other.node, other.request), (node, request))
        if not other.reply.done():
            other.reply.set_result(listened)
        return connected

    async def _until(self, holds: Callable[[], bool], limit_s: float) -> None:
        """Wait for the other half: it comes within a few turns, or time has to go on."""
        until_s = self.clock.monotonic_s() + limit_s
        for _ in range(_TURNS):
            if holds():
                return
            await self.clock.sleep(0.0)
        while not holds() and self.clock.monotonic_s() < until_s:
            await self.clock.sleep(_LOOK_S)


_TURNS = 4
_START_S = 2.0


def _takes_s(request: Request) -> float:
    """Say how long a probe takes: its start, and what it times."""
    if isinstance(request, EngineRequest):
        return _START_S + request.duration_s * len(request.sizes_bytes)
    return _START_S + (getattr(request, "duration_s", None) or 1.0)


def _alone(request: Request, limit_s: float) -> Reply:
    role = "" if isinstance(request, EvidenceRequest) else request.meeting.role
    return Reply(
        probe_of(request), Problem("peer-missing", f"the other half did not come within {limit_s:.0f} s"), role
    )


@dataclass(frozen=True)
class SimEndpoint:
    """An Endpoint of a simulated world."""

    name: str
    node: NodeName
    rails: tuple[HeldRail, ...]
    meeting_address: str
    board: Switchboard
    simulated: bool = True

    async def run(self, request: Request, *, timeout_s: float) -> Reply:
        """Run one half."""
        return await self.board.run(self.node, self.meeting_address, request, timeout_s)


def sim_endpoints(wiring: Wiring, clock: Clock) -> tuple[SimEndpoint, ...]:
    """Give one endpoint a node, that holds all its rails."""
    board = Switchboard(wiring, clock)
    nodes = dict.fromkeys(port.node for port in wiring.ports)
    return tuple(
        SimEndpoint(
            name=f"simulated {node}",
            node=NodeName(node),
            rails=tuple(
                HeldRail(
                    RailName(f"rail{port.rail}"),
                    NetDevice(port.netdev),
                    RdmaDevice(port.device),
                    port.address,
                    PciAddress(port.gpu),
                )
                for port in wiring.ports
                if port.node == node
            ),
            meeting_address=f"10.128.0.{index + 1}",
            board=board,
        )
        for index, node in enumerate(nodes)
    )
