"""Which kinds of failure the doctor finds, by which rule, and which it cannot: a table that the docs show and tests hold."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from railwright.doctor.model import RuleInfo


@dataclass(frozen=True)
class Kind:
    """
    One kind of failure.

    Attributes:
        kind: in one sentence.
        reports: public reports of it.
        rule, world: a simulated world ("adopt+second-nfd") in which this rule finds it; empty where its case is a text.
        why_not: why no rule finds it; empty when one does.
    """

    id: str
    kind: str
    reports: tuple[str, ...]
    rule: str = ""
    world: str = ""
    why_not: str = ""


def kinds_of_failure() -> tuple[Kind, ...]:
    """Read the table."""
    rows: list[Mapping[str, Any]] = yaml.safe_load(
        (files("railwright.doctor") / "coverage.yaml").read_text(encoding="utf-8")
    )
    return tuple(Kind(**{**row, "reports": tuple(row["reports"])}) for row in rows)


def found_by(infos: tuple[RuleInfo, ...]) -> Mapping[str, tuple[RuleInfo, ...]]:
    """Rules by the kinds of failure that they cover."""
    found: dict[str, tuple[RuleInfo, ...]] = {}
    for info in infos:
        for item in info.covers:
            found[item] = (*found.get(item, ()), info)
    return found


def coverage_page(infos: tuple[RuleInfo, ...]) -> str:
    """Write docs/reference/coverage.md."""
    kinds, rules = kinds_of_failure(), found_by(infos)
    found = [item for item in kinds if not item.why_not]
    lines = [
        "# What the doctor finds",
        "",
        f"Generated. Of {len(kinds)} kinds of failure that were met in the field, {len(infos)} rules find {len(found)}; why the others are",
        "not found is said at the end. A world is opened with `railwright doctor --cluster sim:WORLD`; rules whose names begin with `log-`",
        "read logs and events (`railwright doctor --log -`), and their cases are in `tests/cases/doctor/text`.",
        "",
        "| id | kind of failure | rules | world | reports |",
        "|---|---|---|---|---|",
    ]
    for item in found:
        names = ", ".join(f"[{info.name}](rules/{info.name}.md)" for info in rules.get(item.id, ()))
        world = f"`{item.world}`" if item.world else ""
        lines.append(f"| {item.id} | {item.kind} | {names} | {world} | {_links(item)} |")
    lines += ["", "## Not found", "", "| id | kind of failure | why | reports |", "|---|---|---|---|"]
    lines += [f"| {item.id} | {item.kind} | {item.why_not} | {_links(item)} |" for item in kinds if item.why_not]
    return "\n".join([*lines, ""])


def _links(item: Kind) -> str:
    return " ".join(f"[{number}]({url})" for number, url in enumerate(item.reports, 1))
