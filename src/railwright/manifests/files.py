"""
`to_files(plan, manifests) -> tuple[File, ...]`: kustomize folders, one a stage, for `oc apply -k` and Argo CD.

Annotations for Argo CD are on the files only, never on what `apply` sends. Labels of nodes are not in the files: a
node is admitted by a person or by `apply`, after its own checks; README.txt has the commands.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from railwright.core import kinds
from railwright.core.objects import Kind, KubeObject
from railwright.core.risk import Risk
from railwright.facts.model import Platform
from railwright.manifests.gates import access_objects, gate_job
from railwright.manifests.model import File, Manifest, Manifests
from railwright.manifests.render import installs_kinds
from railwright.manifests.yamltext import to_yaml
from railwright.plan.model import ADMITTED, VERIFIED, MachineShare, Plan, StagePlan, fabric_label

UNCHECKED_MARK = "UNCHECKED: no node was looked at. This can cut a node off, drain or reboot it."
SIMULATED_MARK = "SIMULATED: made on a simulated cluster; nothing of it is real."

_WAVE = "argocd.argoproj.io/sync-wave"
_OPTIONS = "argocd.argoproj.io/sync-options"
_HOOK = "argocd.argoproj.io/hook"
_HOOK_DELETE = "argocd.argoproj.io/hook-delete-policy"
_WAVES_A_STAGE = 10
_BUILT_IN_GROUPS = frozenset({"", "apps", "batch", "rbac.authorization.k8s.io", "operators.coreos.com"})
_GATES_FOLDER = "00-gates"


@dataclass(frozen=True)
class _Folder:
    """One kustomize folder; `gate_wave` is after `wave`, and both are unlike those of any other folder."""

    name: str
    items: tuple[Manifest, ...]
    gate: KubeObject | None
    wave: int
    gate_wave: int
    marks: tuple[str, ...]


def to_files(plan: Plan, manifests: Manifests, *, unchecked: bool = False) -> tuple[File, ...]:
    """
    Lay a plan out as files; the same plan gives the same bytes.

    Args:
        unchecked: also write stages that may reload drivers, drain or reboot although no node was looked at; every
            file of the result then starts with a mark.
    """
    left_out = () if unchecked else _unsafe_stages(plan, manifests)
    marks = _marks(plan, unchecked=unchecked)
    folders = _folders(plan, manifests, left_out, marks)
    files = [file for folder in folders for file in _folder_files(folder)]
    names = [folder.name for folder in folders]
    if any(folder.gate for folder in folders):
        files = [*_gates_files(marks), *files]
        names = [_GATES_FOLDER, *names]
    top = File("kustomization.yaml", _commented(marks, to_yaml(_kustomization(names))))
    return (File("README.txt", _readme(plan, manifests, names, left_out, marks)), top, *files)


def _unsafe_stages(plan: Plan, manifests: Manifests) -> tuple[StagePlan, ...]:
    """Stages with a risk whose nodes nobody looked at."""
    if plan.basis.facts_known:
        return ()
    return tuple(s for s in plan.stages if s.risk is not Risk.NONE and manifests.of_stage(s.name))


def _marks(plan: Plan, *, unchecked: bool) -> tuple[str, ...]:
    simulated = (SIMULATED_MARK,) if plan.basis.simulated else ()
    return (*((UNCHECKED_MARK,) if unchecked and not plan.basis.facts_known else ()), *simulated)


def _folders(
    plan: Plan, manifests: Manifests, left_out: tuple[StagePlan, ...], marks: tuple[str, ...]
) -> tuple[_Folder, ...]:
    with_gates = plan.basis.platform is Platform.OPENSHIFT
    folders = []
    for number, stage in enumerate(plan.stages, start=1):
        if stage in left_out or not stage.applies:
            continue
        items = tuple(item for item in manifests.of_stage(stage.name) if item.ref.kind != kinds.NODE)
        base = f"{number:02d}-{stage.name}"
        for offset, (suffix, part) in enumerate(_parts(items)):
            gate = gate_job(base + suffix, stage, part, plan) if with_gates else None
            if part or gate:
                wave = number * _WAVES_A_STAGE + offset * 4
                folders.append(_Folder(base + suffix, part, gate, wave, wave + 2, marks))
    return tuple(folders)


def _parts(items: tuple[Manifest, ...]) -> tuple[tuple[str, tuple[Manifest, ...]], ...]:
    """Split a stage that installs operators: resources of their kinds can be applied only when those are served."""
    if not any(installs_kinds(item) for item in items):
        return (("", items),)
    first = tuple(item for item in items if item.ref.kind.group in _BUILT_IN_GROUPS)
    second = tuple(item for item in items if item.ref.kind.group not in _BUILT_IN_GROUPS)
    return (("", first), ("-settings", second)) if second else (("", first),)


def _folder_files(folder: _Folder) -> Iterable[File]:
    names = []
    for item in folder.items:
        name = _file_name(item.obj)
        names.append(name)
        obj = _annotated(item.obj, folder.wave, needs_kind=_needs_kind(item.ref.kind))
        yield File(f"{folder.name}/{name}", _commented((*folder.marks, *_comments(item)), to_yaml(obj)))
    if folder.gate is not None:
        names.append("gate.yaml")
        gate = _annotated(folder.gate, folder.gate_wave, needs_kind=False, is_gate=True)
        yield File(f"{folder.name}/gate.yaml", _commented(folder.marks, to_yaml(gate)))
    yield File(f"{folder.name}/kustomization.yaml", _commented(folder.marks, to_yaml(_kustomization(names))))


def _gates_files(marks: tuple[str, ...]) -> list[File]:
    objects = access_objects()
    files = [
        File(
            f"{_GATES_FOLDER}/{_file_name(obj)}",
            _commented(marks, to_yaml(_annotated(obj, 0, needs_kind=False))),
        )
        for obj in objects
    ]
    listing = to_yaml(_kustomization([_file_name(obj) for obj in objects]))
    return [*files, File(f"{_GATES_FOLDER}/kustomization.yaml", _commented(marks, listing))]


def _comments(item: Manifest) -> tuple[str, ...]:
    fabrics = ", ".join(item.fabrics) or "every fabric"
    lines = [f"stage {item.stage}, for {fabrics}"]
    if item.partial:
        lines.append("only some fields of an object that is there already: apply it server-side, never create it")
    return tuple(lines)


def _needs_kind(kind: Kind) -> bool:
    """Whether an operator brings this kind, so that Argo CD cannot try it out before that operator is there."""
    return kind.group not in _BUILT_IN_GROUPS


def _annotated(obj: KubeObject, wave: int, *, needs_kind: bool, is_gate: bool = False) -> KubeObject:
    annotations = {**obj["metadata"].get("annotations", {}), _WAVE: str(wave)}
    if needs_kind:
        annotations[_OPTIONS] = "SkipDryRunOnMissingResource=true"
    if is_gate:
        annotations[_HOOK] = "Sync"
        annotations[_HOOK_DELETE] = "BeforeHookCreation"
    metadata = {**obj["metadata"], "annotations": {key: annotations[key] for key in sorted(annotations)}}
    return {key: metadata if key == "metadata" else value for key, value in obj.items()}


def _file_name(obj: KubeObject) -> str:
    metadata = obj["metadata"]
    parts = (str(obj["kind"]).lower(), metadata.get("namespace", ""), metadata["name"])
    return "-".join(part for part in parts if part).replace("/", "-").replace(":", "-") + ".yaml"


def _kustomization(resources: list[str]) -> KubeObject:
    """List the files in our order: kustomize would sort them by kind otherwise."""
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "sortOptions": {"order": "fifo"},
        "resources": resources,
    }


def _commented(comments: tuple[str, ...], text: str) -> str:
    return "".join(f"# {comment}\n" for comment in comments) + text


def _readme(
    plan: Plan, manifests: Manifests, names: list[str], left_out: tuple[StagePlan, ...], marks: tuple[str, ...]
) -> str:
    fabrics = ", ".join(f"{f.name} ({f.method}, {f.fabric})" for f in plan.fabrics) or "no fabric"
    platform = f"{plan.basis.platform} {plan.basis.openshift_version}".strip()
    paragraphs = [
        *marks,
        f"Rendered by railwright for {fabrics}; platform {platform}.",
        "Apply the folders in order, each after the gate Job of the one before has completed:\n"
        + "\n".join(f"  oc apply --server-side -k {name}" for name in names),
        "With Argo CD point an Application at this folder: sync waves and gate Jobs keep the same order.",
        "The gate Jobs read the API server only. `railwright status` looks into the nodes too.",
    ]
    if plan.warnings:
        paragraphs.append("To know before you apply anything:\n" + "\n".join(f"  {item}" for item in plan.warnings))
    paragraphs += _approvals(manifests)
    paragraphs += _admissions(plan, manifests)
    paragraphs += [
        f"{share.name} reboots the nodes of pool {share.pool}, because: {'; '.join(share.reasons)}."
        for share in plan.shares
        if isinstance(share, MachineShare) and share.stage not in {stage.name for stage in left_out}
    ]
    if left_out:
        listed = "\n".join(f"  {stage.name}: {stage.risk}" for stage in left_out)
        paragraphs.append(
            "Left out, because no node was looked at and these stages are not harmless (--unchecked writes them):\n"
            + listed
        )
    paragraphs += _without_folder(plan, names, left_out)
    return "\n\n".join(paragraphs) + "\n"


def _approvals(manifests: Manifests) -> Iterable[str]:
    """Say which InstallPlans a person approves, as nothing else in the cluster knows what was planned."""
    found = [item.obj for item in manifests.items if item.ref.kind == kinds.SUBSCRIPTION]
    manual = [obj for obj in found if obj["spec"].get("installPlanApproval") == "Manual"]
    if any("startingCSV" in obj["spec"] for obj in manual):
        yield (
            "InstallPlans with approval Manual wait for a person: approve those that hold exactly the CSV named as "
            "startingCSV in the Subscription."
        )
    open_ones = [obj for obj in manual if "startingCSV" not in obj["spec"]]
    if open_ones:
        yield (
            "No catalog was read, so these Subscriptions name no version. Their InstallPlans wait for a person: look at "
            "what each installs before you approve it:\n"
            + "\n".join(
                f"  oc get installplan -n {obj['metadata']['namespace']} "
                "-o custom-columns=NAME:.metadata.name,INSTALLS:.spec.clusterServiceVersionNames"
                for obj in open_ones
            )
        )


def _without_folder(plan: Plan, names: list[str], left_out: tuple[StagePlan, ...]) -> Iterable[str]:
    """Say why a stage of `railwright apply` is in no folder: a file that is not there says nothing by itself."""
    reasons = []
    for number, stage in enumerate(plan.stages, start=1):
        if stage in left_out or any(name.startswith(f"{number:02d}-") for name in names):
            continue
        if stage.name == VERIFIED:
            reason = "no file proves it; `railwright verify` does"
        else:
            reason = stage.skip_reason or "nothing to apply; `railwright status` looks at what it waits for"
        reasons.append(f"  {stage.name}: {reason}")
    if reasons:
        yield "Stages without a folder:\n" + "\n".join(reasons)


def _admissions(plan: Plan, manifests: Manifests) -> list[str]:
    """Say how nodes are labelled: those that the plan admits, or how it is done when no node was looked at."""
    nodes = [item for item in manifests.items if item.ref.kind == kinds.NODE]
    admitted = [_label_command(item) for item in nodes if _admits(item)]
    held = [_label_command(item) for item in nodes if not _admits(item)]
    paragraphs = []
    if held:
        paragraphs.append(
            "Before anything else: these nodes may not be touched, and no selector of the GPU Operator spares them:\n"
            + "\n".join(held)
        )
    anybody = [f"  oc label node NODE --overwrite {fabric_label(fabric.name)}={ADMITTED}" for fabric in plan.fabrics]
    paragraphs.append(
        "Nodes are admitted one by one, after you looked at each (`railwright plan` names the checks); until one is, "
        "nothing reaches any node and the NIC driver's gate waits:\n" + "\n".join(admitted or anybody)
    )
    return paragraphs


def _admits(item: Manifest) -> bool:
    return any(key.startswith("railwright.dev/") for key in item.obj["metadata"].get("labels", {}))


def _label_command(item: Manifest) -> str:
    labels = " ".join(f"{key}={value}" for key, value in item.obj["metadata"].get("labels", {}).items())
    return f"  oc label node {item.obj['metadata']['name']} --overwrite {labels}"
