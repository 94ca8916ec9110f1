"""Real RDMA in the lab's machine: each method moves checked bytes, each fault is seen; needs QEMU and a Debian mirror."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from support.uncovered import record

from railwright.core.errors import UsageError
from railwright.dataplane.model import EngineRequest, EvidenceRequest, Meeting, PerftestRequest, RailEnd, Reply, Wire
from railwright.lab.rdma.faults import FAULTS
from railwright.lab.rdma.lab import Lab, furnish, lab
from railwright.lab.rdma.topology import Method, Shape, remove_script
from railwright.ports.progress import Silent

pytestmark = [pytest.mark.lab, pytest.mark.soak, pytest.mark.asyncio(loop_scope="module")]
LIMIT_S = 120.0
BASE = EngineRequest(Meeting("connect", "", 0, patience_s=60.0), RailEnd(), duration_s=0.4, depth=16)
Halves = tuple[Reply, Reply]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened() -> AsyncIterator[Lab]:
    """One machine for all tests of this file but sriov's; each furnishes it anew."""
    try:
        async with lab(Shape("shared"), Silent()) as made:
            yield made
    except UsageError as error:
        record("tests/bed: real RDMA in the lab", f"{error.message}: {error.hint}")
        pytest.skip(error.hint)


async def _furnished(opened: Lab, method: Method, fault: str = "", *, rails: int = 1) -> Lab:
    await opened.link.shell(remove_script())
    return await furnish(opened.link, Shape(method, nodes=2, rails=rails), opened.where, fault)


async def _pair(made: Lab, request: EngineRequest | PerftestRequest = BASE, *, rail: int = 0) -> Halves:
    """Run both halves: the first pod connects, the last listens; the last is where faults are."""
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


def _grown(half: Reply, name: str) -> int:
    before = {(counter.source, counter.name): counter.value for counter in half.before}
    return sum(counter.value - before[counter.source, counter.name] for counter in half.after if counter.name == name)


@pytest.mark.parametrize("method", ["shared", "host-device"])
async def test_bytes_arrive_on_the_rail_that_was_meant(opened: Lab, method: Method) -> None:
    made = await _furnished(opened, method, rails=2)
    halves = await _pair(made, dataclasses.replace(BASE, wire=Wire(traffic_class=106)), rail=1)
    _assert_bytes_arrived(halves)
    assert (halves[0].used.netdev, halves[0].used.gid_type, halves[0].used.path_mtu_bytes) == ("net2", "RoCE v2", 4096)
    payload = sum(sample.transfers * sample.size_bytes for half in halves for sample in half.samples)
    assert _grown(halves[0], "sent_bytes") >= payload
    assert _grown(halves[1], "rcvd_bytes") >= payload


async def test_sriov_pods_move_bytes_through_their_vfs() -> None:
    try:
        async with lab(Shape("sriov", rails=1), Silent()) as made:
            _assert_bytes_arrived(await _pair(made))
    except UsageError as error:
        record("tests/bed: SR-IOV in the lab", f"{error.message}: {error.hint}")
        pytest.skip(error.hint)


async def test_every_way_of_moving_bytes_is_checked(opened: Lab) -> None:
    made = await _furnished(opened, "host-device")
    several = dataclasses.replace(BASE, sizes_bytes=(4096, 65536, 1 << 20), qps=2)
    for request in (
        dataclasses.replace(several, operation="read"),
        dataclasses.replace(BASE, bidirectional=True),
        dataclasses.replace(BASE, connection="rdma_cm"),
        dataclasses.replace(BASE, measure="latency", sizes_bytes=(8,)),
    ):
        _assert_bytes_arrived(await _pair(made, request))


@pytest.mark.parametrize("operation", ["read", "write"])
async def test_without_remote_rights_every_transfer_is_refused(opened: Lab, operation: str) -> None:
    made = await _furnished(opened, "host-device")
    halves = await _pair(made, dataclasses.replace(BASE, operation=operation, withhold="remote-access"))
    assert _problems(halves) == ["refused", "peer-lost"]


async def test_perftest_runs_beside_us(opened: Lab) -> None:
    made = await _furnished(opened, "host-device")
    request = PerftestRequest(BASE.meeting, RailEnd(), program="ib_read_bw", iterations=50)
    halves = await _pair(made, request)
    assert _problems(halves) == [None, None]
    assert "RDMA_Read BW Test" in halves[0].raw


async def test_evidence_tells_what_a_pod_is(opened: Lab) -> None:
    made = await _furnished(opened, "shared")
    held = made.endpoints[0].rails[0]
    reply = await made.endpoints[0].run(EvidenceRequest(RailEnd(held.netdev)), timeout_s=LIMIT_S)
    assert reply.evidence is not None
    assert reply.evidence.netns_mode == "shared"
    port = next(port for port in reply.evidence.ports if held.netdev in port.netdevs)
    assert (port.device, "ACTIVE" in port.state) == (held.device, True)


SEEN = {
    "gid": {"no-gid", "no-device"},
    "gid-index": {"no-gid"},
    "memlock": {"no-memory-to-lock"},
    "netns": {"no-device"},
    "mtu": {"transfer-failed", "timed-out", "peer-lost"},
    "link-down": {"transfer-failed", "timed-out", "peer-lost"},
    "peer-killed": {"died"},
    "one-direction": {"transfer-failed", "timed-out", "peer-lost"},
    "swapped-rails": {"transfer-failed", "timed-out", "peer-lost"},
}
"""What the halves say of each fault that stops them; the others are for whoever compares."""
COMPARED = {"loss", "corruption", "slow-node"}


async def test_every_fault_is_tried() -> None:
    assert set(SEEN) | COMPARED == set(FAULTS)


@pytest.mark.parametrize("fault", [fault for fault in SEEN if fault != "netns"])
async def test_a_fault_stops_the_halves_and_is_said(opened: Lab, fault: str) -> None:
    made = await _furnished(opened, "host-device", fault, rails=2 if fault == "swapped-rails" else 1)
    request = dataclasses.replace(BASE, operation="read") if fault == "one-direction" else BASE
    assert SEEN[fault] & set(_problems(await _pair(made, request)))


async def test_the_other_direction_of_a_one_way_rail_works(opened: Lab) -> None:
    _assert_bytes_arrived(await _pair(await _furnished(opened, "host-device", "one-direction")))


async def test_corruption_is_seen_by_the_checksums_alone(opened: Lab) -> None:
    halves = await _pair(await _furnished(opened, "host-device", "corruption"))
    assert _problems(halves) == [None, None]
    born, arrived = (
        {digest.sha256 for half in halves for digest in half.digests if digest.end == end}
        for end in ("born", "arrived")
    )
    assert not born & arrived


async def test_loss_slows_what_the_node_sends_or_ends_it(opened: Lab) -> None:
    request = dataclasses.replace(BASE, operation="read")
    whole = await _pair(await _furnished(opened, "host-device"), request)
    lossy = await _pair(await _furnished(opened, "host-device", "loss"), request)
    _assert_bytes_arrived(whole)
    assert any(_problems(lossy)) or lossy[0].samples[0].average_gbps < whole[0].samples[0].average_gbps


async def test_a_slow_node_is_slow_and_says_nothing(opened: Lab) -> None:
    quick = await _pair(await _furnished(opened, "host-device"))
    slow = await _pair(
        await _furnished(opened, "host-device", "slow-node"), dataclasses.replace(BASE, operation="read")
    )
    assert _problems(slow) == [None, None]
    assert slow[0].samples[0].average_gbps < quick[0].samples[0].average_gbps


async def test_devices_that_stay_in_the_first_namespace_are_missed_by_pods() -> None:
    async with lab(Shape("host-device", rails=1), Silent(), "netns") as made:
        assert "no-device" in _problems(await _pair(made))
