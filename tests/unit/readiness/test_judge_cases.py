"""Every file of tests/cases/readiness: an object with its companions, and the answer that its judge must give."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from railwright.core.objects import Kind, ref_of
from railwright.readiness.judge import judge
from railwright.readiness.judges import JUDGES
from railwright.readiness.model import Companions, Receipt

CASES = Path(__file__).parents[2] / "cases" / "readiness"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
EXISTENCE_ONLY = {
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "MachineConfig",
    "NodeFeatureRule",
    "Role",
    "RoleBinding",
    "Secret",
    "SecurityContextConstraints",
    "ServiceAccount",
}


def read_case(path: Path) -> dict[str, Any]:
    case: dict[str, Any] = json.loads(path.read_text())
    return case


def a_receipt(data: dict[str, Any] | None) -> Receipt | None:
    if data is None:
        return None
    written_at = NOW - timedelta(seconds=data["written_s_ago"])
    return Receipt("1", data["generation"], written_at, changed=data.get("changed", True))


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_judge_answers_as_the_case_says(path: Path) -> None:
    case = read_case(path)
    companions = Companions(
        objects={ref_of(obj): obj for obj in case["companions"]},
        unserved=frozenset(Kind(item["apiVersion"], item["kind"]) for item in case.get("unserved", [])),
    )
    judgement = judge(case["object"], companions, a_receipt(case.get("receipt")), NOW)
    expect = case["expect"]
    assert (judgement.readiness.value, judgement.reason) == (expect["readiness"], judgement.reason)
    assert expect["reason"] in judgement.reason
    assert expect.get("waiting_for", "") in judgement.waiting_for
    if judgement.readiness.value == "progressing":
        assert judgement.waiting_for


def test_every_kind_that_is_judged_has_a_case_and_says_where_it_is_from() -> None:
    cases = [read_case(path) for path in CASES.glob("*.json")]
    assert all(case["origin"] for case in cases)
    seen = {(case["object"]["kind"], case["expect"]["readiness"]) for case in cases}
    for kind in JUDGES:
        assert (kind.kind, "ready") in seen or (kind.kind, "progressing") in seen, kind
