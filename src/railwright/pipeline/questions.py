"""How a question reads, at the terminal and in a dry run: the step, its nodes, how long, and what goes with it."""

from railwright.ports.approval import Question
from railwright.report.tables import count, duration


def question_text(question: Question) -> str:
    """Spell a question, without asking for the answer."""
    lines = [f"{question.what} (risk: {question.risk.value})"]
    if question.nodes:
        lines.append(f"  {count(len(question.nodes), 'node')}: {', '.join(question.nodes)}")
    if question.expected_s:
        lines.append(f"  for about {duration(question.expected_s)} in all")
    lines.extend(f"  {detail}" for detail in question.details)
    return "\n".join(lines)
