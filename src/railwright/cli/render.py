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
        _refuse_unused(common, openshift=openshift, unchecked=unchecked)
        intents = required_intents(wanted)
        if openshift is not None:
            decided, files = api.render_offline(intents, openshift, unchecked=unchecked)
        else:
            async with await _cluster(common) as world:
                prepared = await api.plan(world, intents, progress=progress(quiet=common.quiet))
                api.refuse_if_refused(prepared.plan)
                decided, files = prepared.plan, api.render(prepared, unchecked=unchecked)
        write_files(to, files)
        return show(api.files_document(decided, files, str(to), unchecked=unchecked), common)

    return run(action, common)


def _refuse_unused(common: Common, *, openshift: str | None, unchecked: bool) -> None:
    """Refuse what would change nothing of what is written. Raises UsageError."""
    if openshift is not None and common.cluster is not None:
        message = "render --openshift has no use for --cluster: it asks no cluster"
        raise api.UsageError(message, hint="leave one of the two out")
    if unchecked and openshift is None:
        message = "render --unchecked has no use without --openshift: the nodes of a cluster are looked at"
        raise api.UsageError(message, hint="leave it out; what a cluster's nodes allow is written anyway")


async def _cluster(common: Common) -> api.World:
    """Open the cluster. Raises UsageError; where none was named, it says that render can do without, too."""
    try:
        return await api.open_cluster(common.cluster)
    except api.UsageError as error:
        if common.cluster is not None:
            raise
        hint = f"{error.hint}; without any cluster: --openshift 4.20 (docs/gitops.md)"
        raise api.UsageError(error.message, hint=hint) from error
