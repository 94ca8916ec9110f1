r"""
The `rules` section: which packets look into which routing table.

Samples: "4\t0:\tfrom all lookup local", "4\t100:\tfrom 10.1.0.4 lookup 101 proto static",
"4\t10:\tfrom all fwmark 0xa00/0xf00 lookup 2005", "6\t2000:\tfrom all lookup [l3mdev-table]".
"""

import ipaddress
from dataclasses import dataclass

from railwright.facts.record import Record

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_EVERYTHING = {4: ipaddress.ip_network("0.0.0.0/0"), 6: ipaddress.ip_network("::/0")}
_UNNAMED_TABLES = frozenset({"0", "unspec", "252", "compat", "[l3mdev-table]"})
"""A table that can't be told: it belongs to a VRF, or its number is above 255 and the program is an old one."""


@dataclass(frozen=True)
class Rule:
    """
    One rule that sends packets to a table.

    Attributes:
        source: which packets, by where they come from; None when that alone does not decide.
        by_mark: whether the packets must have a firewall mark.
    """

    version: int
    table: str
    source: Network | None
    by_mark: bool = False


def parse_rules(record: Record) -> tuple[Rule, ...] | None:
    """Read all rules; None when they are not all known, as when an IP version has none that leads to main."""
    if record.missing("rules"):
        return None
    found: list[Rule] = []
    for line in record.lines("rules"):
        version, _, text = line.strip().partition("\t")
        words = text.partition(":")[2].split()
        if version not in {"4", "6"} or not words:
            return None
        if "lookup" not in words[:-1]:
            continue  # unreachable, prohibit, goto, nop
        at = words.index("lookup")
        if words[at + 1] in _UNNAMED_TABLES:
            return None
        found.append(Rule(int(version), words[at + 1], _source(words[:at], int(version)), "fwmark" in words[:at]))
    return tuple(found)


def _source(words: list[str], version: int) -> Network | None:
    """Read "from NETWORK", where it may be narrowed by "to NETWORK" and by nothing else."""
    if len(words) not in {2, 4} or words[0] != "from" or words[2:3] not in ([], ["to"]):
        return None
    try:
        return _EVERYTHING[version] if words[1] == "all" else ipaddress.ip_network(words[1], strict=False)
    except ValueError:
        return None
