"""
Each command under exactly the role that `explain --rbac` prints, on a real API server that writes everything down.

No request is denied, and every rule is used by a request that no other rule of the role allows: without it that
request would be denied. The programs that judge it read the API server's audit log and nothing of ours.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

import pytest
from support.audit import requests_of
from support.bed_world import UNSEEN_FACTOR, Bed, CleanPace, bed_of
from support.guarded import READS
from support.least import denied_of, unused_of
from support.limited import limited, put, subject_of, user_of
from support.plane import crds_folder, session_plane
from support.scenarios import Yes, intents_for
from support.uncovered import record

from railwright.adapters.needs import asking_needs, client_needs, door_needs
from railwright.adapters.nodes import DOORS
from railwright.catalog.load import load_catalog
from railwright.core.errors import PermissionMissing
from railwright.core.kinds import NAMESPACE, POD
from railwright.core.marks import LEDGER_NAMESPACE
from railwright.core.needs import Need, least
from railwright.core.objects import KubeObject, labels_of, ref_of
from railwright.core.verdicts import Verdict
from railwright.facts.discover import discover
from railwright.facts.model import Scope
from railwright.intent.model import Intent
from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.programs import Unavailable
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.clean import clean
from railwright.pipeline.collect import gather
from railwright.pipeline.diagnose import Asked as Wish
from railwright.pipeline.diagnose import examine
from railwright.pipeline.model import Prepared
from railwright.pipeline.needs import Extent, writing_needs
from railwright.pipeline.prepare import prepare
from railwright.pipeline.rights import check_rights
from railwright.pipeline.roles import RoleWish, Surroundings, grant_of
from railwright.pipeline.status import status
from railwright.ports.progress import Silent
from railwright.ports.world import World
from railwright.report.rbac import Grant, roles_of

pytestmark = pytest.mark.bed
AROUND = Surroundings(client_needs(), asking_needs(), door_needs())
INTENTS, CATALOG = intents_for("shared", "roce"), load_catalog()
BARE = [f"list configmaps {LEDGER_NAMESPACE}"]
"""No Role can be in the ledger's namespace before it is there; that it is denied then reads as no ledger."""


@pytest.fixture(scope="module")
def audited() -> Iterator[Plane]:
    with session_plane(crds_folder(), audited=True) as answer:
        if isinstance(answer, Unavailable):
            record("tests/bed: roles on a real control plane", answer.reason)
            pytest.skip(answer.reason)
        yield answer


async def planned(bed: Bed, intents: tuple[Intent, ...] = INTENTS) -> Prepared:
    return await prepare(bed.world, intents, CATALOG, Silent())


async def granted(
    bed: Bed, prepared: Prepared, command: str, *, account: str = "", unprivileged: bool = False
) -> Grant:
    """What `explain --rbac COMMAND -f rails.yaml --cluster ...` prints, less namespaces that no simulated world has."""
    wish = RoleWish(prepared, verify=False, unprivileged=unprivileged, subject=subject_of(account or command))
    grant = grant_of(command, wish, AROUND)
    there = {obj["metadata"]["name"] for obj in (*(await bed.client.list(NAMESPACE))[0], *grant.made)}
    return replace(grant, needs=tuple(need for need in grant.needs if need.namespace in there | {""}))


async def judged(plane: Plane, bed: Bed, grant: Grant, account: str = "") -> tuple[list[str], list[str]]:
    """Name what was denied, and what nobody used though this API server serves it and somebody is behind the door."""
    assert plane.audit_log is not None
    requests = requests_of(plane.audit_log, user_of(account or grant.command))
    served = {(item.kind.group, item.plural) for item in await bed.world.cluster.served_kinds()}
    pods = [(ref_of(pod).namespace, labels_of(pod)) for pod in (await bed.client.list(POD))[0]]
    manned = {door.namespace for door in DOORS if any(_is_at(door.labels, labels) for _, labels in pods)}
    return denied_of(requests), unused_of(grant.needs, requests, served, manned)


def _is_at(selector: str, labels: object) -> bool:
    key, _, value = selector.partition("=")
    return isinstance(labels, dict) and key in labels and value in {"", labels[key]}


async def _collect(world: World) -> object:
    return await gather(world, Scope(), lambda *_: None, Silent())


async def _discover(world: World) -> object:
    return await discover(world.cluster, world.node, Scope(), Silent(), world.clock)


READING: dict[str, Callable[[World], Awaitable[object]]] = {
    "discover": _discover,
    "plan": lambda world: prepare(world, INTENTS, CATALOG, Silent()),
    "status": lambda world: status(world, INTENTS, CATALOG, Silent()),
    "doctor": lambda world: examine(world, None, CATALOG, Silent(), Wish()),
    "collect": _collect,
}


async def read_under_roles(plane: Plane, bed: Bed, when: str) -> dict[str, tuple[list[str], list[str]]]:
    """Run every reading command under its role; give what was wrong with each."""
    found, prepared = {}, await planned(bed)
    for command, ask in READING.items():
        account = f"{command}-{when}"
        grant = await granted(bed, prepared, command, account=account)
        async with limited(plane, bed, account, _renamed_all(grant, account)) as world:
            await ask(world)
        found[command] = await judged(plane, bed, grant, account)
    return found


@pytest.mark.soak
async def test_before_any_apply_reading_is_denied_nothing_but_a_ledger_that_is_not_there(audited: Plane) -> None:
    async with bed_of(audited, "h200-roce") as bed:
        found = await read_under_roles(audited, bed, "before")
        assert {command: denied for command, (denied, _) in found.items()} == dict.fromkeys(READING, BARE)
        # There are no pods of operators yet whose logs could be read, and no stage has begun whose gate status looks at.
        assert {need for name, (_, unused) in found.items() if name != "status" for need in unused} <= {"get pods/log"}


async def test_apply_and_status_are_denied_nothing_under_their_roles_and_use_all_of_them(audited: Plane) -> None:
    await _applied_and_seen(audited, "shared")


@pytest.mark.soak
@pytest.mark.parametrize("method", ["sriov", "host-device"])
async def test_apply_and_status_of_another_method_are_held_to_their_roles(audited: Plane, method: str) -> None:
    await _applied_and_seen(audited, method)


async def _applied_and_seen(plane: Plane, method: str) -> None:
    intents = intents_for(method, "roce")
    async with bed_of(plane, "h200-roce") as bed:
        account = f"apply-{method}"
        grant = await granted(bed, await planned(bed, intents), "apply", account=account)
        async with limited(plane, bed, account, _renamed_all(grant, account)) as world:
            applied = await apply_fabrics(world, intents, CATALOG, Silent(), Yes())
            assert [(item.stage, item.reason) for item in applied.stages if item.verdict is Verdict.FAIL] == []
            assert applied.exit_code == 0
        assert await judged(plane, bed, grant, account) == ([], [])
        account = f"status-{method}"
        grant = await granted(bed, await planned(bed, intents), "status", account=account)
        async with limited(plane, bed, account, _renamed_all(grant, account)) as world:
            assert (await status(world, None, CATALOG, Silent())).exit_code == 0
        assert await judged(plane, bed, grant, account) == ([], [])


async def test_reading_what_was_applied_is_held_to_its_roles_with_and_without_what_equals_root(audited: Plane) -> None:
    async with bed_of(audited, "h200-roce") as bed:
        assert (await apply_fabrics(bed.world, INTENTS, CATALOG, Silent(), Yes())).exit_code == 0
        assert await read_under_roles(audited, bed, "after") == dict.fromkeys(READING, ([], []))
        await _held_without_what_equals_root(audited, bed)


async def _held_without_what_equals_root(plane: Plane, bed: Bed) -> None:
    prepared, away = await planned(bed), set()
    for command in ("discover", "status", "doctor"):
        account = f"{command}-unprivileged"
        grant = await granted(bed, prepared, command, account=account, unprivileged=True)
        async with limited(plane, bed, account, _renamed_all(grant, account)) as world:
            answer = await READING[command](world)
        assert getattr(answer, "exit_code", 6) == 6
        denied, unused = await judged(plane, bed, grant, account)
        assert (command, unused) == (command, [])
        away |= {line.split()[1] for line in denied}
    assert away == {"pods/exec", "securitycontextconstraints"}


async def test_clean_is_denied_nothing_under_its_role_and_uses_all_of_it(audited: Plane) -> None:
    async with bed_of(audited, "h200-roce") as bed:
        assert (await apply_fabrics(bed.world, INTENTS, CATALOG, Silent(), Yes())).exit_code == 0
        grant = await granted(bed, await planned(bed), "clean")
        bed.actors.quiet_factor = UNSEEN_FACTOR
        async with limited(audited, bed, "clean", roles_of(grant)) as world:
            removed = await clean(world, None, CATALOG, CleanPace(bed), Yes())
        assert [(item.ref, item.reason) for item in removed.objects if item.verdict is not Verdict.PASS] == []
        denied, unused = await judged(audited, bed, grant)
        # What is gone at once is not waited for, and a ledger whose last ConfigMap is full goes on in a next one.
        waiting = {need for need in unused if need.startswith(("list ", "watch "))}
        assert (denied, set(unused) - waiting - {"create configmaps in namespace railwright"}) == ([], set())


async def test_a_right_that_is_missing_is_named_before_the_first_write(audited: Plane) -> None:
    async with bed_of(audited, "h200-roce") as bed:
        prepared = await planned(bed)
        whole = await granted(bed, prepared, "apply")
        asked = {need for need in least(whole.needs) if any(need.holds(item) for item in _writes(prepared))}
        chosen = {(need.group, need.verb): need for need in sorted(asked)}
        accounts = {f"apply-without-{number}": need for number, need in enumerate(chosen.values())}
        for account, need in accounts.items():
            left = tuple(item for item in whole.needs if not item.holds(need))
            subject = subject_of(account)
            await put(bed, _renamed_all(replace(whole, needs=left, subject=subject), account))
        prepared = await planned(bed)
        for account, need in accounts.items():
            async with limited(audited, bed, account, ()) as world:
                with pytest.raises(PermissionMissing) as told:
                    await check_rights(world, "apply", writing_needs(Extent(prepared, prove=False)))
                assert str(need) in told.value.message

        account = next(iter(accounts))
        async with limited(audited, bed, account, ()) as world:
            with pytest.raises(PermissionMissing):
                await apply_fabrics(world, INTENTS, CATALOG, Silent(), Yes())
        assert audited.audit_log is not None
        requests = requests_of(audited.audit_log, user_of(account))
        assert {item.resource for item in requests if item.verb not in READS} == {"selfsubjectaccessreviews"}


def _writes(prepared: Prepared) -> tuple[Need, ...]:
    return tuple(need for need in writing_needs(Extent(prepared, prove=False)) if need.verb not in READS)


def _renamed_all(grant: Grant, name: str) -> list[KubeObject]:
    """Name roles after whom they are for: several of one command stand beside each other."""
    return [_renamed(obj, name) for obj in roles_of(grant)]


def _renamed(obj: KubeObject, name: str) -> KubeObject:
    if obj["kind"] == "Namespace":
        return obj
    renamed = {**obj, "metadata": {**obj["metadata"], "name": name}}
    return {**renamed, "roleRef": {**obj["roleRef"], "name": name}} if "roleRef" in obj else renamed
