"""Rules on text: each case file is a list of texts and of what must be found in them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from railwright.doctor.text.diagnose import diagnose_text
from railwright.doctor.text.table import TEXT_RULES

CASES = Path(__file__).resolve().parents[2] / "cases" / "doctor" / "text"


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{file.stem}: {case['name']}")
        for file in sorted(CASES.glob("*.yaml"))
        for case in yaml.safe_load(file.read_text())
    ]


@pytest.mark.parametrize("case", cases())
def test_a_text_says_what_is_wrong(case: dict[str, Any]) -> None:
    said = diagnose_text(case["text"])
    found = {str(finding.rule) for finding in said.findings}
    if "finds" in case:
        assert case["finds"] in found
        causes = {str(finding.rule) for finding in said.causes}
        assert causes <= {case["finds"], *case.get("also", ())}, "one cause is not two"
    else:
        assert found == set()


def test_every_rule_on_text_has_cases() -> None:
    finding = {case.values[0].get("finds") for case in cases()}
    assert {str(rule.info.name) for rule in TEXT_RULES} - finding == set()
