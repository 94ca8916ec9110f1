"""What the last run of verify has shown, as the ledger holds it: a failure stands until a later run passes."""

from collections.abc import Iterator

from railwright.core.ids import RuleId
from railwright.core.verdicts import Verdict
from railwright.doctor.model import Evidence, Finding, Layer, Remedy, Rule, RuleInfo, Severity, conclude
from railwright.doctor.needs import LEDGER
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import PROOFS

VERIFY_FAILED = RuleInfo(
    name=RuleId("verification-failed"),
    title="The last verify of a fabric failed",
    layer=Layer.DATA_PATH,
    severity=Severity.ERROR,
    text="The ledger keeps how the last verify of each applied fabric ended, with its date. A failure stands there until a later run "
    "passes: objects, drivers and links can all look right while bytes do not move as they should. It says what was measured "
    "then, not what would be measured now. A run that passed, or none at all, is no finding.",
    source="decision of the authors: what failed when bytes were moved is wrong until bytes moved again (2026-11-30)",
    needs=(LEDGER,),
    subject=PROOFS,
)


def judge_proof(seen: Seen) -> Iterator[Finding]:
    """Show the fabrics whose last verify failed."""
    for proof in seen.proofs:
        if proof.verdict is Verdict.FAIL:
            yield conclude(
                VERIFY_FAILED,
                f"verify of fabric {proof.fabric} failed at {proof.ended_at}: {proof.reason}",
                evidence=(Evidence(f"ledger, fabric {proof.fabric}", f"verified at {proof.ended_at}", "FAIL"),),
                remedy=Remedy(
                    "Mend what the reason names, and what else is found here; then verify again: a run that passes takes the "
                    "failure out of the ledger.",
                    (f"railwright verify --name {proof.fabric}",),
                ),
                about=(f"fabric:{proof.fabric}",),
            )


RULES = (Rule(VERIFY_FAILED, judge_proof),)
