"""
What one half of a probe is asked, and what it answers: the only words between a caller and a pod, guest or host.

Every probe that needs two ends has two requests that differ in `meeting` alone: one half listens, the other connects.
Tools' own words come back as text (`raw`): whoever judges them parses them. Numbers are there only for what our own
engine measured itself. `wire.py` turns all of it into JSON and back.
"""

from dataclasses import dataclass, field
from typing import Literal

from railwright.core.ids import NetDevice, PciAddress, RdmaDevice
from railwright.dataplane.port import Port

ANY_NETDEV = NetDevice("")
ANY_DEVICE = RdmaDevice("")
ANY_GPU = PciAddress("")

Role = Literal["listen", "connect"]
Operation = Literal["write", "read"]


@dataclass(frozen=True)
class Meeting:
    """
    How the two halves of a probe find each other, over TCP, outside of what is measured.

    Attributes:
        role: the listening half is the target of WRITE and READ: its memory is written and read by the other.
        address: of the listening half, as the connecting half reaches it; the listening half listens on every address.
        port: TCP port; the caller chooses it, a different one for each probe that runs at the same time.
        patience_s: how long to wait for the other half before giving up with `peer-missing`.
    """

    role: Role
    address: str
    port: int
    patience_s: float = 10.0


@dataclass(frozen=True)
class RailEnd:
    """
    The NIC of one half.

    Attributes:
        netdev: the pod's own network device ("net1"). The RDMA device and its GID are found by it; "" on InfiniBand
            without an IPoIB child, where `device` says which.
        device: the RDMA device; "" means: the one whose netdev is `netdev`.
        port: of the RDMA device.
        gid_index: None means: the RoCE v2 GID that belongs to an address of `netdev`. A number is for those who want
            to see what a fixed index does.
    """

    netdev: NetDevice = ANY_NETDEV
    device: RdmaDevice = ANY_DEVICE
    port: int = 1
    gid_index: int | None = None


@dataclass(frozen=True)
class Memory:
    """
    Where the bytes live.

    Attributes:
        kind: host or gpu.
        gpu: CUDA ordinal inside the pod; used when `gpu_pci` is "".
        gpu_pci: PCI address of the GPU, which wins over the ordinal.
        registration: for gpu: "auto" tries dma-buf, then peermem; the others are tried alone.
    """

    kind: Literal["host", "gpu"] = "host"
    gpu: int = 0
    gpu_pci: PciAddress = ANY_GPU
    registration: Literal["auto", "dma-buf", "peermem"] = "auto"


@dataclass(frozen=True)
class Wire:
    """
    What the packets look like; every value is the intent's, None leaves the port's own.

    Attributes:
        traffic_class: the whole IP TOS byte (DSCP and ECN): 106 is DSCP 26 with ECT(0).
        path_mtu_bytes: 256 to 4096; the smaller of it and both ports' active MTU is used.
        hop_limit: of the GRH; 64 crosses routers, 1 does not.
        retry_count: transport retries before a transfer fails; below 7, which soft-RoCE takes for "for ever".
        timeout_exponent: how long an acknowledgement may take, 4.096 us * 2**exponent; None leaves each program its
            own (our engine 16, which is 268 ms; perftest 14).
        partition: number of the InfiniBand partition, without the membership bit; None: that of the pod's own IPoIB
            device, else the first one with full membership. The connection manager takes that of the device always.
    """

    traffic_class: int | None = None
    path_mtu_bytes: int | None = None
    hop_limit: int = 64
    retry_count: int = 6
    timeout_exponent: int | None = None
    partition: int | None = None


Fault = Literal["", "corrupt-arrival", "cut-midway", "die-midway"]
"""What the lab may ask the engine to do wrong; never set on a cluster."""


@dataclass(frozen=True)
class EngineRequest:
    """
    WRITE or READ with our own verbs engine, over RC, one row of the reply for each size.

    The connecting half drives: bytes flow from its memory to the listener's with `write`, the other way with `read`.
    Before anything is timed the receiving memory is cleared and every slot is sent once and checked; after each timed
    stretch the receiving memory is checked again.

    Attributes:
        measure: "bandwidth" keeps `depth` transfers of each queue pair in flight; "latency" has one at a time.
        sizes_bytes: message sizes, one after another.
        qps: queue pairs, each with its own buffer.
        depth: transfers in flight a queue pair; READ uses at most what the device allows (16 is common).
        duration_s: how long each size is timed; when `iterations` is given it only bounds it.
        iterations: how many transfers are timed for each size and queue pair; None: as many as fit.
        bidirectional: the listening half drives too, at the same time.
        connection: "tcp" exchanges queue pair numbers over the meeting, "rdma_cm" over the RDMA connection manager
            (then `rdma_address` is the listener's address on the rail).
        seed: what the pattern grows from; both halves may know it, only the birthplace's checksum counts.
        withhold: a negative control: "remote-access" registers the listener's memory without remote rights, so that
            every transfer must be refused ("refused", status "remote access error").
    """

    meeting: Meeting
    rail: RailEnd
    operation: Operation = "write"
    measure: Literal["bandwidth", "latency"] = "bandwidth"
    sizes_bytes: tuple[int, ...] = (65536,)
    qps: int = 1
    depth: int = 32
    duration_s: float = 2.0
    iterations: int | None = None
    bidirectional: bool = False
    memory: Memory = Memory()
    wire: Wire = Wire()
    connection: Literal["tcp", "rdma_cm"] = "tcp"
    rdma_address: str = ""
    seed: int = 1
    withhold: Literal["", "remote-access"] = ""
    fault: Fault = ""


@dataclass(frozen=True)
class PerftestRequest:
    """
    One half of a perftest program; its words come back as they were printed.

    Attributes:
        program: ib_write_bw, ib_read_bw, ib_send_bw, ib_write_lat, ib_read_lat, ib_send_lat.
        duration_s: `-D`; None uses `iterations` (`-n`).
        gpu_dmabuf: with GPU memory: dma-buf registration, else peermem.
    """

    meeting: Meeting
    rail: RailEnd
    program: str = "ib_write_bw"
    size_bytes: int = 65536
    qps: int = 1
    duration_s: float | None = None
    iterations: int = 200
    bidirectional: bool = False
    memory: Memory = Memory()
    gpu_dmabuf: bool = True
    wire: Wire = Wire()
    connection: Literal["tcp", "rdma_cm"] = "tcp"
    rdma_address: str = ""


@dataclass(frozen=True)
class NixlRequest:
    """
    READ and WRITE through NIXL's UCX backend; one row of the reply for each size.

    Attributes:
        memory: host is NIXL's DRAM, gpu its VRAM.
        allow_emulation: False sets UCX_PROTO_EMULATION_ENABLE=n: no zero-copy path means refusal.
        withhold: a negative control: "gpu-direct" sets UCX_IB_GPU_DIRECT_RDMA=n, "rdma" leaves TCP and copies alone.
        iterations: transfers timed for each size.
        pieces: into how many descriptors a transfer is cut; several may travel side by side.
    """

    meeting: Meeting
    rail: RailEnd
    operation: Operation = "read"
    memory: Memory = Memory(kind="gpu")
    sizes_bytes: tuple[int, ...] = (1048576,)
    iterations: int = 50
    pieces: int = 1
    allow_emulation: bool = False
    withhold: Literal["", "gpu-direct", "rdma"] = ""
    seed: int = 1
    wire: Wire = Wire()


@dataclass(frozen=True)
class NcclRequest:
    """
    One rank of an NCCL all-reduce between two GPUs; NCCL's own log comes back in `raw`.

    Attributes:
        devices: the HCAs that NCCL may use (NCCL_IB_HCA, exact names).
        gpu_direct: False is the negative control (NCCL_NET_GDR_LEVEL=LOC).
    """

    meeting: Meeting
    rail: RailEnd
    devices: tuple[RdmaDevice, ...] = ()
    memory: Memory = Memory(kind="gpu")
    size_bytes: int = 1 << 28
    iterations: int = 20
    gpu_direct: bool = True
    wire: Wire = Wire()


@dataclass(frozen=True)
class EvidenceRequest:
    """
    What this place is: limits, namespaces, devices, GIDs, counters. One half, no peer.

    Attributes:
        watched: rails whose counters are read twice, with `watch_s` between: what they carry while nothing is asked.
    """

    rail: RailEnd = RailEnd()
    watched: tuple[RailEnd, ...] = ()
    watch_s: float = 0.0


Request = EngineRequest | PerftestRequest | NixlRequest | NcclRequest | EvidenceRequest


@dataclass(frozen=True)
class Problem:
    """
    Why there is no result.

    Attributes:
        code: stable: no-device, no-gid, no-pkey, pkeys-unread, port-down, no-memory-to-lock, peer-missing, peer-lost,
            transfer-failed, timed-out, tool-missing, no-gpu, gpu-registration-refused, refused, not-permitted, no-library,
            unknown-layout, died, broken-request, unexpected.
        message: for a person: what, where, expected and seen.
        status: what the library or kernel called it ("transport retry counter exceeded", "ENOMEM"), or "".
    """

    code: str
    message: str
    status: str = ""


@dataclass(frozen=True)
class Used:
    """
    What a half really used; empty where it did not come that far.

    Attributes:
        gid_type: "RoCE v2", "IB/RoCE v1", or "" on InfiniBand.
        path_mtu_bytes: that the queue pairs were brought up with.
        pkey_index, pkey: the entry of the partition key table, and the key ("0x8001"); None and "" on Ethernet.
        registration: "host", "dma-buf", "dma-buf pcie" (mapped through PCIe), or "peermem".
        library: the verbs library that was loaded.
    """

    device: RdmaDevice = ANY_DEVICE
    port: int = 0
    netdev: NetDevice = ANY_NETDEV
    link_layer: str = ""
    gid_index: int | None = None
    gid: str = ""
    gid_type: str = ""
    lid: int | None = None
    path_mtu_bytes: int = 0
    pkey_index: int | None = None
    pkey: str = ""
    registration: str = ""
    traffic_class: int = 0
    library: str = ""


@dataclass(frozen=True)
class Sample:
    """
    What one half timed of one size: it drove these transfers.

    Attributes:
        size_bytes: of one transfer.
        average_gbps: payload of all `transfers` in `elapsed_s`, 10**9 bit/s.
        latency_us: percentiles of one transfer from post to completion, keyed "p50", "p99", "p999", "min", "max";
            empty when bandwidth was measured.
    """

    operation: Operation
    size_bytes: int
    qps: int
    transfers: int
    elapsed_s: float
    average_gbps: float
    latency_us: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Digest:
    """
    A checksum that one half made of its own memory; the other half's reply has its counterpart with the same `label`.

    Attributes:
        label: what was moved: "write 65536 checked", "write 65536 timed", with "back " in front for the other direction.
        end: "born" before it was sent, "arrived" after.
        sha256: hexadecimal.
        covered_bytes: how much memory the checksum covers.
    """

    label: str
    end: Literal["born", "arrived"]
    sha256: str
    covered_bytes: int


@dataclass(frozen=True)
class Counter:
    """
    One counter of the kernel or the NIC.

    Attributes:
        source: where it was read: "sysfs counters mlx5_0/1", "sysfs hw_counters rxe_a/1", "netlink rxe_a/1",
            "netdev net1", "ethtool net1".
        unit: "bytes", "4 bytes" (port_xmit_data counts words of four), "packets", or "" where the name must tell.
    """

    source: str
    name: str
    value: int
    unit: str = ""


@dataclass(frozen=True)
class Reply:
    """
    What one half has to say.

    Attributes:
        probe: the kind of request that it answers: "engine", "perftest", "nixl", "nccl", "evidence".
        problem: None when the half ran to its end.
        raw: the tool's words, or our own notes; what a person reads to judge the run again.
        raw_errors: what the tool said on standard error.
        command: the program and its arguments and settings, where one was run.
        before, after: counters of this half's rail around the run.
        evidence: of the evidence probe.
    """

    probe: str
    problem: Problem | None = None
    role: str = ""
    used: Used = Used()
    samples: tuple[Sample, ...] = ()
    digests: tuple[Digest, ...] = ()
    elapsed_s: float = 0.0
    raw: str = ""
    raw_errors: str = ""
    command: str = ""
    exit_code: int | None = None
    before: tuple[Counter, ...] = ()
    after: tuple[Counter, ...] = ()
    evidence: "Evidence | None" = None


@dataclass(frozen=True)
class Watched:
    """Counters of one rail's port, twice, with `elapsed_s` between."""

    rail: RailEnd
    elapsed_s: float
    before: tuple[Counter, ...]
    after: tuple[Counter, ...]


@dataclass(frozen=True)
class Evidence:
    """
    What a place is.

    Attributes:
        memlock_bytes: soft limit; -1 is unlimited.
        netns_mode: "shared", "exclusive", or "" where it cannot be read.
        device_files: of /dev/infiniband.
        tools: program -> path, for those that are there.
        sections: named raw texts.
        partitions: number of the partition of each IPoIB device, by its name.
        watched: what was asked for, as far as each rail's port was found.
    """

    user_id: int
    memlock_bytes: int
    netns_mode: str
    ports: tuple[Port, ...]
    counters: tuple[Counter, ...]
    device_files: tuple[str, ...]
    tools: dict[str, str]
    sections: dict[str, str]
    partitions: dict[str, int] = field(default_factory=dict)
    watched: tuple[Watched, ...] = ()
