"""
What tools print of a transfer, in the words that they were recorded with, or that their sources have.

Source: perftest 25.01 and UCX 1.23 as recorded (tests/cases/facts), linux-rdma/perftest 00b55b6 src/cuda_memory.c,
NVIDIA/nccl 5067397 src/transport/net.cc.
"""

from railwright.simulator.datapath.wires import SimPort

_RULE = "-" * 87


def perftest(
    program: str, own: SimPort, size_bytes: int, qps: int, iterations: int, average_gbps: float, *, gpu: bool
) -> str:
    """Write a whole output of ib_write_bw or ib_read_bw."""
    title = "RDMA_Read BW Test" if "read" in program else "RDMA_Write BW Test"
    rate_mpps = average_gbps * 1e9 / 8 / size_bytes / 1e6
    row = f" {size_bytes:<10} {iterations:<14} {0.0:<16.2f}   {average_gbps:<16.2f}   {rate_mpps:<10.6f}"
    head = [
        _RULE,
        f"                    {title}",
        f" Dual-port       : OFF\t\tDevice         : {own.device}",
        f" Number of qps   : {qps}\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
        f" Mtu             : {own.mtu_bytes}[B]",
        f" Link type       : {'IB' if own.infiniband else 'Ethernet'}",
        _RULE,
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]",
        row,
        _RULE,
    ]
    lines = [" WARNING: BW peak won't be measured in this run.", *(_cuda(own, size_bytes * qps) if gpu else ()), *head]
    return "\n".join(lines) + "\n"


def _cuda(own: SimPort, size_bytes: int) -> tuple[str, ...]:
    return (
        "initializing CUDA",
        f"CUDA device 0: PCIe address is {own.gpu[5:10].upper()}",
        "Picking device No. 0",
        "[pid = 41, dev = 0] device name = [NVIDIA H200]",
        f"using DMA-BUF for GPU buffer address at 0x7f2b5e000000 aligned at 0x7f2b5e000000 with aligned size {size_bytes}",
        f"allocated GPU buffer of a {size_bytes} address at 0x7f2b5e000000 for type CUDA_MEM_DEVICE",
        f"Calling ibv_reg_dmabuf_mr(offset=0, size={size_bytes}, addr=0x7f2b5e000000, fd=45) for QP #0",
    )


def perftest_without_dmabuf(own: SimPort) -> str:
    """Write what a perftest for GPU memory says where its GPU exports no dma-buf, before it ends with an error."""
    first, device, picking, named, *_ = _cuda(own, 0)
    lines = (
        first,
        device,
        picking,
        named,
        "DMA-BUF is not supported on this GPU",
        " Couldn't create IB resources",
    )
    return "\n".join(lines) + "\n"


def ucx_table(operation: str, count: int, lane: str, *, gpu: bool, emulated: bool) -> str:
    """Write UCX's table of used protocols for one operation; `emulated` is what it says of bytes that were staged."""
    verb = "read by ucp_get*(multi) into" if operation == "read" else "write by ucp_put*(multi) from"
    ends = (
        ("cuda/GPU0 from cuda/dev[0]" if operation == "read" else "cuda/GPU0 to cuda/dev[0]")
        if gpu
        else ("host memory from host" if operation == "read" else "host memory to host")
    )
    title = f"remote memory {verb} {ends}"
    how = "software emulation" if emulated else "zero-copy"
    prefix = "[1772438400.000000] [sim:77   :0]   "
    rows = (
        "+-------+--------+--------------------+----------------------+",
        "| connect inter-node cfg#1 |",
        f"| {title} |",
        "+-------+--------+--------------------+----------------------+",
        "| Count | Range  |    Description     |        Config        |",
        "+-------+--------+--------------------+----------------------+",
        f"| {count:>5} | 0..inf | {how:<18} | {lane:<20} |",
        "+-------+--------+--------------------+----------------------+",
    )
    return "".join(f"{prefix}{row}\n" for row in rows)


def ucx_refusal(operation: str, *, gpu: bool) -> str:
    """Write UCX's refusal where no zero-copy way is left."""
    memory = "cuda" if gpu else "host"
    verb = f"get into {memory} from {memory}" if operation == "read" else f"put from {memory} to {memory}"
    return (
        "[1772438400.000000] [sim:77   :0]  proto_reconfig.c:67   UCX  ERROR No zero-copy protocol found for "
        f"{verb}, 65536 bytes. Please check for proper GPU and/or HCA support, or set UCX_PROTO_EMULATION_ENABLE=y "
        "to proceed by allowing slower software emulation.\n"
    )


def nccl(own: SimPort, rank: int, *, gpu_direct: bool) -> str:
    """Write what one of two ranks logs."""
    prefix = f"{own.node}:77:90 [0] NCCL INFO "
    kind = "IB" if own.infiniband else "RoCE"
    way = "/GDRDMA" if gpu_direct else ""
    lines = (
        "NCCL version 2.30.7+cuda13.0",
        f"NET/IB : Using [0]{own.device}:1/{kind} [RO]; OOB eth0:10.128.0.2<0>",
        f"comm 0x55d1c0a0 rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x1c22 - Init COMPLETE",
        f"Channel 00/0 : {1 - rank}[0] -> {rank}[0] [receive] via NET/IB/0{way}",
        f"Channel 00/0 : {rank}[0] -> {1 - rank}[0] [send] via NET/IB/0{way}",
    )
    return "".join(f"{prefix}{line}\n" for line in lines)
