"""Each witness: it agrees, it contradicts, it cannot know."""

from dataclasses import replace
from pathlib import Path

import pytest

from railwright.core.ids import NetDevice, NodeName, RailName, RdmaDevice
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import (
    Counter,
    Digest,
    EngineRequest,
    Meeting,
    NcclRequest,
    NixlRequest,
    PerftestRequest,
    Problem,
    RailEnd,
    Reply,
    Sample,
    Used,
)
from railwright.facts.measured import PerftestOutput, Registration
from railwright.ports.endpoint import HeldRail
from railwright.verify.directness import judge_direct
from railwright.verify.families import nixl as nixl_family
from railwright.verify.families import perftest as perftest_family
from railwright.verify.model import Direction, MemoryKind, Says, Seat, Step, Way
from railwright.verify.model import Testimony as Said
from railwright.verify.problems import problem_of
from railwright.verify.task import Effort, End, Exchange, Outcome, Task
from railwright.verify.witnesses import checksums, counters, emulation, nccl, perftest, rights

CASES = Path(__file__).resolve().parents[2] / "cases" / "facts"
WAY = Way(NodeName("a"), RailName("rail0"), NodeName("b"), RailName("rail0"))
MLX = RdmaDevice("mlx5_0")
RAIL = RailEnd(NetDevice("net1"))
LISTEN, CONNECT = Meeting("listen", "10.0.0.1", 20000), Meeting("connect", "10.0.0.1", 20000)
GPU = MemoryKind.GPU


def text_of(name: str) -> str:
    return (CASES / f"{name}.txt").read_text()


def outcome(source: Reply, target: Reply, request=None) -> Outcome:
    asked = request or EngineRequest(CONNECT, RAIL, sizes_bytes=(65536,), qps=1, depth=1)
    return Outcome(Exchange("run", asked, asked, 60.0), source, target)


# --- bytes -----------------------------------------------------------------------------------------------------------


def digests(born: str = "aa", arrived: str = "aa", covered: int = 8) -> tuple[Reply, Reply]:
    return (
        Reply("engine", digests=(Digest("write 8 timed", "born", born, covered),)),
        Reply("engine", digests=(Digest("write 8 timed", "arrived", arrived, 8),)),
    )


def test_equal_checksums_at_both_ends_agree() -> None:
    assert checksums.compare(digests(), WAY) == (Verdict.PASS, "")
    assert checksums.testify(digests(), WAY, GPU, ()).says is Says.AGREES


def test_a_checksum_that_differs_contradicts_and_names_where_it_arrived() -> None:
    verdict, reason = checksums.compare(digests(arrived="bb"), WAY)
    assert verdict is Verdict.FAIL
    assert "rail0 of b" in reason


@pytest.mark.parametrize(
    "replies",
    [
        (Reply("engine"), Reply("engine")),
        (digests()[0], Reply("engine")),
        digests(born="", arrived=""),
        digests(covered=4),
        (digests()[0], digests()[0]),
    ],
    ids=["none", "one-end", "empty", "of-other-lengths", "two-births"],
)
def test_checksums_that_are_not_two_of_a_kind_prove_nothing(replies) -> None:
    assert checksums.compare(replies, WAY)[0] is Verdict.UNKNOWN
    assert checksums.testify(replies, WAY, GPU, ()).says is Says.UNCLEAR


# --- counters --------------------------------------------------------------------------------------------------------

PAYLOAD = 65536 * 1000


def counted(
    sent: int, received: int, *, unit: str = "4 bytes", first: int = 100, names=("port_xmit_data", "port_rcv_data")
):
    def reply(name: str, rise: int, samples=()) -> Reply:
        step = 4 if unit == "4 bytes" else 1
        return Reply(
            "engine",
            used=Used(device=MLX, path_mtu_bytes=4096),
            samples=samples,
            before=(Counter("sysfs counters mlx5_0/1", name, first, unit),),
            after=(Counter("sysfs counters mlx5_0/1", name, first + rise // step, unit),),
        )

    sample = (Sample("write", 65536, 1, 1000, 1.0, 0.5),)
    return outcome(reply(names[0], sent, sample), reply(names[1], received))


def test_counters_that_rise_by_the_payload_agree() -> None:
    said = counters.testify(counted(PAYLOAD, PAYLOAD), WAY, GPU)
    assert said.says is Says.AGREES
    assert any("rose by 65536000 bytes" in line for line in said.lines)


def test_counters_in_bytes_count_as_bytes() -> None:
    bytes_read = counted(PAYLOAD, PAYLOAD, unit="bytes", names=("sent_bytes", "rcvd_bytes"))
    assert counters.testify(bytes_read, WAY, GPU).says is Says.AGREES


def test_a_counter_that_did_not_rise_contradicts() -> None:
    said = counters.testify(counted(PAYLOAD, 4000), WAY, GPU)
    assert (said.says, "rail0 of b received" in said.text) == (Says.CONTRADICTS, True)


def test_other_traffic_makes_counters_unclear() -> None:
    assert counters.testify(counted(PAYLOAD * 3, PAYLOAD * 3), WAY, GPU).says is Says.UNCLEAR


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (counted(PAYLOAD, PAYLOAD, names=("tx_bytes", "rx_bytes")), Says.ABSENT),
        (counted(PAYLOAD, PAYLOAD, unit="octets"), Says.ABSENT),
        (counted(-400, PAYLOAD), Says.ABSENT),
        (outcome(Reply("engine"), Reply("engine")), Says.UNCLEAR),
    ],
    ids=["only-netdev", "unit-not-known", "reset", "payload-not-known"],
)
def test_counters_that_cannot_be_used_are_said_so(given, says) -> None:
    assert counters.testify(given, WAY, GPU).says is says


def test_without_a_path_mtu_it_is_not_known_how_much_the_counters_may_rise() -> None:
    found = counted(PAYLOAD, int(PAYLOAD * 1.3))
    blind = replace(
        found, source=replace(found.source, used=Used(device=MLX)), target=replace(found.target, used=Used(device=MLX))
    )
    said = counters.testify(blind, WAY, GPU)
    assert (said.says, "path MTU is not known" in said.text) == (Says.UNCLEAR, True)


def test_packets_that_were_sent_again_are_loss_and_a_single_one_is_not() -> None:
    def with_lost(number: int) -> Outcome:
        item = counted(PAYLOAD, PAYLOAD)
        lost = Counter("sysfs hw_counters mlx5_0/1", "out_of_sequence", number)
        source = replace(item.source, before=(replace(lost, value=0),), after=(lost,))
        return replace(item, source=source)

    assert "out_of_sequence +500" in counters.loss(with_lost(500))
    assert counters.loss(with_lost(1)) == ""


# --- emulation forbidden, and its controls ---------------------------------------------------------------------------

NIXL = NixlRequest(CONNECT, RAIL)


def nixl(raw: str, *, problem: Problem | None = None, samples=()) -> Outcome:
    return outcome(Reply("nixl", role="listen"), Reply("nixl", problem, "connect", raw=raw, samples=samples), NIXL)


def test_zero_copy_over_the_nic_that_was_meant_agrees() -> None:
    said = emulation.testify(nixl(text_of("ucx/nic-lane")), WAY, GPU, MLX)
    assert said.says is Says.AGREES
    assert "rc_mlx5/mlx5_0:1" in said.text


@pytest.mark.parametrize(
    ("raw", "device", "words"),
    [
        (text_of("ucx/cuda-ipc"), MLX, "past the NIC"),
        (text_of("ucx/nic-lane"), RdmaDevice("mlx5_3"), "mlx5_3 was meant"),
        (text_of("ucx/nic-lane").replace("rc_mlx5/mlx5_0:1", "tcp/eth0"), MLX, "no RDMA lane"),
        (text_of("ucx/nic-lane").replace("zero-copy  ", "software emulation"), MLX, "not zero-copy"),
        (text_of("nixl/refused"), MLX, "no zero-copy way"),
    ],
    ids=["nvlink", "other-nic", "tcp", "emulated", "refused"],
)
def test_another_way_than_the_nic_contradicts(raw, device, words) -> None:
    said = emulation.testify(nixl(raw), WAY, GPU, device)
    assert (said.says, words in said.text) == (Says.CONTRADICTS, True), said


@pytest.mark.parametrize(
    "raw",
    ["", text_of("ucx/cut-short"), text_of("ucx/other-columns"), text_of("ucx/no-table")],
    ids=["empty", "cut-short", "other-version", "no-table"],
)
def test_words_of_ucx_that_are_not_whole_are_unclear(raw) -> None:
    assert emulation.testify(nixl(raw), WAY, GPU, MLX).says is Says.UNCLEAR


def test_a_tool_that_is_not_there_is_absent_and_not_held_against_the_way() -> None:
    missing = nixl("", problem=Problem("tool-missing", "nixl is not installed here"))
    assert emulation.testify(missing, WAY, GPU, MLX).says is Says.ABSENT
    assert emulation.testify_control("rdma", missing, WAY, GPU).says is Says.ABSENT


def test_a_control_that_is_refused_agrees_and_one_that_passes_contradicts() -> None:
    refused = nixl(text_of("nixl/refused"), problem=Problem("refused", "UCX refused"))
    assert emulation.testify_control("gpu-direct", refused, WAY, GPU).says is Says.AGREES
    passed = nixl(text_of("nixl/read-and-write"), samples=(Sample("read", 65536, 1, 2, 0.1, 1.0),))
    said = emulation.testify_control("gpu-direct", passed, WAY, GPU)
    assert (said.says, said.number) == (Says.CONTRADICTS, 3)


def test_a_control_whose_end_is_not_known_is_unclear() -> None:
    hung = nixl("", problem=Problem("timed-out", "did not end"))
    assert emulation.testify_control("rdma", hung, WAY, GPU).says is Says.UNCLEAR
    assert emulation.testify_control("rdma", nixl(""), WAY, GPU).says is Says.UNCLEAR


def test_a_control_that_fails_without_words_of_a_refusal_shows_nothing() -> None:
    broken = nixl("", problem=Problem("refused", "NIXL cannot be set up"))
    assert emulation.testify_control("gpu-direct", broken, WAY, GPU).says is Says.UNCLEAR


def test_a_control_that_moved_bytes_contradicts_whatever_else_it_says() -> None:
    both = nixl(text_of("nixl/refused"), samples=(Sample("read", 65536, 1, 2, 0.1, 1.0),))
    assert emulation.testify_control("gpu-direct", both, WAY, GPU).says is Says.CONTRADICTS


def test_lanes_prove_nothing_while_the_device_that_was_meant_is_not_known() -> None:
    assert emulation.testify(nixl(text_of("ucx/nic-lane")), WAY, GPU, RdmaDevice("")).says is Says.UNCLEAR


def family_task(memory: MemoryKind = GPU) -> Task:
    end = End(HeldRail(RailName("rail0"), NetDevice("net1")), "10.0.0.1")
    return Task("c1", Step("nixl", Direction.READ, memory), WAY, end, end, 20000, Effort())


def test_controls_of_a_transfer_that_failed_are_not_heard() -> None:
    failed = nixl("", problem=Problem("transfer-failed", "a transfer ended as ERR"))
    refused = nixl(text_of("nixl/refused"), problem=Problem("refused", "UCX refused"))
    control = replace(refused, exchange=replace(refused.exchange, name="gpu-direct"))
    reading = nixl_family.read(family_task(), (failed, control))
    assert reading.ran is Verdict.FAIL
    assert {item.number for item in reading.testimonies} == {2}


# --- our engine's READ without remote rights -------------------------------------------------------------------------

REFUSAL = Problem("refused", "read of 4096 bytes failed: remote access error", "remote access error")


@pytest.mark.parametrize(
    ("problem", "samples", "says"),
    [
        (REFUSAL, (), Says.AGREES),
        (None, (Sample("read", 4096, 1, 9, 0.2, 1.0),), Says.CONTRADICTS),
        (REFUSAL, (Sample("read", 4096, 1, 9, 0.2, 1.0),), Says.CONTRADICTS),
        (Problem("transfer-failed", "retry counter exceeded"), (), Says.UNCLEAR),
        (Problem("timed-out", "nothing completed"), (), Says.UNCLEAR),
        (Problem("tool-missing", "no Python"), (), Says.ABSENT),
        (None, (), Says.UNCLEAR),
    ],
    ids=["refused", "passed", "passed-and-refused", "other-failure", "hung", "not-here", "nothing"],
)
def test_a_read_without_remote_rights_must_be_refused(problem, samples, says) -> None:
    driver = Reply("engine", problem, "connect", samples=samples)
    said = rights.testify_control(outcome(Reply("engine", role="listen"), driver), WAY, MemoryKind.HOST)
    assert (said.says, said.number) == (says, 3)


# --- what a half lacks, and what it does not know --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("tool-missing", Verdict.SKIP),
        ("no-library", Verdict.SKIP),
        ("unknown-layout", Verdict.UNKNOWN),
        ("no-such-code", Verdict.UNKNOWN),
        ("transfer-failed", Verdict.FAIL),
    ],
)
def test_a_tool_that_is_not_there_is_left_out_and_one_that_is_not_understood_is_unknown(code, verdict) -> None:
    assert problem_of((Reply("engine", Problem(code, "why")), Reply("engine")), WAY)[0] is verdict


# --- perftest, NCCL --------------------------------------------------------------------------------------


def said_by_perftest(registration: Registration, problem: str = "") -> PerftestOutput:
    return PerftestOutput(registration=registration, problem=problem, evidence=("a line",))


@pytest.mark.parametrize(
    ("ends", "peermem", "says"),
    [
        ((Registration.DMA_BUF, Registration.DMA_BUF), None, Says.AGREES),
        ((Registration.DMA_BUF, Registration.NONE), None, Says.CONTRADICTS),
        ((Registration.PEERMEM, Registration.PEERMEM), True, Says.AGREES),
        ((Registration.PEERMEM, Registration.PEERMEM), False, Says.UNCLEAR),
        ((Registration.PEERMEM, Registration.PEERMEM), None, Says.UNCLEAR),
    ],
)
def test_perftest_must_have_gpu_memory_at_both_ends(ends, peermem, says) -> None:
    one, other = map(said_by_perftest, ends)
    assert perftest.testify(one, other, WAY, (), peermem=peermem).says is says


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        (True, True, "registered by peermem"),
        (True, None, "may not be loaded"),
        (None, False, "is not loaded"),
        (None, None, "may not be loaded"),
    ],
)
def test_a_module_list_that_was_not_read_is_no_module_that_is_not_loaded(one, other, says) -> None:
    raw = text_of("perftest/gpu-peermem")
    reply = Reply("perftest", role="connect", raw=raw, exit_code=0)
    asked = outcome(reply, replace(reply, role="listen"), PerftestRequest(CONNECT, RAIL))
    seats = tuple(
        Seat(NodeName(name), RailName("rail0"), peermem=loaded) for name, loaded in (("a", one), ("b", other))
    )
    (said,) = perftest_family.read(family_task(), (asked,), seats=(seats[0], seats[1])).testimonies
    assert says in said.text


def test_perftest_that_cannot_be_read_is_unclear() -> None:
    whole, cut = said_by_perftest(Registration.DMA_BUF), said_by_perftest(Registration.DMA_BUF, "it was cut short")
    assert perftest.testify(whole, cut, WAY, (), peermem=None).says is Says.UNCLEAR


def ranks(name: str) -> Outcome:
    reply = Reply("nccl", raw=text_of(f"nccl/{name}"))
    return outcome(reply, reply, NcclRequest(CONNECT, RAIL))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gpu-direct", Says.AGREES),
        ("proxy-and-pci", Says.AGREES),
        ("staged", Says.CONTRADICTS),
        ("sockets", Says.CONTRADICTS),
        ("cut-short", Says.UNCLEAR),
        ("other-channel-line", Says.UNCLEAR),
        ("empty", Says.UNCLEAR),
    ],
)
def test_nccl_must_say_gdrdma_of_every_channel(name, says) -> None:
    assert nccl.testify(ranks(name), WAY, (MLX, MLX)).says is says


def test_nccl_on_another_hca_than_was_meant_contradicts() -> None:
    said = nccl.testify(ranks("gpu-direct"), WAY, (RdmaDevice("mlx5_1"), MLX))
    assert (said.says, "mlx5_1 was meant" in said.text) == (Says.CONTRADICTS, True)


def test_nccl_without_gpu_direct_must_not_say_gdrdma() -> None:
    direct = ranks("gpu-direct")
    assert nccl.testify_control(ranks("staged"), WAY, direct).says is Says.AGREES
    assert nccl.testify_control(direct, WAY, direct).says is Says.CONTRADICTS
    assert nccl.testify_control(ranks("cut-short"), WAY, direct).says is Says.UNCLEAR


@pytest.mark.parametrize("run", ["staged", "sockets", "empty"])
def test_gdrdma_that_was_never_there_does_not_go_away(run) -> None:
    assert nccl.testify_control(ranks("staged"), WAY, ranks(run)).says is Says.UNCLEAR


# --- all together ----------------------------------------------------------------------------------------------------


def heard(**answers: Says) -> list[Said]:
    numbers = {"bytes": 7, "nic-counters": 5, "gpu-direct-withheld": 3, "emulation-forbidden": 2, "nccl": 6}
    return [
        Said(name, numbers.get(name, 4), WAY, GPU, says, f"{name} {says}")
        for name, says in ((key.replace("_", "-"), value) for key, value in answers.items())
    ]


PROVEN = {
    "bytes": Says.AGREES,
    "nic_counters": Says.AGREES,
    "gpu_direct_withheld": Says.AGREES,
    "emulation_forbidden": Says.AGREES,
}


def test_direct_takes_bytes_the_control_counters_and_one_witness_of_the_way() -> None:
    assert judge_direct(heard(**PROVEN)).verdict is Verdict.PASS


@pytest.mark.parametrize("one", ["perftest_gpu_memory", "nccl"])
def test_another_witness_of_the_way_does_as_well(one) -> None:
    answers = {**PROVEN, one: Says.AGREES}
    del answers["emulation_forbidden"]
    assert judge_direct(heard(**answers)).verdict is Verdict.PASS


@pytest.mark.parametrize("missing", sorted(PROVEN))
@pytest.mark.parametrize("says", [None, Says.ABSENT, Says.UNCLEAR])
def test_without_one_of_them_it_is_not_known(missing, says) -> None:
    answers = {key: value for key, value in PROVEN.items() if key != missing} | ({missing: says} if says else {})
    answer = judge_direct(heard(**answers))
    assert answer.verdict is Verdict.UNKNOWN
    assert answer.reason.startswith("not shown to be direct")


@pytest.mark.parametrize("liar", [*sorted(PROVEN), "nccl", "perftest_gpu_memory"])
def test_one_that_contradicts_fails_it_whatever_the_others_say(liar) -> None:
    assert judge_direct(heard(**{**PROVEN, liar: Says.CONTRADICTS})).verdict is Verdict.FAIL


def test_nothing_heard_is_nothing_known() -> None:
    assert judge_direct(()).verdict is Verdict.UNKNOWN
