"""
A network and a server that fail on a seeded schedule, between railwright and a real API server.

Each command is tried some times under faults, then once without. However the tries ended: nothing is written but what
the plan listed, apply again converges, clean gives the cluster back as it was, and each failure is an error for people.
"""

import re
from collections.abc import Iterable

import pytest
from support.bed_world import UNSEEN_FACTOR, Bed, CleanPace, bed_of
from support.faulty_proxy import FaultyProxy, Schedule, faulty_proxy
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

pytestmark = [pytest.mark.bed, pytest.mark.soak]
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: shared, fabric: roce, workloadNamespaces: [training]}
"""
INTENTS, CATALOG = parse_intents(RAILS), load_catalog()
IN_SOAK = 6
SHARE, FOR_GOOD = 0.06, 0.03
"""An answer that says no ends most commands early: with more of them nothing would be tried of what comes late."""
TRIES = 3
_OBJECT = re.compile(
    r"/apis?/(?:(?P<group>[^/]+\.[^/]+|apps|batch|policy)/)?v[^/]+/(?:namespaces/(?P<ns>[^/]+)/)?(?P<plural>[^/]+)/(?P<name>[^/]+)"
)


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


async def _apply(world: World) -> tuple[int, str]:
    record = await api.apply(world, INTENTS, approval=Yes(), verify=False)
    return record.exit_code, api.to_json(api.apply_document(record))


READING = reading_commands(INTENTS)


async def listed(bed: Bed) -> frozenset[tuple[str, str, str]]:
    """What the plan says that it writes: plural, namespace, name."""
    prepared = await prepare(bed.world, INTENTS, CATALOG, Silent())
    return frozenset((plural_of(item.ref.kind), item.ref.namespace, item.ref.name) for item in prepared.manifests.items)


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


async def _through_faults(tries: Tries, proxy: FaultyProxy, name: str, job: Job, seed: int) -> None:
    """Try under faults, then without any: that one must end well."""
    for number in range(TRIES):
        proxy.schedule = Schedule(seed * 1000 + number, SHARE, FOR_GOOD)
        if await tries.once(name, job) == 0 and name != "apply":
            break
    proxy.schedule = Schedule(0)
    assert await tries.once(name, job) == 0, "\n".join((*tries.ends, *proxy.done))


@pytest.mark.parametrize("seed", rotating(IN_SOAK))
async def test_faults_cost_time_and_nothing_else(plane: Plane, seed: int) -> None:
    before_bugs = bug_files()
    async with bed_of(plane, "h200-roce") as bed, faulty_proxy(plane.server, Schedule(seed)) as proxy:
        before, allowed = await read_state(bed.client, bed.kinds), await listed(bed)
        tries = Tries(plane, bed, proxy)

        async def cleaned(world: World) -> tuple[int, str]:
            record = await api.clean(world, approval=Yes(), progress=CleanPace(bed))
            return record.exit_code, api.to_json(api.clean_document(record))

        await _through_faults(tries, proxy, "apply", _apply, seed)
        strays = not_listed(proxy.written, allowed)
        proxy.written.clear()
        assert await tries.once("apply again", _apply) == 0
        again = [path for _, path in proxy.written if "/namespaces/railwright/" not in path]
        for name, job in READING.items():
            proxy.schedule = Schedule(seed + 17, SHARE, FOR_GOOD)
            proxy.written.clear()
            await tries.once(name, job)
            strays += [f"{name}: {path}" for _, path in proxy.written]
        bed.actors.quiet_factor = UNSEEN_FACTOR
        await _through_faults(tries, proxy, "clean", cleaned, seed + 500)
        left = await left_at_rest(bed, before)
        told = "\n".join((*tries.ends, *proxy.done))
        assert (tries.broken, strays, again, left, bed.actors.refused) == ([], [], [], (), []), told
    assert bug_files() == before_bugs
