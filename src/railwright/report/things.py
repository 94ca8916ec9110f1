"""Documents of what railwright can print besides plans: workloads, image lists, files, worlds."""

from railwright.manifests.images import ImageList
from railwright.manifests.model import File
from railwright.manifests.workload import Workload, workload_text
from railwright.manifests.yamltext import to_yaml
from railwright.plan.model import Plan
from railwright.report.model import Document
from railwright.report.plain import plain
from railwright.report.tables import table


def workload_document(plan: Plan, made: Workload) -> Document:
    """Show a workload; the text is YAML that can be applied as it is."""
    payload = {
        "objects": [plain(obj) for obj in made.objects],
        "notes": list(made.notes),
        "environment": plain(made.environment),
    }
    return Document(
        "workload/v1alpha1", plan.basis.cluster, plan.basis.simulated, payload, workload_text(made), is_yaml=True
    )


def images_document(plan: Plan, found: ImageList) -> Document:
    """Show an image list; the text is YAML: one ImageSetConfiguration and its mirror objects."""
    payload = {
        "images": plain(found.items),
        "objects": [plain(obj) for obj in found.objects],
        "notes": list(found.notes),
    }
    comments = "".join(f"# {note}\n" for note in found.notes)
    listed = "".join(f"#   {item.reference}  ({item.needed_by})\n" for item in found.items)
    text = f"{comments}# images:\n{listed}" + "---\n".join(to_yaml(obj) for obj in found.objects)
    return Document("images/v1alpha1", plan.basis.cluster, plan.basis.simulated, payload, text, is_yaml=True)


def files_document(plan: Plan, files: tuple[File, ...], folder: str, *, unchecked: bool = False) -> Document:
    """Say what render wrote, and what is to be known of it; `unchecked`: stages with a risk were asked for anyway."""
    payload = {"folder": folder, "files": [file.path for file in files], "warnings": plain(plan.warnings)}
    stages = sorted({file.path.split("/")[0] for file in files if "/" in file.path})
    text = f"{len(files)} files in {folder}\n" + "\n".join(f"  {stage}" for stage in stages)
    if plan.warnings:
        text += "\n\nwarnings\n" + "\n".join(f"  {item}" for item in plan.warnings)
    if not plan.basis.facts_known:
        done = "written all the same, each file marked" if unchecked else "left out (--unchecked writes them)"
        text += f"\n\nNo node was looked at: stages with a risk are {done}. README.txt says what is missing."
    return Document("files/v1alpha1", plan.basis.cluster, plan.basis.simulated, payload, text)


def worlds_document(worlds: tuple[tuple[str, str], ...], faults: tuple[tuple[str, str], ...]) -> Document:
    """List the simulated worlds and what can be broken in them."""
    payload = {
        "worlds": [{"name": name, "description": text} for name, text in worlds],
        "faults": [{"name": name, "description": text} for name, text in faults],
    }
    text = "\n\n".join(
        [
            "worlds\n" + table(("name", "what it is"), worlds),
            "faults\n"
            + table(
                ("name", "what is broken (where it shows; doctor -f: only against a wanted state, or in world adopt)"),
                faults,
            ),
            "use: --cluster sim:WORLD+FAULT, or railwright demo --world WORLD --fault FAULT",
        ]
    )
    return Document("worlds/v1alpha1", "", simulated=True, payload=payload, text=text)
