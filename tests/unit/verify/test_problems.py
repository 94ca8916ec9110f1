"""Whose half a failure is blamed on, and what stands out in the place where it ran."""

from dataclasses import replace

import pytest
from support.verifying import endpoints, layout, verified

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.dataplane.model import EvidenceRequest, Problem, Reply
from railwright.verify.differences import differences
from railwright.verify.model import Way
from railwright.verify.problems import blame_of, problem_of

WAY = Way(NodeName("a"), RailName("rail0"), NodeName("b"), RailName("rail0"))


@pytest.mark.parametrize(
    ("source", "target", "blamed"),
    [
        ("", "no-gid", "b"),
        ("no-memory-to-lock", "peer-lost", "a"),
        ("transfer-failed", "peer-lost", None),
        ("port-down", "peer-lost", "a"),
        ("port-down", "port-down", None),
        ("no-device", "no-device", "a"),
        ("died", "no-device", "b"),
        ("no-pkey", "", "a"),
        ("pkeys-unread", "", None),
    ],
)
def test_a_half_that_lacks_something_of_its_own_is_blamed(source: str, target: str, blamed: str | None) -> None:
    """One port that goes down takes the other's link with it; nothing else is shared."""
    replies = tuple(Reply("engine", Problem(code, "") if code else None) for code in (source, target))
    found = blame_of((replies[0], replies[1]), WAY)
    assert (found and found[0]) == blamed


@pytest.mark.parametrize(
    ("code", "verdict"), [("no-pkey", Verdict.FAIL), ("pkeys-unread", Verdict.UNKNOWN), ("tool-missing", Verdict.SKIP)]
)
def test_what_was_not_looked_at_is_not_known(code: str, verdict: Verdict) -> None:
    """A table that cannot be read says nothing of the port, and a port that is not in the partition was looked at."""
    found, _ = problem_of((Reply("engine", Problem(code, "")), Reply("engine", Problem("peer-lost", ""))), WAY)
    assert found is verdict


@pytest.mark.parametrize(
    ("mode", "ports", "said"), [("exclusive", 0, True), ("exclusive", 1, False), ("shared", 0, False)]
)
async def test_a_namespace_into_which_no_device_was_moved_is_said(mode: str, ports: int, said: bool) -> None:
    cell = next(iter((await verified(2, "rail-drops", rails=1)).cells))
    places = {}
    for endpoint in endpoints(2, rails=1):
        reply = await endpoint.run(EvidenceRequest(), timeout_s=1.0)
        assert reply.evidence is not None
        evidence = replace(reply.evidence, netns_mode=mode, ports=reply.evidence.ports[:ports])
        places[endpoint.node] = replace(reply, evidence=evidence)
    assert ("none is in this one" in differences(cell, places, layout(2, rails=1))) is said
