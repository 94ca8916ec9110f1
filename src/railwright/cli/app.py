"""The command table; each command is imported when it runs, so that `--help` starts fast."""

import sys
from pathlib import Path

from cyclopts import App, CycloptsError

from railwright.core.version import __version__

COMMANDS = {
    "discover": "Read what is there; changes nothing.",
    "plan": "Show what would be done: stages, objects, risks, reasons, and the difference to the cluster.",
    "render": "Write the plan as files for kustomize and Argo CD.",
    "apply": "Do it: stage by stage, each with a gate; interrupt and resume at any time.",
    "status": "Show where each stage stands.",
    "clean": "Remove what apply made and put back what it changed; nothing else.",
    "workload": "Print the pod and job that use the rails, with everything they need.",
    "images": "List every image the plan needs, as an oc-mirror image set.",
    "explain": "Say what a key of rails.yaml, an error code or a decision means.",
    "demo": "The whole job on a simulated cluster; no cluster needed.",
}
_USAGE_ERROR = 2

_HELP = """Take a cluster with NVIDIA GPUs and ConnectX NICs to proven GPUDirect RDMA, and say why when it isn't.

Start with `railwright demo`: the whole job on a simulated cluster, no cluster needed.
"""


def make_app(name: str = "railwright") -> App:
    """Build the table; `name` is how the person called it ("oc railwright")."""
    app = App(name=name, help=_HELP, version=__version__, help_format="plaintext", result_action="return_value")
    for command, meaning in COMMANDS.items():
        app.command(f"railwright.cli.{command}:{command}", name=command, help=meaning)
    app.register_install_completion_command()
    return app


def called_as(argument_zero: str) -> str:
    """Name the program the way it was called: kubectl and oc find plugins as `kubectl-NAME` and `oc-NAME`."""
    stem = Path(argument_zero).stem
    return stem.replace("-", " ", 1) if stem.startswith(("oc-", "kubectl-")) else "railwright"


def main(arguments: list[str]) -> int:
    """
    Run one command.

    Returns:
        The exit code, as core/errors.py has it: wrong use is 2.
    """
    app = make_app(called_as(sys.argv[0]))
    try:
        result = app(arguments, exit_on_error=False)
    except CycloptsError:
        return _USAGE_ERROR
    return result if isinstance(result, int) else 0
