r"""
What NCCL prints with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET, all ranks of one side.

Sample, each line behind "host:pid:thread [device] NCCL INFO ":

    NCCL version 2.30.7+cuda13.0
    NET/IB : Using [0]mlx5_7:1/RoCE [1]mlx5_8:1/RoCE [RO]; OOB eth0:10.128.2.14<0>
    Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA
    comm 0x55d rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x1c - Init COMPLETE

"/GDRDMA" on a channel is the use of GPUDirect; its absence is staging through host memory. "GPU Direct RDMA Enabled"
is only a capability. Source: NVIDIA/nccl 5067397, src/transport/net.cc:326, src/transport/net_ib/init.cc:513.
Not seen over a NIC by the authors.
"""

import re

from railwright.facts.measured import NcclChannel, NcclOutput

_PREFIX = re.compile(r"^\S+:\d+:\d+ \[\d+\] NCCL (INFO|WARN) ?(.*)$")
_VERSION = re.compile(r"NCCL version (\S+)")
_USING = re.compile(r"NET/IB : Using (.*?)(?:;|$)")
_HCA = re.compile(r"\[(\d{1,9})\](\S+:\d+/\S+)")
_COMPLETE = re.compile(r"comm 0x[0-9a-f]+ rank (\d{1,9}) n[rR]anks (\d{1,9}) .*- Init COMPLETE")
_NET = re.compile(r"(NET/(?:IB|Socket)/\d{1,9})(.*)")


def parse_nccl(text: str) -> NcclOutput:
    """Read one side's log; never raises. Without every rank's "Init COMPLETE" its channels say nothing."""
    version = ""
    hcas: dict[int, str] = {}
    channels: list[NcclChannel] = []
    ready: list[tuple[int, int]] = []
    warnings: list[str] = []
    problem = "" if text.strip() else "it printed nothing"
    for line in text.splitlines():
        prefixed = _PREFIX.match(line.strip())
        if prefixed is None:
            version = version or _version(line)
            continue
        level, said = prefixed.groups()
        if level == "WARN":
            warnings.append(said)
        elif said.startswith("Channel ") and " via " in said:
            channel = _channel(said)
            if channel is None:
                problem = problem or f"a channel that can't be read: {said[:80]!r}"
            else:
                channels.append(channel)
        elif (match := _COMPLETE.search(said)) is not None:
            ready.append((int(match[1]), int(match[2])))
        else:
            version = version or _version(said)
            if (match := _USING.search(said)) is not None:
                hcas |= {int(index): name for index, name in _HCA.findall(match[1])}
    problem = problem or _wrong_ranks(ready)
    return NcclOutput(
        version=version,
        hcas=tuple(sorted(hcas.items())),
        channels=() if problem else tuple(channels),
        ranks_ready=tuple(sorted({rank for rank, _ in ready})),
        ranks_expected=max((of for _, of in ready), default=0),
        warnings=tuple(warnings),
        problem=problem,
    )


def _wrong_ranks(ready: list[tuple[int, int]]) -> str:
    """Say why ranks that are complete are not those of one communicator, each once; "" when they are."""
    if not ready:
        return "no rank said that its communicator is complete"
    if len({of for _, of in ready}) > 1 or len({rank for rank, _ in ready}) < len(ready):
        return "ranks of more than one communicator"
    return ""


def _version(line: str) -> str:
    match = _VERSION.search(line)
    return match[1] if match else ""


def _channel(said: str) -> NcclChannel | None:
    head, _, via = said.partition(" via ")
    match = re.fullmatch(
        r"Channel (\d+(?:/\d+)?) : (\d{1,9})\[\w+\] -> (\d{1,9})\[\w+\](?: \[(?:send|receive)\])?", head
    )
    if match is None or not via:
        return None
    where = via.split()[0]
    network = _NET.fullmatch(where)
    transport = network[1] if network else where.split("/")[0]
    rest = network[2] if network else ""
    direct = bool(re.match(r"(?:\(\d+\))?/GDRDMA", rest))
    return NcclChannel(match[1], int(match[2]), int(match[3]), transport, direct, said)
