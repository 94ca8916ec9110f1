"""The SR-IOV operator is left to its work before it goes: what counts as work, and as its end."""

import pytest

from railwright.apply.model import FabricNote, Ledger, LedgerEntry
from railwright.core import kinds
from railwright.core.ids import FabricName, NodeName, PciAddress, StageName
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.pipeline.vfs_let_go import OurPorts, takes_vfs, what_goes_on

DESIRED, CURRENT = "sriovnetwork.openshift.io/desired-state", "sriovnetwork.openshift.io/current-state"
WANTED = [{"name": "ens1", "numVfs": 8, "vfGroups": [{"policyName": "rail0"}]}]
PORT, NODE = PciAddress("0000:18:00.0"), NodeName("worker-0")
MADE = [{"name": "ens1", "pciAddress": PORT, "numVfs": 8}, {"name": "ens2"}]


def a_ledger(*before: tuple[str, str]) -> Ledger:
    name = FabricName("east")
    return Ledger({name: FabricNote(name, "", "", before=(("noted", "yes"), *before))})


def a_ledger_without_notes() -> Ledger:
    name = FabricName("east")
    return Ledger({name: FabricNote(name, "", "")})


NONE_BEFORE_US = OurPorts(a_ledger(), {})


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
        (a_state([], MADE), False, "VFs are left on ens1, and its config daemon, which takes them away, is not ready"),
        (a_state([], MADE, "Failed"), True, "fails to take VFs away from ens1: it does not say why"),
        ({"metadata": {"name": "worker-0"}}, True, ""),
    ],
)
def test_a_node_state_shows_work_that_is_not_done(state: KubeObject, has_daemon: bool, said: str) -> None:
    answer = what_goes_on(state, ["rail0"], NONE_BEFORE_US, has_daemon=has_daemon)
    assert answer.endswith(said)
    assert bool(answer) is bool(said)


@pytest.mark.parametrize(
    ("ours", "counts"),
    [
        (OurPorts(Ledger(), {NODE: frozenset({PORT})}), True),
        (OurPorts(Ledger(), {NODE: frozenset({PciAddress("0000:3a:00.0")})}), False),
        (OurPorts(a_ledger((f"{NODE} {PORT} VFs", "8")), {}), False),
        (OurPorts(a_ledger((f"{NODE} 0000:3a:00.0 VFs", "8")), {}), True),
        (OurPorts(a_ledger(), {NodeName("worker-1"): frozenset()}), True),
        (OurPorts(a_ledger_without_notes(), {}), False),
        (OurPorts(Ledger(), {NodeName("worker-1"): frozenset()}), False),
    ],
    ids=[
        "a rail's",
        "no rail's",
        "had them before us",
        "another had them",
        "a node that no plan knows",
        "too much to be noted",
        "no ledger",
    ],
)
def test_vfs_that_people_made_on_other_ports_are_no_work(ours: OurPorts, counts: bool) -> None:
    assert bool(what_goes_on(a_state([], MADE), [], ours, has_daemon=True)) is counts


def an_entry(kind: Kind, *, created: bool = True) -> LedgerEntry:
    return LedgerEntry(Ref(kind, "n", "x"), created, "uid", (), (), 1, StageName("vfs-ready"))


def test_what_gives_the_operator_work_or_takes_its_daemons_away_is_waited_for() -> None:
    assert takes_vfs([an_entry(kinds.SRIOV_NETWORK_NODE_POLICY)])
    assert takes_vfs([an_entry(kinds.SRIOV_OPERATOR_CONFIG, created=False)])
    assert not takes_vfs([an_entry(kinds.SRIOV_NETWORK), an_entry(kinds.NODE, created=False)])
