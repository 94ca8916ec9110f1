"""Order findings by cause: what another finding explains stands under it."""

from collections.abc import Iterable
from dataclasses import replace

from railwright.doctor.model import Finding, Severity


def by_cause(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """
    Put each finding behind the one that explains it; causes by severity, then from the lowest layer up.

    Of several that explain a finding the nearest is taken: the highest layer, on the fewest nodes. Nothing explains
    itself, also not by way of others.
    """
    given = sorted(findings, key=_order)
    parents: dict[str, str] = {}
    for finding in given:
        nearest = sorted(
            (other for other in given if explains(other, finding)),
            key=lambda other: (-other.layer.rank, -len(_common(other, finding)), len(other.nodes), other.key),
        )
        parent = next((other.key for other in nearest if not _is_above(finding.key, other.key, parents)), "")
        if parent:
            parents[finding.key] = parent
    return tuple(_walk("", given, parents))


def explains(cause: Finding, effect: Finding) -> bool:
    """
    Whether one finding leads to what another shows, at the same place and about the same thing.

    A remark explains nothing, and what one rule says twice stands side by side. A remark that quotes nothing but lines
    which another finding quotes too says that one again.
    """
    if cause.key == effect.key or cause.severity is Severity.INFO:
        return False
    if _repeats(effect, cause):
        return True
    if not set(cause.leads_to) & set(effect.shows):
        return False
    if cause.rule == effect.rule and cause.leads_to == effect.leads_to:
        return False
    same_nodes = not cause.nodes or not effect.nodes or bool(set(cause.nodes) & set(effect.nodes))
    same_thing = not cause.about or not effect.about or bool(_common(cause, effect)) or not _comparable(cause, effect)
    return same_nodes and same_thing


def _repeats(remark: Finding, other: Finding) -> bool:
    """Whether all that a remark saw is among what another finding saw, on the same nodes and word for word."""
    if remark.severity is not Severity.INFO or not remark.evidence:
        return False
    return all(
        any(item.node is not None and item.node == seen.node and item.value in seen.value for seen in other.evidence)
        for item in remark.evidence
    )


def _common(one: Finding, other: Finding) -> set[str]:
    return set(one.about) & set(other.about)


def _comparable(one: Finding, other: Finding) -> bool:
    """Whether both name a thing of the same kind: "operator:a" and "operator:b" differ, "operator:a" and "pod:x" do not."""
    kinds = [{item.partition(":")[0] for item in finding.about} for finding in (one, other)]
    return bool(kinds[0] & kinds[1])


def _order(finding: Finding) -> tuple[int, int, int, str]:
    return -finding.severity.rank, finding.layer.rank, -len(finding.nodes), finding.key


def _is_above(key: str, start: str, parents: dict[str, str]) -> bool:
    """Whether `key` is met on the way up from `start`."""
    step = start
    while step:
        if step == key:
            return True
        step = parents.get(step, "")
    return False


def _walk(parent: str, given: list[Finding], parents: dict[str, str]) -> Iterable[Finding]:
    for finding in given:
        if parents.get(finding.key, "") == parent:
            below = tuple(other.key for other in given if parents.get(other.key) == finding.key)
            yield replace(finding, explained_by=parent, explains=below)
            yield from _walk(finding.key, given, parents)
