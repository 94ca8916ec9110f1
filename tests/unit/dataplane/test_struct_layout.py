"""Our ctypes structures against what a C compiler says of rdma-core's headers."""

import ctypes
import json
from pathlib import Path

import pytest

from railwright.dataplane.verbs import cm, structs

CASE = json.loads((Path(__file__).parents[2] / "cases" / "dataplane" / "struct-layout.json").read_text())
OURS = {
    "ibv_global_route": structs.GlobalRoute,
    "ibv_ah_attr": structs.AddressHandle,
    "ibv_qp_init_attr": structs.PairInit,
    "ibv_qp_attr": structs.PairAttributes,
    "ibv_qp": structs.Pair,
    "ibv_mr": structs.Region,
    "ibv_sge": structs.Piece,
    "ibv_send_wr": structs.Work,
    "ibv_wc": structs.Completion,
    "ibv_port_attr": structs.PortAttributes,
    "ibv_context_ops": structs.ContextOperations,
    "ibv_context": structs.Context,
    "ibv_device_attr": structs.DeviceAttributes,
    "ibv_comp_channel": structs.CompletionChannel,
    "rdma_cm_id": cm._Identifier,
    "rdma_cm_event": cm._Event,
    "rdma_conn_param": cm._Parameters,
}
HEADS_ONLY = {"ibv_device_attr", "ibv_qp", "rdma_cm_id", "rdma_cm_event"}
"""Written by the library into memory that it owns, or into more room than it needs: only offsets matter."""
NOT_OURS = {"rdma_cm_id.port_num"}


@pytest.mark.parametrize("name", sorted(CASE["layout"]))
def test_layout_is_the_compilers(name: str) -> None:
    struct, _, field = name.partition(".")
    if struct == "sizeof":
        if field not in HEADS_ONLY:
            assert ctypes.sizeof(OURS[field]) == CASE["layout"][name]
    elif name not in NOT_OURS:
        own = getattr(OURS[struct], field.rpartition(".")[2])
        assert own.offset == CASE["layout"][name]


def test_room_for_what_the_library_writes_is_enough() -> None:
    assert ctypes.sizeof(structs.DeviceAttributes) >= CASE["layout"]["sizeof.ibv_device_attr"]
