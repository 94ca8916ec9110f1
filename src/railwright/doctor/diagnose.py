"""The one function of this package: ask every rule, then order what they say by cause."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from railwright.catalog.model import Catalog
from railwright.core.ids import RuleId
from railwright.core.objects import MISSHAPEN
from railwright.doctor.causes import by_cause
from railwright.doctor.everything import Everything
from railwright.doctor.model import Diagnosis, Finding, Inapplicable, Kept, Lack, Rule, RuleInfo, Unknown
from railwright.doctor.registry import RULES
from railwright.doctor.seen import Seen, Undeclared
from railwright.doctor.text.logs import judge_spoken, spoken, unheard
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.table import TEXT_RULES
from railwright.facts.model import Snapshot
from railwright.plan.model import Plan

_NOTHING_KEPT = Kept()
_BUG = "report this as a bug of railwright"
_FORM = "compare the objects with their definitions; if they are right, report this as a bug of railwright"


def diagnose(
    snapshot: Snapshot,
    catalog: Catalog,
    plan: Plan | None = None,
    *,
    kept: Kept = _NOTHING_KEPT,
    only: Collection[RuleId] = (),
    skip: Collection[RuleId] = (),
    rules: tuple[Rule, ...] = RULES,
    words: tuple[TextRule, ...] = TEXT_RULES,
) -> Diagnosis:
    """
    Say what is wrong, why, and what to do.

    Args:
        plan: what is wanted; None judges what is there by itself.
        kept: what the ledger keeps; by default nothing, as where nothing was applied.
        only: ask only these rules; empty asks all.
        skip: leave these out.
        words: rules on the logs and events that the snapshot keeps; without any they are not asked.
    """

    def is_asked(info: RuleInfo) -> bool:
        return (not only or info.name in only) and info.name not in skip

    everything = Everything(snapshot, catalog, plan, kept)
    answered = ask((rule for rule in rules if is_asked(rule.info)), everything)
    asked = tuple(rule for rule in words if is_asked(rule.info))
    texts = spoken(everything) if asked else ()
    found, silent = judge_spoken(texts, asked)
    missing = unheard(everything, texts)
    unknown = tuple(replace(item, rule=rule) for rule in silent for item in missing)
    passed = () if missing else tuple(silent)
    said = ordered((*answered.findings, *found), (*answered.unknown, *unknown), (*answered.passed, *passed))
    return replace(said, inapplicable=answered.inapplicable)


def ask(rules: Iterable[Rule], everything: Everything) -> Diagnosis:
    """Ask some rules about what was seen."""
    findings: list[Finding] = []
    unknown: list[Unknown] = []
    passed: list[RuleId] = []
    inapplicable: list[Inapplicable] = []
    for rule in rules:
        answers = _answers(rule, everything)
        found = [item for item in answers if isinstance(item, Finding)]
        findings += found
        unknown += [item for item in answers if isinstance(item, Unknown)]
        if answers:
            continue
        subject = rule.info.subject
        if why := subject.absent(everything) if subject is not None else "":
            inapplicable.append(Inapplicable(rule.info.name, why))
        else:
            passed.append(rule.info.name)
    return replace(ordered(tuple(findings), tuple(unknown), tuple(passed)), inapplicable=tuple(inapplicable))


def ordered(findings: tuple[Finding, ...], unknown: tuple[Unknown, ...], passed: tuple[RuleId, ...]) -> Diagnosis:
    """Put findings of any origin into a Diagnosis: named, causes first."""
    return Diagnosis(by_cause(_named(findings)), unknown, passed)


def view_of(info: RuleInfo, everything: Everything) -> Seen:
    """Give a rule what it says that it looks at."""
    named = (*info.needs, *info.uses)
    kinds = frozenset(kind for need in named for kind in need.kinds)
    may_enter, may_recall = any(need.is_inside for need in named), any(need.is_ledger for need in named)
    relies_on = frozenset(section for need in named for section in need.relies_on)
    return Seen(everything, kinds, may_enter=may_enter, may_recall=may_recall, relies_on=relies_on)


def _answers(rule: Rule, everything: Everything) -> tuple[Finding | Unknown, ...]:
    """Ask one rule; it is not run when something that it needs is missing altogether."""
    lacks: list[Unknown] = []
    is_asked = True
    for need in rule.info.needs:
        lack = _that_matters(need.lack(everything), rule.info, everything)
        if lack is not None:
            missing, how = lack.missing or need.missing, lack.how or need.how
            lacks.append(Unknown(rule.info.name, missing, lack.why, how, lack.nodes))
            is_asked &= bool(lack.nodes) or need.is_part_enough
    if not is_asked:
        return tuple(lacks)
    try:
        return (*lacks, *_unless_said(rule.judge(view_of(rule.info, everything)), lacks))
    except Undeclared as error:
        return (*lacks, Unknown(rule.info.name, "what it says it looks at", str(error), _BUG))
    except MISSHAPEN as error:
        # The other rules' answers must not be lost to one object.
        said = f"{type(error).__name__}: {error}"
        return (*lacks, Unknown(rule.info.name, "objects of the form that their kinds have", said, _FORM))


def _that_matters(lack: Lack | None, info: RuleInfo, everything: Everything) -> Lack | None:
    """Leave out nodes that have nothing of what the rule judges: a control plane has no rail, whatever was not read of it."""
    if lack is None or not lack.nodes or info.subject is None:
        return lack
    left = tuple(node for node in lack.nodes if not info.subject.none_on(everything, node))
    return replace(lack, nodes=left) if left else None


def _unless_said(answers: Iterable[Finding | Unknown], lacks: Collection[Unknown]) -> Iterator[Finding | Unknown]:
    """Leave out a rule's own word that it does not know, for nodes of which a need says so with its reason."""
    said = {node for item in lacks for node in item.nodes}
    for answer in answers:
        if not isinstance(answer, Unknown) or not answer.nodes or said.isdisjoint(answer.nodes):
            yield answer
        elif left := tuple(node for node in answer.nodes if node not in said):
            yield replace(answer, nodes=left)


def _named(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Give every finding its key: rule, what it is about, and a number where that is not enough."""
    counts: dict[str, int] = {}
    named = []
    for finding in findings:
        stem = "/".join((finding.rule, *finding.about[:1]))
        counts[stem] = counts.get(stem, 0) + 1
        named.append(replace(finding, key=stem if counts[stem] == 1 else f"{stem}#{counts[stem]}"))
    return tuple(named)
