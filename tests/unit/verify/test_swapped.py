"""Swapped rails are shown over link-local addresses of a rail's own device, where pods see devices of others too."""

from dataclasses import replace

import pytest
from support.verifying import CATALOG, endpoints

from railwright.core.ids import NodeName, RdmaDevice
from railwright.dataplane.model import EvidenceRequest, Problem, Reply, Request
from railwright.ports.endpoint import HeldRail
from railwright.ports.progress import Silent
from railwright.simulator.datapath.switchboard import SimEndpoint
from railwright.verify.layout import layout_of_endpoints
from railwright.verify.planned import Options, plan_run
from railwright.verify.verify import verify


class Crowded:
    """A pod that sees a device of somebody else's first, whose netdev has the same name in another namespace."""

    simulated = True

    def __init__(self, inner: SimEndpoint, *, knows_device: bool) -> None:
        self._inner = inner
        self.name, self.meeting_address = inner.name, inner.meeting_address
        self.node: NodeName = inner.node
        self.rails: tuple[HeldRail, ...] = tuple(
            rail if knows_device else replace(rail, device=RdmaDevice("")) for rail in inner.rails
        )

    async def run(self, request: Request, *, timeout_s: float) -> Reply:
        """Show the others' devices too, which lead nowhere from here."""
        if request.rail.device.startswith("other_"):
            return Reply("engine", Problem("transfer-failed", "nothing arrives"))
        reply = await self._inner.run(request, timeout_s=timeout_s)
        if not isinstance(request, EvidenceRequest) or reply.evidence is None:
            return reply
        others = tuple(
            replace(port, device=RdmaDevice(f"other_{port.device}"), netdevs=()) for port in reply.evidence.ports
        )
        return replace(reply, evidence=replace(reply.evidence, ports=(*others, *reply.evidence.ports)))


@pytest.mark.parametrize("knows_device", [True, False])
async def test_a_rail_is_reached_by_its_own_device(knows_device: bool) -> None:
    made = endpoints(4, "rails-swapped")
    crowded = [Crowded(each, knows_device=knows_device) for each in made]
    layout = layout_of_endpoints(crowded, bed="simulator", not_real=(), method="shared")
    planned = plan_run(layout, Options(families=("engine",), quick=True))
    record = await verify(planned, crowded, CATALOG, made[0].board.clock, Silent())
    assert [(item.kind, item.where) for item in record.culprits] == [("swapped-rails", "rail0 and rail1 of worker-1")]
