"""Driver pods of an old form that no operator replaces: the gate names what somebody has to delete."""

import pytest

from railwright.core import kinds
from railwright.core.objects import Ref
from railwright.readiness.model import Companions, Readiness
from railwright.readiness.rollouts import judge_daemon_set


def judged(revisions, updated, *, by_hand):
    metadata = {"name": "mofed", "namespace": "nvidia", "generation": 2}
    count = len(revisions)
    status = {"observedGeneration": 2, "desiredNumberScheduled": count, "numberAvailable": count}
    daemon_set = {
        "metadata": metadata,
        "spec": {"updateStrategy": {"type": "OnDelete"}},
        "status": {**status, "updatedNumberScheduled": updated},
    }
    pods = {
        Ref(kinds.POD, "nvidia", f"mofed-{number}"): {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"mofed-{number}",
                "namespace": "nvidia",
                "labels": {"controller-revision-hash": revision},
                "ownerReferences": [{"kind": "DaemonSet", "name": "mofed"}],
            },
            "spec": {"nodeName": f"worker-{number}"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }
        for number, revision in enumerate(revisions)
    }
    answer = judge_daemon_set(daemon_set, Companions(pods), by_hand=by_hand)
    assert answer.readiness is Readiness.PROGRESSING
    return answer


@pytest.mark.parametrize(
    ("revisions", "updated", "waiting_for"),
    [
        ("a", 0, "somebody to delete pod nvidia/mofed-0 on worker-0"),
        ("ab", 0, "somebody to delete pod nvidia/mofed-0 on worker-0, nvidia/mofed-1 on worker-1"),
        ("abb", 2, "somebody to delete pod nvidia/mofed-0 on worker-0"),
        ("ab", 1, "somebody to delete the pods of DaemonSet nvidia/mofed that have the old form"),
    ],
    ids=["one", "all", "some", "either of two"],
)
def test_pods_that_nothing_replaces_are_named_where_their_form_can_be_told(revisions, updated, waiting_for):
    answer = judged(revisions, updated, by_hand=True)
    assert answer.waiting_for == waiting_for
    assert "autoUpgrade is off" in answer.reason


def test_pods_that_an_operator_replaces_are_waited_for():
    assert "replaced one by one" in judged("a", 0, by_hand=False).waiting_for
