"""Real RDMA in the lab's machine, judged as a person has it judged: every method passes, every fault is found and named."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from support.uncovered import record

from railwright import api
from railwright.cli.lab import EFFORT, NOT_REAL, PEER_SHARE
from railwright.core.errors import UsageError
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import EngineRequest, EvidenceRequest, Meeting, PerftestRequest, RailEnd, Reply, Wire
from railwright.lab.rdma.faults import FAULTS
from railwright.lab.rdma.lab import Lab, dismantle, furnish, lab
from railwright.lab.rdma.machine import Link
from railwright.lab.rdma.topology import Method, Shape
from railwright.ports.progress import Silent
from railwright.verify.model import Says, VerifyRecord
from railwright.verify.witnesses import rights

pytestmark = [pytest.mark.lab, pytest.mark.asyncio(loop_scope="module")]
LIMIT_S = 180.0
LITTLE = dataclasses.replace(EFFORT, duration_s=0.3)
"""The emulated processor needs two seconds for a transfer's halves, whatever they move."""
BASE = EngineRequest(Meeting("connect", "", 0, patience_s=90.0), RailEnd(), duration_s=0.3, depth=8)
Halves = tuple[Reply, Reply]


@dataclass
class Machine:
    """One machine for all tests of this file but sriov's; each furnishes it anew."""

    link: Link
    where: str
    shape: Shape
    fault: str = ""

    async def furnished(self, method: Method, fault: str = "", *, nodes: int = 2, rails: int = 1) -> Lab:
        await dismantle(self.link, self.fault, self.shape)
        self.shape, self.fault = Shape(method, nodes, rails), fault
        return await furnish(self.link, self.shape, self.where, fault)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def machine() -> AsyncIterator[Machine]:
    try:
        async with lab(Shape("shared", rails=1), Silent()) as made:
            yield Machine(made.link, made.where, made.shape)
    except UsageError as error:
        record("tests/bed: real RDMA in the lab", f"{error.message}: {error.hint}")
        pytest.skip(error.hint)


async def _verified(made: Lab, *families: str) -> VerifyRecord:
    return await api.verify_endpoints(
        made.endpoints,
        api.machine_clock(),
        method=made.shape.method,
        bed=made.where,
        not_real=NOT_REAL,
        options=api.Options(families=families, quick=True, peer_share=PEER_SHARE, effort=LITTLE),
    )


def _assert_proven(found: VerifyRecord, *, ways: int) -> None:
    """On every way bytes were checked at both ends, the ports' counters rose by them, and READ without rights was refused."""
    assert (found.summary.verdict, found.exit_code, found.culprits) == (Verdict.PASS, 0, ()), found.culprits
    assert {cell.verdict for cell in found.cells} == {Verdict.PASS}
    assert {cell.bytes_checked for cell in found.cells if cell.family == "engine"} == {Verdict.PASS}
    for witness in ("bytes", "nic-counters", rights.NAME):
        said = [item for item in found.witnesses if item.witness == witness]
        assert {item.says for item in said} == {Says.AGREES}, said
        assert len({item.way for item in said}) == ways


@pytest.mark.parametrize(("method", "rails"), [("shared", 1), ("host-device", 1)])
async def test_a_method_is_proven_on_real_rdma(machine: Machine, method: Method, rails: int) -> None:
    found = await _verified(await machine.furnished(method, rails=rails), "engine")
    _assert_proven(found, ways=2 * rails)


async def test_sriov_is_proven_through_vfs() -> None:
    try:
        async with lab(Shape("sriov", rails=1), Silent()) as made:
            _assert_proven(await _verified(made, "engine"), ways=2)
    except UsageError as error:
        record("tests/bed: SR-IOV in the lab", f"{error.message}: {error.hint}")
        pytest.skip(error.hint)


@dataclass(frozen=True)
class Named:
    """How verify is to name a fault: at this place (or these), with these words, and nothing else but what `maybe` says."""

    kind: str
    where: str
    words: str
    nodes: int = 2
    rails: int = 1
    also: str = ""
    maybe: tuple[str, str] = ("", "")
    """Kind and place that the fault reaches by chance."""
    marks: tuple[pytest.MarkDecorator, ...] = field(default=())


_PAIR, _PORT = "rail-1 between node-1 and node-2", "rail-1 of node-2"
_SENT, _BACK = "from node-2 to node-1 on rail-1", ("direction", "from node-1 to node-2 on rail-1")
_SOAK = (pytest.mark.soak,)
NAMED = {
    "gid": Named("port", _PORT, "no RoCE v2 GID of rxe_n2r1 belongs to net1"),
    "gid-index": Named("port", _PORT, "GID index 7 of rxe_n2r1 is empty"),
    "memlock": Named("port", _PORT, "memlock is 65536 bytes"),
    "netns": Named("port", _PORT, "belongs to one namespace alone", also="rail-1 of node-1"),
    "mtu": Named("pair", _PAIR, "large packets do not arrive"),
    "link-down": Named("port", _PORT, "is 1: DOWN"),
    "corruption": Named("direction", "from node-1 to node-2 on rail-1", "not those that were sent"),
    "one-direction": Named("direction", _SENT, "transport retry counter exceeded"),
    # The other half may see it first, by a completion of its own.
    "peer-killed": Named("port", _PORT, ""),
    # Acknowledgements of what the other one sends are lost too.
    "loss": Named("direction", _SENT, "packets were sent again", maybe=_BACK, marks=_SOAK),
    "swapped-rails": Named("swapped-rails", "rail-1 and rail-2 of node-3", "swapped", nodes=3, rails=2, marks=_SOAK),
    "slow-node": Named("sending", "what rail-1 of node-6 sends", "its peers reach", nodes=6, marks=_SOAK),
}


async def test_every_fault_is_looked_for() -> None:
    assert set(NAMED) == set(FAULTS)


@pytest.mark.parametrize("fault", [pytest.param(name, marks=each.marks) for name, each in NAMED.items()])
async def test_a_fault_is_found_and_named(machine: Machine, fault: str) -> None:
    expected = NAMED[fault]
    made = await machine.furnished("host-device", fault, nodes=expected.nodes, rails=expected.rails)
    found = await _verified(made, "engine")
    assert found.exit_code == 5
    places = {expected.where, expected.also} - {""}
    named = {(item.kind, item.where) for item in found.culprits}
    assert named - {expected.maybe} == {(expected.kind, place) for place in places}
    assert all(expected.words in item.text for item in found.culprits), found.culprits
    explained = {cell for item in found.culprits for cell in item.cells}
    assert explained == {cell.id for cell in found.cells if cell.verdict is Verdict.FAIL}


async def _pair(made: Lab, request: EngineRequest | PerftestRequest = BASE, *, rail: int = 0) -> Halves:
    """Run both halves: the first pod connects, the last listens."""
    first, last = made.endpoints[0], made.endpoints[-1]
    meeting = dataclasses.replace(request.meeting, address=last.meeting_address, port=20000 + rail)
    asked = dataclasses.replace(request, meeting=meeting, rdma_address=last.rails[rail].address)
    ends = [RailEnd(endpoint.rails[rail].netdev) for endpoint in (first, last)]
    listening = dataclasses.replace(meeting, role="listen")
    replies = await asyncio.gather(
        first.run(dataclasses.replace(asked, rail=ends[0]), timeout_s=LIMIT_S),
        last.run(dataclasses.replace(asked, rail=ends[1], meeting=listening), timeout_s=LIMIT_S),
    )
    return replies[0], replies[1]


def _problems(halves: Halves) -> list[str | None]:
    return [half.problem and half.problem.code for half in halves]


def _assert_bytes_arrived(halves: Halves) -> None:
    assert _problems(halves) == [None, None]
    born = {digest.label: digest.sha256 for half in halves for digest in half.digests if digest.end == "born"}
    arrived = {digest.label: digest.sha256 for half in halves for digest in half.digests if digest.end == "arrived"}
    assert born
    assert born == arrived


@pytest.mark.parametrize("operation", ["read", pytest.param("write", marks=pytest.mark.soak)])
async def test_without_remote_rights_every_transfer_is_refused(machine: Machine, operation: str) -> None:
    made = await machine.furnished("host-device")
    halves = await _pair(made, dataclasses.replace(BASE, operation=operation, withhold="remote-access"))
    assert _problems(halves) == ["refused", "peer-lost"]


async def test_every_way_of_moving_bytes_is_checked(machine: Machine) -> None:
    made = await machine.furnished("shared", rails=2)
    several = dataclasses.replace(BASE, sizes_bytes=(4096, 65536, 1 << 20), qps=2)
    for request in (
        dataclasses.replace(several, operation="read"),
        dataclasses.replace(BASE, bidirectional=True),
        dataclasses.replace(BASE, connection="rdma_cm"),
        dataclasses.replace(BASE, measure="latency", sizes_bytes=(8,)),
        dataclasses.replace(BASE, wire=Wire(traffic_class=106)),
    ):
        halves = await _pair(made, request, rail=1)
        _assert_bytes_arrived(halves)
        used = halves[0].used
        assert (used.netdev, used.gid_type, used.path_mtu_bytes) == ("net2", "RoCE v2", 4096)
        assert used.traffic_class == (request.wire.traffic_class or 0)


async def test_perftest_runs_beside_us(machine: Machine) -> None:
    found = await _verified(await machine.furnished("shared"), "perftest")
    assert {(cell.family, cell.verdict) for cell in found.cells} == {("perftest", Verdict.PASS)}
    assert all(cell.average_gbps for cell in found.cells)


async def test_evidence_tells_what_a_pod_is(machine: Machine) -> None:
    made = await machine.furnished("shared")
    held = made.endpoints[0].rails[0]
    reply = await made.endpoints[0].run(EvidenceRequest(RailEnd(held.netdev)), timeout_s=LIMIT_S)
    assert reply.evidence is not None
    assert reply.evidence.netns_mode == "shared"
    port = next(port for port in reply.evidence.ports if held.netdev in port.netdevs)
    assert (port.device, "ACTIVE" in port.state) == (held.device, True)
