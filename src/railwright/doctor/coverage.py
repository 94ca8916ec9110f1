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
        words: what the cause says there, where the rule says other things too.
        why_not: why no rule finds it; empty when one does.
    """

    id: str
    kind: str
    reports: tuple[str, ...]
    rule: str = ""
    world: str = ""
    words: str = ""
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
