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
    pod: bool = False,
    job: bool = False,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Print the pod and job that use the rails: networks, resources, SCC, NCCL and UCX settings with their reasons.

    Without -f and without ./rails.yaml: of the fabric in the ledger; of several --name picks one. Exit code 7 when the
    plan is refused.

    Args:
        wanted: the wanted state.
        namespace: where it will run; default: the fabric's first workload namespace.
        gpus: GPUs for each pod; default: all of a node.
        image: the container image; default: a placeholder that has to be replaced.
        pod: only the pod, without the Job and without what apply has made: ServiceAccount, SCC, Role and binding.
        job: likewise, only the Job.
        common: cluster and output.
    """

    async def action() -> int:
        check_image(image)
        if pod and job:
            raise api.UsageError("--pod and --job leave each other out", hint="leave out both to print both")
        async with await api.open_cluster(common.cluster) as world:
            intents = intents_in(wanted)
            prepared = await api.plan(world, intents or (), progress=progress(quiet=common.quiet))
            api.refuse_if_refused(prepared.plan)
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
            shown = api.only_kind(made, "Pod" if pod else "Job") if pod or job else made
            return show(api.workload_document(prepared.plan, shown), common)

    return run(action, common)
