"""
The last roll-out: pools whose MachineConfig or KubeletConfig went are Updated again, without it, before anything is done.

Such a pool is in the ledger from before its configuration goes until its nodes have come back: a clean that was killed
in between waits for it again. A pool that somebody has removed meanwhile is waited for no more: its nodes are in others.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from railwright.apply.gate import Gate
from railwright.apply.means import Means
from railwright.apply.model import Ledger, LedgerEntry, StageChanges
from railwright.apply.retry import retried
from railwright.apply.waiting import AWAY_LIMIT_S
from railwright.core import kinds
from railwright.core.errors import KindNotServed
from railwright.core.ids import StageName
from railwright.core.objects import Kind, KubeObject, Ref, dig, ref_of
from railwright.core.verdicts import Verdict
from railwright.pipeline.model import Prepared, Undone
from railwright.plan.machine import pool_of
from railwright.plan.model import NODES_PREPARED, PoolUpdated
from railwright.ports.cluster import Selection
from railwright.report.tables import duration

_ACTION, _FORGET = "wait", "forget"
_IS_GONE = "this pool is no longer there: nothing rolls out, and it is waited for no more"


def rolling_entry(ref: Ref, stage: StageName) -> LedgerEntry | None:
    """Make the entry of the pool that rolls out when this object goes or changes; None for any other object."""
    pool = pool_of(ref)
    if not pool:
        return None
    at = Ref(kinds.MACHINE_CONFIG_POOL, "", pool)
    return LedgerEntry(at, created=False, uid="", fields=(), fabrics=(), order=0, stage=stage)


def is_rolling_entry(entry: LedgerEntry) -> bool:
    """Whether an entry only says that a pool is to be waited for: nothing of it is undone."""
    return entry.ref.kind == kinds.MACHINE_CONFIG_POOL


def forgotten(lines: Iterable[Undone]) -> tuple[str, ...]:
    """Say which pools are waited for no more, and why."""
    return tuple(f"{line.ref}: {line.reason}" for line in lines if line.action == _FORGET)


def pools_rolling(objects: Iterable[Undone], ledger: Ledger) -> tuple[PoolUpdated, ...]:
    """
    Name what has to be true of pools.

    Args:
        objects: what was deleted, or changed for fabrics that stay.
        ledger: names the pools that an earlier clean left rolling.
    """
    gone: dict[str, set[str]] = {entry.ref.name: set() for entry in ledger.entries.values() if is_rolling_entry(entry)}
    for item in objects:
        pool = pool_of(item.ref)
        if pool and item.verdict is Verdict.PASS and item.action in {"delete", "update"}:
            names = gone.setdefault(pool, set())
            if item.action == "delete" and item.ref.kind == kinds.MACHINE_CONFIG:
                names.add(item.ref.name)
    return tuple(PoolUpdated(pool, "", without=tuple(sorted(names))) for pool, names in sorted(gone.items()))


async def rolled_back(
    objects: Iterable[Undone], before: Prepared, means: Means, stage: StageName, *, dry_run: bool
) -> tuple[Undone, ...]:
    """
    Wait until every pool that rolls out is Updated, and take it out of the ledger.

    Returns:
        A line a pool, FAIL for those that are not; a dry run says only that it would wait, and for how long.
    """
    expected = pools_rolling(objects, means.ledger.ledger)
    if not expected:
        return ()
    pools = await _list(means, kinds.MACHINE_CONFIG_POOL)
    gone = await _gone(expected, pools, means, dry_run=dry_run)
    expected = tuple(item for item in expected if item.pool not in {line.ref.name for line in gone})
    waited = await _waited_for(expected, pools, before, means, stage, dry_run=dry_run) if expected else ()
    return (*gone, *waited)


async def _gone(
    expected: Iterable[PoolUpdated], pools: Sequence[KubeObject] | None, means: Means, *, dry_run: bool
) -> tuple[Undone, ...]:
    """Forget the pools that are not among those that there are; None: they could not be listed, so none is gone."""
    if pools is None:
        return ()
    there = {ref_of(pool).name for pool in pools}
    refs = [Ref(kinds.MACHINE_CONFIG_POOL, "", item.pool) for item in expected if item.pool not in there]
    for ref in refs:
        if not dry_run:
            await means.ledger.forget(ref)
    return tuple(Undone(ref, _FORGET, Verdict.PASS, _IS_GONE) for ref in refs)


async def _waited_for(
    expected: tuple[PoolUpdated, ...],
    pools: Sequence[KubeObject] | None,
    before: Prepared,
    means: Means,
    stage: StageName,
    *,
    dry_run: bool,
) -> tuple[Undone, ...]:
    timing = before.plan.stage(NODES_PREPARED)
    refs = [Ref(kinds.MACHINE_CONFIG_POOL, "", item.pool) for item in expected]
    words = f"its nodes reboot once more, one after the other, about {duration(timing.expected_s)}"
    if dry_run:
        return tuple(Undone(ref, _ACTION, Verdict.PASS, words) for ref in refs)
    vanished = await _vanished(means, pools or ())
    changes = StageChanges(
        stage=stage,
        batch="",
        nodes=(),
        changes=(),
        gated=(),
        expectations=tuple(_without(item, vanished.get(item.pool, frozenset())) for item in expected),
        approvals=(),
        fabrics=(),
        expected_s=timing.expected_s,
        limit_s=timing.limit_s,
        hold_s=timing.hold_s,
    )
    result = await Gate(changes, means, {}, always_holds=True).wait()
    if result.verdict is not Verdict.PASS:
        return tuple(Undone(ref, _ACTION, Verdict.FAIL, result.reason) for ref in refs)
    for ref in refs:
        await means.ledger.forget(ref)
    return tuple(Undone(ref, _ACTION, Verdict.PASS, words) for ref in refs)


def _without(expectation: PoolUpdated, names: frozenset[str]) -> PoolUpdated:
    return replace(expectation, without=tuple(sorted({*expectation.without, *names})))


async def _vanished(means: Means, pools: Iterable[KubeObject]) -> Mapping[str, frozenset[str]]:
    """
    Name the MachineConfigs that a pool is still made of, and that are gone: it has not begun to roll out without them.

    What was made of a KubeletConfig is among them: it is deleted before the KubeletConfig's finalizer goes.
    Source: openshift/machine-config-operator 7ff337a, pkg/controller/kubelet-config, cascadeDelete.
    """
    there = {ref_of(obj).name for obj in await _list(means, kinds.MACHINE_CONFIG) or ()}
    return {ref_of(pool).name: _sources(pool) - there for pool in pools}


def _sources(pool: KubeObject) -> frozenset[str]:
    return frozenset(
        str(item.get("name"))
        for part in ("spec", "status")
        for item in dig(pool, part, "configuration", "source", default=[])
    )


async def _list(means: Means, kind: Kind) -> list[KubeObject] | None:
    """Give the objects of a kind; None where it is not served. A single node that rolls out takes its API server along."""

    async def read() -> list[KubeObject]:
        return [obj async for obj in means.cluster.list(Selection(kind))]

    try:
        return await retried(read, means.clock, limit_s=AWAY_LIMIT_S)
    except KindNotServed:
        return None
