"""From a text to findings: one a rule, with its lines as evidence."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from railwright.core.ids import NodeName
from railwright.core.redaction import redact_text
from railwright.doctor.model import Evidence, Finding, Remedy, conclude
from railwright.doctor.showing import one_a_node
from railwright.doctor.text.lines import Text, shown
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.signals import Hit, find

_SHOWN_HITS = 4
"""Signals of one rule that are shown for one text."""
_NODE = re.compile(r"\bNODE\b(?!:)")
"""The node in a command; "NODE:" heads a column."""


@dataclass(frozen=True)
class Origin:
    """Where a text comes from: what people call it, and the node it speaks of, where that is known."""

    name: str
    node: NodeName | None = None
    about: tuple[str, ...] = ()


def hits_of(rule: TextRule, text: Text) -> tuple[Hit, ...]:
    """Signals of a rule that are met, in the rule's order."""
    return tuple(hit for signal in rule.signals if (hit := find(signal, text)) is not None)


def finding_of(rule: TextRule, met: Iterable[tuple[Origin, Text, tuple[Hit, ...]]]) -> Finding | None:
    """Conclude for one rule from every text in which it was met; None when it was met nowhere."""
    places = tuple((origin, text, hits) for origin, text, hits in met if hits)
    if not places:
        return None
    signals = list(dict.fromkeys(hit.signal for _, _, hits in places for hit in hits))
    causes = list(dict.fromkeys(signal.cause or rule.cause for signal in signals))
    remedies = list(dict.fromkeys(signal.remedy or rule.remedy for signal in signals))
    commands = list(dict.fromkeys(line for signal in signals for line in (signal.commands or rule.commands)))
    nodes = sorted({origin.node for origin, _, _ in places if origin.node is not None})
    return conclude(
        rule.info,
        " ".join(causes[:2]),
        evidence=(item for origin, text, hits in places for item in _evidence(origin, text, hits)),
        remedy=Remedy(
            " ".join(remedies[:2]),
            tuple(line for command in commands[:6] for line in _on_nodes(command, nodes)),
            risk=rule.risk,
            disrupts=rule.disrupts,
        ),
        nodes=nodes,
        about=(thing for origin, _, _ in places for thing in origin.about),
        severity=max((signal.severity or rule.info.severity for signal in signals), key=lambda item: item.rank),
    )


def _on_nodes(command: str, nodes: Sequence[NodeName]) -> tuple[str, ...]:
    """Spell a command for each of the nodes where its text was met; pasted text tells of none."""
    if not nodes or _NODE.search(command) is None:
        return (command,)
    return one_a_node([(node, _NODE.sub(node, command)) for node in nodes])


def _evidence(origin: Origin, text: Text, hits: tuple[Hit, ...]) -> Iterable[Evidence]:
    lines: dict[int, int] = {}
    for hit in hits:
        lines[hit.line] = max(hit.count, lines.get(hit.line, 0))
    for line, count in list(lines.items())[:_SHOWN_HITS]:
        times = f", one of {count} such lines" if count > 1 else ""
        yield Evidence(
            origin.name, f"line {text.numbers[line]}{times}", redact_text(shown(text.lines[line])), origin.node
        )
