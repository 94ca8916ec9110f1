"""Rules on text over what a Snapshot keeps of words: ends of logs, events, the kernel logs of nodes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from railwright.core.ids import NodeName, RuleId
from railwright.core.kinds import EVENT, POD
from railwright.doctor.everything import Everything
from railwright.doctor.model import Finding, Severity, Unknown
from railwright.doctor.needs import INSIDE
from railwright.doctor.text import lines
from railwright.doctor.text.judge import Origin, finding_of, hits_of
from railwright.doctor.text.lines import Text, read_text
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.signals import Hit
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
        is_kernel: it is the log of a node's kernel.
    """

    origin: Origin
    text: str
    is_current: bool
    is_kernel: bool = False


def spoken(seen: Everything) -> tuple[Spoken, ...]:
    """Every text of a Snapshot; empty when no logs, events or kernel logs were read."""
    return (*_logs(seen), *_events(seen), *_kernel_logs(seen))


def unheard(seen: Everything, texts: Iterable[Spoken]) -> tuple[Unknown, ...]:
    """Say what was not read: a rule on text that found nothing elsewhere cannot know. The rule's name is left empty."""
    return tuple(Unknown(RuleId(""), *said) for said in _unheard(seen, texts))


_HOW = (
    "run it with rights to read pods, their logs and events, collect them, or pipe a log into railwright doctor --log -"
)


def _unheard(seen: Everything, texts: Iterable[Spoken]) -> Iterator[tuple[str, str, str, tuple[NodeName, ...]]]:
    cluster = seen.cluster
    texts = tuple(texts)
    if not texts and not any(kind == EVENT for kind, _ in cluster.whole_in):
        yield "logs and events", "none were read", _HOW, ()
        return
    logs = [item for item in cluster.unseen if item.what.startswith(("log of ", "further logs"))]
    if logs:
        more = f" and {len(logs) - 1} more" if len(logs) > 1 else ""
        yield f"{logs[0].what}{more}", logs[0].why, _HOW, ()
    elif not cluster.logs and seen.missing_of(POD):
        yield "logs of pods", seen.missing_of(POD), _HOW, ()
    elif not cluster.logs and any(pod.namespace in seen.homes for pod in cluster.pods):
        yield "logs of pods", "none were read", _HOW, ()
    if "older events" in seen.unseen:
        yield "older events", seen.unseen["older events"].why, "look at them by hand: oc get events -A", ()
    if seen.missing_of(EVENT):
        yield "events", seen.missing_of(EVENT), _HOW, ()
    silent = {node.name: node.hardware_problem for node in seen.nodes if node.hardware is None}
    if silent:
        yield "kernel logs", "; ".join(sorted(set(silent.values()))), INSIDE.how, tuple(silent)
    unread = tuple(name for name, hardware in seen.inside.items() if hardware.system.dmesg is None)
    if unread:
        yield "kernel logs", "the kernel's log could not be read", "read the node as root", unread
    cut = next((item.origin.name for item in texts if len(item.text) > lines.MAX_CHARACTERS), "")
    if cut:
        yield f"the beginning of the {cut}", "it is too long", "give the beginning on its own: --log FILE", ()


def judge_spoken(texts: tuple[Spoken, ...], rules: Iterable[TextRule]) -> tuple[list[Finding], list[RuleId]]:
    """
    Ask rules on text about the texts of a Snapshot.

    Returns:
        Findings, one a rule, and the rules that found nothing.
    """
    batches = [_Batch(items) for items in _batches(texts)]
    found: list[Finding] = []
    silent: list[RuleId] = []
    for rule in rules:
        finding = _judge(rule, batches)
        if finding is None:
            silent.append(rule.info.name)
        else:
            found.append(finding)
    return found, silent


class _Batch:
    """Texts that are searched together first: most rules are met nowhere, and need not look at each of them."""

    def __init__(self, items: tuple[Spoken, ...]) -> None:
        self.items = items
        self._all = read_text("\n".join(item.text for item in items))
        self._prepared: dict[int, Text] = {}

    def hits(self, rule: TextRule) -> Iterator[tuple[Spoken, Text, tuple[Hit, ...]]]:
        """Give the texts in which a rule is met."""
        if not hits_of(rule, self._all):
            return
        for number, item in enumerate(self.items):
            if number not in self._prepared:
                self._prepared[number] = read_text(item.text)
            text = self._prepared[number]
            hits = hits_of(rule, text)
            if hits:
                yield item, text, hits


def _batches(texts: Iterable[Spoken]) -> Iterator[tuple[Spoken, ...]]:
    """Part texts so that none of what is searched together is cut."""
    batch: list[Spoken] = []
    size = 0
    for item in texts:
        if batch and size + len(item.text) > lines.MAX_CHARACTERS:
            yield tuple(batch)
            batch, size = [], 0
        batch.append(item)
        size += len(item.text) + 1
    if batch:
        yield tuple(batch)


def _judge(rule: TextRule, batches: Iterable[_Batch]) -> Finding | None:
    met = []
    is_current = False
    for batch in batches:
        for item, text, hits in batch.hits(rule):
            met.append((item, (item.origin, text, hits)))
            is_current |= item.is_current
    # Where something does not work now, what others wrote long ago is beside the point.
    finding = finding_of(rule, (place for item, place in met if item.is_current or not is_current))
    if finding is None or is_current:
        return finding
    cause = f"{_who_wrote(item for item, _ in met)}, so it may be over: {finding.cause}"
    return replace(finding, severity=Severity.INFO, cause=cause, leads_to=(), shows=())


def _who_wrote(texts: Iterable[Spoken]) -> str:
    """Say whose words of the past these are."""
    found = {item.is_kernel for item in texts}
    if found == {True}:
        return "The kernel wrote this at some time since the node started"
    return (
        "A pod that works now wrote this once" if found == {False} else "The kernel, and pods that work now, wrote this"
    )


def _logs(seen: Everything) -> Iterator[Spoken]:
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


def _events(seen: Everything) -> Iterator[Spoken]:
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
    for origin, words in by_thing.items():
        yield Spoken(origin, "\n".join(words), is_current=True)


def _is_old(text: str, now: datetime) -> bool:
    try:
        return datetime.fromisoformat(text) < now - _OLD
    except (ValueError, TypeError, OverflowError):
        return False


def _kernel_logs(seen: Everything) -> Iterator[Spoken]:
    for name, hardware in seen.inside.items():
        if hardware.system.dmesg:
            text = "\n".join(hardware.system.dmesg)
            yield Spoken(Origin(f"kernel log of {name}", name), text, is_current=False, is_kernel=True)
