"""
The library: a few async functions, their models and errors; holds no logic. Provisional until 1.0.

    intents = read_intents(Path("rails.yaml"))
    async with await open_cluster("sim:h200-roce") as world:
        prepared = await plan(world, intents)
        record = await apply(world, intents, approval=consent)

Nothing here prints, ends the process or keeps state. Errors are RailwrightError with code, exit_code and transient.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from railwright.catalog.load import load_catalog
from railwright.catalog.model import Catalog
from railwright.core.archive import ArchiveManifest
from railwright.core.errors import RailwrightError, Refused, UsageError
from railwright.core.ids import FabricName, NodeName, StageName
from railwright.core.redactor import Redactor
from railwright.core.verdicts import Verdict
from railwright.doctor.commands import Typed, as_typed
from railwright.doctor.model import Diagnosis, Finding, Severity
from railwright.doctor.registry import known_rules
from railwright.facts.crosscheck import Difference, cross_check, cross_check_one
from railwright.facts.discover import discover as _discover
from railwright.facts.model import ClusterFacts, NodeHardware, Scope, Snapshot
from railwright.facts.node_record import parse_node_record as hardware_of
from railwright.facts.offline import offline_snapshot
from railwright.facts.packages import bundle_images
from railwright.facts.script import node_script
from railwright.intent.flags import with_flags
from railwright.intent.model import Fabric, Intent, Method
from railwright.intent.parse import parse_intents, read_intents, read_intents_from
from railwright.manifests.files import to_files
from railwright.manifests.images import ImageList
from railwright.manifests.images import images as _images
from railwright.manifests.model import File, Manifests
from railwright.manifests.render import render as _render
from railwright.manifests.workload import Workload, only_kind
from railwright.manifests.workload import workload as _workload
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.clean import clean as _clean
from railwright.pipeline.collect import gather, keeper
from railwright.pipeline.contact import first_contact
from railwright.pipeline.diagnose import Asked, DoctorRecord, diagnosis_document, text_document
from railwright.pipeline.diagnose import examine as _examine
from railwright.pipeline.documents import apply_document, clean_document, status_document
from railwright.pipeline.model import ApplyRecord, CleanRecord, Prepared, StatusRecord
from railwright.pipeline.prepare import prepare, prepare_whole
from railwright.pipeline.records import open_record
from railwright.pipeline.refusals import refused
from railwright.pipeline.rehearse import Rehearsal, rehearsals_document
from railwright.pipeline.rehearse import rehearse as _rehearse
from railwright.pipeline.rights import with_warnings
from railwright.pipeline.roles import RoleWish, grant_of
from railwright.pipeline.status import status as _status
from railwright.pipeline.subnet import SubnetPort, SubnetRecord, judge_subnet
from railwright.pipeline.verify import Wish
from railwright.pipeline.verify import verify_fabric as _verify_fabric
from railwright.plan.model import Decision, FabricPlan, Plan
from railwright.plan.plan import plan as _plan
from railwright.ports.access import DEFAULT_ACCESS, NodeAccess
from railwright.ports.approval import Approval, Question
from railwright.ports.clock import Clock
from railwright.ports.endpoint import Endpoint
from railwright.ports.progress import Event, Note, Progress, Silent
from railwright.ports.world import World
from railwright.report.collect import collect_document as _collect_document
from railwright.report.discover import hardware_document, snapshot_document
from railwright.report.explain import explain_document
from railwright.report.formats import to_json, to_text, to_yaml
from railwright.report.model import Document
from railwright.report.plan import plan_document
from railwright.report.rbac import rbac_document
from railwright.report.things import files_document, images_document, workload_document
from railwright.report.things import worlds_document as _worlds_document
from railwright.report.verification.compare import diff_document as verify_diff_document
from railwright.report.verification.document import findings_text as verify_findings_text
from railwright.report.verification.document import plan_text as planned_run_text
from railwright.report.verification.document import verify_document
from railwright.report.verification.keep import record_files
from railwright.verify.baseline import compared
from railwright.verify.families.table import known_families
from railwright.verify.layout import layout_of_endpoints
from railwright.verify.model import VerifyRecord
from railwright.verify.planned import Options, plan_run
from railwright.verify.planned import Planned as PlannedRun
from railwright.verify.task import Effort
from railwright.verify.verify import verify as _verify
from railwright.wiring import (
    SIMULATOR,
    faults,
    machine_clock,
    machine_node,
    open_world,
    recording,
    surroundings,
    worlds,
)

__all__ = [
    "ApplyRecord",
    "Approval",
    "ArchiveManifest",
    "Asked",
    "Catalog",
    "CleanRecord",
    "Decision",
    "Diagnosis",
    "Difference",
    "DoctorRecord",
    "Document",
    "Effort",
    "Endpoint",
    "Event",
    "Fabric",
    "FabricName",
    "FabricPlan",
    "File",
    "Finding",
    "ImageList",
    "Intent",
    "Manifests",
    "Method",
    "NodeAccess",
    "NodeHardware",
    "NodeName",
    "Options",
    "Plan",
    "PlannedRun",
    "Prepared",
    "Progress",
    "Question",
    "RailwrightError",
    "Refused",
    "Rehearsal",
    "RoleWish",
    "Scope",
    "Severity",
    "Silent",
    "Snapshot",
    "StageName",
    "StatusRecord",
    "SubnetPort",
    "SubnetRecord",
    "Typed",
    "UsageError",
    "Verdict",
    "VerifyRecord",
    "Wish",
    "Workload",
    "World",
    "apply",
    "apply_document",
    "as_typed",
    "choose_fabric",
    "clean",
    "clean_document",
    "collect",
    "collect_document",
    "cross_check",
    "cross_check_one",
    "diagnose",
    "diagnose_text",
    "diagnosis_document",
    "discover",
    "discover_local",
    "explain",
    "files_document",
    "hardware_document",
    "hardware_of",
    "images",
    "images_document",
    "judge_subnet",
    "known_families",
    "known_rules",
    "machine_clock",
    "only_kind",
    "open_cluster",
    "open_record",
    "parse_intents",
    "plan",
    "plan_document",
    "planned_run_text",
    "rbac",
    "read_intents",
    "read_intents_from",
    "read_local",
    "record_files",
    "refuse_if_refused",
    "rehearsals_document",
    "rehearse",
    "render",
    "render_offline",
    "snapshot_document",
    "status",
    "status_document",
    "text_document",
    "to_json",
    "to_text",
    "to_yaml",
    "verify",
    "verify_diff_document",
    "verify_document",
    "verify_endpoints",
    "verify_findings_text",
    "with_flags",
    "workload",
    "workload_document",
    "worlds_document",
]

_SILENT = Silent()


def _show_nothing(_: PlannedRun) -> None:
    """Take a plan and show nothing of it."""


async def open_cluster(cluster: str | None = None, access: NodeAccess = DEFAULT_ACCESS) -> World:
    """Open a kubeconfig context (None: the current one), "sim:WORLD[+FAULT...][@STATE.json]" or "bundle:PATH"."""
    return open_world(cluster, access)


async def _contact(world: World, progress: Progress) -> None:
    """Say what the world says of itself, then make sure that it answers."""
    for note in world.notes:
        progress.emit(Note(note))
    await first_contact(world)


def _refuse_read_only(world: World) -> None:
    if world.read_only:
        message = f"{world.cluster.name} is an archive: it can be looked at, not changed"
        raise Refused(message, hint="give the cluster itself: --cluster CONTEXT")


async def discover(world: World, scope: Scope | None = None, *, progress: Progress = _SILENT) -> Snapshot:
    """Read what is there; changes nothing."""
    await _contact(world, progress)
    return await _discover(world.cluster, world.node, scope or Scope(), progress, world.clock)


async def discover_local(*, timeout_s: float = 30.0) -> NodeHardware:
    """Read this machine."""
    return hardware_of(await read_local(timeout_s=timeout_s))


async def read_local(*, timeout_s: float = 30.0) -> str:
    """Read this machine: its raw record, which `hardware_of` understands."""
    answer = await machine_node().read(NodeName("local"), node_script(), timeout_s=timeout_s)
    if answer.problem:
        raise UsageError(answer.problem)
    return answer.text


async def collect(
    world: World, path: Path, scope: Scope | None = None, *, redact: bool = True, progress: Progress = _SILENT
) -> ArchiveManifest:
    """
    Write everything that the reading commands read into one file, which `open_cluster("bundle:PATH")` opens.

    Raises:
        UsageError: there is a file already, or it cannot be written.
    """
    await _contact(world, progress)
    kept = await keeper(world.cluster)
    async with recording(world, path, keep=kept, redaction=Redactor() if redact else None) as collection:
        await gather(collection.world, scope or Scope(), collection.missed, progress)
    assert collection.manifest is not None
    return collection.manifest


def collect_document(manifest: ArchiveManifest, path: Path) -> Document:
    """Show what was collected into a file."""
    return _collect_document(manifest, str(path), path.stat().st_size)


async def plan(
    world: World, intents: tuple[Intent, ...], *, catalog: Catalog | None = None, progress: Progress = _SILENT
) -> Prepared:
    """Decide what would be done, and compare it with the cluster."""
    await _contact(world, progress)
    return with_warnings(await prepare(world, intents, catalog or load_catalog(), progress))


def render(prepared: Prepared, *, unchecked: bool = False) -> tuple[File, ...]:
    """Write a plan that was made with a cluster's facts as files."""
    return to_files(prepared.plan, prepared.manifests, unchecked=unchecked)


def render_offline(
    intents: tuple[Intent, ...], openshift_version: str, *, unchecked: bool = False, catalog: Catalog | None = None
) -> tuple[Plan, tuple[File, ...]]:
    """Plan and render without a cluster: only what has no risk, unless `unchecked`. Raises Refused for a refused plan."""
    decided = _plan(intents, offline_snapshot(openshift_version), catalog or load_catalog())
    refuse_if_refused(decided)
    return decided, to_files(decided, _render(decided), unchecked=unchecked)


async def apply(
    world: World,
    intents: tuple[Intent, ...],
    *,
    approval: Approval,
    until: StageName | None = None,
    dry_run: bool = False,
    take_over: bool = False,
    verify: bool = True,
    catalog: Catalog | None = None,
    progress: Progress = _SILENT,
) -> ApplyRecord:
    """
    Do it, stage by stage; a failed gate is in the record, not an exception.

    Args:
        verify: end with a quick verify, as the stage `verified`.
    """
    _refuse_read_only(world)
    await _contact(world, progress)
    return await apply_fabrics(
        world,
        intents,
        catalog or load_catalog(),
        progress,
        approval,
        until=until,
        dry_run=dry_run,
        take_over=take_over,
        prove=verify,
    )


async def status(
    world: World,
    intents: tuple[Intent, ...] | None = None,
    *,
    catalog: Catalog | None = None,
    progress: Progress = _SILENT,
) -> StatusRecord:
    """Where each stage stands; without intents, of the fabrics that the ledger knows."""
    await _contact(world, progress)
    return await _status(world, intents, catalog or load_catalog(), progress)


async def clean(
    world: World,
    fabrics: tuple[FabricName, ...] | None = None,
    *,
    approval: Approval,
    dry_run: bool = False,
    catalog: Catalog | None = None,
    progress: Progress = _SILENT,
) -> CleanRecord:
    """Remove what we made and put back what we changed; None for every fabric."""
    _refuse_read_only(world)
    await _contact(world, progress)
    return await _clean(world, fabrics, catalog or load_catalog(), progress, approval, dry_run=dry_run)


async def verify(
    world: World,
    intents: tuple[Intent, ...] | None,
    wish: Wish | None = None,
    *,
    name: str | None = None,
    baseline: VerifyRecord | None = None,
    approval: Approval,
    shown: Callable[[PlannedRun], None] = _show_nothing,
    catalog: Catalog | None = None,
    progress: Progress = _SILENT,
) -> VerifyRecord:
    """
    Prove what a fabric does, with pods on the cluster; without intents, of the fabrics that the ledger knows.

    Args:
        name: of the fabric, where there are several.
        baseline: an earlier run that this one is compared with.
        shown: is given what will be run before it starts.

    Raises:
        Refused: the plan is refused, nothing can be verified, or it was not confirmed.
    """
    _refuse_read_only(world)
    await _contact(world, progress)
    known = catalog or load_catalog()
    prepared = await prepare_whole(world, intents or (), known, progress, command="verify")
    refuse_if_refused(prepared.plan)
    fabric = choose_fabric(prepared.plan, name)
    record = await _verify_fabric(world, prepared, fabric, wish or Wish(), known, progress, approval, shown)
    return compared(record, baseline) if baseline is not None else record


async def verify_endpoints(
    endpoints: Sequence[Endpoint],
    clock: Clock,
    *,
    method: str,
    bed: str,
    not_real: tuple[str, ...],
    options: Options | None = None,
    fabric: Fabric = Fabric.ROCE,
    traffic_class: int | None = None,
    path_mtu_bytes: int | None = None,
    catalog: Catalog | None = None,
    progress: Progress = _SILENT,
) -> VerifyRecord:
    """
    Prove what endpoints can do that are there already, as a lab's: the same schedule, witnesses and verdicts.

    Args:
        bed: what they are, in words; not_real: what this bed leaves out.
    """
    layout = layout_of_endpoints(
        endpoints,
        bed=bed,
        not_real=not_real,
        method=method,
        link=fabric,
        traffic_class=traffic_class,
        path_mtu_bytes=path_mtu_bytes,
    )
    planned = plan_run(layout, options or Options())
    return await _verify(planned, endpoints, catalog or load_catalog(), clock, progress)


async def diagnose(
    world: World,
    intents: tuple[Intent, ...] | None = None,
    asked: Asked | None = None,
    *,
    catalog: Catalog | None = None,
    progress: Progress = _SILENT,
) -> DoctorRecord:
    """Say what is wrong with a cluster, and why; writes only what `asked.fix` allows, and only what has no risk."""
    if asked is not None and asked.fix:
        _refuse_read_only(world)
    await _contact(world, progress)
    return await _examine(world, intents, catalog or load_catalog(), progress, asked or Asked())


def diagnose_text(text: str, asked: Asked | None = None) -> Diagnosis:
    """Say what log lines show: of kubelets, operators, drivers, the kernel, NCCL, UCX, NIXL or perftest."""
    from railwright.doctor.text.diagnose import diagnose_text as read  # large tables, which no other command needs

    wanted = asked or Asked()
    return read(text, only=wanted.only, skip=wanted.skip)


def workload(
    decided: Plan, fabric: FabricName, *, namespace: str, gpus: int | None = None, image: str | None = None
) -> Workload:
    """Make the pod and job that use a fabric's rails."""
    return _workload(decided, fabric, namespace=namespace, gpus=gpus, image=image)


def images(decided: Plan, *, cluster: ClusterFacts | None = None, catalog: Catalog | None = None) -> ImageList:
    """List every image that a plan needs; facts of its cluster say what the operators' bundles bring."""
    return _images(decided, catalog or load_catalog(), bundle_images(cluster) if cluster is not None else None)


def choose_fabric(decided: Plan, name: str | None) -> FabricPlan:
    """Find the one fabric that is meant. Raises UsageError when there is none, or more than one and no name."""
    found = [fabric for fabric in decided.fabrics if name in {None, fabric.name}]
    if len(found) == 1:
        return found[0]
    if not decided.fabrics:
        message = "no fabric: none was applied to this cluster, and no rails.yaml was given"
        raise UsageError(message, hint="give one with -f rails.yaml, or apply one first")
    names, problem = ", ".join(fabric.name for fabric in decided.fabrics), f"no fabric is named {name!r}"
    raise UsageError(f"{problem if name else 'which fabric?'} (there are: {names})", hint="pick one with --name")


def refuse_if_refused(decided: Plan) -> None:
    """Raise Refused, with every reason, for a plan that must not be carried out."""
    if decided.is_refused:
        raise refused(decided.refusals, decided.nodes)


def explain(asked: str, decided: Plan | None = None, intents: tuple[Intent, ...] = ()) -> Document:
    """Explain a key, an error code, the code of a warning or refusal, or a fault; with a plan or file, the value in force."""
    return explain_document(asked, decided, intents, faults())


def rbac(command: str, wish: RoleWish) -> Document:
    """Write the least roles under which a command runs: the text is what `oc apply -f -` takes."""
    return rbac_document(grant_of(command, wish, surroundings()))


def worlds_document() -> Document:
    """List the simulated worlds and faults."""
    return _worlds_document(worlds(), faults())


async def rehearse(intents: tuple[Intent, ...], cluster: str, *, catalog: Catalog | None = None) -> Rehearsal:
    """Run the whole job on a simulated cluster. Raises UsageError for a cluster that is not simulated."""
    if not cluster.startswith(SIMULATOR):
        raise UsageError(f"only a simulated cluster is rehearsed on, not {cluster!r}", hint="--cluster sim:h200-roce")
    return await _rehearse(open_world(cluster), intents, catalog or load_catalog())
