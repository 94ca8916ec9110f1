r"""
The `counters` and `ethtool` sections: what has been counted since the device is there.

Samples: "mlx5_0\t1\tport\tlink_downed=3\tsymbol_error=0", "mlx5_0\t1\thw\tout_of_sequence=12" and
"ens3f0np0\trx_discards_phy=0\trx_prio3_pause=17". Nothing here is a rate: how long it took is not known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.facts.model import Unseen
from railwright.facts.record import Record, fields_of, whole_number, wrong_line

Port = tuple[RdmaDevice, int]


@dataclass(frozen=True)
class Counters:
    """Counters of ports by RDMA device and port, and statistics by netdev."""

    port: Mapping[Port, Mapping[str, int]] = field(default_factory=dict)
    hw: Mapping[Port, Mapping[str, int]] = field(default_factory=dict)
    ethtool: Mapping[NetDevice, Mapping[str, int]] = field(default_factory=dict)


def parse_counters(record: Record) -> tuple[Counters, tuple[Unseen, ...]]:
    """Read every counter that is a number; a line that can't be read is named and left out."""
    unseen: list[Unseen] = []
    tables: dict[str, dict[Port, Mapping[str, int]]] = {"port": {}, "hw": {}}
    for line in record.lines("counters"):
        parts = [part.strip() for part in line.split("\t")]
        port = whole_number(parts[1]) if len(parts) > 1 else None
        if len(parts) <= 2 or port is None or parts[2] not in tables:
            unseen.append(wrong_line("counters", line, "device, port or kind can't be read"))
        else:
            tables[parts[2]][RdmaDevice(parts[0]), port] = _numbers(parts[3:])
    ethtool: dict[NetDevice, Mapping[str, int]] = {}
    for line in record.lines("ethtool"):
        name, *rest = line.split("\t")
        if not name.strip():
            unseen.append(wrong_line("ethtool", line, "names no network device"))
        else:
            ethtool[NetDevice(name.strip())] = _numbers(rest)
    return Counters(tables["port"], tables["hw"], ethtool), tuple(unseen)


def _numbers(parts: list[str]) -> dict[str, int]:
    """Keep what is a number: some counters say "N/A (no PMA)" where the port has none."""
    found = {key: whole_number(value) for key, value in fields_of(parts).items()}
    return {key: value for key, value in found.items() if value is not None}
