"""Both halves' replies to a probe, from the truth of its way: the same shapes that a real half sends."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane.model import (
    Counter,
    Digest,
    EngineRequest,
    Evidence,
    EvidenceRequest,
    NcclRequest,
    NixlRequest,
    PerftestRequest,
    Problem,
    Reply,
    Request,
    Sample,
    Used,
    Watched,
)
from railwright.dataplane.port import Gid, Port
from railwright.dataplane.wire import probe_of
from railwright.simulator.datapath import words
from railwright.simulator.datapath.wires import SimPort, Truth, Wiring

_SMALL_BYTES = 65536
_LATENCY_US = 2.4
_WORD_BYTES = 4
_LINK_LOCAL_INDEX, _OWN_INDEX = 1, 3
_NO_RIGHT = ("refused", "read of 4096 bytes failed: remote access error (completion status 10, vendor 0x88)")
_UNREGISTERED = (
    "gpu-registration-refused",
    "GPU memory could not be registered: dma-buf EOPNOTSUPP, and nvidia_peermem is not loaded",
)


def replies(wiring: Wiring, listening: tuple[str, Request], connecting: tuple[str, Request]) -> tuple[Reply, Reply]:
    """
    Answer a probe whose halves have found each other.

    Args:
        listening, connecting: node and request of each half.

    Returns:
        The listening half's reply, the connecting half's.
    """
    (listen_node, listen), (connect_node, connect) = listening, connecting
    listener, connector = _port(wiring, listen_node, listen), _port(wiring, connect_node, connect)
    if listener is None or connector is None:
        return _no_device(listener, listen), _no_device(connector, connect)
    reads = getattr(connect, "operation", "write") == "read" or "read" in getattr(connect, "program", "")
    source, target = (listener, connector) if reads else (connector, listener)
    gpu = _moves_gpu(connect)
    truth = wiring.truth(source, target, gpu=gpu, over_link_local=_over_link_local(connect))
    if truth.staged_at and isinstance(connect, PerftestRequest):
        truth = replace(
            truth, problem=("transfer-failed", f"{connect.program} ended with exit code 1"), at=truth.staged_at
        )
    elif truth.staged_at and isinstance(connect, EngineRequest):
        truth = replace(truth, problem=_UNREGISTERED, at=truth.staged_at)
    if truth.problem[0]:
        return _problem(truth, reads, listener, listen, connector, connect)
    if isinstance(connect, EngineRequest) and connect.withhold and truth.checks_rights:
        truth = replace(truth, problem=_NO_RIGHT, at="target" if reads else "source")
        return _problem(truth, reads, listener, listen, connector, connect)
    # A UCX from before emulation could be forbidden stages the bytes, whatever is withheld.
    if isinstance(connect, NixlRequest) and connect.withhold and not truth.staged_at:
        return _refused(listener, listen), _refused(connector, connect)
    moved = _samples(connect, truth)
    answers = [_reply(port, request, truth, moved) for port, request in ((listener, listen), (connector, connect))]
    payload = sum(sample.transfers * sample.size_bytes for sample in moved)
    digests = _digests(connect, truth)
    listen_end, connect_end = ("born", "arrived") if reads else ("arrived", "born")
    answers[0] = _with(answers[0], payload, truth, digests, listen_end, sent=reads)
    answers[1] = replace(_with(answers[1], payload, truth, digests, connect_end, sent=not reads), samples=moved)
    return answers[0], answers[1]


def _port(wiring: Wiring, node: str, request: Request) -> SimPort | None:
    return wiring.port(node, request.rail.netdev, request.rail.device)


def _no_device(port: SimPort | None, request: Request) -> Reply:
    role = getattr(getattr(request, "meeting", None), "role", "")
    if port is None:
        return Reply(probe_of(request), Problem("no-device", f"no RDMA device goes with {request.rail.netdev}"), role)
    return Reply(probe_of(request), Problem("peer-missing", "the other half did not come"), role)


def _moves_gpu(request: Request) -> bool:
    memory = getattr(request, "memory", None)
    return isinstance(request, NcclRequest) or (memory is not None and memory.kind == "gpu")


def _over_link_local(request: Request) -> bool:
    return request.rail.gid_index == _LINK_LOCAL_INDEX


def _problem(
    truth: Truth, reads: bool, listener: SimPort, listen: Request, connector: SimPort, connect: Request
) -> tuple[Reply, Reply]:
    code, message = truth.problem
    is_listener = truth.at == ("source" if reads else "target")
    own, other = Problem(code, message), Problem("peer-lost", "the other half gave up")
    told = (own, other) if is_listener else (other, own)
    listened = Reply(probe_of(listen), told[0], "listen", _used(listener, listen))
    connected = Reply(probe_of(connect), told[1], "connect", _used(connector, connect))
    if truth.staged_at and isinstance(connect, PerftestRequest):
        raw = words.perftest_without_dmabuf(listener if is_listener else connector)
        return _ended(listened, raw if is_listener else ""), _ended(connected, "" if is_listener else raw)
    return listened, connected


def _ended(reply: Reply, raw: str) -> Reply:
    return replace(reply, raw=raw, exit_code=1)


def _refused(port: SimPort, request: Request) -> Reply:
    operation = getattr(request, "operation", "read")
    role = getattr(getattr(request, "meeting", None), "role", "")
    raw = words.ucx_refusal(operation, gpu=_moves_gpu(request)) if role == "connect" else ""
    return Reply(probe_of(request), Problem("refused", "UCX refused the transfer"), role, _used(port, request), raw=raw)


def _samples(request: Request, truth: Truth) -> tuple[Sample, ...]:
    match request:
        case EngineRequest(measure="latency"):
            spread = {"min": 0.9, "p50": 1.0, "p99": 1.6, "p999": 2.2, "max": 3.0}
            slower = max(1.0, 300.0 / max(truth.rate_gbps, 1.0))
            latency = {key: round(_LATENCY_US * slower * factor, 2) for key, factor in spread.items()}
            return tuple(Sample(request.operation, size, 1, 10000, 0.1, 0.0, latency) for size in request.sizes_bytes)
        case EngineRequest():
            both = 1.9 if request.bidirectional else 1.0
            return tuple(
                _sample(request.operation, size, request.qps, request.duration_s, both * _at_size(truth, size))
                for size in request.sizes_bytes
            )
        case NixlRequest():
            return tuple(
                replace(
                    _sample(request.operation, size, 1, 0.5, 0.98 * _at_size(truth, size)), transfers=request.iterations
                )
                for size in request.sizes_bytes
            )
        case NcclRequest():
            return (_sample("write", request.size_bytes, 1, 1.0, 0.9 * truth.rate_gbps),)
        case _:
            return ()


def _at_size(truth: Truth, size_bytes: int) -> float:
    """Small messages are bound by their number, and reach less."""
    return truth.rate_gbps * min(1.0, size_bytes / (size_bytes + 0.02 * _SMALL_BYTES))


def _sample(operation: str, size: int, qps: int, duration_s: float, gbps: float) -> Sample:
    transfers = max(1, int(gbps * 1e9 / 8 * duration_s / size))
    return Sample("read" if operation == "read" else "write", size, qps, transfers, duration_s, round(gbps, 3))


def _reply(port: SimPort, request: Request, truth: Truth, moved: Sequence[Sample]) -> Reply:
    role = getattr(getattr(request, "meeting", None), "role", "")
    reply = Reply(probe_of(request), role=role, used=_used(port, request), elapsed_s=3.0)
    match request:
        case PerftestRequest():
            duration = request.duration_s or 1.0
            iterations = int(truth.rate_gbps * 1e9 / 8 * duration / request.size_bytes)
            raw = words.perftest(
                request.program,
                port,
                request.size_bytes,
                request.qps,
                iterations,
                truth.rate_gbps,
                gpu=_moves_gpu(request),
            )
            return replace(reply, raw=raw, exit_code=0)
        case NixlRequest():
            count = request.iterations * len(request.sizes_bytes)
            table = words.ucx_table(
                request.operation, count, _lane(port, request), gpu=_moves_gpu(request), emulated=bool(truth.staged_at)
            )
            return replace(reply, raw=table if role == "connect" else "")
        case NcclRequest():
            rank = 0 if role == "listen" else 1
            return replace(reply, raw=words.nccl(port, rank, gpu_direct=request.gpu_direct and not truth.staged_at))
        case _:
            return replace(reply, raw=f"simulated: {len(moved)} sizes")


def _lane(port: SimPort, request: NixlRequest) -> str:
    """Name what UCX moves bytes over: the NIC's lane, or TCP where RDMA is withheld."""
    return "tcp/eth0" if request.withhold == "rdma" else f"rc_mlx5/{port.device}:1"


def _used(port: SimPort, request: Request) -> Used:
    by_link_local = _over_link_local(request)
    gid = port.link_local if by_link_local else _mapped(port.address)
    return Used(
        device=RdmaDevice(port.device),
        port=1,
        netdev=NetDevice(port.netdev),
        link_layer="InfiniBand" if port.infiniband else "Ethernet",
        gid_index=None if port.infiniband else (_LINK_LOCAL_INDEX if by_link_local else _OWN_INDEX),
        gid="" if port.infiniband else gid,
        gid_type="" if port.infiniband else "RoCE v2",
        lid=port.rail + 2 if port.infiniband else None,
        path_mtu_bytes=port.mtu_bytes,
        registration="dma-buf" if _moves_gpu(request) else "host",
        library="simulated",
    )


def _mapped(address: str) -> str:
    first, second, third, fourth = (int(part) for part in address.split("."))
    return f"0000:0000:0000:0000:0000:ffff:{first:02x}{second:02x}:{third:02x}{fourth:02x}"


def _digests(request: Request, truth: Truth) -> dict[str, tuple[Digest, Digest]]:
    """Make both ends' checksums of every size, by label: born, arrived."""
    if not isinstance(request, EngineRequest | NixlRequest):
        return {}
    made = {}
    for size in request.sizes_bytes:
        for what in ("checked", "timed"):
            label = f"{request.operation} {size} {what}"
            born = sha256(f"{label} {request.seed}".encode()).hexdigest()
            arrived = sha256(f"{born} flipped".encode()).hexdigest() if truth.corrupt else born
            made[label] = (Digest(label, "born", born, size), Digest(label, "arrived", arrived, size))
    return made


def _with(
    reply: Reply, payload: int, truth: Truth, digests: dict[str, tuple[Digest, Digest]], end: str, *, sent: bool
) -> Reply:
    """Add this end's checksums, and the counters of its port around the transfer."""
    own = tuple(pair[0] if end == "born" else pair[1] for pair in digests.values())
    mtu = max(reply.used.path_mtu_bytes, 256)
    packets = payload // mtu
    carried = payload + packets * 60
    names = ("port_xmit_data", "port_rcv_data") if sent else ("port_rcv_data", "port_xmit_data")
    source = f"sysfs counters {reply.used.device}/1"
    before = tuple(Counter(source, name, 1000, "4 bytes") for name in names)
    lost = int(packets * truth.lost_share)
    hardware = f"sysfs hw_counters {reply.used.device}/1"
    after = (
        Counter(source, names[0], 1000 + carried // _WORD_BYTES, "4 bytes"),
        Counter(source, names[1], 1000 + packets * 6, "4 bytes"),
        Counter(hardware, "out_of_sequence", lost, ""),
    )
    return replace(reply, digests=own, before=(*before, Counter(hardware, "out_of_sequence", 0, "")), after=after)


def _partitions(wiring: Wiring, node: str) -> dict[str, int]:
    """IPoIB devices are in the partition of the first key."""
    return {port.netdev: port.pkeys[0] & 0x7FFF for port in wiring.ports if port.node == node and port.pkeys}


def evidence(wiring: Wiring, node: str, request: EvidenceRequest) -> Reply:
    """Say what a simulated pod is; nobody else uses its rails while they are watched."""
    ports = tuple(
        Port(
            device=RdmaDevice(port.device),
            port=1,
            state="4: ACTIVE",
            physical_state="5: LinkUp",
            link_layer="InfiniBand" if port.infiniband else "Ethernet",
            rate=f"{port.rate_gbps:g} Gb/sec",
            lid="",
            active_mtu_bytes=port.mtu_bytes,
            netdevs=(NetDevice(port.netdev),),
            gids=()
            if port.infiniband
            else (
                Gid(_LINK_LOCAL_INDEX, port.link_local, "RoCE v2", NetDevice(port.netdev)),
                Gid(_OWN_INDEX, _mapped(port.address), "RoCE v2", NetDevice(port.netdev)),
            ),
            pkeys=port.pkeys,
        )
        for port in wiring.ports
        if port.node == node
    )
    limited = "pod-memlock" in wiring.troubles and node == wiring.sick
    tools = {name: f"/usr/bin/{name}" for name in ("ib_write_bw", "ib_read_bw")}
    quiet = tuple(Counter("sysfs counters", name, 1000, "4 bytes") for name in ("port_xmit_data", "port_rcv_data"))
    found = Evidence(
        0,
        65536 if limited else -1,
        "shared",
        ports,
        (),
        ("uverbs0", "rdma_cm"),
        tools,
        {},
        _partitions(wiring, node),
        tuple(Watched(rail, request.watch_s, quiet, quiet) for rail in request.watched),
    )
    return Reply("evidence", evidence=found)
