"""How a question reads, at the terminal and in a dry run: the step, its nodes, how long, and what goes with it."""

from railwright.ports.approval import Question
from railwright.report.tables import count, duration


def question_text(question: Question, *, whole: bool = True) -> str:
    """Spell a question, without asking for the answer; not `whole`: without what progress says once more."""
    lines = [f"{question.what} (risk: {question.risk.value})"]
    if question.nodes:
        lines.append(f"  {count(len(question.nodes), 'node')}: {', '.join(question.nodes)}")
    if question.expected_s:
        lines.append(f"  for about {duration(question.expected_s)} in all")
    left_out = set() if whole else set(question.again)
    lines.extend(f"  {detail}" for detail in question.details if detail not in left_out)
    return "\n".join(lines)
