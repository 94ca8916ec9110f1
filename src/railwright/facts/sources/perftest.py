r"""
The output of ib_write_bw, ib_read_bw, ib_write_lat, ib_read_lat and their kin, one end of one run.

Sample (tabs as printed):

                    RDMA_Write BW Test
     Dual-port       : OFF		Device         : rxe_a
     ...
     Link type       : Ethernet
    ---------------------------------------------------------------------------------------
     #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
     65536      200              0.20               0.18   		     0.000337
    ---------------------------------------------------------------------------------------

Its MB/s and MiB/s are both 2**20 bytes a second, its Gb/s is 10**9 bits. Source: linux-rdma/perftest 00b55b6,
src/perftest_parameters.c:4766. Lines about GPU memory: the same, src/cuda_memory.c and src/perftest_resources.c.
Measured: perftest 25.01 over rdma_rxe of Linux 7.3.4, 2026-11, cases/facts/perftest.
"""

import re

from railwright.facts.measured import BandwidthRow, LatencyRow, PerftestOutput, Registration

_RULE = re.compile(r"-{40,}")
_TITLE = re.compile(r"(?P<test>\S.*?(?:BW|Latency|Rate Limit|Write Immediate).*?) Test")
_HEADER = re.compile(r"([^:\t]+?)\s*:\s*([^\t]*)")
_BANDWIDTH = re.compile(
    r"#bytes\s+#iterations\s+BW peak\[(?P<peak>[^\]]+)\]\s+BW average\[(?P<average>[^\]]+)\]\s+MsgRate\[Mpps\]"
)
_LATENCY_COLUMNS = (
    "#bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec] "
    "99% percentile[usec] 99.9% percentile[usec]"
)
_GBPS_OF_UNIT = {"Gb/sec": 1.0, "MiB/sec": 2**20 * 8 / 1e9, "MB/sec": 2**20 * 8 / 1e9}
_WHOLE = re.compile(r"\d{1,18}")
_NUMBER = re.compile(r"\d{1,18}\.\d{1,18}")

_GPU = (
    "initializing CUDA",
    "CUDA device ",
    "Picking device No.",
    "device name = [",
    "allocated GPU buffer of a",
    "cuMemAlloc() of a",
)
_DMA_BUF = ("using DMA-BUF for GPU buffer", "Calling ibv_reg_dmabuf_mr(", "Calling ibv_reg_mr_ex with dmabuf(")
_DATA_DIRECT = ("Calling mlx5dv_reg_dmabuf_mr(", "Using data direct device at")
_BUFFER = ("allocated GPU buffer of a", "cuMemAlloc() of a")
_ERRORS = (
    "Couldn't",
    "Unable to",
    "Failed to",
    "Failed status",
    "Completion with error",
    "Unexpected CM event",
    "not found",
    "Found Incompatibility issue",
    "not supported",
    "error=",
    "ibv_",
    "Invalid",
    "Requested mtu is higher",
)
_NO_ERRORS = ("Calling ibv_", "ibv_wr* API")


def parse_perftest(text: str) -> PerftestOutput:
    """Read one end's output; never raises, and gives no number that it does not understand whole."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").splitlines()]
    evidence = tuple(line.strip() for line in lines if _mentions(line, (*_GPU, *_DMA_BUF, *_DATA_DIRECT)))
    output = PerftestOutput(
        test=_title(lines),
        header=_header(lines),
        registration=_registration(evidence),
        evidence=evidence,
        errors=tuple(line.strip() for line in lines if _mentions(line, _ERRORS) and not _mentions(line, _NO_ERRORS)),
    )
    problem, bandwidth, latency = _rows(lines)
    return PerftestOutput(
        output.test,
        output.header,
        () if problem else bandwidth,
        () if problem else latency,
        output.registration,
        output.evidence,
        output.errors,
        problem,
    )


def _mentions(line: str, words: tuple[str, ...]) -> bool:
    return any(word in line for word in words)


def _title(lines: list[str]) -> str:
    found = [match["test"] for line in lines if (match := _TITLE.fullmatch(line.strip()))]
    return found[0] if len(found) == 1 else ""


def _header(lines: list[str]) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith(" ") and "#bytes" not in line and " address:" not in line and " GID: " not in line:
            pairs += [(key.strip(), value.strip()) for key, value in _HEADER.findall(line)]
    return tuple(pairs)


def _registration(evidence: tuple[str, ...]) -> Registration:
    """A GPU buffer without a dma-buf line was registered by its address, which only a peer-memory client can do."""
    if any(_mentions(line, _DATA_DIRECT) for line in evidence):
        return Registration.DATA_DIRECT
    if any(line.startswith(_DMA_BUF[1:]) for line in evidence):
        return Registration.DMA_BUF
    if any(_mentions(line, _BUFFER) for line in evidence):
        return Registration.PEERMEM
    return Registration.NONE


def _rows(lines: list[str]) -> tuple[str, tuple[BandwidthRow, ...], tuple[LatencyRow, ...]]:
    """Read the table: a problem, or bandwidth rows, or latency rows."""
    titles = [index for index, line in enumerate(lines) if "#bytes" in line]
    if not titles:
        said = any(line.strip() for line in lines)
        return "it printed no table of results" if said else "it printed nothing", (), ()
    if len(titles) > 1 or sum(bool(_TITLE.fullmatch(line.strip())) for line in lines) > 1:
        return "output of more than one run", (), ()
    columns = " ".join(lines[titles[0]].split())
    body, closed = _until_rule(lines[titles[0] + 1 :])
    if not body or not closed:
        return "it was cut short: its table does not end" if body else "its table has no line", (), ()
    if (match := _BANDWIDTH.fullmatch(columns)) is not None:
        return _bandwidth(body, match)
    if columns == _LATENCY_COLUMNS:
        return _latency(body)
    return f"columns that are not known: {columns[:120]!r}", (), ()


def _until_rule(lines: list[str]) -> tuple[list[str], bool]:
    """Give the lines up to the rule that ends a table, and whether there was one."""
    body: list[str] = []
    for line in lines:
        if _RULE.fullmatch(line.strip()):
            return body, True
        if line.strip():
            body.append(line)
    return body, False


def _bandwidth(body: list[str], match: re.Match[str]) -> tuple[str, tuple[BandwidthRow, ...], tuple[LatencyRow, ...]]:
    factor = _GBPS_OF_UNIT.get(match["average"])
    if factor is None or match["peak"] != match["average"]:
        return f"a unit that is not known: {match['average']!r}", (), ()
    rows: list[BandwidthRow] = []
    for line in body:
        cells = line.split()
        if len(cells) != 5 or not _all(_WHOLE, cells[:2]) or not _all(_NUMBER, cells[2:]):
            return f"a line that can't be read: {line.strip()[:80]!r}", (), ()
        size, iterations = int(cells[0]), int(cells[1])
        if not size or not iterations:
            return f"no iteration of {size} bytes was finished", (), ()
        peak, average, rate = (float(cell) for cell in cells[2:])
        rows.append(BandwidthRow(size, iterations, peak * factor, average * factor, rate))
    return _ordered([row.size_bytes for row in rows]), tuple(rows), ()


def _latency(body: list[str]) -> tuple[str, tuple[BandwidthRow, ...], tuple[LatencyRow, ...]]:
    rows: list[LatencyRow] = []
    for line in body:
        cells = line.split()
        if len(cells) != 9 or not _all(_WHOLE, cells[:2]) or not _all(_NUMBER, cells[2:]):
            return f"a line that can't be read: {line.strip()[:80]!r}", (), ()
        if not int(cells[0]) or not int(cells[1]):
            return f"no iteration of {cells[0]} bytes was finished", (), ()
        low, _, typical, average, _, p99, p999 = (float(cell) for cell in cells[2:])
        rows.append(LatencyRow(int(cells[0]), int(cells[1]), low, typical, average, p99, p999))
    return _ordered([row.size_bytes for row in rows]), (), tuple(rows)


def _all(pattern: re.Pattern[str], cells: list[str]) -> bool:
    return all(pattern.fullmatch(cell) for cell in cells)


def _ordered(sizes: list[int]) -> str:
    """Sizes of one run only ever grow; anything else is output of two runs mixed."""
    return "" if sizes == sorted(set(sizes)) else "sizes that do not grow: output of more than one run"
