"""With one right less than its role has, each command names the verb and the resource, and has written nothing."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from scenario.test_least_rights import AROUND, PODS_RUN_S, jobs_of
from support.guarded import guarded
from support.scenarios import Yes, intents_for, open_for

from railwright import api
from railwright.core.needs import Need, least
from railwright.core.objects import kind_of
from railwright.pipeline.roles import RoleWish, grant_of
from railwright.ports.world import World
from railwright.report.rbac import Grant, roles_of

APPLIED_FIRST = frozenset({"verify", "clean"})


async def a_world(command: str) -> tuple[World, tuple[api.Intent, ...]]:
    world, intents = await open_for("roce"), intents_for("shared", "roce")
    await world.clock.sleep(PODS_RUN_S)
    if command in APPLIED_FIRST:
        await api.apply(world, intents, approval=Yes(), until=api.StageName("networks-attached"))
    return world, intents


def said_by(answer: object) -> str:
    match answer:
        case api.Prepared():
            return api.plan_document(answer.plan, answer.manifests, answer.changes).text
        case api.Snapshot():
            return api.snapshot_document(answer).text
        case api.StatusRecord():
            return api.status_document(answer).text
        case _:
            return api.diagnosis_document(answer).text  # type: ignore[arg-type]  # the reading commands have no other


def one_of_each(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Choose one right for each verb on each resource: those that differ in their name alone are asked for alike."""
    return tuple({(need.group, need.resource, need.verb): need for need in needs}.values())


async def what_goes_unnamed(command: str) -> list[str]:
    """Run a command without each of its rights in turn; name those of which it does not say what is missing."""
    world, intents = await a_world(command)
    grant = grant_of(command, RoleWish(await api.plan(world, intents)), AROUND)
    for obj in roles_of(grant):
        if kind_of(obj).kind == "Namespace":
            await world.cluster.apply(obj, field_manager="administrator")
    served = {(item.kind.group, item.plural) for item in await world.cluster.served_kinds()}
    # Of what is not served nothing is asked; to look through one door of several is enough.
    rights = [
        need for need in one_of_each(least(grant.needs)) if not need.held and (need.group, need.resource) in served
    ]
    assert len(rights) > 20
    return [text for need in rights if (text := await _unnamed(world, intents, grant, need))]


async def _unnamed(world: World, intents: tuple[api.Intent, ...], grant: Grant, need: Need) -> str:
    left = tuple(item for item in grant.needs if not (need.holds(item) or item == need))
    limited, cluster = guarded(world, roles_of(replace(grant, needs=left)))
    try:
        said = said_by(await jobs_of(intents)[grant.command](limited))
    except api.RailwrightError as error:
        said = error.message
    resource = f"{need.resource}.{need.group}" if need.group else need.resource
    if cluster.writes:
        return f"{need}: wrote {cluster.writes[0]}"
    return "" if f"{need.verb} {resource}" in " ".join(said.split()) else f"{need}: {said[:200]}"


@pytest.mark.parametrize("command", ["discover", "plan", "status", "doctor", "apply", "verify", "clean"])
async def test_a_right_that_is_missing_is_named_before_the_first_write(command: str) -> None:
    assert await what_goes_unnamed(command) == []
