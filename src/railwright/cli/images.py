"""`railwright images`."""

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common, Wanted
from railwright.cli.progress import progress
from railwright.cli.wanted import required_intents


def images(*, wanted: Wanted = Wanted(), common: Common = Common()) -> int:  # noqa: B008 - frozen
    """List every image the plan needs, by node OS and architecture, as an oc-mirror image set with its mirror objects.

    Args:
        wanted: the wanted state.
        common: cluster and output.
    """

    async def action() -> int:
        intents = required_intents(wanted)
        async with await api.open_cluster(common.cluster) as world:
            prepared = await api.plan(world, intents, progress=progress(quiet=common.quiet))
            api.refuse_if_refused(prepared.plan)
            found = api.images(prepared.plan, cluster=prepared.snapshot.cluster)
            return show(api.images_document(prepared.plan, found), common)

    return run(action, common)
