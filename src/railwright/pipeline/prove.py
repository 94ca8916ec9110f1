"""The last stage, `verified`: a quick verify of what was applied; its result stands in the ledger with its date."""

import asyncio

from railwright.apply.ledger import LedgerStore
from railwright.apply.model import StageNote, StageRecord
from railwright.apply.stamps import to_stamp
from railwright.catalog.model import Catalog
from railwright.core.errors import Interrupted, Refused
from railwright.core.ids import FabricName
from railwright.core.verdicts import Verdict, worst
from railwright.pipeline.model import Prepared
from railwright.pipeline.verify import Wish, note_of, verify_fabric
from railwright.plan.model import VERIFIED
from railwright.ports.approval import Question
from railwright.ports.progress import Progress
from railwright.ports.world import World
from railwright.verify.planned import Options, Planned

NOT_ASKED = "left out: not asked for"
NOT_YET = "never run: railwright verify"
_WISH = Wish(Options(quick=True))


class _Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


async def prove(
    world: World,
    prepared: Prepared,
    fabrics: tuple[FabricName, ...],
    catalog: Catalog,
    progress: Progress,
    store: LedgerStore,
) -> StageRecord:
    """
    Verify each fabric that was applied, quickly; nodes in use are left alone.

    Returns:
        FAIL for what was measured to be wrong; UNKNOWN for what could not be looked at; SKIP where nothing could be
        tried at all, such as with a single node.
    """
    started_s, started_at = world.clock.monotonic_s(), to_stamp(world.clock.now())
    answers: list[tuple[Verdict, str]] = []
    for fabric in prepared.plan.fabrics:
        if fabric.name not in fabrics:
            continue
        try:
            record = await verify_fabric(
                world, prepared, fabric, _WISH, catalog, progress, _Yes(), _show_nothing, store=store
            )
            if record.exit_code == Interrupted.exit_code:
                # Its pods are gone; the apply that it is a part of ends as interrupted, too.
                raise asyncio.CancelledError
            note = note_of(record, started_at)
            answers.append((note.verdict, note.reason))
        except Refused as error:
            answers.append((_of_refusal(error), error.message.replace("\n", "; ")))
    verdict = worst(answer for answer, _ in answers)
    reason = "; ".join(text for answer, text in answers if answer is verdict) or "no fabric to verify"
    return StageRecord(
        VERIFIED,
        "",
        verdict,
        reason,
        "",
        started_at,
        to_stamp(world.clock.now()),
        world.clock.monotonic_s() - started_s,
        prepared.plan.stage(VERIFIED).expected_s,
    )


def _show_nothing(_: Planned) -> None:
    """Take a plan: an apply has said what it does already."""


def _of_refusal(error: Refused) -> Verdict:
    """A run that has nobody to talk to is left out; one whose pods are not let in could not look."""
    return Verdict.SKIP if error.context.get("reason") == "too-few-nodes" else Verdict.UNKNOWN


def kept(prepared: Prepared, fabrics: tuple[FabricName, ...]) -> StageNote | None:
    """Give what the ledger has of an earlier verify of these fabrics: the worst, and of those the oldest."""
    notes = [
        note
        for name in fabrics
        if (fabric := prepared.ledger.fabrics.get(name)) is not None
        for note in fabric.stages
        if note.stage == VERIFIED
    ]
    if len(notes) < len(fabrics) or not notes:
        return None
    verdict = worst(note.verdict for note in notes)
    return min((note for note in notes if note.verdict is verdict), key=lambda note: note.ended_at)


def as_kept(note: StageNote, now: str) -> StageRecord:
    """Show an earlier verify as it stands: nothing was changed since."""
    reason = f"as of {note.ended_at}, and nothing was written since: {note.reason}"
    return StageRecord(VERIFIED, "", note.verdict, reason, "", now, now, 0.0, 0.0)
