"""Verify on simulated endpoints: some nodes with their rails, and what is wrong with them."""

from railwright.catalog.load import load_catalog
from railwright.ports.progress import Silent
from railwright.simulator.datapath.switchboard import SimEndpoint, sim_endpoints
from railwright.simulator.datapath.wires import Wiring, ports_of
from railwright.simulator.open import open_simulator
from railwright.simulator.worlds.machines import worker
from railwright.verify.layout import Layout, layout_of_endpoints
from railwright.verify.model import Cell, VerifyRecord
from railwright.verify.planned import Options, plan_run
from railwright.verify.verify import verify

CATALOG = load_catalog()
SICK = "worker-1"


def endpoints(nodes: int, *troubles: str, rails: int = 2) -> tuple[SimEndpoint, ...]:
    machines = tuple(worker(number, rails=rails) for number in range(nodes))
    clock = open_simulator("vanilla").clock
    return sim_endpoints(Wiring(ports_of(machines), frozenset(troubles), SICK), clock)


def layout(nodes: int, *troubles: str, rails: int = 2) -> Layout:
    found = endpoints(nodes, *troubles, rails=rails)
    return layout_of_endpoints(found, bed="simulator", not_real=(), method="shared")


async def verified(nodes: int, *troubles: str, rails: int = 2, options: Options | None = None) -> VerifyRecord:
    found = endpoints(nodes, *troubles, rails=rails)
    made = layout_of_endpoints(found, bed="simulator", not_real=(), method="shared")
    planned = plan_run(made, options or Options(quick=True))
    return await verify(planned, found, CATALOG, found[0].board.clock, Silent())


def failing(record: VerifyRecord) -> list[Cell]:
    return [cell for cell in record.cells if cell.verdict == "FAIL"]
