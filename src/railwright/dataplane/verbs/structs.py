"""
The structures of libibverbs and librdmacm that we touch, as ctypes sees them.

Only the public, stable ABI (IBVERBS_1.1 and RDMACM_1.0) is used; a test compares every offset with what a C compiler
says of the headers. `library.py` looks at the loaded library once more before anything is posted.

Source: rdma-core v44 and v56 libibverbs/verbs.h, librdmacm/rdma_cma.h.
"""

from ctypes import POINTER, Structure, Union, c_char, c_int, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

SEND_RDMA_WRITE, SEND_RDMA_READ = 0, 4
SEND_SIGNALED = 2
ACCESS_LOCAL_WRITE, ACCESS_REMOTE_WRITE, ACCESS_REMOTE_READ = 1, 2, 4
QP_TYPE_RC = 2
STATE_INIT, STATE_RTR, STATE_RTS = 1, 2, 3
FLUSHED = 5
REMOTE_ACCESS_ERROR = 10
"""IBV_WC_REM_ACCESS_ERR."""
LINK_LAYER_NAMES = {0: "Unspecified", 1: "InfiniBand", 2: "Ethernet"}
MASK_STATE, MASK_ACCESS, MASK_PKEY, MASK_PORT, MASK_ADDRESS, MASK_PATH_MTU = 1, 1 << 3, 1 << 4, 1 << 5, 1 << 7, 1 << 8
MASK_TIMEOUT, MASK_RETRY, MASK_RNR_RETRY, MASK_RQ_PSN = 1 << 9, 1 << 10, 1 << 11, 1 << 12
MASK_READS_OUT, MASK_RNR_TIMER, MASK_SQ_PSN, MASK_READS_IN, MASK_DESTINATION = (
    1 << 13,
    1 << 15,
    1 << 16,
    1 << 17,
    1 << 20,
)


class Gid(Union):
    """16 bytes, network order."""

    _fields_ = (("raw", c_uint8 * 16), ("words", c_uint64 * 2))


class GlobalRoute(Structure):
    """struct ibv_global_route: the GRH of RoCE, and of InfiniBand between subnets."""

    _fields_ = (
        ("dgid", Gid),
        ("flow_label", c_uint32),
        ("sgid_index", c_uint8),
        ("hop_limit", c_uint8),
        ("traffic_class", c_uint8),
    )


class AddressHandle(Structure):
    """struct ibv_ah_attr: where the other queue pair is."""

    _fields_ = (
        ("grh", GlobalRoute),
        ("dlid", c_uint16),
        ("sl", c_uint8),
        ("src_path_bits", c_uint8),
        ("static_rate", c_uint8),
        ("is_global", c_uint8),
        ("port_num", c_uint8),
    )


class Capacity(Structure):
    """struct ibv_qp_cap."""

    _fields_ = (
        ("max_send_wr", c_uint32),
        ("max_recv_wr", c_uint32),
        ("max_send_sge", c_uint32),
        ("max_recv_sge", c_uint32),
        ("max_inline_data", c_uint32),
    )


class PairInit(Structure):
    """struct ibv_qp_init_attr."""

    _fields_ = (
        ("qp_context", c_void_p),
        ("send_cq", c_void_p),
        ("recv_cq", c_void_p),
        ("srq", c_void_p),
        ("cap", Capacity),
        ("qp_type", c_int),
        ("sq_sig_all", c_int),
    )


class PairAttributes(Structure):
    """struct ibv_qp_attr."""

    _fields_ = (
        ("qp_state", c_int),
        ("cur_qp_state", c_int),
        ("path_mtu", c_int),
        ("path_mig_state", c_int),
        ("qkey", c_uint32),
        ("rq_psn", c_uint32),
        ("sq_psn", c_uint32),
        ("dest_qp_num", c_uint32),
        ("qp_access_flags", c_uint32),
        ("cap", Capacity),
        ("ah_attr", AddressHandle),
        ("alt_ah_attr", AddressHandle),
        ("pkey_index", c_uint16),
        ("alt_pkey_index", c_uint16),
        ("en_sqd_async_notify", c_uint8),
        ("sq_draining", c_uint8),
        ("max_rd_atomic", c_uint8),
        ("max_dest_rd_atomic", c_uint8),
        ("min_rnr_timer", c_uint8),
        ("port_num", c_uint8),
        ("timeout", c_uint8),
        ("retry_cnt", c_uint8),
        ("rnr_retry", c_uint8),
        ("alt_port_num", c_uint8),
        ("alt_timeout", c_uint8),
        ("rate_limit", c_uint32),
    )


class Pair(Structure):
    """The public head of struct ibv_qp."""

    _fields_ = (
        ("context", c_void_p),
        ("qp_context", c_void_p),
        ("pd", c_void_p),
        ("send_cq", c_void_p),
        ("recv_cq", c_void_p),
        ("srq", c_void_p),
        ("handle", c_uint32),
        ("qp_num", c_uint32),
    )


class Region(Structure):
    """struct ibv_mr."""

    _fields_ = (
        ("context", c_void_p),
        ("pd", c_void_p),
        ("addr", c_void_p),
        ("length", c_uint64),
        ("handle", c_uint32),
        ("lkey", c_uint32),
        ("rkey", c_uint32),
    )


class Piece(Structure):
    """struct ibv_sge."""

    _fields_ = (("addr", c_uint64), ("length", c_uint32), ("lkey", c_uint32))


class Work(Structure):
    """struct ibv_send_wr, with only the rdma member of its union; the rest is room."""


Work._fields_ = [
    ("wr_id", c_uint64),
    ("next", POINTER(Work)),
    ("sg_list", POINTER(Piece)),
    ("num_sge", c_int),
    ("opcode", c_int),
    ("send_flags", c_uint32),
    ("imm_data", c_uint32),
    ("remote_addr", c_uint64),
    ("rkey", c_uint32),
    ("_room", c_uint8 * 76),
]


class Completion(Structure):
    """struct ibv_wc."""

    _fields_ = (
        ("wr_id", c_uint64),
        ("status", c_int),
        ("opcode", c_int),
        ("vendor_err", c_uint32),
        ("byte_len", c_uint32),
        ("imm_data", c_uint32),
        ("qp_num", c_uint32),
        ("src_qp", c_uint32),
        ("wc_flags", c_uint32),
        ("pkey_index", c_uint16),
        ("slid", c_uint16),
        ("sl", c_uint8),
        ("dlid_path_bits", c_uint8),
    )


class PortAttributes(Structure):
    """struct ibv_port_attr."""

    _fields_ = (
        ("state", c_int),
        ("max_mtu", c_int),
        ("active_mtu", c_int),
        ("gid_tbl_len", c_int),
        ("port_cap_flags", c_uint32),
        ("max_msg_sz", c_uint32),
        ("bad_pkey_cntr", c_uint32),
        ("qkey_viol_cntr", c_uint32),
        ("pkey_tbl_len", c_uint16),
        ("lid", c_uint16),
        ("sm_lid", c_uint16),
        ("lmc", c_uint8),
        ("max_vl_num", c_uint8),
        ("sm_sl", c_uint8),
        ("subnet_timeout", c_uint8),
        ("init_type_reply", c_uint8),
        ("active_width", c_uint8),
        ("active_speed", c_uint8),
        ("phys_state", c_uint8),
        ("link_layer", c_uint8),
        ("flags", c_uint8),
        ("port_cap_flags2", c_uint16),
    )


class DeviceAttributes(Structure):
    """struct ibv_device_attr."""

    _fields_ = (
        ("fw_ver", c_char * 64),
        ("node_guid", c_uint64),
        ("sys_image_guid", c_uint64),
        ("max_mr_size", c_uint64),
        ("page_size_cap", c_uint64),
        *(
            (name, c_uint32)
            for name in ("vendor_id", "vendor_part_id", "hw_ver", "max_qp", "max_qp_wr", "device_cap_flags", "max_sge")
        ),
        *((name, c_uint32) for name in ("max_sge_rd", "max_cq", "max_cqe", "max_mr", "max_pd", "max_qp_rd_atom")),
        *((name, c_uint32) for name in ("max_ee_rd_atom", "max_res_rd_atom", "max_qp_init_rd_atom")),
        ("_room", c_uint8 * 512),
    )


class ContextOperations(Structure):
    """struct ibv_context_ops: the three that the data path calls, and room for those that it does not."""

    _fields_ = (
        ("_before_poll", c_void_p * 11),
        ("poll_cq", c_void_p),
        ("req_notify_cq", c_void_p),
        ("_before_post", c_void_p * 12),
        ("post_send", c_void_p),
        ("post_recv", c_void_p),
        ("_rest", c_void_p * 5),
    )


class Context(Structure):
    """The public head of struct ibv_context."""

    _fields_ = (
        ("device", c_void_p),
        ("ops", ContextOperations),
        ("cmd_fd", c_int),
        ("async_fd", c_int),
        ("num_comp_vectors", c_int),
    )


class CompletionChannel(Structure):
    """struct ibv_comp_channel."""

    _fields_ = (("context", c_void_p), ("fd", c_int), ("refcnt", c_int))
