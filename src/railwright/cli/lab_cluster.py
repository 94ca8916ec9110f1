"""`railwright lab cluster`."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from railwright.cli.edge import run
from railwright.cli.lab_limits import check_counts
from railwright.cli.options import Common
from railwright.cli.progress import progress
from railwright.cli.streams import write_result
from railwright.core.errors import UsageError
from railwright.lab.cluster import standing
from railwright.lab.cluster.shape import Shape

_ACTIONS = "up, status, kubeconfig, shell NODE [COMMAND], down"
_TIMED_OUT = 4

_Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"])]

cluster = App(
    name="cluster",
    help="""A Kubernetes cluster of virtual machines on this machine, with real kubelets and soft-RoCE; experimental.

    Bytes move between its pods. For shared RoCE, plan, apply up to its last gate and clean were seen on it; verify has
    not passed. `lab cluster COMMAND --help` says what a command takes.
    """,
)


@cluster.default
def nothing() -> int:
    """Say what there is to do, where nothing was asked for."""

    async def action() -> int:
        raise UsageError("lab cluster: what to do?", hint=f"one of: {_ACTIONS}")

    return run(action, Common())


@cluster.command
def up(
    *, nodes: int = 2, rails: int = 2, definitions: Path | None = None, bare: bool = False, quiet: _Quiet = False
) -> int:
    """Start the cluster, and leave it up for you; one a machine.

    Args:
        nodes: how many nodes, 2 to 8.
        rails: how many rails each node has, 1 to 4.
        definitions: a folder of published CustomResourceDefinitions, to be checked by; without it operators' objects
            are taken as they are.
        bare: an OpenShift cluster without operators, for `railwright apply` to do its whole job on; without it
            NVIDIA's Network Operator is there already, to try things by hand.
        quiet: no progress on stderr.
    """

    async def action() -> int:
        check_counts(nodes, rails)
        write_result(await standing.up(Shape(nodes, rails, bare=bare), progress(quiet=quiet), definitions))
        return 0

    return run(action, Common(quiet=quiet))


@cluster.command
def status(*, quiet: _Quiet = False) -> int:
    """Show the nodes, and the device resources that they offer.

    Args:
        quiet: no progress on stderr.
    """

    async def action() -> int:
        write_result(await standing.status())
        return 0

    return run(action, Common(quiet=quiet))


@cluster.command
def kubeconfig(*, quiet: _Quiet = False) -> int:
    """Print the path of an ordinary kubeconfig; its context is railwright-virtual-cluster.

    Args:
        quiet: no progress on stderr.
    """

    async def action() -> int:
        write_result(standing.kubeconfig())
        return 0

    return run(action, Common(quiet=quiet))


@cluster.command
def shell(
    node: Annotated[str, Parameter(name="NODE")],
    /,
    *command: Annotated[str, Parameter(name="COMMAND", allow_leading_hyphen=True)],
    quiet: _Quiet = False,
) -> int:
    """Run a command as root on a node; without one, each line of standard input. Exit code: the last command's.

    Args:
        node: "node-1".
        command: what to run there, such as 'rdma link'.
        quiet: no progress on stderr.
    """

    async def action() -> int:
        code = 0
        for line in [" ".join(command)] if command else sys.stdin:
            done = await standing.run_in(node, line)
            write_result(done.out)
            sys.stderr.write(done.err)
            code = done.exit_code if done.exit_code is not None else _TIMED_OUT
        return code

    return run(action, Common(quiet=quiet))


@cluster.command
def down(*, quiet: _Quiet = False) -> int:
    """End the cluster; nothing is left running.

    Args:
        quiet: no progress on stderr.
    """

    async def action() -> int:
        write_result(await standing.down())
        return 0

    return run(action, Common(quiet=quiet))
