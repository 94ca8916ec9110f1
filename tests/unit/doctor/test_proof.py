"""What the ledger keeps of verify: a failure is a finding with its date, and a ledger that was not read is UNKNOWN."""

import pytest
from support.doctoring import CATALOG, snapshot_of

from railwright.core.ids import FabricName, RuleId
from railwright.core.verdicts import Verdict
from railwright.doctor.diagnose import diagnose
from railwright.doctor.model import Kept, Proof, Severity

RULE = RuleId("verification-failed")
REASON = "GPU memory could not be registered: dma-buf EOPNOTSUPP, nvidia_peermem not loaded"


def proof(verdict: Verdict) -> Proof:
    return Proof(FabricName("east-west"), verdict, REASON, "2026-03-02T09:00:00Z")


def told(kept: Kept):
    return diagnose(snapshot_of("h200-roce"), CATALOG, kept=kept, only=[RULE])


def test_a_failure_that_stands_says_when_why_and_what_next() -> None:
    (finding,) = told(Kept((proof(Verdict.FAIL),))).findings
    assert (finding.rule, finding.severity) == (RULE, Severity.ERROR)
    assert REASON in finding.cause
    assert "2026-03-02T09:00:00Z" in finding.cause
    assert finding.remedy.commands == ("railwright verify --name east-west",)


def test_where_nothing_was_verified_nothing_passes() -> None:
    said = told(Kept())
    assert (said.passed, [item.why for item in said.inapplicable]) == ((), ["no fabric of the ledger was verified"])


@pytest.mark.parametrize("kept", [Kept((proof(Verdict.PASS),)), Kept((proof(Verdict.SKIP),))])
def test_without_a_failure_it_is_silent(kept: Kept) -> None:
    said = told(kept)
    assert (said.findings, said.unknown, said.passed) == ((), (), (RULE,))


def test_a_ledger_that_was_not_read_is_unknown() -> None:
    said = told(Kept(problem="the ledger is not readable: forbidden"))
    assert (said.findings, said.passed) == ((), ())
    assert [(item.rule, item.missing, item.why) for item in said.unknown] == [
        (RULE, "the ledger", "the ledger is not readable: forbidden")
    ]
