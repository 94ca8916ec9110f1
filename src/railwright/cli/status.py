"""`railwright status`."""

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common, Wanted
from railwright.cli.progress import progress
from railwright.cli.wanted import intents_in


def status(*, wanted: Wanted = Wanted(), common: Common = Common()) -> int:  # noqa: B008 - frozen
    """Show where each stage stands, from the cluster; changes nothing.

    Without -f and without ./rails.yaml: of the fabrics in the ledger, as they were applied. With a file: of what it
    wants, which need not be what was applied; the head says so. Exit code 4 when a stage fails or still goes on, 6 when
    something could not be seen.

    Args:
        wanted: the wanted state.
        common: cluster and output.
    """

    async def action() -> int:
        async with await api.open_cluster(common.cluster) as world:
            record = await api.status(world, intents_in(wanted), progress=progress(quiet=common.quiet))
            fabrics = [intent.name for intent in record.intents]
            if wanted.name not in {None, *fabrics}:
                known = ", ".join(fabrics) or "none"
                message = f"no fabric is named {wanted.name!r} (there are: {known})"
                raise api.UsageError(message, hint="leave --name out: stages are shared by all fabrics")
            return show(api.status_document(record), common)

    return run(action, common)
