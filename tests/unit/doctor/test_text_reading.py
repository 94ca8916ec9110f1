"""Text as people paste it: coloured, wrapped, escaped, cut, endless; and what is shown of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.doctor.text import lines
from railwright.doctor.text.diagnose import diagnose_text
from railwright.doctor.text.lines import MAX_LINE_CHARACTERS, read_text
from railwright.doctor.text.signals import MAX_HITS, find, says

PEERMEM = "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument"
RULE = "log-module-does-not-fit"


def rules(text: str) -> list[str]:
    return [str(finding.rule) for finding in diagnose_text(text).findings]


@pytest.mark.parametrize(
    "text",
    [
        f"\x1b[31m{PEERMEM[:20]}\x1b[0m{PEERMEM[20:]}",
        f"first\r\n{PEERMEM}\r\nlast\r\n",
        f"10 %\r20 %\r{PEERMEM}",
        '{"log":"modprobe: ERROR: could not insert \\"nvidia_peermem\\": Invalid argument\\n","stream":"stderr"}',
        f"2026-03-02T08:00:00.1Z stderr F {PEERMEM}",
        PEERMEM.upper(),
        PEERMEM.replace("'", "\u2019"),
        PEERMEM.replace(" ", "\u00a0"),
        f"\ufeff{PEERMEM}",
        f"\x00\x01{PEERMEM}\x7f",
        f"{'x' * 5000} {PEERMEM} {'y' * 5000}",
    ],
    ids=[
        "colours",
        "CRLF",
        "progress",
        "JSON",
        "CRI",
        "capitals",
        "typographic quotes",
        "hard blanks",
        "BOM",
        "control characters",
        "one long line",
    ],
)
def test_the_same_thing_is_seen_however_it_is_written(text: str) -> None:
    assert rules(text) == [RULE]


@pytest.mark.parametrize("offset", range(MAX_LINE_CHARACTERS - 80, MAX_LINE_CHARACTERS + 20, 20))
def test_no_message_is_lost_where_a_long_line_is_cut(offset: int) -> None:
    assert rules("z" * offset + " " + PEERMEM + " " + "z" * 4000) == [RULE]


def test_messages_that_are_broken_over_lines_are_put_together_across_a_line_of_another_process() -> None:
    text = "openibd restart failed\nw-1: heartbeat\nModule ib_uverbs is still loaded, used by nvidia_peermem"
    assert rules(text) == ["log-rdma-stack-in-use"]


def test_the_line_that_is_shown_has_the_number_that_it_came_with() -> None:
    finding = diagnose_text(f"one\n\n\nfour\n{PEERMEM}\n").findings[0]
    assert [(item.field, item.value) for item in finding.evidence] == [("line 5", PEERMEM)]


def test_many_such_lines_are_counted_and_the_last_is_shown() -> None:
    finding = diagnose_text("\n".join([PEERMEM] * 7)).findings[0]
    assert finding.evidence[0].field == "line 7, one of 7 such lines"


def test_what_is_shown_holds_no_token() -> None:
    finding = diagnose_text(f"{PEERMEM} Authorization: Bearer abcdefghijklmnopqrstuvwxyz").findings[0]
    assert "abcdefghijklmnop" not in finding.evidence[0].value


def test_an_empty_text_leaves_every_rule_unknown() -> None:
    said = diagnose_text(" \n\t\n")
    assert said.passed == ()
    assert {item.why for item in said.unknown} == {"the text is empty"}


def test_of_an_endless_text_the_end_is_read_and_the_rest_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_CHARACTERS", 1000)
    said = diagnose_text("x" * 5000 + "\n" + PEERMEM)
    assert [str(finding.rule) for finding in said.findings] == [RULE]
    assert {item.missing for item in said.unknown} == {"the beginning of the text"}


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_it_stumble(text: str) -> None:
    diagnose_text(text)


@given(
    st.lists(
        st.sampled_from(["ib_core", "failed", "\x1b[", "GID", "\\n", "error=", "14", "\r", "nccl", "~", "|"]),
        max_size=60,
    )
)
@settings(max_examples=100, deadline=None)
def test_no_mixture_of_its_own_words_makes_it_stumble(words: list[str]) -> None:
    diagnose_text(" ".join(words))


def test_a_number_is_not_found_within_a_longer_one() -> None:
    signal = says("error=14", "mr")
    assert find(signal, read_text("Couldn't allocate MR with error=14")) is not None
    assert find(signal, read_text("Couldn't allocate MR with error=140")) is None


def test_words_may_be_asked_for_whole() -> None:
    assert find(says("~ib0~"), read_text("link ib0 down")) is not None
    assert find(says("~ib0~"), read_text("fib0 ib01")) is None


def test_what_else_a_line_says_can_rule_it_out() -> None:
    assert find(says("link down", unless="policy"), read_text("link down policy")) is None


def test_hits_beyond_a_limit_are_not_counted() -> None:
    hit = find(says("failed"), read_text("failed\n" * (MAX_HITS + 50)))
    assert hit is not None
    assert hit.count == MAX_HITS


def test_what_ucx_tries_and_gives_up_is_no_failure() -> None:
    assert rules("[1.2] [w:1:0] uct_md.c:129  UCX  DEBUG failed to query rc_mlx5 resources: No such device") == []
