"""The coverage table: every kind of failure that is said to be found has a case in which its rule finds it."""

from pathlib import Path

import pytest
import yaml
from support.doctoring import asked, snapshot_of

from railwright.doctor.coverage import found_by, kinds_of_failure
from railwright.doctor.registry import rule_infos

KINDS = kinds_of_failure()
RULES_BY_KIND = found_by(rule_infos())
CASES = Path(__file__).resolve().parents[2] / "cases" / "doctor" / "text"
TEXT_CASES = {
    kind: case.get("finds", "")
    for file in sorted(CASES.glob("*.yaml"))
    for case in yaml.safe_load(file.read_text())
    for kind in case.get("covers", ())
}
"""Kinds that a text shows, and the rule that finds it there (held by test_words.py)."""


def test_most_kinds_are_found_by_few_rules() -> None:
    assert len([item for item in KINDS if not item.why_not]) >= 100
    assert len(rule_infos()) <= 70


@pytest.mark.parametrize("kind", KINDS, ids=lambda item: item.id)
def test_a_kind_is_found_by_a_rule_with_a_case_or_says_why_not(kind) -> None:
    rules = {str(info.name) for info in RULES_BY_KIND.get(kind.id, ())}
    if kind.why_not:
        assert not rules
        return
    assert rules, "no rule covers it"
    assert kind.world or kind.id in TEXT_CASES, "no case shows it"
    if TEXT_CASES.get(kind.id):
        assert TEXT_CASES[kind.id] in rules


@pytest.mark.parametrize("kind", [item for item in KINDS if item.world], ids=lambda item: item.id)
def test_a_world_shows_its_kind(kind) -> None:
    assert kind.rule in {str(info.name) for info in RULES_BY_KIND[kind.id]}
    assert any(kind.words in finding.cause for finding in asked(snapshot_of(kind.world), kind.rule).findings)


def test_every_id_that_a_rule_covers_is_in_the_table() -> None:
    assert set(RULES_BY_KIND) <= {item.id for item in KINDS}
