"""What tools that move bytes printed, against what may be believed of it; a file in tests/cases/facts is a case."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.facts.sources.nccl import parse_nccl
from railwright.facts.sources.nixl import parse_nixl
from railwright.facts.sources.perftest import parse_perftest
from railwright.facts.sources.ucx import parse_ucx_usage
from railwright.report.plain import plain

ROOT = Path(__file__).resolve().parents[2] / "cases" / "facts"
PARSERS: dict[str, Any] = {"perftest": parse_perftest, "nixl": parse_nixl, "ucx": parse_ucx_usage, "nccl": parse_nccl}
CASES = sorted(path for tool in PARSERS for path in (ROOT / tool).glob("*.json"))


def text_of(path: Path) -> str:
    return path.with_suffix(".txt").read_text()


def believed(output: Any) -> bool:
    """Whether anything of an output could ever become a pass."""
    numbers = ("bandwidth", "latency", "transfers", "rows", "channels")
    return any(getattr(output, name, ()) for name in numbers)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_output_is_read_as_its_case_says(path: Path) -> None:
    case = json.loads(path.read_text())
    seen = plain(PARSERS[path.parent.name](text_of(path)))
    assert {key: seen[key] for key in case["expect"]} == case["expect"]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_has_a_problem_gives_no_number(path: Path) -> None:
    output = PARSERS[path.parent.name](text_of(path))
    assert not (output.problem and believed(output))


@pytest.mark.parametrize("tool", ["perftest", "nixl", "nccl"])
def test_every_shorter_beginning_of_a_good_output_is_no_result(tool: str) -> None:
    """Cut anywhere before its last line of meaning, it must not be believed."""
    good = {"perftest": "write-bandwidth-gbit", "nixl": "read-and-write", "nccl": "gpu-direct"}[tool]
    last = {"perftest": "------", "nixl": "checksum ok True", "nccl": "Init COMPLETE"}[tool]
    text = (ROOT / tool / f"{good}.txt").read_text()
    end = text.index(last) if tool != "perftest" else text.rindex("\n", 0, text.rindex("-" * 87)) + 40
    assert believed(PARSERS[tool](text))
    for stop in range(0, end, 7):
        assert not believed(PARSERS[tool](text[:stop])), text[:stop][-60:]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=400))
def test_no_text_at_all_makes_a_parser_raise(text: str) -> None:
    for parse in PARSERS.values():
        parse(text)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_shuffled_lines_of_two_runs_are_no_result(data: st.DataObject) -> None:
    lines = (ROOT / "perftest" / "write-bandwidth-gbit.txt").read_text().splitlines(keepends=True)
    mixed = data.draw(st.permutations(lines + lines))
    assert not parse_perftest("".join(mixed)).bandwidth


def test_a_place_in_the_list_of_hcas_that_is_no_number_is_unknown() -> None:
    channel = parse_nccl((ROOT / "nccl" / "gpu-direct.txt").read_text().replace("via NET/IB/0", "via NET/IB/²"))
    assert {item.hca_index for item in channel.channels} == {None}
