"""`railwright lab fabric`: an InfiniBand subnet on a simulator, brought up by a real OpenSM."""

import json

from railwright.cli.options import Common
from railwright.cli.progress import progress
from railwright.cli.streams import write_result
from railwright.core.errors import UsageError
from railwright.lab.fabric.fabric import NOT_RUN, Read, partitions_without, subnet

FAULTS = ("pkey",)
_SHOWN = ("ibnetdiscover", "sminfo")
_FAILED = 5


async def fabric(hosts: int, fault: str, common: Common) -> int:
    """Bring a subnet up, read it, end it; exit code 5 when a port is not active."""
    if fault and fault not in FAULTS:
        raise UsageError(f"no fault {fault!r} in the InfiniBand lab", hint=f"one of: {', '.join(FAULTS)}")
    partitions = partitions_without(hosts, hosts) if fault == "pkey" else ""
    async with subnet(progress(quiet=common.quiet), hosts=hosts, partitions=partitions) as up:
        read = await up.read()
    write_result(_as_json(read, fault) if common.output != "text" else _as_text(read, fault))
    return _FAILED if read.down else 0


def _as_json(read: Read, fault: str) -> str:
    """Write JSON, which is YAML too."""
    fields = {"hosts": read.hosts, "down": read.down, "fault": fault, "not_run": NOT_RUN, "texts": read.texts}
    return json.dumps(fields, indent=2) + "\n"


def _as_text(read: Read, fault: str) -> str:
    active = len(read.hosts) - len(read.down)
    lines = [f"{active} of {len(read.hosts)} ports are active", *(f"  not active: {host}" for host in read.down)]
    if fault:
        lines.append(f"broken on purpose: {fault}")
    lines += ["", "not run, because it cannot be:", *(f"  {each}" for each in NOT_RUN)]
    for name, text in read.texts.items():
        if name in _SHOWN or name.startswith(("ibstat", "partition")):
            kept = [line for line in text.splitlines() if line.strip() and not _is_empty_row(line)]
            lines += ["", name, *(f"  {line}" for line in kept)]
    return "\n".join(lines) + "\n"


def _is_empty_row(line: str) -> bool:
    """Whether a row of a key table holds nothing."""
    values = line.partition(":")[2].split()
    return bool(values) and set(values) == {"0x0000"}
