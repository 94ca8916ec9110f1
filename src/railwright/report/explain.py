"""`explain`: what a key, an error, a code, a stage or a rule means, and where the value in force comes from."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from railwright.core.errors import UsageError
from railwright.doctor.registry import rule as find_rule
from railwright.doctor.registry import rule_infos
from railwright.intent.keys import KEYS, KeyDoc, find_key, parents_of
from railwright.intent.model import Intent
from railwright.intent.tree import shown_key
from railwright.plan.in_force import asked_for, in_force
from railwright.plan.model import Decision, Plan
from railwright.plan.stages import TABLE, Row
from railwright.report.codes import CODES
from railwright.report.doctor import rule_data, rule_text
from railwright.report.errors import ErrorPage, error_page, error_pages
from railwright.report.model import Document
from railwright.report.plain import plain
from railwright.report.tables import table

_NEAR = 5
_EXAMPLES = "spec.network.mtu, gate-timeout or vfs-ready"
_ALL = "railwright explain all lists every key and code"


def explain_document(
    asked: str,
    plan: Plan | None = None,
    intents: tuple[Intent, ...] = (),
    faults: Collection[tuple[str, str]] = (),
) -> Document:
    """
    Explain a key of rails.yaml, an error, the code of a warning or refusal, a stage, a rule of the doctor, or a fault.

    Args:
        plan: for the values in force; without it those are what `intents` say, and what they leave out is not known.
        faults: names and descriptions of what simulated clusters can have wrong.

    Raises:
        UsageError: nothing of that name; the hint lists what is near.
    """
    key, error, rule = find_key(asked), error_page(asked), find_rule(asked)
    code = CODES.get(asked) or _fault(asked, faults)
    stage = next((row for row in TABLE if row.name == asked), None)
    if not any((key, error, code, stage, rule)):
        key = _by_last_name(asked)
    holds = _holds(asked, key, plan, intents)
    if asked == "all":
        text = _everything()
    elif key is not None:
        text = _key(key)
    elif error is not None:
        text = _error(error)
    elif code is not None:
        text = f"{asked}\n  {code}"
    elif stage is not None:
        text = _stage(stage)
    elif rule is not None:
        text = rule_text(rule)
    elif holds:
        text = asked
    else:
        raise _unknown(asked, (name for name, _ in faults))
    text += "".join(_in_force(item, named=len(holds) > 1) for item in holds)
    if key is not None and plan is None and not holds:
        text += "\n  in force: not looked up: add --cluster CONTEXT, beside ./rails.yaml or -f FILE"
    payload: Mapping[str, Any] = {
        "asked": asked,
        "key": plain(key) if key else None,
        "error": plain(error) if error else None,
        "code": code,
        "stage": {"name": stage.name, "gate": stage.gate, "undo": stage.undo} if stage else None,
        "rule": rule_data(rule) if rule else None,
        "decisions": plain(holds),
    }
    return Document("explanation/v1alpha1", "", simulated=False, payload=payload, text=text)


def _holds(asked: str, key: KeyDoc | None, plan: Plan | None, intents: tuple[Intent, ...]) -> tuple[Decision, ...]:
    """Give the values in force: of a key for every fabric, of anything else that plan decided by its name."""
    if key is None:
        return tuple(item for item in plan.decisions if item.key == asked) if plan else ()
    entry = next((asked.partition(f"{path}.")[2] for path in _names_of(key) if asked.startswith(f"{path}.")), "")
    if plan is not None:
        return in_force(plan, key, entry)
    return tuple(item for intent in intents for item in asked_for(intent, key, entry))


def _names_of(key: KeyDoc) -> tuple[str, str]:
    return key.path, key.path.removeprefix("spec.")


def _by_last_name(asked: str) -> KeyDoc | None:
    """Find the one key whose path ends in this name, outside of lists where there is one; None where several do."""
    paths = parents_of(asked)
    paths = tuple(path for path in paths if "[]" not in path) or paths
    return find_key(paths[0]) if len(paths) == 1 else None


def _in_force(item: Decision, *, named: bool) -> str:
    source = f"\n    source   {item.source}" if item.source else ""
    return f"\n  in force{f', {item.key}' if named else ''}: {item.value} (from {item.origin}): {item.reason}{source}"


def _fault(asked: str, faults: Iterable[tuple[str, str]]) -> str | None:
    said = dict(faults).get(asked)
    return f"a fault of simulated clusters (--cluster sim:WORLD+{asked}): {said}" if said else None


def _unknown(asked: str, faults: Iterable[str]) -> UsageError:
    if not asked.strip():
        return UsageError("the name to explain is empty", hint=f"give a name, such as {_EXAMPLES}; {_ALL}")
    return UsageError(f"nothing is named '{shown_key(asked)}'", hint=_near(asked, faults))


def _near(asked: str, faults: Iterable[str]) -> str:
    names = sorted(
        {key.path for key in KEYS}
        | {page.code for page in error_pages()}
        | set(CODES)
        | {row.name for row in TABLE}
        | {info.name for info in rule_infos()}
        | set(faults)
    )
    inside = [name for name in names if asked.lower() in name.lower()]
    near = [*inside, *(name for name in get_close_matches(asked, names, _NEAR) if name not in inside)][:_NEAR]
    return f"did you mean {' or '.join(near)}?" if near else _ALL


def _everything() -> str:
    rows = [(key.path, key.meaning.split(". ")[0]) for key in KEYS]
    rows += [(page.code, f"error, exit {page.exit_code}: {page.meaning}") for page in error_pages()]
    rows += sorted(CODES.items())
    rows += [(row.name, f"stage, passed when {row.gate}") for row in TABLE]
    rows += [(info.name, f"rule, {info.severity.value}: {info.title}") for info in rule_infos()]
    return table(("name", "meaning"), rows)


def _key(key: KeyDoc) -> str:
    lines = [key.path, f"  {key.meaning}", f"  type     {key.type}"]
    if key.allowed:
        lines.append(f"  allowed  {', '.join(key.allowed)}")
    if key.unit:
        lines.append(f"  unit     {key.unit}")
    lines.append(f"  default  {key.default or 'none: it must be written'}" + (f" ({key.why})" if key.why else ""))
    if key.example:
        lines.append(f"  example  {key.example}")
    return "\n".join(lines)


def _error(page: ErrorPage) -> str:
    retry = "may be retried" if page.transient else "the same command again gives the same"
    return f"{page.code}\n  {page.meaning}\n  exit {page.exit_code}; {retry}\n  next  {page.remedy}"


def _stage(row: Row) -> str:
    turns = "once for a canary node of each group, then for each batch" if row.per_batch else "once"
    lines = (
        f"{row.name} (a stage)",
        f"  passed when  {row.gate}",
        f"  runs         {turns}",
        f"  undo         {row.undo}",
    )
    return "\n".join(lines)
