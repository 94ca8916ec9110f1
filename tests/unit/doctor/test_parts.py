"""Parts of a cluster, as archives hold them: what is there is judged, what is not is UNKNOWN, and hiding brings no finding."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

import pytest
from support.doctoring import CATALOG, snapshot_of
from support.gathers import by_default, must_gather
from support.scenarios import applied, intents_for, open_for

from railwright import api
from railwright.adapters.archive.open import open_archive
from railwright.core import kinds
from railwright.core.objects import Kind
from railwright.doctor.coverage import kinds_of_failure
from railwright.doctor.diagnose import diagnose
from railwright.doctor.model import Diagnosis, Rule, Severity
from railwright.doctor.registry import RULES
from railwright.facts.model import Scope, Snapshot, Unseen

DECLARED = sorted({kind for rule in RULES for need in (*rule.info.needs, *rule.info.uses) for kind in need.kinds})
NEEDED = [
    pytest.param(rule, kind, id=f"{rule.info.name}: {kind}")
    for rule in RULES
    for need in rule.info.needs
    if not need.is_inside
    for kind in sorted(need.kinds)
]
T = TypeVar("T")
WHY = "not-collected: not in the archive"


def hidden(snapshot: Snapshot, kind: Kind, step: int = 0) -> Snapshot:
    """Leave a kind out, or all but each second object of it, and say so."""
    cluster = snapshot.cluster
    refs = [ref for ref in sorted(cluster.objects) if ref.kind == kind]
    gone = set(refs) - set(refs[::step] if step else ())

    def left(items: Sequence[T], is_meant: bool) -> tuple[T, ...]:
        return tuple(items) if not is_meant else tuple(items[::step]) if step else ()

    return replace(
        snapshot,
        nodes=left(snapshot.nodes, kind == kinds.NODE),
        cluster=replace(
            cluster,
            objects={ref: obj for ref, obj in cluster.objects.items() if ref not in gone},
            pods=left(cluster.pods, kind == kinds.POD),
            events=left(cluster.events, kind == kinds.EVENT),
            pools=left(cluster.pools, kind == kinds.MACHINE_CONFIG_POOL),
            whole_in=frozenset(item for item in cluster.whole_in if item[0] != kind),
            unseen=(*cluster.unseen, *(Unseen(what, WHY) for what in (str(kind), *map(str, gone)))),
        ),
    )


@cache
def after(method: str, fabric: str) -> Snapshot:
    """Read a cluster on which everything was applied and works."""

    async def read() -> Snapshot:
        async with await open_for(fabric) as world:
            await applied(world, intents_for(method, fabric))
            return await api.discover(world, Scope(events=True, logs=True))

    return asyncio.run(read())


@cache
def rules_that_find(world: str) -> frozenset[str]:
    return frozenset(str(item.rule) for item in diagnose(snapshot_of(world), CATALOG).findings)


@pytest.mark.parametrize(("rule", "kind"), NEEDED)
def test_no_rule_passes_without_a_kind_that_it_needs(rule: Rule, kind: Kind) -> None:
    said = diagnose(hidden(snapshot_of("adopt"), kind), CATALOG, only=[rule.info.name])
    assert said.passed == ()
    assert any(WHY in item.why or "no node was seen" in item.why for item in said.unknown)


@pytest.mark.parametrize("kind", DECLARED, ids=str)
@pytest.mark.parametrize("world", ["adopt+whole-and-sliced", "adopt+node-left-cordoned", "vanilla"])
def test_hiding_a_kind_or_a_half_of_it_brings_no_finding(world: str, kind: Kind) -> None:
    for step in (0, 2):
        part = diagnose(hidden(snapshot_of(world), kind, step), CATALOG)
        assert {str(item.rule) for item in part.findings} <= rules_that_find(world)


@pytest.mark.parametrize("kind", DECLARED, ids=str)
@pytest.mark.parametrize(("method", "fabric"), [("shared", "infiniband"), ("host-device", "roce"), ("sriov", "roce")])
def test_hiding_a_kind_of_a_cluster_that_works_brings_nothing_grave(method: str, fabric: str, kind: Kind) -> None:
    for step in (0, 2):
        part = diagnose(hidden(after(method, fabric), kind, step), CATALOG)
        assert [item.cause for item in part.findings if item.severity is not Severity.INFO] == []


@pytest.mark.parametrize("world", sorted({item.world for item in kinds_of_failure() if item.world}))
def test_no_rule_looks_at_what_it_does_not_name(world: str) -> None:
    said = diagnose(snapshot_of(world), CATALOG)
    assert [item for item in said.unknown if item.missing == "what it says it looks at"] == []


# --- a must-gather as support cases have them: without the images of NVIDIA's operators --------------------------------


def gathered(world: str, tmp_path) -> Diagnosis:
    async def read() -> Diagnosis:
        async with await api.open_cluster(f"sim:{world}") as opened:
            await must_gather(opened, tmp_path, inspects=by_default)
        async with open_archive(tmp_path) as archive:
            return (await api.diagnose(archive)).diagnosis

    return asyncio.run(read())


@pytest.mark.parametrize(
    ("world", "rule"),
    [
        ("adopt+nodes-tainted", "selector-fits-no-node"),
        ("adopt+vfs-in-lockdown", "vfs-not-as-wanted"),
        ("adopt+vfs-without-sriov", "vfs-not-as-wanted"),
        ("adopt+vfs-in-lockdown", "resource-not-allocatable"),
        ("adopt+channel-gone", "operator-not-installed"),
        ("adopt+approval-forgotten", "operator-not-installed"),
        ("adopt+policy-vfio", "device-policy-unusable"),
        ("adopt+pool-paused-for-good", "rollout-does-not-end"),
        ("adopt+node-left-cordoned", "rollout-does-not-end"),
    ],
)
def test_a_default_must_gather_shows_what_is_in_it(world: str, rule: str, tmp_path) -> None:
    said = gathered(world, tmp_path)
    assert rule in {str(item.rule) for item in said.findings}


def test_a_default_must_gather_of_a_cluster_that_works_shows_nothing_and_passes_little(tmp_path) -> None:
    said = gathered("adopt", tmp_path)
    assert [item.cause for item in said.findings if item.severity is Severity.ERROR] == []
    assert "NicClusterPolicy" in {
        word
        for item in said.unknown
        if item.rule == "device-policy-unusable"
        for word in item.missing.replace(".", " ").split()
    }
    entered = {str(rule.info.name) for rule in RULES if any(need.is_inside for need in rule.info.needs)}
    assert not entered & set(said.passed)
    assert not [name for name in said.passed if name.startswith("log-")]
