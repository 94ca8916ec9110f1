"""The SR-IOV operator is left to its work before it goes: what counts as work, and as its end."""

import pytest

from railwright.apply.model import LedgerEntry
from railwright.core import kinds
from railwright.core.ids import StageName
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.pipeline.vfs_let_go import takes_vfs, what_goes_on

DESIRED, CURRENT = "sriovnetwork.openshift.io/desired-state", "sriovnetwork.openshift.io/current-state"
WANTED = [{"name": "ens1", "numVfs": 8, "vfGroups": [{"policyName": "rail0"}]}]
MADE = [{"name": "ens1", "numVfs": 8}, {"name": "ens2"}]


def a_state(
    wanted: object = None, made: object = (), sync: str = "Succeeded", marks: dict[str, str] | None = None
) -> KubeObject:
    return {
        "metadata": {"name": "worker-0", "annotations": {DESIRED: "Idle", CURRENT: "Idle", **(marks or {})}},
        "spec": {"interfaces": wanted},
        "status": {"interfaces": made, "syncStatus": sync},
    }


@pytest.mark.parametrize(
    ("state", "has_daemon", "said"),
    [
        (a_state(), True, ""),
        (a_state(WANTED, MADE), True, ""),
        (a_state(marks={CURRENT: "DrainComplete"}), True, "drains it or gives it back (Idle, DrainComplete)"),
        (a_state(marks={DESIRED: "Drain_Required"}), False, "drains it or gives it back (Drain_Required, Idle)"),
        (a_state([{**WANTED[0], "vfGroups": [{"policyName": "gone"}]}], MADE), True, "has not seen that gone is gone"),
        (a_state([], MADE), True, "its config daemon takes VFs away from ens1"),
        (a_state([], MADE), False, ""),
        (a_state([], MADE, "Failed"), True, ""),
        ({"metadata": {"name": "worker-0"}}, True, ""),
    ],
)
def test_a_node_state_shows_work_that_is_not_done(state: KubeObject, has_daemon: bool, said: str) -> None:
    answer = what_goes_on(state, ["rail0"], has_daemon=has_daemon)
    assert answer.endswith(said)
    assert bool(answer) is bool(said)


def an_entry(kind: Kind, *, created: bool = True) -> LedgerEntry:
    return LedgerEntry(Ref(kind, "n", "x"), created, "uid", (), (), 1, StageName("vfs-ready"))


def test_only_policies_and_settings_of_ours_set_the_operator_to_work() -> None:
    assert takes_vfs([an_entry(kinds.SRIOV_NETWORK_NODE_POLICY)])
    assert takes_vfs([an_entry(kinds.SRIOV_OPERATOR_CONFIG)])
    assert not takes_vfs([an_entry(kinds.SRIOV_OPERATOR_CONFIG, created=False), an_entry(kinds.SRIOV_NETWORK)])
