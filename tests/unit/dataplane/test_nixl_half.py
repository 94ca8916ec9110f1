"""One half of NIXL: what UCX is told, and a place where NIXL is not installed."""

import pytest

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane import nixl
from railwright.dataplane.model import Meeting, NixlRequest, RailEnd, Wire
from railwright.dataplane.partition import PartitionKey
from railwright.dataplane.port import Gid, Port
from railwright.dataplane.rail import Found


def test_no_program_is_started_where_nixl_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two Pythons a rail cost an emulated processor half a minute, to say what one look tells."""
    monkeypatch.setattr(nixl, "MODULES", ("a_package_that_nobody_has",))
    monkeypatch.setattr(nixl, "run_child", None)
    reply = nixl.run_nixl(NixlRequest(Meeting("listen", "", 20000), RailEnd()))
    assert reply.problem is not None
    assert (reply.problem.code, reply.role) == ("tool-missing", "listen")


def test_packets_look_as_the_intent_has_them_and_not_as_ucx_would() -> None:
    gid = Gid(3, "::ffff:10.1.0.2", "RoCE v2", NetDevice("net1"))
    port = Port(RdmaDevice("mlx5_1"), 1, "4: ACTIVE", "", "Ethernet", "", "", None, (), (gid,))
    request = NixlRequest(Meeting("listen", "", 20000), RailEnd(), wire=Wire(traffic_class=96, path_mtu_bytes=1024))
    told = nixl.settings(request, Found(port, gid, NetDevice("net1")))
    assert (told["UCX_IB_TRAFFIC_CLASS"], told["UCX_IB_PATH_MTU"], told["UCX_IB_GID_INDEX"]) == ("96", "1024", "3")
    assert "UCX_IB_PKEY" not in told


def test_ucx_is_told_the_partition_and_not_its_index() -> None:
    port = Port(RdmaDevice("mlx5_1"), 1, "4: ACTIVE", "", "InfiniBand", "", "", None, (), ())
    told = nixl.settings(
        NixlRequest(Meeting("listen", "", 20000), RailEnd()),
        Found(port, None, NetDevice("ib0"), PartitionKey(2, 0x8001)),
    )
    assert (told["UCX_IB_PKEY"], told["UCX_IB_TRAFFIC_CLASS"]) == ("0x0001", "0")
    assert "UCX_IB_PATH_MTU" not in told
