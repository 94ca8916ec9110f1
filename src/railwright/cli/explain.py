"""`railwright explain`."""

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common, Wanted
from railwright.cli.progress import progress
from railwright.cli.wanted import intents_in


def explain(key: str, /, *, wanted: Wanted = Wanted(), common: Common = Common()) -> int:  # noqa: B008 - frozen
    """Say what a key of rails.yaml, an error, a refusal, a stage or a rule means, and where a value comes from.

    With rails.yaml and a cluster it also gives the value in force.

    Args:
        key: "spec.network.mtu", "gate-timeout", "uplink-would-be-cut", "vfs-ready"; "all" lists every one.
        wanted: the wanted state.
        common: cluster and output.
    """

    async def action() -> int:
        intents = intents_in(wanted)
        decisions: tuple[api.Decision, ...] = ()
        if intents is not None and (wanted.file is not None or common.cluster):
            async with await api.open_cluster(common.cluster) as world:
                prepared = await api.plan(world, intents, progress=progress(quiet=common.quiet))
                decisions = prepared.plan.decisions
        return show(api.explain(key, decisions), common)

    return run(action, common)
