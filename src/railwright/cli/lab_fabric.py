"""`railwright lab fabric`: an InfiniBand subnet on a simulator, brought up by a real OpenSM."""

import json
from collections import Counter
from dataclasses import asdict

from railwright import api
from railwright.cli.options import Common
from railwright.cli.progress import progress
from railwright.cli.streams import write_result
from railwright.lab.fabric.fabric import NOT_RUN, PARTITION, Read, partitions, subnet

FAULTS = ("pkey",)
_SHOWN = ("ibnetdiscover", "sminfo")
_FAILED = 5


async def fabric(hosts: int, fault: str, common: Common) -> int:
    """Bring a subnet up, read it, end it; exit code 5 when a port is not as it is wanted."""
    if fault and fault not in FAULTS:
        raise api.UsageError(f"no fault {fault!r} in the InfiniBand lab", hint=f"one of: {', '.join(FAULTS)}")
    wanted = partitions(hosts, left_out=hosts if fault == "pkey" else 0)
    async with subnet(progress(quiet=common.quiet), hosts=hosts, partitions=wanted) as up:
        read = await up.read()
    record = api.judge_subnet(read.ibstat, read.pkeys, partition=PARTITION, no_bytes=NOT_RUN[0])
    write_result(_as_json(read, record, fault) if common.output != "text" else _as_text(read, record, fault))
    return _FAILED if record.wrong else 0


def _as_json(read: Read, record: api.SubnetRecord, fault: str) -> str:
    """Write JSON, which is YAML too."""
    fields = {**asdict(record), "fault": fault, "not_run": NOT_RUN, "texts": read.texts}
    return json.dumps(fields, indent=2) + "\n"


def _as_text(read: Read, record: api.SubnetRecord, fault: str) -> str:
    active = sum(each.port is not None and each.port.state == "ACTIVE" for each in record.ports)
    lines = [f"{active} of {len(record.ports)} ports are active"]
    lines += [f"broken on purpose: {fault}"] if fault else []
    lines += ["", "what is wrong, and where", *(f"  {each}" for each in record.wrong)] if record.wrong else []
    reasons = Counter(cell.reason for cell in record.cells)
    lines += ["", f"left out (SKIP): {len(record.cells)} of {len(record.cells)} ways between hosts"]
    lines += [f"  {reason}  [{number} ways]" for reason, number in reasons.most_common()]
    lines += ["", "not run, because it cannot be:", *(f"  {each}" for each in NOT_RUN)]
    lines += ["", *_table(record)]
    for name in _SHOWN:
        lines += ["", name, *(f"  {line}" for line in read.texts[name].splitlines() if line.strip())]
    return "\n".join(lines) + "\n"


def _table(record: api.SubnetRecord) -> list[str]:
    """Write one line a port."""
    lines = [f"{'host':8} {'state':12} {'lid':>5} {'sm lid':>6}  partition keys"]
    for each in record.ports:
        state, lid, sm_lid = (each.port.state, each.port.lid, each.port.sm_lid) if each.port else ("-", None, None)
        keys = "not read" if each.pkeys is None else " ".join(f"0x{key:04x}" for key in each.pkeys)
        lines.append(f"{each.host:8} {state:12} {lid or '-':>5} {sm_lid or '-':>6}  {keys}")
    return lines
