"""
A network and a server that fail on a seeded schedule, between railwright and a real API server.

Each command is tried some times under faults, then once without. However the tries ended: nothing is written but what
the plan listed, apply again converges, clean gives the cluster back as it was, and each failure is an error for people.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from support.bed_world import UNSEEN_FACTOR, Bed, CleanPace, bed_of
from support.faulty_proxy import Schedule, faulty_proxy
from support.left_after_clean import left_at_rest
from support.reading_commands import reading_commands
from support.seeds import rotating
from support.through_faults import Job, Tries, bug_files
from support.whole_state import read_state

from railwright import api
from railwright.catalog.load import load_catalog
from railwright.core.needs import plural_of
from railwright.intent.parse import parse_intents
from railwright.lab.controlplane.plane import Plane
from railwright.pipeline.prepare import prepare
from railwright.ports.approval import Question
from railwright.ports.progress import Silent
from railwright.ports.world import World

pytestmark = pytest.mark.bed
CONFIGURATIONS = [
    (method, fabric) for fabric in ("roce", "infiniband") for method in ("shared", "host-device", "sriov")
]
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: east-west}}
spec: {{method: {method}, fabric: {fabric}, workloadNamespaces: [training]}}
"""
CATALOG = load_catalog()
SEED, IN_SOAK = 20787001, 10
"""In make test; and how many of each configuration in soak, where they are others every day."""
SHARE, FOR_GOOD = 0.06, 0.03
"""An answer that says no ends most commands early: with more of them nothing would be tried of what comes late."""
TRIES, TRIES_IN_SOAK = 1, 3
"""Of apply and of clean under faults, before the one without any."""
ROWS = [
    pytest.param(
        *(method, fabric, SEED, TRIES), marks=() if (method, fabric) == CONFIGURATIONS[0] else pytest.mark.soak
    )
    for method, fabric in CONFIGURATIONS
] + [
    pytest.param(method, fabric, seed, TRIES_IN_SOAK, marks=pytest.mark.soak)
    for method, fabric in CONFIGURATIONS
    for seed in rotating(IN_SOAK)
]
"""Each takes minutes: make test has one."""
_OBJECT = re.compile(
    r"/apis?/(?:(?P<group>[^/]+\.[^/]+|apps|batch|policy)/)?v[^/]+/(?:namespaces/(?P<ns>[^/]+)/)?(?P<plural>[^/]+)/(?P<name>[^/]+)"
)


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


@dataclass(frozen=True)
class Jobs:
    """What is done to a fabric on a bed."""

    bed: Bed
    intents: tuple[api.Intent, ...]

    async def apply(self, world: World) -> tuple[int, str]:
        """Apply to the end, without proof."""
        record = await api.apply(world, self.intents, approval=Yes(), verify=False)
        return record.exit_code, api.to_json(api.apply_document(record))

    async def clean(self, world: World) -> tuple[int, str]:
        """Clean to the end."""
        record = await api.clean(world, approval=Yes(), progress=CleanPace(self.bed))
        return record.exit_code, api.to_json(api.clean_document(record))

    async def listed(self) -> frozenset[tuple[str, str, str]]:
        """What the plan says that it writes: plural, namespace, name."""
        prepared = await prepare(self.bed.world, self.intents, CATALOG, Silent())
        items = prepared.manifests.items
        return frozenset((plural_of(item.ref.kind), item.ref.namespace, item.ref.name) for item in items)


def not_listed(written: Iterable[tuple[str, str]], allowed: frozenset[tuple[str, str, str]]) -> list[str]:
    """Name writes to anything but what is listed, the ledger, and approvals of InstallPlans."""
    found = []
    for method, path in written:
        match = _OBJECT.fullmatch(path)
        place = (match["plural"], match["ns"] or "", match["name"]) if match else ("", "", path)
        ledger = place[1:] == ("railwright", place[2]) and place[0] == "configmaps"
        own = place == ("namespaces", "", "railwright")
        if place not in allowed and not ledger and not own and not (place[0] == "installplans" and method == "PATCH"):
            found.append(f"{method} {path}")
    return sorted(set(found))


async def _through_faults(tries: Tries, name: str, job: Job, seed: int, attempts: int) -> None:
    """Try under faults, then without any: that one must end well."""
    for number in range(attempts):
        tries.proxy.schedule = Schedule(seed * 1000 + number, SHARE, FOR_GOOD)
        if await tries.once(name, job) == 0 and name != "apply":
            break
    tries.proxy.schedule = Schedule(0)
    assert await tries.once(name, job) == 0, "\n".join((*tries.ends, *tries.proxy.done))


@pytest.mark.parametrize(("method", "fabric", "seed", "attempts"), ROWS)
async def test_faults_cost_time_and_nothing_else(
    plane: Plane, method: str, fabric: str, seed: int, attempts: int
) -> None:
    before_bugs = bug_files()
    intents = parse_intents(RAILS.format(method=method, fabric=fabric))
    world_name = "h200-roce" if fabric == "roce" else "h200-ib"
    async with bed_of(plane, world_name) as bed, faulty_proxy(plane.server, Schedule(seed)) as proxy:
        jobs, tries = Jobs(bed, intents), Tries(plane, bed, proxy)
        before, allowed = await read_state(bed.client, bed.kinds), await jobs.listed()
        await _through_faults(tries, "apply", jobs.apply, seed, attempts)
        strays = not_listed(proxy.written, allowed)
        proxy.written.clear()
        assert await tries.once("apply again", jobs.apply) == 0
        again = [path for _, path in proxy.written if "/namespaces/railwright/" not in path]
        for name, job in reading_commands(intents).items():
            proxy.schedule = Schedule(seed + 17, SHARE, FOR_GOOD)
            proxy.written.clear()
            await tries.once(name, job)
            strays += [f"{name}: {path}" for _, path in proxy.written]
        bed.actors.quiet_factor = UNSEEN_FACTOR
        await _through_faults(tries, "clean", jobs.clean, seed + 500, attempts)
        left = await left_at_rest(bed, before)
        told = "\n".join((*tries.ends, *proxy.done))
        assert (tries.broken, strays, again, left, bed.actors.refused) == ([], [], [], (), []), told
    assert bug_files() == before_bugs
