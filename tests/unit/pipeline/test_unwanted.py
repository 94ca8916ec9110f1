"""What is asked before something is removed that the plan no longer wants."""

from types import SimpleNamespace

from railwright.apply.model import LedgerEntry
from railwright.core import kinds
from railwright.core.objects import Ref
from railwright.core.risk import Risk
from railwright.pipeline import unwanted
from railwright.plan.model import NIC_DRIVER_READY


def an_entry(name: str, order: int) -> LedgerEntry:
    ref = Ref(kinds.NETWORK_ATTACHMENT_DEFINITION, "training", name)
    return LedgerEntry(ref, created=True, uid="", fields=(), fabrics=(), order=order, stage=NIC_DRIVER_READY)


def test_each_object_that_goes_stands_on_a_line_of_its_own(monkeypatch):
    monkeypatch.setattr(unwanted, "pods_on", lambda nodes, prepared: ("pod train",))
    stage = SimpleNamespace(name=NIC_DRIVER_READY, risk=Risk.REBOOT, expected_s=60.0)
    plan = SimpleNamespace(stages=(stage,), admitted=())
    prepared = SimpleNamespace(plan=plan, snapshot=None)
    entries = tuple(an_entry(f"rail{number}", number) for number in range(8))
    question = unwanted.removal_question(entries, prepared)
    assert question.details == (*(str(entry.ref) for entry in entries), "pod train")
    assert question.what == "removes what the plan no longer wants: 8 objects"
