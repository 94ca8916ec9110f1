"""docs/traps.yaml: what each row names exists, and fires in the test that it names."""

import re
from pathlib import Path

import pytest
import yaml

from railwright.report.codes import REFUSALS, WARNINGS

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
CODES = {"refusal": REFUSALS, "warning": WARNINGS}
AREAS = yaml.safe_load((ROOT / "docs" / "traps.yaml").read_text())
ROWS = [tuple(row) for area in AREAS for row in area["traps"]]


def test_each_trap_is_told_once():
    told = [row[0] for row in ROWS]
    assert len(set(told)) == len(told) > 70


@pytest.mark.parametrize(("trap", "by", "name", "test"), ROWS, ids=[row[0] for row in ROWS])
def test_a_trap_is_answered_where_its_row_says(trap, by, name, test):
    assert trap == trap.strip()
    path, _, function = test.partition("::")
    if by == "gate" and not test:
        assert (TESTS / "cases" / "readiness" / f"{name}.json").exists()
        return
    text = (TESTS / path).read_text()
    if by in CODES:
        assert name in CODES[by]
        assert f'"{name}"' in text
    elif by == "decision":
        assert re.search(rf"^(async )?def {function}\(", text, re.MULTILINE)
    else:
        assert by == "gate"
