"""`railwright plan`."""

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common, Wanted
from railwright.cli.progress import progress
from railwright.cli.wanted import required_intents


def plan(*, wanted: Wanted = Wanted(), common: Common = Common()) -> int:  # noqa: B008 - frozen
    """Show what would be done: stages, objects, risks, reasons, and the difference to the cluster.

    Exit code 0 with changes too; 7 when the plan is refused.

    Args:
        wanted: the wanted state.
        common: cluster and output.
    """

    async def action() -> int:
        intents = required_intents(wanted)
        async with await api.open_cluster(common.cluster) as world:
            prepared = await api.plan(world, intents, progress=progress(quiet=common.quiet))
            return show(api.plan_document(prepared.plan, prepared.manifests, prepared.changes), common)

    return run(action, common)
