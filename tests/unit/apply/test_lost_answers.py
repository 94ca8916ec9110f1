"""A write whose answer was lost is still a write: no status counts at once after it."""

import pytest
from unit.apply.fake_world import FakeCluster, an_object
from unit.apply.stage_builders import carry_out, speaking_judges, stage_for
from unit.apply.test_writer import POLICY, our_policy

from railwright.apply import observe
from railwright.core import kinds
from railwright.core.errors import ClusterBusy
from railwright.core.verdicts import Verdict
from railwright.readiness.model import Judgement, Readiness


@pytest.mark.parametrize("is_there", [True, False])
async def test_what_was_written_without_an_answer_is_not_ready_at_the_first_look(monkeypatch, is_there):
    speaking_judges(monkeypatch)
    cluster, receipts, lost = FakeCluster(), [], []
    if is_there:
        cluster.put(an_object(kinds.NIC_CLUSTER_POLICY, "nic-cluster-policy", spec={"b": "theirs"}))

    def judge(obj, companions, receipt, now):
        del obj, companions, now
        receipts.append(receipt)
        return Judgement(Readiness.READY, "as it was before")

    def lose(verb, ref):
        if verb == "apply" and ref == POLICY and not lost:
            lost.append(ref)
            raise ClusterBusy("the connection broke before the answer came")

    monkeypatch.setattr(observe, "judge", judge)
    cluster.after_write = lose
    started_s = cluster.clock.elapsed_s
    record = await carry_out(cluster, await stage_for(cluster, [our_policy(a="ours")]))
    assert (record.verdict, len(lost)) == (Verdict.PASS, 1)
    assert all(receipt is not None and receipt.changed for receipt in receipts)
    assert cluster.clock.elapsed_s - started_s >= 10.0
