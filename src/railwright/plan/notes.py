"""What plan has to say besides the plan itself, gathered while it decides."""

from dataclasses import dataclass, field

from railwright.core.ids import NodeName
from railwright.plan.model import Decision, PlanWarning, Refusal


@dataclass
class Notes:
    """Decisions, warnings and refusals in the order in which they were met; each is said once."""

    decisions: list[Decision] = field(default_factory=list)
    warnings: list[PlanWarning] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    def decide(self, key: str, value: object, origin: str, reason: str, source: str = "") -> None:
        """Note a value in force."""
        decision = Decision(key, str(value), origin, reason, source)
        if decision not in self.decisions:
            self.decisions.append(decision)

    def warn(self, code: str, message: str, where: str = "") -> None:
        """Note something to know."""
        warning = PlanWarning(code, message, where)
        if warning not in self.warnings:
            self.warnings.append(warning)

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
        if refusal not in self.refusals:
            self.refusals.append(refusal)

    def of_node(self, node: NodeName) -> tuple[Refusal, ...]:
        """Refusals of one node."""
        return tuple(refusal for refusal in self.refusals if refusal.node == node)

    def of_plan(self) -> tuple[Refusal, ...]:
        """Refusals of the whole plan."""
        return tuple(refusal for refusal in self.refusals if refusal.node is None)
