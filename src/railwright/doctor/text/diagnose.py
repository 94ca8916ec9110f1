"""`diagnose_text`: what a pasted text says is wrong."""

from collections.abc import Collection, Iterable

from railwright.core.ids import RuleId
from railwright.doctor.diagnose import ordered
from railwright.doctor.model import Diagnosis, Finding, Unknown
from railwright.doctor.text.judge import Origin, finding_of, hits_of
from railwright.doctor.text.lines import MAX_CHARACTERS, read_text
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.table import TEXT_RULES

_PASTED = Origin("log")


def diagnose_text(
    text: str,
    *,
    only: Collection[RuleId] = (),
    skip: Collection[RuleId] = (),
    rules: tuple[TextRule, ...] = TEXT_RULES,
) -> Diagnosis:
    """
    Say what a text shows to be wrong: log lines, events, output of a tool, in any mixture.

    Args:
        only: ask only these rules; empty asks all.
        skip: leave these out.

    Returns:
        Findings by cause. A rule that finds nothing has passed for this text only; an empty text leaves every rule
        UNKNOWN. Of a text beyond 64 MiB the last part is read.
    """
    asked = tuple(rule for rule in rules if (not only or rule.info.name in only) and rule.info.name not in skip)
    prepared = read_text(text)
    if not any(line.strip() for line in prepared.folded_lines):
        return Diagnosis((), tuple(_nothing_to_read(asked)), ())
    found: list[Finding] = []
    passed: list[RuleId] = []
    for rule in asked:
        finding = finding_of(rule, [(_PASTED, prepared, hits_of(rule, prepared))])
        if finding is None:
            passed.append(rule.info.name)
        else:
            found.append(finding)
    return ordered(tuple(found), tuple(_cut_short(asked)) if prepared.is_cut else (), tuple(passed))


def _nothing_to_read(rules: Iterable[TextRule]) -> Iterable[Unknown]:
    for rule in rules:
        yield Unknown(rule.info.name, "log lines", "the text is empty", "pipe the log into railwright doctor --log -")


def _cut_short(rules: Iterable[TextRule]) -> Iterable[Unknown]:
    why = f"only its last {MAX_CHARACTERS // 2**20} Mi characters were read"
    for rule in rules:
        yield Unknown(rule.info.name, "the beginning of the text", why, "give the beginning on its own")
