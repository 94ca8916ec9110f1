"""`railwright collect`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common
from railwright.cli.progress import progress
from railwright.cli.ways import Ways, scope_of


def collect(
    *,
    to: Path,
    redact: Annotated[bool, Parameter(negative="--no-redact")] = True,
    node: list[str] | None = None,
    parallel: int = 16,
    node_timeout_s: float = 30.0,
    ways: Ways = Ways(),  # noqa: B008 - frozen
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Write everything that discover, plan, status and the doctor read into one file; changes nothing.

    Read it with --cluster bundle:FILE. Secrets are never read. Exit code 6 when something could not be had.

    Args:
        to: the file to write, a gzipped tar file; nothing is overwritten.
        redact: take out secrets; replace public and hardware addresses and serial numbers with pseudonyms.
        node: the inside of only these nodes; may be given several times.
        parallel: how many nodes are read at once.
        node_timeout_s: deadline for each node, in seconds.
        ways: how nodes are looked into.
        common: cluster and output.
    """

    async def action() -> int:
        scope = scope_of(node, parallel, node_timeout_s)
        async with await api.open_cluster(common.cluster, ways.access) as world:
            manifest = await api.collect(world, to, scope, redact=redact, progress=progress(quiet=common.quiet))
        return show(api.collect_document(manifest, to), common)

    return run(action, common)
