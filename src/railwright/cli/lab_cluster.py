"""`railwright lab cluster`."""

import sys
from pathlib import Path

from railwright.cli.options import Common
from railwright.cli.progress import progress
from railwright.cli.streams import write_result
from railwright.core.errors import UsageError
from railwright.lab.cluster.shape import Shape as ClusterShape
from railwright.lab.cluster.standing import down, kubeconfig, run_in, status, up

_ACTIONS = "up, down, status, shell NODE [COMMAND], kubeconfig"
_TIMED_OUT = 4


async def cluster(
    action: str | None, words: tuple[str, ...], shape: ClusterShape, definitions: Path | None, common: Common
) -> int:
    """
    Do one thing with the virtual cluster.

    Args:
        action: up, down, status, shell or kubeconfig.
        words: for shell: the node, and what to run there; without that, lines of standard input.
        shape, definitions: for up.

    Returns:
        The exit code.
    """
    match action:
        case "up":
            write_result(await up(shape, progress(quiet=common.quiet), definitions))
        case "down":
            write_result(await down())
        case "status":
            write_result(await status())
        case "kubeconfig":
            write_result(kubeconfig())
        case "shell":
            return await _shell(words)
        case _:
            raise UsageError(f"lab cluster does not know {action or 'what to do'}", hint=f"one of: {_ACTIONS}")
    return 0


async def _shell(words: tuple[str, ...]) -> int:
    if not words:
        raise UsageError("which node?", hint="railwright lab cluster shell node-1 'rdma link'")
    node, *commands = words
    code = 0
    for line in [" ".join(commands)] if commands else sys.stdin:
        done = await run_in(node, line)
        write_result(done.out)
        sys.stderr.write(done.err)
        code = done.exit_code if done.exit_code is not None else _TIMED_OUT
    return code
