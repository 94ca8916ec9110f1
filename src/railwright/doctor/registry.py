"""The table of rules; a rule that is not in it does not exist."""

import difflib
from collections.abc import Iterable

from railwright.core.errors import UsageError
from railwright.core.ids import RuleId
from railwright.doctor.model import Rule, RuleInfo
from railwright.doctor.rules.labels import RULES as LABELS

RULES: tuple[Rule, ...] = (*LABELS,)


def rule_infos() -> tuple[RuleInfo, ...]:
    """Every rule, those on pasted text too, by name."""
    return tuple(sorted((item.info for item in RULES), key=lambda info: info.name))


def rule(name: str) -> RuleInfo | None:
    """Find a rule by its name."""
    return next((info for info in rule_infos() if info.name == RuleId(name)), None)


def known_rules(names: Iterable[str]) -> frozenset[RuleId]:
    """Check names of rules. Raises UsageError for one that there is not."""
    known = [item.info.name for item in RULES]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else ""
            message = f"there is no rule {name!r}{meant}"
            raise UsageError(message, hint="railwright explain all lists every rule")
    return frozenset(RuleId(name) for name in names)
