"""`railwright discover`."""

import math

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common
from railwright.cli.progress import progress


def discover(
    *,
    node: list[str] | None = None,
    local: bool = False,
    node_timeout_s: float = 30.0,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Read what is there: cluster, operators, nodes, GPUs, NICs and which is near which; changes nothing.

    Args:
        node: only these nodes; may be given several times.
        local: this machine instead of a cluster.
        node_timeout_s: deadline for each node, in seconds.
        common: cluster and output.
    """

    async def action() -> int:
        if not 0 < node_timeout_s < math.inf:
            message = f"--node-timeout-s {node_timeout_s:g}: expected a number of seconds above 0"
            raise api.UsageError(message, hint="leave it out for 30 seconds")
        seen = progress(quiet=common.quiet)
        if local:
            return show(api.hardware_document(await api.discover_local(timeout_s=node_timeout_s)), common)
        async with await api.open_cluster(common.cluster) as world:
            scope = api.Scope(nodes=tuple(api.NodeName(name) for name in node or ()), node_timeout_s=node_timeout_s)
            return show(api.snapshot_document(await api.discover(world, scope, progress=seen)), common)

    return run(action, common)
