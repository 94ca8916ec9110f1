"""
How calls grow with the cluster, on a real kube-apiserver: with pages of lists and with labels to write, and nothing else.

The figures are those of benchmarks/scale.py, which also says what each command costs.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.uncovered import record

from railwright.adapters.cluster import PAGE_SIZE
from railwright.apply.gate import REREAD_S
from railwright.facts.troubles import MOST_LOGS

pytestmark = [pytest.mark.bed, pytest.mark.soak]

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "scale.py"
FEW, MANY = 30, 300
"""Of the few, every list is one page; of the many, pods are nine."""
WAIT_S = 40.0
LABEL_CALLS = {"get nodes": 1, "patch nodes": 1, "patch configmaps": 1}
"""What admitting a node takes: read it, write the ledger, write its labels."""
MOST_BESIDE = 40
"""Calls that depend on how long it takes, not on how many nodes there are: the ledger's lease, a node that moved."""


@pytest.fixture(scope="module", params=["shared", "sriov"])
def figures(request):
    argv = [sys.executable, SCRIPT, request.param, "--nodes", str(FEW), str(MANY), "--wait", str(WAIT_S)]
    told = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(told.stdout)[request.param]
    if "not_covered" in found:
        record("tests/bed: how calls grow with the cluster", found["not_covered"])
        pytest.skip(found["not_covered"])
    return found


def pages_of(call: str, pods: int) -> int:
    """How many pages a list may have."""
    return -(-pods // PAGE_SIZE) if call == "list pods" else 1


@pytest.mark.parametrize("command", ["discover", "plan", "status", "doctor"])
def test_reading_takes_more_pages_and_no_more_calls(figures, command):
    few, many = (figures[str(size)][command] for size in (FEW, MANY))
    assert few["calls"]["list nodes"] >= 1
    allowed = {call: count * pages_of(call, figures[str(MANY)]["pods"]) for call, count in few["calls"].items()}
    # Below five of a kind they are read by name, else as one list.
    allowed["list nodes"] += 1
    allowed["get pods/log"] = MOST_LOGS
    more = {call: count for call, count in many["calls"].items() if count > allowed.get(call, 0)}
    assert more == {}
    assert many["node_reads"] == MANY


def test_apply_takes_three_calls_a_node_and_beside_them_what_it_takes_with_few(figures):
    few, many = (figures[str(size)]["apply"] for size in (FEW, MANY))
    assert many["labelled"] == MANY - FEW
    beside = {
        size: Counter(found["calls"])
        - Counter({call: times * found["labelled"] for call, times in LABEL_CALLS.items()})
        for size, found in ((FEW, few), (MANY, many))
    }
    # A gate reads again every quarter of a minute: on a busy machine it does so more often with many nodes.
    again = 1 + many["wall_s"] / REREAD_S
    pods = figures[str(MANY)]["pods"]
    more = {
        call: count
        for call, count in beside[MANY].items()
        if count > (beside[FEW][call] + again) * pages_of(call, pods) + (MOST_BESIDE if call in LABEL_CALLS else 0)
    }
    assert more == {}


def test_a_gate_that_waits_watches_and_looks_again_at_whole_lists_only(figures):
    for size in (FEW, MANY):
        found = figures[str(size)]["wait"]
        pages = pages_of("list pods", figures[str(size)]["pods"])
        verbs = Counter()
        for call, count in found["calls"].items():
            verbs[call.partition(" ")[0]] += -(-count // pages) if call == "list pods" else count
        rounds = 1 + found["wall_s"] / REREAD_S
        assert found["calls"].get("get nodes", 0) == 0
        assert found["node_reads"] == 0
        assert found["calls"].get("list nodes", 0) <= rounds
        assert verbs["list"] + verbs["get"] <= 10 * rounds
        assert verbs["watch"] + verbs["begin"] <= 20
