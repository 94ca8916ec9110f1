"""Discover, plan, render, compare: everything up to the first question, changing nothing."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from railwright.apply.ledger import LedgerStore
from railwright.apply.model import Ledger
from railwright.apply.ours import known_refs, taken_by_ref
from railwright.apply.retry import retried
from railwright.catalog.model import Catalog
from railwright.changes.compare import compare
from railwright.changes.model import Action, Changes
from railwright.core import kinds
from railwright.core.errors import NotCollected, PermissionMissing
from railwright.core.ids import FabricName
from railwright.facts.discover import discover
from railwright.facts.model import Scope, Snapshot
from railwright.intent.model import Intent
from railwright.intent.parse import parse_intents
from railwright.manifests.model import Manifests
from railwright.manifests.render import render
from railwright.pipeline.ahead import with_ahead
from railwright.pipeline.before_us import before_us, in_order, kept_decisions, with_kept_choices
from railwright.pipeline.live import Live, read_live
from railwright.pipeline.model import Prepared
from railwright.pipeline.moves import moves_of, with_moves
from railwright.pipeline.reloads import reloads_of
from railwright.pipeline.rights import check_reads
from railwright.plan.attached import PODS_ON_TAKEN_PORT
from railwright.plan.model import Plan
from railwright.plan.plan import plan
from railwright.plan.turns import Turn, at_turn
from railwright.ports.progress import Progress
from railwright.ports.world import World

_SETS_UP_PORTS = frozenset(
    {
        kinds.SUBSCRIPTION,
        kinds.NIC_CLUSTER_POLICY,
        kinds.CLUSTER_POLICY,
        kinds.SRIOV_OPERATOR_CONFIG,
        kinds.SRIOV_NETWORK_POOL_CONFIG,
        kinds.SRIOV_NETWORK_NODE_POLICY,
        kinds.NODE_NETWORK_CONFIGURATION_POLICY,
        kinds.MACHINE_CONFIG,
        kinds.KUBELET_CONFIG,
    }
)
_READ_LIMIT_S = 30.0
"""For an API server that is replaced by another one; what lasts longer is told."""


async def prepare(
    world: World, intents: tuple[Intent, ...], catalog: Catalog, progress: Progress, turn: Turn | None = None
) -> Prepared:
    """
    Decide what would be done, and compare it with the cluster.

    Fabrics that were applied earlier are planned along, from the ledger: what they share with the given ones is
    composed anew, never overwritten.

    Args:
        turn: how far the batches have come; None for the plan as a whole.

    Raises:
        IntentError: the ledger holds a fabric that this version cannot read.
    """
    ledger, problem = await read_ledger(world)
    together = in_order((*intents, *earlier_intents(ledger, without=tuple(item.name for item in intents))), ledger)
    prepared = await prepare_exactly(world, together, ledger, catalog, progress, turn)
    if not problem:
        return prepared
    return replace(prepared, problems=(problem, *prepared.problems))


async def prepare_whole(
    world: World,
    intents: tuple[Intent, ...],
    catalog: Catalog,
    progress: Progress,
    turn: Turn | None = None,
    *,
    command: str = "apply",
    begun: bool = False,
) -> Prepared:
    """
    Do the same for a command that writes, and needs every fact: what is not answered is asked for again for a while.

    Args:
        begun: it has written already, maybe.

    Raises:
        PermissionMissing: part of it is denied.
        ClusterBusy: part of it was not answered.
    """

    async def once() -> Prepared:
        return await prepare(world, intents, catalog, progress, turn)

    return await _whole(world, once, command, begun=begun)


async def prepare_ledger_whole(world: World, ledger: Ledger, catalog: Catalog, progress: Progress) -> Prepared:
    """Do the same for `clean`: for exactly what the ledger knows."""
    intents = earlier_intents(ledger)
    return await _whole(world, lambda: prepare_exactly(world, intents, ledger, catalog, progress), "clean")


async def _whole(
    world: World, prepared: Callable[[], Awaitable[Prepared]], command: str, *, begun: bool = False
) -> Prepared:
    async def once() -> Prepared:
        found = await prepared()
        check_reads(command, found, begun=begun)
        return found

    return await retried(once, world.clock, limit_s=_READ_LIMIT_S)


async def prepare_exactly(
    world: World,
    intents: tuple[Intent, ...],
    ledger: Ledger,
    catalog: Catalog,
    progress: Progress,
    turn: Turn | None = None,
) -> Prepared:
    """Do the same for exactly these intents, whatever else the ledger knows."""
    snapshot = await discover(world.cluster, world.node, Scope(), progress, world.clock)
    return await prepare_from(world, snapshot, intents, ledger, catalog, turn)


async def prepare_from(
    world: World,
    snapshot: Snapshot,
    intents: tuple[Intent, ...],
    ledger: Ledger,
    catalog: Catalog,
    turn: Turn | None = None,
) -> Prepared:
    """Do the same with facts that were read already; without intents nothing is wanted."""
    prepared = await _decided(world, snapshot, intents, ledger, catalog, turn)
    has_spared = any(item.code == PODS_ON_TAKEN_PORT for item in prepared.plan.warnings)
    if has_spared and _touches_ports(prepared):
        return await _decided(world, snapshot, intents, ledger, catalog, turn, touches_ports=True)
    return prepared


def _touches_ports(prepared: Prepared) -> bool:
    """Whether something is written, or on its way, that may load drivers or set up ports of nodes anew."""
    written = (change for _, change in prepared.changes.items if change.fields or change.action is Action.CREATE)
    return bool(prepared.plan.moves) or any(change.ref.kind in _SETS_UP_PORTS for change in written)


async def _decided(
    world: World,
    snapshot: Snapshot,
    intents: tuple[Intent, ...],
    ledger: Ledger,
    catalog: Catalog,
    turn: Turn | None,
    *,
    touches_ports: bool = False,
) -> Prepared:
    decided = plan(
        with_kept_choices(intents, ledger), before_us(snapshot, ledger), catalog, touches_ports=touches_ports
    )
    decided = replace(decided, decisions=(*decided.decisions, *kept_decisions(intents, ledger)))
    if decided.is_refused:
        # Of a plan that may not be carried out there is nothing to compare.
        return Prepared(intents, snapshot, decided, Manifests(()), Changes(()), ledger, turn=turn)
    compared = await _compared(world, decided, ledger, turn)
    changes = tuple(change for _, change in compared.changes.items)
    again = reloads_of(changes, decided, snapshot)
    moves = moves_of(changes, again, decided, snapshot, ledger)
    decided = with_moves(decided, moves, snapshot, ledger)
    if moves:
        compared = await _compared(world, decided, ledger, turn, known=compared.live)
    decided = replace(decided, reaches=(*decided.reaches, *(item.reach(moves) for item in again)))
    decided = with_ahead(decided, compared.changes, snapshot, ledger, catalog)
    live = compared.live
    return Prepared(intents, snapshot, decided, compared.manifests, compared.changes, ledger, live.problems, turn)


@dataclass(frozen=True)
class _Compared:
    """A plan at one turn, as objects, beside what is there of them."""

    manifests: Manifests
    changes: Changes
    live: Live


async def _compared(
    world: World, decided: Plan, ledger: Ledger, turn: Turn | None, *, known: Live | None = None
) -> _Compared:
    """Render and compare; objects that are `known` are not read again."""
    manifests = render(at_turn(decided, turn))
    seen = known.objects if known is not None else {}
    live = await read_live(world.cluster, world.clock, (item.ref for item in manifests.items if item.ref not in seen))
    if known is not None:
        live = Live({**known.objects, **live.objects}, tuple(dict.fromkeys((*known.problems, *live.problems))))
    changes = compare(manifests.items, live.objects, known_refs(ledger, live.objects), taken=taken_by_ref(ledger))
    return _Compared(manifests, changes, live)


async def read_ledger(world: World) -> tuple[Ledger, str]:
    """Read the ledger; where it may not be read, an empty one, and why."""
    try:
        return await LedgerStore(world.cluster, world.clock).load(), ""
    except (PermissionMissing, NotCollected) as error:
        return Ledger(), f"the ledger is not readable: {error.message}"


def earlier_intents(ledger: Ledger, *, without: tuple[FabricName, ...] = ()) -> tuple[Intent, ...]:
    """Give the fabrics of the ledger, from the documents that they were applied with."""
    return tuple(
        intent
        for name, note in sorted(ledger.fabrics.items())
        if name not in without
        for intent in parse_intents(note.document, f"ledger of fabric {name}")
    )
