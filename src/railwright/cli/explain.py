"""`railwright explain`."""

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common, Wanted
from railwright.cli.progress import progress
from railwright.cli.wanted import intents_in


def explain(key: str, *, wanted: Wanted = Wanted(), common: Common = Common()) -> int:  # noqa: B008 - frozen
    """Say what a key of rails.yaml, an error code or a refusal means, and where the value in force comes from.

    With rails.yaml and a cluster it also gives the value in force.

    Args:
        key: "spec.network.mtu", "gate-timeout", "uplink-would-be-cut"; "all" lists every key and code.
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
