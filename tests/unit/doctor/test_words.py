"""Rules on text: each case file is a list of texts and of what must be found in them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from railwright.doctor.model import Severity
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


PORT_EVENT = "mlx5_core 0000:3b:00.0: Port module event"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (f"{PORT_EVENT}: module 0, Cable unplugged", Severity.WARNING),
        (f"{PORT_EVENT}[error]: module 0, Cable error, Bad or shorted cable/module", Severity.ERROR),
        (f"{PORT_EVENT}: module 0, Cable unplugged\nmlx5_core 0000:3b:00.0 ens3f0np0: Link down", Severity.ERROR),
    ],
)
def test_a_port_without_a_cable_is_no_error_until_its_link_goes_down(text: str, severity: Severity) -> None:
    assert [finding.severity for finding in diagnose_text(text).findings] == [severity]
