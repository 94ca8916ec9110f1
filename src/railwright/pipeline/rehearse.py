"""The whole job once, on a world where every risk may be taken: what `demo` shows, a line a configuration."""

import time
from dataclasses import dataclass

from railwright.catalog.model import Catalog
from railwright.core.errors import RailwrightError, first_exit_code
from railwright.core.verdicts import Verdict
from railwright.intent.model import Intent
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.clean import clean
from railwright.pipeline.model import ApplyRecord
from railwright.pipeline.prepare import prepare
from railwright.pipeline.status import status
from railwright.ports.approval import Question
from railwright.ports.progress import Silent
from railwright.ports.world import World
from railwright.report.model import Document
from railwright.report.tables import duration, table


@dataclass(frozen=True)
class Rehearsal:
    """
    One configuration from nothing to applied to removed.

    Attributes:
        stopped_at: the stage that was not passed; "plan" when the plan was refused; "" when all went well.
        simulated_s: how long it would have taken, by the world's clock.
        elapsed_s: how long it took here.
    """

    configuration: str
    cluster: str
    verdict: Verdict
    stopped_at: str
    reason: str
    stages: tuple[tuple[str, str, str], ...]
    """Name, verdict and reason of each stage, worst batch first."""
    undone: int
    left: int
    simulated_s: float
    elapsed_s: float
    exit_code: int


class _Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


async def rehearse(world: World, intents: tuple[Intent, ...], catalog: Catalog) -> Rehearsal:
    """Plan, apply, read the status, clean, and read again that nothing of ours is left."""
    began, world_began = time.perf_counter(), world.clock.monotonic_s()
    configuration = ", ".join(f"{intent.method.value} {intent.fabric.value}" for intent in intents)
    stages: tuple[tuple[str, str, str], ...] = ()
    undone = left = 0
    stopped, reason = "", ""
    try:
        record = await apply_fabrics(world, intents, catalog, Silent(), _Yes(), prove=True)
        stages = _stages(record)
        now = await status(world, None, catalog, Silent())
        removed = await clean(world, None, catalog, Silent(), _Yes())
        undone = sum(item.verdict is Verdict.PASS for item in removed.objects)
        after = await prepare(world, intents, catalog, Silent())
        left = len(after.ledger.entries)
        code = first_exit_code({record.exit_code, now.exit_code, removed.exit_code, 4 if left else 0})
        bad = next((stage for stage in stages if stage[1] not in {Verdict.PASS, Verdict.SKIP}), None)
        stopped, reason = (bad[0], bad[2]) if bad else ("", "")
    except RailwrightError as error:
        code, stopped, reason = error.exit_code, "plan", f"{error.code}: {error.message}"
    return Rehearsal(
        configuration=configuration,
        cluster=world.cluster.name,
        verdict=Verdict.PASS if code == 0 else Verdict.FAIL,
        stopped_at=stopped,
        reason=reason,
        stages=stages,
        undone=undone,
        left=left,
        simulated_s=round(world.clock.monotonic_s() - world_began, 1),
        elapsed_s=round(time.perf_counter() - began, 2),
        exit_code=code,
    )


def _stages(record: ApplyRecord) -> tuple[tuple[str, str, str], ...]:
    order = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.PROGRESSING, Verdict.PASS, Verdict.SKIP)
    worst: dict[str, tuple[str, str, str]] = {}
    for stage in record.stages:
        seen = worst.get(stage.stage)
        if seen is None or order.index(stage.verdict) < order.index(Verdict(seen[1])):
            held = "" if stage.waiting_for in stage.reason else f" ({stage.waiting_for})"
            worst[stage.stage] = (stage.stage, stage.verdict.value, stage.reason + held)
    return tuple(worst.values())


def rehearsals_document(runs: tuple[Rehearsal, ...]) -> Document:
    """Show rehearsals, one line each; exit code 0 only if all went well."""
    rows = [
        (
            run.configuration,
            run.verdict.value,
            f"{sum(stage[1] == Verdict.PASS for stage in run.stages)} stages passed, {run.undone} objects undone",
            f"{duration(run.simulated_s)} simulated in {run.elapsed_s:.1f} s",
            f"stopped at {run.stopped_at}: {run.reason}" if run.stopped_at else "applied, and removed without a trace",
        )
        for run in runs
    ]
    payload = {
        "runs": [
            {
                "configuration": run.configuration,
                "cluster": run.cluster,
                "verdict": run.verdict.value,
                "stopped_at": run.stopped_at or None,
                "reason": run.reason or None,
                "stages": [{"name": n, "verdict": v, "reason": r} for n, v, r in run.stages],
                "undone": run.undone,
                "left": run.left,
                "simulated_s": run.simulated_s,
                "elapsed_s": run.elapsed_s,
            }
            for run in runs
        ]
    }
    code = first_exit_code({run.exit_code for run in runs})
    clusters = ", ".join(sorted({run.cluster for run in runs}))
    text = table(("configuration", "verdict", "", "time", ""), rows, indent="")
    return Document("demo/v1alpha1", clusters, simulated=True, payload=payload, text=text, exit_code=code)
