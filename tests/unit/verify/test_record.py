"""What a record says beside its cells: coverage of what was left out, what differs at the ends, what was not watched."""

from dataclasses import replace

from support.verifying import CATALOG, endpoints, layout, verified

from railwright.core.ids import NetDevice, NodeName, RailName, RdmaDevice
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import Evidence, Reply
from railwright.dataplane.port import Port
from railwright.ports.progress import Silent
from railwright.verify.differences import differences
from railwright.verify.model import Cell, Direction, MemoryKind
from railwright.verify.planned import Options, plan_run
from railwright.verify.record import coverage_of
from railwright.verify.verify import verify


def test_a_node_in_use_is_left_out_by_name_and_stays_in_what_could_have_been_covered() -> None:
    whole = layout(3)
    busy = tuple(
        replace(seat, skip="busy: pod training/train-0 uses 8 GPUs") if seat.node == "worker-2" else seat
        for seat in whole.seats
    )
    planned = plan_run(replace(whole, nodes=whole.nodes[:2], seats=busy), Options(families=("latency",)))
    (left,) = planned.left_out
    assert left.reason == "worker-2: busy: pod training/train-0 uses 8 GPUs"
    assert left.cells == 2 * len(whole.rails) * len(planned.schedule.steps)
    assert left.examples == ("worker-2 with worker-0", "worker-2 with worker-1")
    assert coverage_of(planned, ()).nodes_possible == 3


# --- what differs at the ends ----------------------------------------------------------------------------------------


def place(device: str, mtu_bytes: int) -> Reply:
    port = Port(
        RdmaDevice(device),
        1,
        "4: ACTIVE",
        "5: LinkUp",
        "Ethernet",
        "400 Gb/sec",
        "",
        mtu_bytes,
        (NetDevice("net1"),),
        (),
    )
    return Reply("evidence", evidence=Evidence(0, -1, "shared", (port,), (), (), {}, {}))


def failed(**wire: str) -> Cell:
    rail = RailName("rail0")
    ends = (NodeName("worker-0"), NodeName("worker-1"), rail, rail)
    return Cell("c1", *ends, Direction.WRITE, MemoryKind.HOST, "engine", Verdict.FAIL, wire=wire)


def test_ports_are_compared_by_the_device_that_was_used_whatever_its_netdev_is_called_on_the_node() -> None:
    on_nodes = replace(layout(2), seats=tuple(replace(seat, netdev=NetDevice("ens1f0np0")) for seat in layout(2).seats))
    places = {NodeName("worker-0"): place("mlx5_0", 4096), NodeName("worker-1"): place("mlx5_3", 1024)}
    said = "active MTU is 4096 at worker-0 and 1024 at worker-1"
    assert differences(failed(source_device="mlx5_0/1", target_device="mlx5_3/1"), places, on_nodes) == said
    assert differences(failed(source_device="mlx5_0/1", target_device="mlx5_7/1"), places, on_nodes) == ""
    assert differences(failed(), places, layout(2)) == said


# --- beside each other -----------------------------------------------------------------------------------------------


async def test_perftest_of_gpu_memory_stands_beside_that_of_host_memory_on_the_same_way() -> None:
    record = await verified(2, rails=1, options=Options(quick=True, families=("perftest",)))
    heard = [item for item in record.witnesses if item.witness == "perftest-gpu-memory"]
    assert len(heard) == 2
    for said in heard:
        own = {cell.memory: cell.average_gbps for cell in record.cells if cell.way == said.way}
        assert said.lines[-1] == (
            f"{own[MemoryKind.GPU]:.1f} Gb/s with GPU buffers, {own[MemoryKind.HOST]:.1f} with host buffers on the same way"
        )
    alone = await verified(2, "gpu-staged", rails=1, options=Options(quick=True, families=("perftest",)))
    assert not [item for item in alone.witnesses if item.witness == "perftest-gpu-memory"]


# --- what was not watched --------------------------------------------------------------------------------------------


class Blind:
    """An endpoint that shows no counters of packets sent again."""

    def __init__(self, real) -> None:
        self.node, self.rails, self.name = real.node, real.rails, real.name
        self.meeting_address, self.simulated, self._real = real.meeting_address, True, real

    async def run(self, request, *, timeout_s):
        reply = await self._real.run(request, timeout_s=timeout_s)
        kept = [tuple(item for item in items if item.unit) for items in (reply.before, reply.after)]
        return replace(reply, before=kept[0], after=kept[1])


async def test_loss_that_nobody_could_see_is_noted_and_not_taken_for_none() -> None:
    found = endpoints(2, rails=1)
    planned = plan_run(layout(2, rails=1), Options(quick=True, families=("engine", "perftest")))
    blind = await verify(planned, [Blind(item) for item in found], CATALOG, found[0].board.clock, Silent())
    assert any("whether packets were sent again is not known on 2 ways" in note for note in blind.summary.notes)
    assert (await verified(2, rails=1)).summary.notes == ()
