"""`railwright render`."""

from pathlib import Path

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common, Wanted
from railwright.cli.progress import progress
from railwright.cli.wanted import required_intents
from railwright.cli.write import write_files


def render(
    *,
    to: Path,
    wanted: Wanted = Wanted(),  # noqa: B008 - frozen
    unchecked: bool = False,
    openshift: str | None = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Write the plan as kustomize folders, one a stage, for `oc apply -k` and Argo CD; the same bytes from run to run.

    Args:
        to: the folder to write; new, empty, or written by render before.
        wanted: the wanted state.
        unchecked: with --openshift: render what has a risk, too, although no node was looked at.
        openshift: render for this OpenShift version ("4.20") without a cluster.
        common: cluster and output.
    """

    async def action() -> int:
        intents = required_intents(wanted)
        if openshift:
            decided, files = api.render_offline(intents, openshift, unchecked=unchecked)
        else:
            async with await api.open_cluster(common.cluster) as world:
                prepared = await api.plan(world, intents, progress=progress(quiet=common.quiet))
                api.refuse_if_refused(prepared.plan)
                decided, files = prepared.plan, api.render(prepared, unchecked=unchecked)
        write_files(to, files)
        return show(api.files_document(decided, files, str(to)), common)

    return run(action, common)
