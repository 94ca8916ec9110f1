"""What plan has to say besides the plan itself, gathered while it decides."""

from dataclasses import dataclass, field

from railwright.core.ids import NodeName
from railwright.plan.model import Decision, PlanWarning, Refusal


@dataclass
class Notes:
    """Decisions, warnings and refusals in the order in which they were met, as keys: each is said once."""

    decisions: dict[Decision, None] = field(default_factory=dict)
    warnings: dict[PlanWarning, None] = field(default_factory=dict)
    refusals: dict[Refusal, None] = field(default_factory=dict)

    def decide(self, key: str, value: object, origin: str, reason: str, source: str = "") -> None:
        """Note a value in force, spelled as in the file."""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        decision = Decision(key, text, origin, reason, source)
        self.decisions[decision] = None

    def warn(self, code: str, message: str, where: str = "") -> None:
        """Note something to know."""
        warning = PlanWarning(code, message, where)
        self.warnings[warning] = None

    def refuse(
        self,
        code: str,
        message: str,
        *,
        where: str = "",
        expected: str = "",
        seen: str = "",
        hint: str = "",
        node: NodeName | None = None,
    ) -> None:
        """Note a reason not to go on: for one node when `node` is given, else for the whole plan."""
        refusal = Refusal(code, message, where or (node or ""), expected, seen, hint, node)
        self.refusals[refusal] = None

    def of_node(self, node: NodeName) -> tuple[Refusal, ...]:
        """Refusals of one node."""
        return tuple(refusal for refusal in self.refusals if refusal.node == node)

    def of_plan(self) -> tuple[Refusal, ...]:
        """Refusals of the whole plan."""
        return tuple(refusal for refusal in self.refusals if refusal.node is None)
