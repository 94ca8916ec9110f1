"""Documents of what railwright can print besides plans: workloads, image lists, files, explanations, worlds."""

from collections.abc import Iterable, Mapping
from typing import Any

from railwright.core.errors import UsageError
from railwright.doctor.registry import rule as find_rule
from railwright.doctor.registry import rule_infos
from railwright.intent.keys import KEYS, KeyDoc, find_key
from railwright.manifests.images import ImageList
from railwright.manifests.model import File
from railwright.manifests.workload import Workload, workload_text
from railwright.manifests.yamltext import to_yaml
from railwright.plan.model import Decision, Plan
from railwright.report.codes import CODES
from railwright.report.doctor import rule_data, rule_text
from railwright.report.errors import ErrorPage, error_page, error_pages
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


def files_document(plan: Plan, files: tuple[File, ...], folder: str) -> Document:
    """Say what render wrote."""
    payload = {"folder": folder, "files": [file.path for file in files]}
    stages = sorted({file.path.split("/")[0] for file in files if "/" in file.path})
    text = f"{len(files)} files in {folder}\n" + "\n".join(f"  {stage}" for stage in stages)
    if not plan.basis.facts_known:
        text += "\nNo node was looked at: what has a risk is left out unless --unchecked."
    return Document("files/v1alpha1", plan.basis.cluster, plan.basis.simulated, payload, text)


def explain_document(asked: str, decisions: Iterable[Decision] = ()) -> Document:
    """
    Explain a key of rails.yaml, an error code, the code of a warning or refusal, or a rule of the doctor.

    Raises:
        UsageError: nothing of that name; the hint lists what is near.
    """
    in_force = [item for item in decisions if item.key == asked or item.key.endswith((f": {asked}", f": spec.{asked}"))]
    key, error, code, rule = find_key(asked), error_page(asked), CODES.get(asked), find_rule(asked)
    if asked == "all":
        text = _everything()
    elif key is not None:
        text = _key(key)
    elif error is not None:
        text = _error(error)
    elif code is not None:
        text = f"{asked}\n  {code}"
    elif rule is not None:
        text = rule_text(rule)
    elif in_force:
        text = asked
    else:
        near = sorted(name for name in _names() if asked.lower() in name.lower())[:8]
        message = f"nothing is named {asked!r}"
        hint = f"near: {', '.join(near)}" if near else "railwright explain all lists every key and code"
        raise UsageError(message, hint=hint)
    text += "".join(_in_force(item) for item in in_force)
    payload: Mapping[str, Any] = {
        "asked": asked,
        "key": plain(key) if key else None,
        "error": plain(error) if error else None,
        "code": code,
        "rule": rule_data(rule) if rule else None,
        "decisions": plain(in_force),
    }
    return Document("explanation/v1alpha1", "", simulated=False, payload=payload, text=text)


def _in_force(item: Decision) -> str:
    source = f"\n    source   {item.source}" if item.source else ""
    return f"\n  in force: {item.value} (from {item.origin}): {item.reason}{source}"


def _names() -> set[str]:
    return (
        {key.path for key in KEYS}
        | {page.code for page in error_pages()}
        | set(CODES)
        | {info.name for info in rule_infos()}
    )


def _everything() -> str:
    rows = [(key.path, key.meaning.split(". ")[0]) for key in KEYS]
    rows += [(page.code, f"error, exit {page.exit_code}: {page.meaning}") for page in error_pages()]
    rows += sorted(CODES.items())
    rows += [(info.name, f"rule, {info.severity.value}: {info.title}") for info in rule_infos()]
    return table(("name", "meaning"), rows)


def _key(key: KeyDoc) -> str:
    lines = [key.path, f"  {key.meaning}", f"  type     {key.type}"]
    if key.allowed:
        lines.append(f"  allowed  {', '.join(key.allowed)}")
    if key.unit:
        lines.append(f"  unit     {key.unit}")
    lines.append(f"  default  {key.default}")
    if key.example:
        lines.append(f"  example  {key.example}")
    return "\n".join(lines)


def _error(page: ErrorPage) -> str:
    retry = "may be retried" if page.transient else "the same command again gives the same"
    return f"{page.code}\n  {page.meaning}\n  exit {page.exit_code}; {retry}\n  next  {page.remedy}"


def worlds_document(worlds: tuple[tuple[str, str], ...], faults: tuple[tuple[str, str], ...]) -> Document:
    """List the simulated worlds and what can be broken in them."""
    payload = {
        "worlds": [{"name": name, "description": text} for name, text in worlds],
        "faults": [{"name": name, "description": text} for name, text in faults],
    }
    text = "\n\n".join(
        [
            "worlds\n" + table(("name", "what it is"), worlds),
            "faults\n" + table(("name", "what is broken"), faults),
            "use: --cluster sim:WORLD+FAULT, or railwright demo --world WORLD --fault FAULT",
        ]
    )
    return Document("worlds/v1alpha1", "sim:", simulated=True, payload=payload, text=text)
