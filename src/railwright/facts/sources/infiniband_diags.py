r"""
What infiniband-diags say of one port: `ibstat`, and `smpquery pkeys`.

Samples: "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tBase lid: 6\n\t\tSM lid: 1\n\t\tPort GUID: 0x0000000000100007" and
"   0: 0xffff 0x8001 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n64 pkeys capacity for this port".

Source: linux-rdma/rdma-core v65 infiniband-diags/ibstat.c (port_dump), infiniband-diags/smpquery.c (pkey_table).
"""

import re
from dataclasses import dataclass

from railwright.core.ids import RdmaDevice
from railwright.facts.record import whole_number

_END = "CA 'the end'"
_DEVICE = re.compile(r"^CA '([^']+)'")
_PORT = re.compile(r"^\s+Port (\d{1,4}):")
_FIELD = re.compile(r"^\s+([A-Z][A-Za-z ]+): (.*)$")
_KEYS = re.compile(r"^\s*\d+:((?: 0x[0-9a-f]{4})+)\s*$", re.MULTILINE)
_CAPACITY = re.compile(r"^(\d{1,9}) pkeys capacity for this port", re.MULTILINE)


@dataclass(frozen=True)
class StatedPort:
    """One port as ibstat shows it; lids are None where they are 0 or can't be read, which is before the subnet is up."""

    device: RdmaDevice
    port: int
    state: str
    physical_state: str
    lid: int | None
    sm_lid: int | None
    guid: str


def parse_ibstat(text: str) -> tuple[StatedPort, ...]:
    """Read every port; one without a state is left out: the text ends there."""
    found: list[StatedPort] = []
    device, port, fields = "", None, dict[str, str]()
    for line in [*text.splitlines(), _END]:
        heads, begins = _DEVICE.match(line), _PORT.match(line)
        if heads or begins:
            if port is not None and fields.get("State"):
                found.append(_port(device, port, fields))
            device, port, fields = heads[1] if heads else device, int(begins[1]) if begins else None, {}
        elif port is not None and (field := _FIELD.match(line)):
            fields[field[1]] = field[2].strip()
    return tuple(found)


def _port(device: str, port: int, fields: dict[str, str]) -> StatedPort:
    return StatedPort(
        device=RdmaDevice(device),
        port=port,
        state=fields["State"].upper(),
        physical_state=fields.get("Physical state", ""),
        lid=whole_number(fields.get("Base lid")) or None,
        sm_lid=whole_number(fields.get("SM lid")) or None,
        guid=fields.get("Port GUID", ""),
    )


def parse_pkey_table(text: str) -> tuple[int, ...] | None:
    """
    Read the partition keys that are set.

    Returns:
        None when the table is not whole: what a cut table lacks is not known to be missing.
    """
    capacity = _CAPACITY.search(text)
    keys = [int(key, 16) for row in _KEYS.findall(text) for key in row.split()]
    if capacity is None or len(keys) < int(capacity[1]):
        return None
    return tuple(key for key in keys if key)
