"""`railwright workload`."""

import sys
from typing import Annotated

from cyclopts import Parameter

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common, Wanted, check_image
from railwright.cli.progress import progress
from railwright.cli.wanted import intents_in


def workload(
    *,
    wanted: Wanted = Wanted(),  # noqa: B008 - frozen
    namespace: Annotated[str | None, Parameter(name=["--namespace", "-n"])] = None,
    gpus: int | None = None,
    image: str | None = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Print the pod and job that use the rails: networks, resources, SCC, NCCL and UCX settings with their reasons.

    Args:
        wanted: the wanted state; with several fabrics --name picks one.
        namespace: where it will run; default: the fabric's first workload namespace.
        gpus: GPUs for each pod; default: all of a node.
        image: the container image; default: a placeholder that has to be replaced.
        common: cluster and output.
    """

    async def action() -> int:
        check_image(image)
        async with await api.open_cluster(common.cluster) as world:
            intents = intents_in(wanted)
            prepared = await api.plan(world, intents or (), progress=progress(quiet=common.quiet))
            fabric = api.choose_fabric(prepared.plan, wanted.name)
            made = api.workload(
                prepared.plan,
                fabric.name,
                namespace=namespace or next(iter(fabric.intent.workload_namespaces), "default"),
                gpus=gpus,
                image=image,
            )
            if fabric.name not in prepared.ledger.fabrics and not prepared.problems:
                sys.stderr.write(
                    f"warning: fabric {fabric.name} was never applied to this cluster: its networks and resources are not"
                    " there, and pods would not start; run railwright apply first\n"
                )
            return show(api.workload_document(prepared.plan, made), common)

    return run(action, common)
