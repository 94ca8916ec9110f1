"""What clean says before it begins, and that it is done only when nodes have come back from their last reboot."""

from dataclasses import dataclass, field, replace

import pytest
from support.kills import Killed
from support.others import now_is
from support.scenarios import SIX, Yes, applied, intents_for, open_for

from railwright import api
from railwright.apply.ledger import LedgerStore
from railwright.apply.model import Ledger
from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.needs import Need, plural_of
from railwright.core.objects import Ref
from railwright.core.risk import Risk
from railwright.pipeline.needs import Extent, undoing_needs, writing_needs
from railwright.pipeline.roll_back import rolling_entry
from railwright.ports.approval import Question
from railwright.ports.progress import Waiting
from railwright.readiness.kinds.machineconfig import pool_state
from railwright.readiness.model import Companions, Readiness

POOL = Ref(kinds.MACHINE_CONFIG_POOL, "", "worker")
LEDGER = Ref(kinds.NAMESPACE, "", "railwright")


@dataclass
class Asked:
    answer: bool = True
    questions: list[Question] = field(default_factory=list)

    def approve(self, question):
        self.questions.append(question)
        return self.answer and not question.takes_over


def lines_of(record):
    return [(str(item.ref), item.action, item.reason) for item in record.objects]


@pytest.mark.parametrize(("method", "fabric"), SIX)
async def test_a_dry_run_lists_exactly_what_clean_then_does(method, fabric):
    world = await open_for(fabric)
    await applied(world, intents_for(method, fabric, more="  numaAligned: true\n"))
    foreseen = await api.clean(world, approval=Yes(), dry_run=True)
    done = await api.clean(world, approval=Yes())
    assert lines_of(foreseen) == lines_of(done)
    assert {item.ref for item in done.objects} >= {LEDGER, POOL, Ref(kinds.NAMESPACE, "", "training")}


async def test_clean_ends_when_the_pool_is_updated_without_us():
    world = await open_for("roce")
    await applied(world, intents_for("shared", "roce"))
    began_s = world.clock.monotonic_s()
    done = await api.clean(world, approval=Yes())
    (rolled,) = [item for item in done.objects if item.ref == POOL]
    assert (rolled.action, done.exit_code) == ("wait", 0)
    assert world.clock.monotonic_s() - began_s > 600
    pool = now_is(world, POOL)
    assert pool_state(pool, Companions()).readiness is Readiness.READY
    assert "99-railwright-worker" not in [item["name"] for item in pool["status"]["configuration"]["source"]]


class KilledWhileItWaits:
    """Everything is undone, and the last roll-out is on its way."""

    def emit(self, event):
        if isinstance(event, Waiting) and "MachineConfigPool" in event.waiting_for:
            raise Killed


async def test_a_clean_that_is_killed_while_nodes_come_back_waits_for_them_again():
    world = await open_for("roce")
    await applied(world, intents_for("sriov", "roce", more="  numaAligned: true\n"))
    with pytest.raises(Killed):
        await api.clean(world, approval=Yes(), progress=KilledWhileItWaits())
    assert pool_state(now_is(world, POOL), Companions()).readiness is Readiness.PROGRESSING
    done = await api.clean(world, approval=Yes())
    assert [(item.ref, item.action) for item in done.objects if item.ref == POOL] == [(POOL, "wait")]
    assert done.exit_code == 0
    assert pool_state(now_is(world, POOL), Companions()).readiness is Readiness.READY
    assert LEDGER in {item.ref for item in done.objects}


async def test_an_apply_without_numa_alignment_waits_for_the_pool_that_goes_back():
    world = await open_for("roce")
    await applied(world, intents_for("sriov", "roce", more="  numaAligned: true\n"))
    began_s = world.clock.monotonic_s()
    record = await applied(world, intents_for("sriov", "roce"))
    assert "no longer wanted: KubeletConfig railwright-worker: delete" in record.notes
    assert "no longer wanted: MachineConfigPool worker: wait" in record.notes
    assert world.clock.monotonic_s() - began_s > 600
    sources = [item["name"] for item in now_is(world, POOL)["status"]["configuration"]["source"]]
    assert "99-worker-generated-kubelet" not in sources
    assert record.exit_code == 0


async def test_a_pool_that_is_gone_holds_up_neither_apply_nor_clean():
    """Somebody removed it while it was waited for: its entry would hold up every run for ever."""
    world = await open_for("roce")
    shared = intents_for("shared", "roce")
    await applied(world, shared, verify=False)
    for run in ("apply", "clean"):
        store = LedgerStore(world.cluster, world.clock)
        await store.open()
        await store.record_intention(rolling_entry(Ref(kinds.MACHINE_CONFIG, "", "99-railwright-gone"), StageName(run)))
        await store.close()
        began_s = world.clock.monotonic_s()
        is_apply = run == "apply"
        record = await applied(world, shared, verify=False) if is_apply else await api.clean(world, approval=Yes())
        assert record.exit_code == 0
        assert any("MachineConfigPool gone: this pool is no longer there" in note for note in record.notes)
        assert world.clock.monotonic_s() - began_s < 3000


async def test_pools_that_are_only_waited_for_are_named_by_a_dry_run_and_their_rights_asked_for():
    world, shared = await open_for("roce"), intents_for("shared", "roce")
    await applied(world, shared, verify=False)
    before = await api.plan(world, shared)
    waits = Need(POOL.kind.group, plural_of(POOL.kind), "watch")
    entry = rolling_entry(Ref(kinds.MACHINE_CONFIG, "", "99-railwright-worker"), StageName("clean"))
    no_gates = replace(before.plan, stages=tuple(replace(stage, applies=False) for stage in before.plan.stages))
    left = replace(before, plan=no_gates, ledger=Ledger(entries={entry.ref: entry}))
    for needs in (writing_needs(Extent(left, prove=False)), undoing_needs(Extent(left))):
        assert any(need.holds(waits) for need in needs)
    store = LedgerStore(world.cluster, world.clock)
    await store.open()
    await store.record_intention(entry)
    await store.close()
    record = await applied(world, shared, dry_run=True, verify=False)
    assert "an earlier run left it rolling out, would be waited for: MachineConfigPool worker" in record.notes


async def test_the_first_question_shows_the_whole_of_it():
    world, asked = await open_for("roce"), Asked(answer=False)
    await applied(world, intents_for("sriov", "roce"))
    with pytest.raises(api.Refused):
        await api.clean(world, approval=asked)
    (question,) = asked.questions
    assert "with a risk, the worst: reboot" in question.details[0]
    assert [line for line in question.details if line.startswith("  nodes-prepared: reboot, about ")]
    assert f"  delete {LEDGER}: the ledger" in question.details
    assert any("brought nv-ipam: its IPPool and CIDRPool" in line for line in question.details)
    assert any(line.startswith(f"  wait {POOL}: its nodes reboot once more") for line in question.details)
    assert question.nodes == ("worker-0", "worker-1")


async def test_every_risk_is_asked_for_and_only_the_first_question_is_long():
    world, asked = await open_for("roce"), Asked()
    await applied(world, intents_for("sriov", "roce"))
    assert (await api.clean(world, approval=asked)).exit_code == 0
    assert [question.risk for question in asked.questions].count(Risk.REBOOT) == 2
    assert [any("the whole of it" in line for line in question.details) for question in asked.questions] == [
        True,
        *[False] * (len(asked.questions) - 1),
    ]
