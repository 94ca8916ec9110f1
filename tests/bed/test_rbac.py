"""
Each command under exactly the role that `explain --rbac` prints, on a real API server that writes everything down.

No request is denied, and every rule is used by a request that no other rule of the role allows: without it that
request would be denied. The programs that judge it read the API server's audit log and nothing of ours.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

import pytest
from support.audit import Asked, requests_of
from support.bed_world import UNSEEN_FACTOR, Bed, CleanPace, bed_of
from support.limited import limited, put, subject_of, user_of
from support.plane import crds_folder, session_plane
from support.uncovered import record

from railwright.adapters.needs import asking_needs, client_needs, door_needs
from railwright.adapters.nodes import DOORS
from railwright.catalog.load import load_catalog
from railwright.core.errors import PermissionMissing
from railwright.core.kinds import NAMESPACE, POD
from railwright.core.needs import Need, least
from railwright.core.objects import KubeObject, labels_of, ref_of
from railwright.core.verdicts import Verdict
from railwright.facts.discover import discover
from railwright.facts.model import Scope
from railwright.intent.parse import parse_intents
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
from railwright.ports.approval import Question
from railwright.ports.progress import Silent
from railwright.ports.world import World
from railwright.report.rbac import Grant, roles_of

pytestmark = pytest.mark.bed
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: shared, fabric: roce, workloadNamespaces: [training]}
"""
AROUND = Surroundings(client_needs(), asking_needs(), door_needs())
INTENTS, CATALOG = parse_intents(RAILS), load_catalog()
READS = frozenset({"get", "list", "watch"})


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


@pytest.fixture(scope="module")
def audited() -> Iterator[Plane]:
    with session_plane(crds_folder(), audited=True) as answer:
        if isinstance(answer, Unavailable):
            record("tests/bed: roles on a real control plane", answer.reason)
            pytest.skip(answer.reason)
        yield answer


async def planned(bed: Bed) -> Prepared:
    return await prepare(bed.world, INTENTS, CATALOG, Silent())


async def granted(bed: Bed, prepared: Prepared, command: str, *, unprivileged: bool = False) -> Grant:
    """What `explain --rbac COMMAND -f rails.yaml --cluster ...` prints, less namespaces that no simulated world has."""
    account = f"{command}-unprivileged" if unprivileged else command
    wish = RoleWish(prepared, verify=False, unprivileged=unprivileged, subject=subject_of(account))
    grant = grant_of(command, wish, AROUND)
    there = {obj["metadata"]["name"] for obj in (*(await bed.client.list(NAMESPACE))[0], *grant.made)}
    return replace(grant, needs=tuple(need for need in grant.needs if need.namespace in there | {""}))


def uses(need: Need, asked: Asked) -> bool:
    if need.resource.startswith("/"):
        return asked.url == need.resource or (need.resource.endswith("*") and asked.url.startswith(need.resource[:-1]))
    place = (need.group, need.resource) == (asked.group, asked.resource)
    where = need.namespace in {"", asked.namespace} and need.name in {"", asked.name}
    # The audit log has one verb a request: that opening a websocket is authorized as create, too, is tested by itself.
    return place and where and (need.verb in asked.verbs or need.resource == "pods/exec")


async def judged(plane: Plane, bed: Bed, grant: Grant, account: str = "") -> tuple[list[str], list[str]]:
    """Name what was denied, and what nobody used though this API server serves it and somebody is behind the door."""
    assert plane.audit_log is not None
    requests = requests_of(plane.audit_log, user_of(account or grant.command))
    denied = {f"{item.verb} {item.resource}{item.url} {item.namespace}" for item in requests if item.was_denied}
    served = {(item.kind.group, item.plural) for item in await bed.world.cluster.served_kinds()}
    pods = [(ref_of(pod).namespace, labels_of(pod)) for pod in (await bed.client.list(POD))[0]]
    manned = {door.namespace for door in DOORS if any(_is_at(door.labels, labels) for _, labels in pods)}
    unused = [
        str(need)
        for need in least(grant.needs)
        if not need.held
        and (need.resource.startswith("/") or (need.group, need.resource.partition("/")[0]) in served)
        and (need.resource != "pods/exec" or need.namespace in manned)
        and not any(uses(need, item) for item in requests)
    ]
    return sorted(denied), unused


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
    "doctor": lambda world: examine(world, None, CATALOG, Silent(), Wish()),
    "collect": _collect,
}


async def test_apply_and_status_are_denied_nothing_under_their_roles_and_use_all_of_them(audited: Plane) -> None:
    async with bed_of(audited, "h200-roce") as bed:
        grant = await granted(bed, await planned(bed), "apply")
        async with limited(audited, bed, "apply", roles_of(grant)) as world:
            applied = await apply_fabrics(world, INTENTS, CATALOG, Silent(), Yes())
            assert [(item.stage, item.reason) for item in applied.stages if item.verdict is Verdict.FAIL] == []
            assert applied.exit_code == 0
        assert await judged(audited, bed, grant) == ([], [])
        grant = await granted(bed, await planned(bed), "status")
        async with limited(audited, bed, "status", roles_of(grant)) as world:
            assert (await status(world, None, CATALOG, Silent())).exit_code == 0
        assert await judged(audited, bed, grant) == ([], [])


@pytest.mark.soak
async def test_reading_is_denied_nothing_under_its_roles_and_uses_all_of_them(audited: Plane) -> None:
    async with bed_of(audited, "h200-roce") as bed:
        assert (await apply_fabrics(bed.world, INTENTS, CATALOG, Silent(), Yes())).exit_code == 0
        prepared, found = await planned(bed), {}
        for command, ask in READING.items():
            grant = await granted(bed, prepared, command)
            async with limited(audited, bed, command, roles_of(grant)) as world:
                await ask(world)
            found[command] = await judged(audited, bed, grant)
        assert found == dict.fromkeys(found, ([], []))
        away: set[str] = set()
        for command in ("discover", "doctor"):
            account = f"{command}-unprivileged"
            grant = await granted(bed, prepared, command, unprivileged=True)
            async with limited(audited, bed, account, roles_of(grant)) as world:
                await READING[command](world)
            denied, unused = await judged(audited, bed, grant, account)
            assert unused == []
            away |= set(denied)
        assert {line.split()[1] for line in away} == {"pods/exec", "securitycontextconstraints"}


@pytest.mark.soak
async def test_clean_is_denied_nothing_under_its_role_and_uses_all_of_it(audited: Plane) -> None:
    async with bed_of(audited, "h200-roce") as bed:
        assert (await apply_fabrics(bed.world, INTENTS, CATALOG, Silent(), Yes())).exit_code == 0
        grant = await granted(bed, await planned(bed), "clean")
        bed.actors.quiet_factor = UNSEEN_FACTOR
        async with limited(audited, bed, "clean", roles_of(grant)) as world:
            removed = await clean(world, None, CATALOG, CleanPace(bed), Yes())
        assert [(item.ref, item.reason) for item in removed.objects if item.verdict is not Verdict.PASS] == []
        assert await judged(audited, bed, grant) == ([], [])


@pytest.mark.soak
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
            objects = roles_of(replace(whole, needs=left, subject=subject))
            await put(bed, [_renamed(obj, account) for obj in objects])
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


def _renamed(obj: KubeObject, name: str) -> KubeObject:
    if obj["kind"] == "Namespace":
        return obj
    renamed = {**obj, "metadata": {**obj["metadata"], "name": name}}
    return {**renamed, "roleRef": {**obj["roleRef"], "name": name}} if "roleRef" in obj else renamed
