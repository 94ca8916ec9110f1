"""Requests and replies survive JSON, and nothing else is taken for one."""

import json

import pytest

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane.model import (
    Counter,
    Digest,
    EngineRequest,
    Evidence,
    EvidenceRequest,
    Meeting,
    Memory,
    NcclRequest,
    NixlRequest,
    PerftestRequest,
    Problem,
    RailEnd,
    Reply,
    Request,
    Sample,
    Used,
    Wire,
)
from railwright.dataplane.port import Gid, Port
from railwright.dataplane.wire import read_reply, read_request, reply_text, request_text

MEETING = Meeting("connect", "10.99.0.2", 20000)
RAIL = RailEnd(netdev=NetDevice("net1"), gid_index=3)


@pytest.mark.parametrize(
    "request_",
    [
        EngineRequest(MEETING, RAIL, sizes_bytes=(4096, 1 << 20), wire=Wire(traffic_class=106, path_mtu_bytes=4096)),
        PerftestRequest(MEETING, RAIL, duration_s=2.0, memory=Memory("gpu")),
        NixlRequest(MEETING, RAIL, withhold="rdma"),
        NcclRequest(MEETING, RAIL, devices=(RdmaDevice("mlx5_0"),)),
        EvidenceRequest(),
    ],
    ids=lambda request: type(request).__name__,
)
def test_a_request_is_the_same_after_json(request_: Request) -> None:
    assert read_request(request_text(request_)) == request_


def test_a_reply_is_the_same_after_json() -> None:
    gid = Gid(1, "::ffff:10.1.0.1", "RoCE v2", NetDevice("net1"))
    port = Port(RdmaDevice("a"), 1, "4: ACTIVE", "5: LinkUp", "Ethernet", "", "0x0", None, (NetDevice("net1"),), (gid,))
    reply = Reply(
        "engine",
        Problem("peer-lost", "gone"),
        used=Used(gid_index=1),
        samples=(Sample("write", 8, 1, 3, 0.5, 0.1, {"p50": 1.5}),),
        digests=(Digest("write 8 timed", "born", "ab", 8),),
        before=(Counter("netdev net1", "tx_bytes", 7, "bytes"),),
        evidence=Evidence(0, -1, "shared", (port,), (), ("uverbs0",), {"rdma": "/bin/rdma"}, {"kernel": "x"}),
    )
    assert read_reply(reply_text(reply)) == reply


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"probe": "magic"}, "not a request"),
        ({"qps": "4"}, "request.qps: expected int"),
        ({"qps": True}, "request.qps: expected int"),
        ({"operation": "send"}, "request.operation: expected 'write' or 'read'"),
        ({"speed": 1}, "only known keys"),
        ({"sizes_bytes": 5}, "request.sizes_bytes: expected a list"),
        ({"sizes_bytes": ["x"]}, r"request.sizes_bytes\[0\]"),
        ({"meeting": None}, "request.meeting: expected an object"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(change: dict[str, object], says: str) -> None:
    fields = json.loads(request_text(EngineRequest(MEETING, RAIL)))
    with pytest.raises(ValueError, match=says):
        read_request(json.dumps(fields | change))


def test_a_missing_key_is_refused() -> None:
    with pytest.raises(ValueError, match="meeting"):
        read_request(json.dumps({"probe": "engine", "rail": {}}))


@pytest.mark.parametrize("text", ["", "[]", "7", '{"probe": 1}', "{"])
def test_what_is_no_object_is_no_request(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_request(text)
