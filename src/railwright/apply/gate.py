"""
The gate of a stage: wait until everything it names is ready and stays so, or say what holds it up.

It waits by watch. A watch that delivers nothing proves nothing (one against a dead API server is silent for ever),
so everything is read again at intervals. An answer counts only when it has held for some seconds: operators say
ready a moment before they begin, and failed a moment before they try again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from railwright.apply import approve
from railwright.apply.means import Means
from railwright.apply.model import ObjectState, StageChanges, Write
from railwright.apply.observe import Judged, Observer
from railwright.core.errors import RailwrightError
from railwright.core.objects import Ref
from railwright.core.verdicts import Verdict
from railwright.ports.cluster import Watch
from railwright.ports.progress import Note, Waiting
from railwright.readiness.model import Judgement, Readiness, Receipt

REREAD_S = 15.0
"""A watch that delivered nothing for so long is not believed."""
_SHOW_S = 10.0
_SHORTEST_WAIT_S = 1.0


@dataclass(frozen=True)
class GateResult:
    """How the wait ended."""

    verdict: Verdict
    reason: str
    waiting_for: str
    states: tuple[ObjectState, ...]
    writes: tuple[Write, ...] = ()


@dataclass
class _Held:
    """Since when the answer is what it is; monotonic seconds, None while it is not."""

    ready_since_s: float | None = None
    failed_since_s: dict[str, float] = field(default_factory=dict)

    def take(self, judged: tuple[Judged, ...], now_s: float) -> None:
        """Take the newest answers: what changed starts anew."""
        if all(item.is_ready for item in judged):
            self.ready_since_s = now_s if self.ready_since_s is None else self.ready_since_s
        else:
            self.ready_since_s = None
        failed = {item.what for item in judged if item.judgement.readiness is Readiness.FAILED}
        self.failed_since_s = {what: self.failed_since_s.get(what, now_s) for what in failed}


class Gate:
    """One wait for one run of one stage."""

    def __init__(
        self, stage: StageChanges, means: Means, receipts: Mapping[Ref, Receipt], *, always_holds: bool = False
    ) -> None:
        """
        Take what is waited for, and whom to ask.

        Args:
            always_holds: something was written that has no receipt (deleted): the first answer may be the old one.
        """
        self._stage = stage
        self._means = means
        self._clock = means.clock
        self._receipts = receipts
        self._observer = Observer(means.cluster, stage.gated, stage.expectations, approve.selections(stage.approvals))
        self._held = _Held()
        self._started_s = self._clock.monotonic_s()
        self._read_s = -REREAD_S
        self._nodes_read_s: float | None = None
        self._problem = ""
        self._shown = ("", -_SHOW_S)
        self._named: set[str] = set()
        self._writes: list[Write] = []
        # Nothing was written: what is ready at the first look has been ready before, and need not prove it again.
        self._is_first_look = not receipts and not always_holds

    async def wait(self) -> GateResult:
        """Wait within the stage's limit."""
        while True:
            unserved = self._observer.unserved
            try:
                async with self._means.cluster.watch(self._observer.selections) as watch:
                    result = await self._wait_with(watch)
            except RailwrightError as error:
                result = await self._without_watch(error)
            if result is not None:
                return result
            if unserved == self._observer.unserved:
                await self._clock.sleep(_SHORTEST_WAIT_S)

    async def _without_watch(self, error: RailwrightError) -> GateResult | None:
        """Wait a while for an API server that went away (a single node reboots with it), and let a watch be opened anew."""
        self._note_problem(error)
        judged = await self._judge()
        result = self._decide(judged)
        if result is None:
            self._show(judged)
            await self._clock.sleep(REREAD_S)
        return result

    def _note_problem(self, error: RailwrightError) -> None:
        """Keep why the API server does not answer; anything else ends the wait. Raises the error then."""
        if not error.transient:
            raise error
        self._problem = error.message

    async def _wait_with(self, watch: Watch) -> GateResult | None:
        """Wait with one watch; None when it has to be opened anew, for kinds that came meanwhile."""
        unserved = self._observer.unserved
        while True:
            await self._refresh()
            if unserved != self._observer.unserved and self._read_s > self._started_s:
                return None
            unserved = self._observer.unserved
            await self._approve()
            judged = await self._judge()
            result = self._decide(judged)
            if result is not None:
                return result
            self._show(judged)
            await self._keep_lease()
            before_s = self._now_s()
            timeout_s = self._next_look_s() - before_s
            seen = await watch.next(max(timeout_s, _SHORTEST_WAIT_S))
            if seen:
                self._observer.take(seen)
            else:
                self._read_s = -REREAD_S if self._now_s() - before_s < timeout_s else self._read_s
                if self._now_s() - before_s < _SHORTEST_WAIT_S:
                    await self._clock.sleep(_SHORTEST_WAIT_S)

    def _now_s(self) -> float:
        return self._clock.monotonic_s()

    def _elapsed_s(self) -> float:
        return self._now_s() - self._started_s

    async def _refresh(self) -> None:
        """Read everything again when it is due; an API server that does not answer is waited for like anything else."""
        if self._now_s() - self._read_s < REREAD_S and not self._problem:
            return
        try:
            await self._observer.read_all()
        except RailwrightError as error:
            self._note_problem(error)
        else:
            self._problem = ""
        self._read_s = self._now_s()

    async def _keep_lease(self) -> None:
        """Say that we are still there; an API server that does not answer gives the ledger to nobody else either."""
        if self._problem:
            return
        try:
            await self._means.ledger.renew()
        except RailwrightError as error:
            self._note_problem(error)

    async def _approve(self) -> None:
        if self._problem:
            return
        waiting = approve.waiting_plans(self._stage.approvals, self._observer.objects)
        for plan in waiting.planned:
            write = await approve.approve(plan, self._stage, self._means)
            if write is not None:
                self._writes.append(write)
                self._is_first_look = False
            self._read_s = self._now_s() - REREAD_S
        for line in waiting.beyond:
            if line not in self._named:
                self._named.add(line)
                self._means.progress.emit(Note(f"{line}: approve it by hand if you want that"))

    async def _judge(self) -> tuple[Judged, ...]:
        if self._problem:
            unknown = Judgement(Readiness.UNKNOWN, self._problem, f"the API server: {self._problem}")
            return (Judged("API server", unknown),)
        api = self._observer.judge_api(self._receipts, self._clock.now())
        if not self._observer.inside_nodes or not all(item.is_ready for item in api):
            return api
        if self._nodes_read_s is None or self._now_s() - self._nodes_read_s >= REREAD_S:
            await self._observer.read_nodes(self._means.node, self._means.script)
            self._nodes_read_s = self._now_s()
        return api + self._observer.judge_inside(self._clock.now())

    def _decide(self, judged: tuple[Judged, ...]) -> GateResult | None:
        now_s = self._now_s()
        self._held.take(judged, now_s)
        hold_s = 0.0 if self._is_first_look else self._stage.hold_s
        self._is_first_look = False
        if self._held.ready_since_s is not None and now_s - self._held.ready_since_s >= hold_s:
            return self._result(Verdict.PASS, "ready", judged)
        lasting = [item for item in judged if self._has_failed(item, now_s)]
        if lasting:
            return self._result(Verdict.FAIL, _with_more(tuple(item.text for item in lasting)), judged)
        if self._elapsed_s() >= self._stage.limit_s:
            return self._given_up(judged)
        return None

    def _has_failed(self, item: Judged, now_s: float) -> bool:
        since_s = self._held.failed_since_s.get(item.what)
        return since_s is not None and now_s - since_s >= self._stage.hold_s

    def _given_up(self, judged: tuple[Judged, ...]) -> GateResult:
        """Say what is missing; UNKNOWN when nothing is known to be wrong, but not all could be looked at."""
        open_answers = {item.judgement.readiness for item in judged if not item.is_ready}
        verdict = Verdict.UNKNOWN if open_answers == {Readiness.UNKNOWN} else Verdict.FAIL
        words = "could not be looked at within" if verdict is Verdict.UNKNOWN else "not ready after"
        return self._result(verdict, f"{words} {self._stage.limit_s:.0f} s: {_waiting_text(judged)}", judged)

    def _result(self, verdict: Verdict, reason: str, judged: tuple[Judged, ...]) -> GateResult:
        waiting_for = "" if verdict is Verdict.PASS else _waiting_text(judged)
        states = tuple(item.state() for item in judged)
        return GateResult(verdict, reason, waiting_for, states, tuple(self._writes))

    def _show(self, judged: tuple[Judged, ...]) -> None:
        text = _waiting_text(judged) or "the same answer to hold"
        shown, at_s = self._shown
        if text == shown and self._now_s() - at_s < _SHOW_S:
            return
        self._shown = (text, self._now_s())
        self._means.progress.emit(
            Waiting(self._stage.stage, text, self._elapsed_s(), self._stage.expected_s, self._stage.limit_s)
        )

    def _next_look_s(self) -> float:
        """When something is due even if nothing changes: a read, a line to show, the end of a hold or of the limit."""
        due = [self._read_s + REREAD_S, self._shown[1] + _SHOW_S, self._started_s + self._stage.limit_s]
        if self._held.ready_since_s is not None:
            due.append(self._held.ready_since_s + self._stage.hold_s)
        due.extend(since_s + self._stage.hold_s for since_s in self._held.failed_since_s.values())
        return min(due)


def _waiting_text(judged: tuple[Judged, ...]) -> str:
    """Name who holds the gate up: what failed first, then what moves, then what is unknown."""
    order = (Readiness.FAILED, Readiness.PROGRESSING, Readiness.UNKNOWN)
    waiting = [item for readiness in order for item in judged if item.judgement.readiness is readiness]
    return _with_more(tuple(item.waiting_for for item in waiting))


def _with_more(texts: tuple[str, ...]) -> str:
    """Give the first of several, and how many others there are: one cause often shows in many places."""
    others = len(dict.fromkeys(texts)) - 1
    return next(iter(texts), "") + (f" (and {others} more)" if others > 0 else "")
