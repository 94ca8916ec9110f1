"""Partition tables of VFs: where pods have read them both ends of a pair are given one partition, as PFs are."""

from dataclasses import replace

import pytest
from support.verifying import CATALOG, endpoints, layout

from railwright.core.ids import NetDevice, NodeName, RdmaDevice
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import EngineRequest, Evidence, EvidenceRequest, Problem, Reply
from railwright.dataplane.port import Port
from railwright.intent.model import Fabric
from railwright.ports.progress import Silent
from railwright.verify.model import VerifyRecord
from railwright.verify.planned import Options, plan_run
from railwright.verify.pod_tables import with_tables_of_pods
from railwright.verify.verify import verify

NET1 = NetDevice("net1")
OF_THE_PF = (0xFFFF,)
Table = tuple[int, ...]


def a_port(table: Table, *, device: str = "mlx5_9", netdev: str = "net1") -> Port:
    return Port(RdmaDevice(device), 1, "4: ACTIVE", "", "InfiniBand", "", "", None, (NetDevice(netdev),), (), table)


def said(*ports: Port, **partitions: int) -> Reply:
    return Reply("evidence", evidence=Evidence(0, -1, "exclusive", ports, (), (), {}, {}, partitions))


def of_vfs(nodes: int, method: str = "sriov", link: Fabric = Fabric.INFINIBAND, partition: int | None = None):
    plain = layout(nodes, rails=1)
    seats = tuple(replace(seat, pkeys=OF_THE_PF, ipoib_partition=0x7FFF) for seat in plain.seats)
    return replace(plain, seats=seats, method=method, link=link, partition=partition)


class Reading:
    """A pod that knows its rails by their netdevs, reads this table of its VF, and notes what its halves are given."""

    def __init__(self, inner, table: Table | None) -> None:
        self._inner, self._table = inner, table
        self.name, self.node = inner.name, inner.node
        self.rails = tuple(replace(held, device=RdmaDevice("")) for held in inner.rails)
        self.meeting_address, self.simulated = inner.meeting_address, True
        self.asked: set[int | None] = set()

    async def run(self, request, *, timeout_s):
        if isinstance(request, EvidenceRequest):
            return said(a_port(self._table)) if self._table is not None else Reply("evidence", Problem("died", "no"))
        if isinstance(request, EngineRequest):
            self.asked.add(request.wire.partition)
        return await self._inner.run(request, timeout_s=timeout_s)


async def run_with(*tables: Table | None, wanted: int | None = None) -> tuple[VerifyRecord, set[int | None]]:
    made = endpoints(len(tables), rails=1)
    reading = [Reading(each, table) for each, table in zip(made, tables, strict=True)]
    planned = plan_run(of_vfs(len(tables), partition=wanted), Options(families=("engine",)))
    record = await verify(planned, reading, CATALOG, made[0].board.clock, Silent())
    return record, set().union(*(each.asked for each in reading))


@pytest.mark.parametrize(
    ("tables", "wanted", "given"),
    [
        (((0x8001, 0x8002), (0x8002, 0x8001)), None, {1}),
        (((0x7FFF, 0x8005), (0xFFFF, 0)), None, {0x7FFF}),
        (((0x8001, 0x8002), (0x8002, 0x8001)), 2, {2}),
        (((0x8001, 0x8002), None), None, {None}),
        (((0x8001, 0x8002), (0,)), None, {None}),
        (((0x8001, 0x8002), ()), None, {None}),
    ],
    ids=["other-order", "the-only-shared-one", "the-file's", "one-says-nothing", "one-holds-none", "one-unread"],
)
async def test_both_ends_use_one_partition_where_both_pods_have_read_their_tables(tables, wanted, given) -> None:
    record, asked = await run_with(*tables, wanted=wanted)
    assert asked == given
    assert {cell.verdict for cell in record.cells if cell.memory == "host"} == {Verdict.PASS}
    said_so = [note for note in record.summary.notes if note.startswith("rail0 of worker-1 did not read the partition")]
    assert bool(said_so) is (given == {None})


@pytest.mark.parametrize(
    ("tables", "wanted", "where"),
    [
        (((0x8001,), (0x8001,), (0x8002,)), 1, "rail0 of worker-2"),
        (((0x8001,), (0x8001,), (0x8002,)), None, "rail0 of worker-2"),
    ],
    ids=["the-file's", "none-asked-for"],
)
async def test_a_vf_that_its_own_table_cuts_off_is_named_whatever_its_pf_has(tables, wanted, where) -> None:
    record, _ = await run_with(*tables, wanted=wanted)
    assert ([item.where for item in record.culprits], record.exit_code) == ([where], 5)
    assert {seat.node: seat.pkeys for seat in record.seats} == dict(
        zip(("worker-0", "worker-1", "worker-2"), tables, strict=True)
    )


@pytest.mark.parametrize(
    ("ports", "partitions", "keys", "own"),
    [
        ((a_port((0x8001,)),), {"net1": 1}, (0x8001,), 1),
        ((a_port((0x8001,)),), {}, (0x8001,), None),
        ((a_port((0, 0x8001, 0x8000)),), {"net2": 2}, (0x8001,), None),
        ((a_port((0x8002,), netdev="net2"), a_port((0x8001,))), {"net1": 1}, (0x8001,), 1),
        ((a_port((0x8002,), netdev="net2"),), {}, OF_THE_PF, 0x7FFF),
    ],
    ids=["its-own", "without-ipoib", "empty-entries", "of-several", "of-another-rail"],
)
def test_the_table_is_that_of_the_port_whose_netdev_the_rail_has(ports, partitions, keys, own) -> None:
    pods = [Reading(each, None) for each in endpoints(1, rails=1)]
    made = with_tables_of_pods(of_vfs(1), pods, {NodeName("worker-0"): said(*ports, **partitions)})
    (seat,) = made.seats
    assert (seat.pkeys, seat.ipoib_partition) == (keys, own)
    assert bool(made.read_in_pods) is (keys != OF_THE_PF)


@pytest.mark.parametrize(
    ("method", "link"),
    [("shared", Fabric.INFINIBAND), ("host-device", Fabric.INFINIBAND), ("sriov", Fabric.ROCE)],
    ids=str,
)
def test_pods_that_have_no_vf_of_infiniband_change_nothing(method, link) -> None:
    plain = of_vfs(1, method, link)
    assert with_tables_of_pods(plain, endpoints(1, rails=1), {NodeName("worker-0"): said(a_port((0x8001,)))}) is plain
