"""A stage failed: read the facts again, ask the doctor, and keep what bears on that stage."""

from railwright.apply.model import StageRecord
from railwright.catalog.model import Catalog
from railwright.core.errors import RailwrightError
from railwright.core.ids import StageName
from railwright.doctor.diagnose import diagnose
from railwright.doctor.model import Diagnosis, Finding, Layer, Severity, narrowed
from railwright.facts.discover import discover
from railwright.facts.model import Scope
from railwright.pipeline.model import Prepared
from railwright.pipeline.runs import Run, nodes_of
from railwright.plan import model as stages
from railwright.ports.progress import Note, Progress
from railwright.ports.world import World

_LAYERS_BELOW = (Layer.HARDWARE, Layer.KERNEL, Layer.CLUSTER, Layer.UPGRADES)
_LAYERS: dict[StageName, tuple[Layer, ...]] = {
    stages.NODES_PREPARED: _LAYERS_BELOW,
    stages.OPERATORS_INSTALLED: (Layer.CLUSTER, Layer.OPERATORS),
    stages.HARDWARE_LABELLED: (*_LAYERS_BELOW, Layer.OPERATORS, Layer.LABELS),
    stages.NIC_DRIVER_READY: (*_LAYERS_BELOW, Layer.OPERATORS, Layer.LABELS, Layer.DRIVERS),
    stages.VFS_READY: (*_LAYERS_BELOW, Layer.OPERATORS, Layer.LABELS, Layer.DRIVERS, Layer.DEVICES),
    stages.GPU_DRIVER_READY: (*_LAYERS_BELOW, Layer.OPERATORS, Layer.LABELS, Layer.DRIVERS),
    stages.DEVICES_ALLOCATABLE: (*_LAYERS_BELOW, Layer.OPERATORS, Layer.LABELS, Layer.DRIVERS, Layer.DEVICES),
    stages.NETWORKS_ATTACHED: (Layer.CLUSTER, Layer.OPERATORS, Layer.DEVICES, Layer.LINK, Layer.NETWORKS),
}
"""Where the cause of a stage's failure can lie; what is not listed is not held against it."""


async def findings_of_stage(
    world: World, record: StageRecord, run: Run, prepared: Prepared, catalog: Catalog, progress: Progress
) -> tuple[Finding, ...]:
    """
    Ask the doctor about a stage that failed.

    Returns:
        What bears on the stage and its nodes, causes first; empty also when the facts could not be read again, of
        which a note says why: the failure itself must not be lost to that.
    """
    try:
        scope = Scope(events=True, logs=True)
        snapshot = await discover(world.cluster, world.node, scope, progress, world.clock)
    except RailwrightError as error:
        progress.emit(Note(f"the doctor could not look at it: {error.message}"))
        return ()
    found = diagnose(snapshot, catalog, prepared.plan)
    nodes = nodes_of(run, prepared.plan) if run.batch else ()
    return bearing_on(record.stage, narrowed(found, nodes))


def bearing_on(stage: StageName, diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """Keep causes of a stage's layers that are no mere remarks, each with everything under it."""
    layers = _LAYERS.get(stage, tuple(Layer))
    kept: list[Finding] = []
    keys: set[str] = set()
    for finding in diagnosis.findings:
        is_cause = not finding.explained_by and finding.layer in layers and finding.severity is not Severity.INFO
        if is_cause or finding.explained_by in keys:
            kept.append(finding)
            keys.add(finding.key)
    return tuple(kept)
