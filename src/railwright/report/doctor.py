"""How a diagnosis reads at 3 a.m.: the cause first, its evidence, the exact command, and what it brings about."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from railwright.core.ids import NodeName
from railwright.core.risk import Risk
from railwright.doctor.coverage import Kind, found_by, kinds_of_failure
from railwright.doctor.model import Diagnosis, Evidence, Finding, Layer, Remedy, RuleInfo, Severity, Unknown
from railwright.doctor.showing import counted
from railwright.plan.model import Refusal
from railwright.report.model import Document
from railwright.report.plain import plain
from railwright.report.tables import count

_WIDTH = 110
_EVIDENCE_SHOWN = 6
_NODES_SHOWN = 4
_WHYS_IN_HEAD = 2


def doctor_document(
    diagnosis: Diagnosis,
    *,
    cluster: str,
    simulated: bool,
    exit_code: int,
    taken_at: str = "",
    wanted: str = "",
    unwanted: str = "",
    refusals: tuple[Refusal, ...] = (),
    problems: tuple[str, ...] = (),
    fixed: tuple[str, ...] = (),
    fix_outcome: str = "",
    of: str = "",
) -> Document:
    """
    Show a diagnosis, of a cluster or of pasted text.

    Args:
        wanted: by what wanted state it was judged; empty for none.
        unwanted: in its place, why it was judged by none; empty for pasted text.
        refusals: why the plan of that must not be carried out.
        of: where nothing wrong was found, when that says little: "in this text".
    """
    payload = {
        "taken_at": taken_at or None,
        "wanted": wanted or None,
        "refusals": plain(refusals),
        "findings": [finding_data(item) for item in diagnosis.findings],
        "unknown": [plain(item) for item in diagnosis.unknown],
        "passed": len(diagnosis.passed),
        "passed_rules": list(diagnosis.passed),
        "not_applicable": [plain(item) for item in diagnosis.inapplicable],
        "fixed": list(fixed),
        "problems": list(problems),
        "exit_code": exit_code,
    }
    by = f"judged by {wanted}" if wanted else unwanted
    head = "\n".join(line for line in (_head(diagnosis, refusals, of), _inapplicable_text(diagnosis), by) if line)
    parts = [head, _refusals_text(refusals), *(cause_text(item, diagnosis) for item in diagnosis.causes)]
    if fixed:
        parts.append(f"mended: {', '.join(fixed)}\n  {fix_outcome}")
    parts += [_unknown_text(diagnosis.unknown), "\n".join(f"not known: {item}" for item in problems)]
    text = "\n\n".join(part for part in parts if part)
    return Document("doctor/v1alpha1", cluster, simulated, payload, text, exit_code)


def finding_data(finding: Finding) -> dict[str, Any]:
    """One finding as data."""
    data: dict[str, Any] = plain(finding)
    entries, total = counted(finding.evidence)
    data["evidence"], data["evidence_total"] = plain(entries), total
    del data["about"], data["leads_to"], data["shows"]
    data["explained_by"] = finding.explained_by or None
    return data


def findings_text(findings: tuple[Finding, ...]) -> str:
    """Show findings that belong to something else, such as a stage that failed."""
    diagnosis = Diagnosis(findings, (), ())
    return "\n\n".join(cause_text(item, diagnosis) for item in diagnosis.causes)


def cause_text(finding: Finding, diagnosis: Diagnosis) -> str:
    """Show a cause with everything that stands under it."""
    lines = [f"{finding.severity.value.upper()}  {finding.title}"]
    lines += _wrapped("rule", f"{finding.rule}  (railwright explain {finding.rule})")
    if finding.nodes:
        lines += _wrapped("nodes", _nodes(finding.nodes))
    lines += _wrapped("cause", finding.cause)
    lines += _evidence(finding.evidence)
    lines += _remedy(finding.remedy)
    below = list(_below(finding, diagnosis, 0))
    if below:
        lines += _wrapped("hence", below[0])
        lines += [line for item in below[1:] for line in _wrapped("", item)]
    return "\n".join(lines)


def _head(diagnosis: Diagnosis, refusals: tuple[Refusal, ...], of: str) -> str:
    by_severity = Counter(item.severity for item in diagnosis.causes)
    causes = ", ".join(
        count(by_severity[severity], severity.value)
        for severity in sorted(Severity, key=lambda item: -item.rank)
        if by_severity[severity] and severity is not Severity.INFO
    )
    refused = f"the plan is refused ({count(len(refusals), 'refusal')})" if refusals else ""
    parts = [text for text in (refused, causes) if text] or [f"nothing wrong found {of}".rstrip()]
    if by_severity[Severity.INFO]:
        parts.append(f"{by_severity[Severity.INFO]} to know")
    effects = len(diagnosis.findings) - len(diagnosis.causes)
    if effects:
        parts.append(count(effects, "effect"))
    unknown = len({item.rule for item in diagnosis.unknown})
    if unknown:
        parts.append(f"{count(unknown, 'rule')} could not answer")
    if diagnosis.passed:
        parts.append(f"{count(len(diagnosis.passed), 'rule')} passed")
    if diagnosis.inapplicable:
        whys = _whys(diagnosis)
        reason = f" ({', '.join(whys)})" if len(whys) <= _WHYS_IN_HEAD else ""
        parts.append(f"{count(len(diagnosis.inapplicable), 'rule')} not applicable{reason}")
    return "; ".join(parts)


def _whys(diagnosis: Diagnosis) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.why for item in diagnosis.inapplicable))


def _inapplicable_text(diagnosis: Diagnosis) -> str:
    """Say why rules are not applicable, where that is too much for the first line."""
    whys = _whys(diagnosis)
    if len(whys) <= _WHYS_IN_HEAD:
        return ""
    return textwrap.fill(f"not applicable: {'; '.join(whys)}", _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _refusals_text(refusals: tuple[Refusal, ...]) -> str:
    lines = []
    for item in refusals:
        where = f" [{item.where}]" if item.where else ""
        lines += _wrapped("", f"{item.code}: {item.message}{where}")
        lines += _wrapped("", f"  do: {item.hint}") if item.hint else []
    return "\n".join(["REFUSED  the plan of this wanted state must not be carried out", *lines]) if lines else ""


def _wrapped(label: str, text: str) -> list[str]:
    indent = f"  {label:<7} "
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _nodes(nodes: tuple[NodeName, ...]) -> str:
    shown = ", ".join(nodes[:_NODES_SHOWN])
    rest = len(nodes) - _NODES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def _evidence(evidence: tuple[Evidence, ...]) -> list[str]:
    lines: list[str] = []
    entries, total = counted(evidence)
    for number, item in enumerate(entries[:_EVIDENCE_SHOWN]):
        lines += _wrapped("seen" if number == 0 else "", f"{item.object}: {item.field} = {item.value}")
    rest = total - _EVIDENCE_SHOWN
    listed = "all" if total == len(entries) else f"the first {len(entries)}"
    return [*lines, *_wrapped("", f"and {rest} more like these (-o json lists {listed})")] if rest > 0 else lines


def _remedy(remedy: Remedy) -> list[str]:
    lines = _wrapped("do", remedy.text)
    lines += [f"          $ {command}" for command in remedy.commands]
    if remedy.risk is not Risk.NONE or remedy.disrupts:
        lines += _wrapped("risk", f"{remedy.risk.value}{f': {remedy.disrupts}' if remedy.disrupts else ''}")
    elif remedy.patch is not None:
        lines += _wrapped("", "railwright doctor --fix does it: no risk, and it is kept in the ledger")
    return lines


def _below(finding: Finding, diagnosis: Diagnosis, depth: int) -> Iterator[str]:
    for effect in diagnosis.under(finding):
        where = f" [{_nodes(effect.nodes)}]" if effect.nodes else ""
        yield f"{'> ' * depth}{effect.severity.value}: {effect.cause} ({effect.rule}){where}"
        yield from _below(effect, diagnosis, depth + 1)


def _unknown_text(unknown: Iterable[Unknown]) -> str:
    grouped: dict[tuple[str, str, str], list[Unknown]] = {}
    for item in unknown:
        grouped.setdefault((item.missing, item.why, item.how), []).append(item)
    lines = []
    for (missing, why, how), items in grouped.items():
        nodes = sorted({node for item in items for node in item.nodes})
        where = f" of {_nodes(tuple(nodes))}" if nodes else ""
        lines += _wrapped("", f"{missing}{where}: {why}")
        lines += _wrapped("", f"  so {', '.join(sorted({item.rule for item in items}))} cannot tell; {how}")
    return "\n".join(["could not be looked at", *lines]) if lines else ""


def rule_text(info: RuleInfo) -> str:
    """Explain one rule in a terminal."""
    lines = [f"{info.name}", *_wrapped("", info.title)]
    lines += _wrapped("", info.text)
    lines += _wrapped("level", f"{info.severity.value}, layer {info.layer.value}")
    lines += _wrapped("needs", "; ".join(need.missing for need in info.needs) or "nothing in particular")
    lines += _wrapped("uses", "; ".join(need.missing for need in info.uses)) if info.uses else []
    return "\n".join([*lines, *_wrapped("source", info.source)])


def rule_data(info: RuleInfo) -> dict[str, Any]:
    """Explain one rule as data."""
    return {
        "name": info.name,
        "title": info.title,
        "layer": info.layer.value,
        "severity": info.severity.value,
        "text": info.text,
        "needs": [{"missing": need.missing, "how": need.how} for need in info.needs],
        "uses": [{"missing": need.missing, "how": need.how} for need in info.uses],
        "covers": list(info.covers),
        "source": info.source,
    }


def rule_page(info: RuleInfo) -> str:
    """Write the page of one rule in docs/reference/rules."""
    needs = "".join(f"- {need.missing}: {need.how}\n" for need in info.needs)
    uses = "".join(f"- {need.missing}\n" for need in info.uses)
    leads = "".join(f"- {item.value}\n" for item in info.leads_to)
    shows = "".join(f"- {item.value}\n" for item in info.shows)
    return "\n".join(
        part
        for part in (
            f"# {info.name}\n\n{info.title}.\n",
            f"{info.text}\n",
            f"Severity: {info.severity.value}. Layer: {info.layer.value}.\n",
            f"It needs, and is UNKNOWN for what is missing of:\n\n{needs}" if needs else "",
            f"It is more exact with:\n\n{uses}" if uses else "",
            f"It explains findings that show:\n\n{leads}" if leads else "",
            f"It stands under findings that lead to:\n\n{shows}" if shows else "",
            f"Covers field reports: {', '.join(info.covers)}.\n" if info.covers else "",
            f"Source: {info.source}.\n",
        )
        if part
    )


def rules_index(infos: tuple[RuleInfo, ...]) -> str:
    """Write the list of all rules, by layer from the lowest up."""
    lines = ["# Rules of the doctor", "", "Generated. `railwright explain RULE` says the same as a rule's page.", ""]
    for layer in Layer:
        here = [info for info in infos if info.layer is layer]
        if here:
            lines += [f"## {layer.value}", "", "| rule | severity | what is wrong |", "|---|---|---|"]
            lines += [f"| [{info.name}]({info.name}.md) | {info.severity.value} | {info.title} |" for info in here]
            lines.append("")
    return "\n".join(lines)


def coverage_page(infos: tuple[RuleInfo, ...]) -> str:
    """Write docs/reference/coverage.md."""
    kinds, rules = kinds_of_failure(), found_by(infos)
    found = [item for item in kinds if not item.why_not]
    by_world = sum(bool(item.world) for item in found)
    lines = [
        "# What the doctor finds",
        "",
        f"Generated. Of {len(kinds)} kinds of failure that were met in the field, {len(infos)} rules find {len(found)}; why the others are",
        f"not found is said at the end. {by_world} are found from facts, each in a world that shows it",
        f"(`railwright doctor --cluster sim:WORLD`), and {len(found) - by_world} by text alone: logs and events, or what is pasted",
        "(`railwright doctor --log -`), with cases",
        "in `tests/cases/doctor/text`. Rules of the last column look at such things too, and no case here shows that they find this one.",
        "",
        "| id | kind of failure | found by | case | may find it too | reports |",
        "|---|---|---|---|---|---|",
    ]
    for item in found:
        covering = [str(info.name) for info in rules.get(item.id, ())]
        shown = [name for name in covering if (name == item.rule if item.world else name.startswith("log-"))]
        others = [name for name in covering if name not in shown]
        case = f"`{item.world}`" if item.world else "text"
        lines.append(
            f"| {item.id} | {item.kind} | {_rule_links(shown)} | {case} | {_rule_links(others)} | {_links(item)} |"
        )
    lines += ["", "## Not found", "", "| id | kind of failure | why | reports |", "|---|---|---|---|"]
    lines += [f"| {item.id} | {item.kind} | {item.why_not} | {_links(item)} |" for item in kinds if item.why_not]
    return "\n".join([*lines, ""])


def _rule_links(names: Iterable[str]) -> str:
    return ", ".join(f"[{name}](rules/{name}.md)" for name in names)


def _links(item: Kind) -> str:
    return " ".join(f"[{number}]({url})" for number, url in enumerate(item.reports, 1))
