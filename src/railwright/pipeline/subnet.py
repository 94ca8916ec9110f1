"""What diagnostic tools said of an InfiniBand subnet -> its ports, and what they let each other do."""

from collections.abc import Mapping
from dataclasses import dataclass

from railwright.core.ids import NodeName, RailName
from railwright.facts.sources.infiniband_diags import StatedPort, parse_ibstat, parse_pkey_table
from railwright.verify.model import Cell, Seat
from railwright.verify.partitions import partition_number
from railwright.verify.subnet import cells_of_subnet

_RAIL = RailName("rail-1")
_ACTIVE = "ACTIVE"


@dataclass(frozen=True)
class SubnetPort:
    """One host's port; `pkeys` is None when they could not be read."""

    host: NodeName
    port: StatedPort | None
    pkeys: tuple[int, ...] | None


@dataclass(frozen=True)
class SubnetRecord:
    """
    A subnet as its ports are.

    Attributes:
        wrong: what is wrong with single ports, a sentence each; empty when they are all as wanted.
    """

    ports: tuple[SubnetPort, ...]
    cells: tuple[Cell, ...]
    wrong: tuple[str, ...]


def judge_subnet(ibstat: Mapping[str, str], pkeys: Mapping[str, str], *, partition: str, no_bytes: str) -> SubnetRecord:
    """
    Read what ibstat and smpquery printed on each host, and say which hosts can reach which.

    Args:
        partition: the key that every port is to have, as people write it: "0x8001".
        no_bytes: why no transfer is tried between ports that may talk.
    """
    ports = tuple(
        SubnetPort(NodeName(host), next(iter(parse_ibstat(text)), None), parse_pkey_table(pkeys.get(host, "")))
        for host, text in ibstat.items()
    )
    number = partition_number(partition)
    not_active = {each.host: _state(each) for each in ports if _state(each) != _ACTIVE}
    seats = [Seat(each.host, _RAIL, pkeys=each.pkeys or ()) for each in ports]
    wrong = [f"the port of {host} is {state}" for host, state in not_active.items()]
    wrong += [said for each in ports if (said := _lacks(each, number))]
    return SubnetRecord(ports, cells_of_subnet(seats, not_active, number, no_bytes), tuple(wrong))


def _state(port: SubnetPort) -> str:
    return port.port.state if port.port is not None else "not there"


def _lacks(port: SubnetPort, partition: int) -> str:
    if port.pkeys is None:
        return f"the partition keys of {port.host} could not be read"
    if partition in {key & 0x7FFF for key in port.pkeys}:
        return ""
    has = " ".join(f"0x{key:04x}" for key in port.pkeys) or "none"
    return f"{port.host} is not in partition 0x{partition | 0x8000:04x}: the keys of its port are {has}"
