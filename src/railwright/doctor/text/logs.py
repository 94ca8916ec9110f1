"""Rules on text over what a Snapshot keeps of words: ends of logs, events, the kernel logs of nodes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from railwright.core.ids import RuleId
from railwright.doctor.model import Finding, Severity
from railwright.doctor.seen import Seen
from railwright.doctor.text.judge import Origin, finding_of, hits_of
from railwright.doctor.text.lines import Text, read_text
from railwright.doctor.text.model import TextRule
from railwright.facts.model import PodFacts

_OLD = timedelta(hours=1)
"""Events on anything but pods that are older than this say what was."""


@dataclass(frozen=True)
class Spoken:
    """
    One text of a Snapshot.

    Attributes:
        is_current: it is of something that does not work now; what a healthy pod wrote once, or a kernel since its start,
            is only worth knowing.
    """

    origin: Origin
    text: str
    is_current: bool


def spoken(seen: Seen) -> tuple[Spoken, ...]:
    """Every text of a Snapshot; empty when no logs, events or kernel logs were read."""
    return (*_logs(seen), *_events(seen), *_kernel_logs(seen))


def judge_spoken(texts: tuple[Spoken, ...], rules: Iterable[TextRule]) -> tuple[list[Finding], list[RuleId]]:
    """
    Ask rules on text about the texts of a Snapshot.

    Returns:
        Findings, one a rule, and the rules that found nothing.
    """
    # Most rules are met nowhere: one search through everything tells which ones are worth a look at each text.
    everything = read_text("\n".join(item.text for item in texts))
    prepared: dict[int, Text] = {}
    found: list[Finding] = []
    passed: list[RuleId] = []
    for rule in rules:
        finding = _judge(rule, texts, prepared) if hits_of(rule, everything) else None
        if finding is None:
            passed.append(rule.info.name)
        else:
            found.append(finding)
    return found, passed


def _judge(rule: TextRule, texts: tuple[Spoken, ...], prepared: dict[int, Text]) -> Finding | None:
    met = []
    is_current = False
    for number, item in enumerate(texts):
        text = prepared.setdefault(number, read_text(item.text)) if number not in prepared else prepared[number]
        hits = hits_of(rule, text)
        if hits:
            met.append((item, (item.origin, text, hits)))
            is_current |= item.is_current
    # Where something does not work now, what others wrote long ago is beside the point.
    finding = finding_of(rule, (place for item, place in met if item.is_current or not is_current))
    if finding is None or is_current:
        return finding
    cause = f"Written by something that works now, or by a kernel since its start: {finding.cause}"
    return replace(finding, severity=Severity.INFO, cause=cause, leads_to=(), shows=())


def _logs(seen: Seen) -> Iterator[Spoken]:
    pods = {(pod.namespace, pod.name): pod for pod in seen.cluster.pods}
    for ref in sorted(seen.cluster.logs):
        pod = pods.get((ref.namespace, ref.pod))
        before = " before its last start" if ref.previous else ""
        origin = Origin(
            f"log of {ref.namespace}/{ref.pod} {ref.container}{before}",
            pod.node if pod is not None else None,
            (f"pod:{ref.namespace}/{ref.pod}",),
        )
        yield Spoken(origin, seen.cluster.logs[ref], is_current=pod is None or _fails(pod))


def _fails(pod: PodFacts) -> bool:
    return not pod.is_ready and pod.phase != "Succeeded"


def _events(seen: Seen) -> Iterator[Spoken]:
    pods = {(pod.namespace, pod.name): pod for pod in seen.cluster.pods}
    by_thing: dict[Origin, list[str]] = defaultdict(list)
    for event in seen.cluster.events:
        if event.type != "Warning":
            continue
        if event.kind == "Pod":
            pod = pods.get((event.namespace, event.name))
            if pod is None or not _fails(pod):
                continue
        elif _is_old(event.last_at, seen.now):
            continue
        about = (f"pod:{event.namespace}/{event.name}",) if event.kind == "Pod" else ()
        origin = Origin(f"events of {event.kind} {event.namespace}/{event.name}", event.node, about)
        by_thing[origin].append(f"{event.reason} {event.message}")
    for origin, lines in by_thing.items():
        yield Spoken(origin, "\n".join(lines), is_current=True)


def _is_old(text: str, now: datetime) -> bool:
    try:
        return datetime.fromisoformat(text) < now - _OLD
    except (ValueError, TypeError, OverflowError):
        return False


def _kernel_logs(seen: Seen) -> Iterator[Spoken]:
    for name, hardware in seen.inside.items():
        if hardware.system.dmesg:
            yield Spoken(Origin(f"kernel log of {name}", name), "\n".join(hardware.system.dmesg), is_current=False)
