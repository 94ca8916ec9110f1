"""The reading commands as a library's user runs them: each gives its exit code and everything that it would show."""

from collections.abc import Awaitable, Callable, Mapping

from railwright import api
from railwright.ports.world import World


def reading_commands(intents: tuple[api.Intent, ...]) -> Mapping[str, Callable[[World], Awaitable[tuple[int, str]]]]:
    """Give them by name; `plan` plans these."""

    async def status(world: World) -> tuple[int, str]:
        record = await api.status(world)
        return record.exit_code, api.to_json(api.status_document(record))

    async def plan(world: World) -> tuple[int, str]:
        prepared = await api.plan(world, intents)
        document = api.plan_document(prepared.plan, prepared.manifests, prepared.changes)
        return document.exit_code, api.to_json(document)

    async def discover(world: World) -> tuple[int, str]:
        document = api.snapshot_document(await api.discover(world))
        return document.exit_code, api.to_json(document)

    async def doctor(world: World) -> tuple[int, str]:
        document = api.diagnosis_document(await api.diagnose(world))
        return document.exit_code, api.to_json(document)

    return {"status": status, "plan": plan, "discover": discover, "doctor": doctor}
