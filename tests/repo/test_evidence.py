"""What docs/evidence.yaml says was seen names tests that are there."""

import re
from pathlib import Path

import pytest
import yaml

TOP = Path(__file__).parents[2]
ROWS = yaml.safe_load((TOP / "docs" / "evidence.yaml").read_text())
PATH = re.compile(r"\btests/[\w./-]*\w")
TEST = re.compile(r"^(?:async )?def test_", re.MULTILINE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["where"][:60])
def test_each_row_names_tests_that_are_there(row: dict[str, str]) -> None:
    named = PATH.findall(row["where"])
    assert named
    for path in map(TOP.joinpath, named):
        if path.is_dir():
            assert list(path.iterdir())
        else:
            assert path.name.startswith("test_")
            assert TEST.search(path.read_text())


def test_no_row_is_there_twice() -> None:
    assert len({row["where"] for row in ROWS}) == len(ROWS)
