r"""
What a side of a NIXL run printed: transfers, checksums, and UCX's words when it refuses.

Sample:

    2026-11-30 00:46:11 NIXL INFO    _api.py:405 Backend UCX was instantiated
    READ 268435456 median GB/s 258.78 us 1037.3
    checksum ok True
    [1795999585.052174] [vm:763  :0]  proto_reconfig.c:67   UCX  ERROR No zero-copy protocol found for get into cuda
        from cuda, 65536 bytes. Please check for proper GPU and/or HCA support, or set UCX_PROTO_EMULATION_ENABLE=y ...
    READ 65536 ERR nixlRemoteDisconnectError('NIXL_ERR_REMOTE_DISCONNECT')

GB/s are 10**9 bytes a second. A transfer that was begun and has no line was cut short, which the checksum line says:
it is printed once after the transfers of each operation.
Measured: nixl-cu13 1.5.1 between two H200 of one host, 2026-11-30, cases/facts/nixl.
"""

import re

from railwright.facts.measured import NixlOutput, NixlTransfer

_BACKEND = re.compile(r"NIXL INFO\s+\S+ Backend (\w+) was instantiated")
_TRANSFER = re.compile(r"(READ|WRITE) (\d{1,18}) median GB/s (\d{1,18}\.\d{1,18}) us (\d{1,18}\.\d{1,18})")
_LOOKS_LIKE_TRANSFER = re.compile(r"(READ|WRITE)\b")
_FAILED = re.compile(r"(READ|WRITE) (\d+) ERR (.+)")
_CHECKSUM = re.compile(r"checksum ok (True|False)")
_REFUSED = "No zero-copy protocol found"
_ERROR = re.compile(r"\bUCX\s+ERROR\b|^E\d{4} |\bNIXL ERROR\b|\bTraceback\b|^\w*Error\b")


def parse_nixl(text: str) -> NixlOutput:
    """Read one side's output; never raises."""
    backend, transfers, is_whole = "", [], False
    refusals: list[str] = []
    errors: list[str] = []
    problem = "" if text.strip() else "it printed nothing"
    for line in (item.strip() for item in text.splitlines()):
        if (match := _BACKEND.search(line)) is not None:
            backend = match[1]
        elif (match := _TRANSFER.fullmatch(line)) is not None:
            transfers.append(NixlTransfer(match[1], int(match[2]), float(match[3]) * 8, float(match[4])))
        elif (match := _FAILED.fullmatch(line)) is not None:
            errors.append(line)
        elif _CHECKSUM.fullmatch(line) is not None:
            is_whole = True
        elif _REFUSED in line:
            refusals.append(line)
        elif _ERROR.search(line):
            errors.append(line)
        elif _LOOKS_LIKE_TRANSFER.match(line):
            problem = problem or f"a line that can't be read: {line[:80]!r}"
    if not problem and transfers and not is_whole:
        problem = "it was cut short: no checksum was compared"
    return NixlOutput(
        backend=backend,
        transfers=() if problem else tuple(transfers),
        refusals=tuple(refusals),
        errors=tuple(errors),
        problem=problem,
    )
