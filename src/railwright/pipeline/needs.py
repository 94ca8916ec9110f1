"""
What each command asks of an API server, put together from what each of its parts says of itself. Pure.

With a plan every object is known by name. Without one, every object of a kind that some plan writes may be meant.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from railwright.apply.ledger import NAMESPACE_REF
from railwright.apply.model import CsvApproval, LedgerEntry, StageChanges
from railwright.apply.needs import (
    change_needs,
    gate_needs,
    granted,
    ledger_needs,
    look_needs,
    undo_needs,
    watch_needs,
)
from railwright.apply.observe import selections_of
from railwright.changes.model import Action, Change
from railwright.core import kinds
from railwright.core.ids import FabricName, StageName
from railwright.core.marks import LEDGER_NAMESPACE
from railwright.core.needs import Need, of_kind, of_ref
from railwright.core.objects import Kind, KubeObject, Ref, dig, kind_of
from railwright.facts.cluster import OPERATOR_NAMESPACES, operator_namespaces
from railwright.facts.needs import discovery_needs, trouble_needs
from railwright.intent.model import Method
from railwright.manifests.render import ORDER
from railwright.manifests.verifiers import Run, access_of
from railwright.pipeline.collect import EVERYWHERE
from railwright.pipeline.live import live_needs
from railwright.pipeline.model import Prepared
from railwright.pipeline.removal import leaves_sriov
from railwright.pipeline.roll_back import is_rolling_entry
from railwright.pipeline.runs import runs_of, stage_changes
from railwright.pipeline.still_used import why_kept_needs
from railwright.pipeline.undo_order import NETWORK_KINDS, nads_of, steps_of
from railwright.pipeline.unwanted import unwanted
from railwright.pipeline.vfs_let_go import takes_vfs, vfs_needs
from railwright.plan.machine import pool_of
from railwright.plan.model import VERIFIED, FabricPlan, PoolUpdated

_WRITTEN: tuple[Kind, ...] = (*ORDER, *sorted(NETWORK_KINDS))
"""Every kind that some plan writes; a test holds it to what is rendered."""


@dataclass(frozen=True)
class Extent:
    """
    How much is known of what a command will meet.

    Attributes:
        prepared: a plan made with the cluster; None: any plan, any cluster.
        until: the last stage of an apply.
        prove: whether an apply ends with verify.
        whole: whether a clean leaves no fabric: only then the ledger's own namespace goes.
    """

    prepared: Prepared | None = None
    until: StageName | None = None
    prove: bool = True
    whole: bool = True

    @property
    def has_ledger(self) -> bool:
        """Whether the ledger's namespace is there."""
        return self.prepared is not None and NAMESPACE_REF in self.prepared.snapshot.cluster.objects

    @property
    def namespaces(self) -> frozenset[str]:
        """Where the operators are, or may be."""
        if self.prepared is None:
            return OPERATOR_NAMESPACES
        objects = self.prepared.snapshot.cluster.objects
        wanted = {item.ref.name for item in self.prepared.manifests.items if item.ref.kind == kinds.NAMESPACE}
        return frozenset(
            operator_namespaces(objects) & ({ref.name for ref in objects if ref.kind == kinds.NAMESPACE} | wanted)
        )


def discover_needs(extent: Extent) -> tuple[Need, ...]:
    """Read a cluster; of nodes only what the API server knows."""
    return discovery_needs(extent.namespaces)


def plan_needs(extent: Extent) -> tuple[Need, ...]:
    """Read a cluster, and what is there of every object that the plan wants."""
    prepared = extent.prepared
    wanted = (Ref(kind, "", "") for kind in _WRITTEN) if prepared is None else (i.ref for i in prepared.manifests.items)
    return (*discover_needs(extent), *live_needs(wanted))


def status_needs(extent: Extent) -> tuple[Need, ...]:
    """Plan, and look at what each stage wrote and what its gate looks at."""
    looks: list[Need] = []
    for stage in _stages(replace(extent, until=None)):
        looks += look_needs(selections_of(stage.gated, stage.expectations, ()))
        if extent.prepared is not None:
            looks += live_needs(item.ref for item in extent.prepared.manifests.of_stage(stage.stage))
    return (*plan_needs(extent), *looks)


def doctor_needs(extent: Extent) -> tuple[Need, ...]:
    """Read a cluster with its events, and the logs of the operators' pods."""
    return (*discover_needs(extent), *trouble_needs())


def collect_needs(extent: Extent) -> tuple[Need, ...]:
    """Read what all the others read."""
    also = tuple(need for kind in EVERYWHERE for need in of_kind("list", kind))
    return (*discover_needs(extent), *trouble_needs(), *also)


def writing_needs(extent: Extent) -> tuple[Need, ...]:
    """Apply: what it asks for beside what a plan has read."""
    prepared = extent.prepared
    changes = _any_changes() if prepared is None else tuple(change for _, change in prepared.changes.items)
    needs = [*ledger_needs(has_namespace=extent.has_ledger)]
    for change in changes:
        needs += change_needs(change)
    for stage in _stages(extent):
        needs += gate_needs(stage)
    if prepared is not None:
        needs += _undoing(unwanted(prepared.ledger, prepared), prepared, waits_for_vfs=leaves_sriov(prepared))
    if extent.prove and extent.until in {None, VERIFIED}:
        needs += probing_needs(extent)
    return tuple(needs)


def apply_needs(extent: Extent) -> tuple[Need, ...]:
    """Plan, write, wait, and verify at the end."""
    return (*plan_needs(extent), *writing_needs(extent))


def running_needs(extent: Extent) -> tuple[Need, ...]:
    """Verify: what it asks for beside what a plan has read."""
    return (*ledger_needs(has_namespace=extent.has_ledger), *probing_needs(extent))


def verify_needs(extent: Extent) -> tuple[Need, ...]:
    """Plan, run pods and remove them again."""
    return (*plan_needs(extent), *running_needs(extent))


def probing_needs(extent: Extent) -> tuple[Need, ...]:
    """Run the pods of verify: their names hold the time of the run, so that none can be named before."""
    prepared = extent.prepared
    if prepared is None:
        return _probing("", has_scc=True)
    fabrics: tuple[FabricPlan, ...] = prepared.plan.fabrics
    has_scc = prepared.snapshot.cluster.serves(kinds.SECURITY_CONTEXT_CONSTRAINTS)
    spaces = {next(iter(fabric.intent.workload_namespaces), "default") for fabric in fabrics}
    return tuple(need for space in sorted(spaces) for need in _probing(space, has_scc=has_scc))


def _probing(namespace: str, *, has_scc: bool) -> tuple[Need, ...]:
    run = Run("", namespace or "any", FabricName(""), "", 0.0, has_scc)
    objects = access_of(run)
    needs: list[Need] = [*of_kind("create delete get list patch watch", kinds.POD, namespace)]
    for obj in objects:
        where = namespace if dig(obj, "metadata", "namespace") else ""
        needs += of_kind("create delete get list patch watch", kind_of(obj), where)
        needs += [replace(need, namespace=namespace, name="") for need in granted(obj)]
    needs += [Need("", "pods/exec", verb, namespace) for verb in ("create", "get")]
    return tuple(needs)


def undoing_needs(extent: Extent) -> tuple[Need, ...]:
    """Clean: what it asks for beside what a plan has read."""
    prepared = extent.prepared
    kept = of_kind("delete", kinds.CONFIG_MAP, LEDGER_NAMESPACE)
    own = prepared.ledger.entries.get(NAMESPACE_REF) if prepared is not None and extent.whole else None
    if prepared is None or own is not None:
        kept += of_ref("delete", NAMESPACE_REF)
    if own is not None:
        kept += why_kept_needs((own,))
    if prepared is not None:
        has_sriov = any(intent.method is Method.SRIOV for intent in prepared.intents)
        undone = _undoing(_with_csvs(prepared), prepared, waits_for_vfs=has_sriov)
        return (*ledger_needs(has_namespace=extent.has_ledger), *kept, *undone)
    entries = tuple(_any_entry(kind) for kind in (*_WRITTEN, kinds.CLUSTER_SERVICE_VERSION))
    changed = tuple(replace(entry, created=False) for entry in entries)
    runs = tuple(_any_entry(kind) for kind in (kinds.POD, *(kind_of(obj) for obj in access_of(_ANY_RUN))))
    undone = (
        *undo_needs((*entries, *runs)),
        *undo_needs(changed),
        *why_kept_needs(entries),
        *vfs_needs(),
        *_rolled_back(()),
    )
    return (*ledger_needs(has_namespace=extent.has_ledger), *kept, *undone)


def clean_needs(extent: Extent) -> tuple[Need, ...]:
    """Plan with everything that the ledger knows, undo it, and remove the ledger."""
    return (*plan_needs(extent), *undoing_needs(extent))


def _undoing(entries: tuple[LedgerEntry, ...], prepared: Prepared, *, waits_for_vfs: bool) -> tuple[Need, ...]:
    """Undo entries, and wait for what an earlier run left in motion, with or without them."""
    nads = tuple(ref for step in steps_of(entries) for ref in nads_of(step, {}, prepared.plan.shares))
    left = tuple(entry.ref.name for entry in prepared.ledger.entries.values() if is_rolling_entry(entry))
    rolls = (*left, *(pool for entry in entries if (pool := pool_of(entry.ref))))
    return (
        *live_needs(entry.ref for entry in entries),
        *undo_needs(entries, nads),
        *why_kept_needs(entries),
        *(vfs_needs() if waits_for_vfs or takes_vfs(entries) else ()),
        *(_rolled_back(rolls) if rolls else ()),
    )


def _rolled_back(pools: Iterable[str]) -> tuple[Need, ...]:
    expected = tuple(PoolUpdated(pool, "") for pool in pools) or (PoolUpdated("", ""),)
    selections = selections_of((), expected, ())
    return (*look_needs(selections), *watch_needs(selections))


def _with_csvs(prepared: Prepared) -> tuple[LedgerEntry, ...]:
    """Add the CSVs that subscriptions of ours installed: clean notes them on its way."""
    entries = tuple(
        entry for ref, entry in prepared.ledger.entries.items() if ref != NAMESPACE_REF and not is_rolling_entry(entry)
    )
    found = list(entries)
    for entry in entries:
        if entry.ref.kind == kinds.SUBSCRIPTION and entry.created:
            live = prepared.snapshot.cluster.objects.get(entry.ref, {})
            names = {str(dig(live, "status", key, default="")) for key in ("installedCSV", "currentCSV")}
            refs = (Ref(kinds.CLUSTER_SERVICE_VERSION, entry.ref.namespace, name) for name in sorted(names) if name)
            found += [replace(entry, ref=ref) for ref in refs]
    return tuple(found)


def _stages(extent: Extent) -> tuple[StageChanges, ...]:
    prepared = extent.prepared
    if prepared is None:
        return (_any_stage(),)
    return tuple(
        stage_changes(run, prepared, dry_run=False, take_over=False)
        for run in runs_of(prepared.plan, extent.until)
        if run.stage != VERIFIED and prepared.plan.stage(run.stage).applies
    )


# --- any plan ---------------------------------------------------------------------------------------------------------


def _any_changes() -> tuple[Change, ...]:
    """Make every kind; of nodes only labels are written."""
    return tuple(
        Change(Ref(kind, "", ""), Action.UPDATE if kind == kinds.NODE else Action.CREATE, _any_object(kind))
        for kind in _WRITTEN
    )


def _any_object(kind: Kind) -> KubeObject:
    """Make an object of a kind without a name; Roles as they are rendered, for they grant."""
    sample = next((obj for obj in access_of(_ANY_RUN) if kind_of(obj) == kind == kinds.ROLE), None)
    if sample is not None:
        rules = [{**rule, "resourceNames": []} for rule in sample["rules"]]
        return {**sample, "metadata": {}, "rules": rules}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {}}


_ANY_RUN = Run("", "any", FabricName(""), "", 0.0, has_scc=True)


def _any_entry(kind: Kind) -> LedgerEntry:
    return LedgerEntry(Ref(kind, "", ""), created=True, uid="", fields=(), fabrics=(), order=0, stage=StageName(""))


def _any_stage() -> StageChanges:
    gated = tuple(Ref(kind, "", "") for kind in _WRITTEN if kind != kinds.NODE)
    return StageChanges(
        stage=StageName(""),
        batch="",
        nodes=(),
        changes=(),
        gated=gated,
        expectations=(PoolUpdated("", "", "any"),),
        approvals=(CsvApproval("", ()),),
        fabrics=(),
        expected_s=0.0,
        limit_s=0.0,
        hold_s=0.0,
    )


# --- by command -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """
    One command as far as rights go; every one of them looks into nodes.

    Attributes:
        writes: it asks for its rights first.
        outside: what it asks for where it may not look into nodes, and says UNKNOWN of what it did not see; None for a
            command that cannot do without.
    """

    needs: Callable[[Extent], tuple[Need, ...]]
    writes: bool = False
    outside: Callable[[Extent], tuple[Need, ...]] | None = None


COMMANDS: Mapping[str, Command] = {
    "discover": Command(discover_needs, outside=discover_needs),
    "plan": Command(plan_needs),
    "render": Command(plan_needs),
    "apply": Command(apply_needs, writes=True),
    # Without the inside of nodes every plan is refused, and what it would write is not known.
    "status": Command(status_needs, outside=discover_needs),
    "verify": Command(verify_needs, writes=True),
    "doctor": Command(doctor_needs, outside=doctor_needs),
    "collect": Command(collect_needs, outside=collect_needs),
    "clean": Command(clean_needs, writes=True),
    "workload": Command(plan_needs),
    "images": Command(plan_needs),
}
"""Every command that talks to a cluster."""


def made_namespaces(extent: Extent) -> tuple[KubeObject, ...]:
    """Give the namespaces that an apply would make: whoever grants a Role in one has to make it before."""
    prepared = extent.prepared
    if prepared is None:
        return (_namespace(LEDGER_NAMESPACE),)
    there = {ref.name for ref in prepared.snapshot.cluster.objects if ref.kind == kinds.NAMESPACE}
    wanted = {i.ref.name: i.obj for i in prepared.manifests.items if i.ref.kind == kinds.NAMESPACE}
    wanted.setdefault(LEDGER_NAMESPACE, _namespace(LEDGER_NAMESPACE))
    return tuple(obj for name, obj in sorted(wanted.items()) if name not in there)


def _namespace(name: str) -> KubeObject:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
