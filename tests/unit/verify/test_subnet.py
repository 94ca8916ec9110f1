"""What ports and keys of a subnet let hosts do: found by facts alone, each way left out with its reason."""

from railwright.core.verdicts import Verdict
from railwright.pipeline.subnet import SubnetRecord, judge_subnet

IBSTAT = "CA 'ibsim0'\n\tPort 1:\n\t\tState: {}\n\t\tBase lid: 3\n\t\tSM lid: 1\n"
KEYS = "   0: {} 0x0000\n2 pkeys capacity for this port\n"


def _judged(**hosts: tuple[str, str]) -> SubnetRecord:
    """Judge hosts by their port's state and first key."""
    return judge_subnet(
        {host: IBSTAT.format(state) for host, (state, _) in hosts.items()},
        {host: KEYS.format(key) if key else "" for host, (_, key) in hosts.items()},
        partition="0x8001",
        no_bytes="no bytes move here",
    )


def _reasons(record: SubnetRecord) -> dict[tuple[str, str], str]:
    assert {cell.verdict for cell in record.cells} == {Verdict.SKIP}
    return {(cell.source, cell.target): cell.reason for cell in record.cells}


def test_ports_that_may_talk_are_left_out_for_the_bed_alone() -> None:
    record = _judged(a=("Active", "0x8001"), b=("Active", "0x0001"))
    assert record.wrong == ()
    assert _reasons(record) == dict.fromkeys((("a", "b"), ("b", "a")), "no bytes move here")


def test_a_host_outside_the_partition_is_named_and_its_ways_alone_are_left_out_for_that() -> None:
    record = _judged(a=("Active", "0x8001"), b=("Active", "0x8001"), c=("Active", "0x7fff"))
    assert record.wrong == ("c is not in partition 0x8001: the keys of its port are 0x7fff",)
    reasons = _reasons(record)
    assert {pair for pair, reason in reasons.items() if "not in partition" in reason} == {
        pair for pair in reasons if "c" in pair
    }


def test_a_port_that_is_down_is_said_before_its_keys() -> None:
    record = _judged(a=("Active", "0x8001"), b=("Down", "0x7fff"))
    assert record.wrong[0] == "the port of b is DOWN"
    assert set(_reasons(record).values()) == {"rail-1 of b is DOWN"}


def test_keys_that_could_not_be_read_are_not_missing() -> None:
    record = _judged(a=("Active", "0x8001"), b=("Active", ""))
    assert record.wrong == ("the partition keys of b could not be read",)
    assert set(_reasons(record).values()) == {"the partition keys of b were not read"}
