"""Ask for every right before the first write: half a job under half a role helps nobody."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from railwright.apply.retry import retried
from railwright.core import kinds
from railwright.core.errors import ClusterBusy, PermissionMissing
from railwright.core.needs import Need, least, plural_of
from railwright.facts.reading import together
from railwright.pipeline.model import Prepared
from railwright.plan.limits import NOT_READABLE
from railwright.plan.model import Plan, PlanWarning
from railwright.ports.world import World
from railwright.report.tables import count

_AT_ONCE = 8
_MOST_NAMED = 20


async def check_rights(world: World, command: str, needs: Iterable[Need], *, hint: str = "") -> None:
    """
    Ask the API server whether we may do all of this.

    Args:
        hint: what to do about it; "" where `explain --rbac` prints a role that holds all of it.

    Raises:
        PermissionMissing: naming each verb and resource that is lacking; nothing was written.
    """
    slots = asyncio.Semaphore(_AT_ONCE)

    async def ask(need: Need) -> bool:
        async with slots:
            return await retried(
                lambda: world.cluster.may(need.verb, need.group, need.resource, need.namespace, need.name), world.clock
            )

    async def lacking(wide: Need, each: tuple[Need, ...]) -> tuple[Need, ...]:
        """One question for all names of a kind; only where the answer is no, one for each."""
        if await ask(wide) or (wide.held and await ask(_ESCALATES)):
            return ()
        named = tuple(need for need in each if need.name)
        answers = await together(ask(need) for need in named)
        return tuple(need for need, may in zip(named, answers, strict=True) if not may) or (() if named else (wide,))

    answers = await together(lacking(wide, each) for wide, each in _by_resource(needs).items())
    missing = sorted({need for several in answers for need in several})
    if missing:
        shown = [str(need) for need in missing[:_MOST_NAMED]]
        more = [f"and {len(missing) - _MOST_NAMED} more"] if len(missing) > _MOST_NAMED else []
        rights = count(len(missing), "right")
        raise PermissionMissing(
            "\n".join((f"{command} needs {rights} that this login lacks; nothing was written:", *shown, *more)),
            hint=hint or f"railwright explain --rbac {command} prints a role that holds them",
            context={"missing": str(len(missing))},
        )


def hidden_from(plan: Plan) -> tuple[str, ...]:
    """Say what was not read of what a plan is made by, and why."""
    return tuple(
        f"{item.where}: {item.message}" if item.where else item.message
        for item in plan.warnings
        if item.code == NOT_READABLE
    )


def with_warnings(prepared: Prepared) -> Prepared:
    """Show what could not be read among the warnings of the plan."""
    said = tuple(PlanWarning(NOT_READABLE, problem) for problem in prepared.problems)
    return replace(prepared, plan=replace(prepared.plan, warnings=(*prepared.plan.warnings, *said)))


def check_reads(command: str, prepared: Prepared, *, begun: bool = False) -> None:
    """
    Stop a command that writes where part of what it decides by was not read: what is not seen is not absent.

    Args:
        begun: it has written already, maybe; then what it did is in the ledger.

    Raises:
        PermissionMissing: this login may not read it; naming each verb and resource.
        ClusterBusy: the API server failed to answer for it.
    """
    missing = tuple(dict.fromkeys((*hidden_from(prepared.plan), *prepared.problems)))
    if not missing:
        return
    context = {"missing": str(len(missing))}
    until_now = "what was done until now is in the ledger" if begun else "nothing was written"
    if _has_failed(prepared.plan):
        raise ClusterBusy(
            "\n".join((f"{command} cannot decide by what the cluster did not answer; {until_now}:", *missing)),
            hint=f"run railwright {command} again once the API server answers for all of these",
            context=context,
        )
    raise PermissionMissing(
        "\n".join((f"{command} cannot decide by what this login may not read; {until_now}:", *missing)),
        hint=f"railwright explain --rbac {command} prints a role that holds what it takes",
        context=context,
    )


def _has_failed(plan: Plan) -> bool:
    """Whether something was not read for another reason than that it is denied."""
    return any(
        item.code == NOT_READABLE and item.where and not item.message.startswith(PermissionMissing.code)
        for item in plan.warnings
    )


_ESCALATES = Need(kinds.ROLE.group, plural_of(kinds.ROLE), "escalate")
"""Who may escalate makes Roles that grant more than they hold."""


def _by_resource(needs: Iterable[Need]) -> Mapping[Need, tuple[Need, ...]]:
    found: dict[Need, list[Need]] = defaultdict(list)
    for need in least(needs):
        found[replace(need, name="")].append(need)
    return {wide: tuple(each) for wide, each in found.items()}
