"""The table of rules; a rule that is not in it does not exist."""

from railwright.core.ids import RuleId
from railwright.doctor.model import Rule
from railwright.doctor.rules.labels import RULES as LABELS

RULES: tuple[Rule, ...] = (*LABELS,)


def rule(name: str) -> Rule | None:
    """Find a rule by its name."""
    return next((item for item in RULES if item.info.name == RuleId(name)), None)
