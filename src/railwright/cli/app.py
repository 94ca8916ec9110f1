"""
The command table; each command is imported when it runs.

`--help` and `--version` are answered without the parser of options: importing it takes longer than they may.
"""

import shlex
import sys
from typing import TYPE_CHECKING

from railwright.cli.overview import COMMANDS, PURPOSE, overview
from railwright.core.version import __version__

if TYPE_CHECKING:
    from cyclopts import App

    from railwright.core.errors import UsageError

_READ_ARCHIVES = frozenset({"discover", "doctor", "images", "plan", "status", "workload"})
"""Commands that say something useful of an archive in place of a cluster."""
_TAKE_A_FILE = frozenset({"apply", "clean", "doctor", "images", "plan", "render", "status", "verify", "workload"})
"""Commands with -f."""


def make_app(name: str = "railwright") -> "App":
    """Build the table; `name` is how the person called it ("oc railwright")."""
    from cyclopts import App, Parameter

    from railwright.cli.flowing import Flowing

    app = App(
        name=name,
        help=PURPOSE,
        version=__version__,
        help_format="plaintext",
        help_formatter=Flowing(),
        result_action="return_value",
        # Every flag is off, and every list empty, unless it is given: a second spelling for that helps nobody.
        default_parameter=Parameter(negative="", negative_iterable="", show_default=_default_shown),
    )
    for command in COMMANDS:
        app.command(f"railwright.cli.{command}:{command}", name=command)
    app.register_install_completion_command()
    return app


def _default_shown(default: object) -> str | None:
    return None if default is None or default is False else str(default)


def called_as(argument_zero: str) -> str:
    """Name the program the way it was called: kubectl and oc find plugins as `kubectl-NAME` and `oc-NAME`."""
    stem = argument_zero.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").removesuffix(".py")
    return stem.replace("-", " ", 1) if stem.startswith(("oc-", "kubectl-")) else "railwright"


def main(arguments: list[str]) -> int:
    """
    Run one command.

    Returns:
        The exit code, as core/errors.py has it: wrong use is 2.
    """
    name = called_as(sys.argv[0])
    match arguments:
        case [] | ["--help"] | ["-h"]:
            return _told(overview(name))
        case ["--version"]:
            return _told(f"{__version__}\n")
        case _:
            return _run(name, arguments)


def _told(text: str) -> int:
    from railwright.cli.streams import write_result
    from railwright.core.errors import UsageError

    try:
        write_result(text)
    except UsageError as error:
        return _wrong(error)
    return 0


def _wrong(error: "UsageError") -> int:
    from railwright.cli.edge import show_error
    from railwright.cli.options import Common

    show_error(error, Common())
    return error.exit_code


def _where_it_belongs(name: str, command: str, tokens: list[str]) -> str:
    """Say with which option a file or folder that was given bare is read; empty where none is among these words."""
    from pathlib import Path

    for token in tokens:
        path = Path(token)
        try:
            if not path.exists():
                continue
        except (OSError, ValueError):
            # Words that can be no path.
            continue
        if command in _TAKE_A_FILE and path.suffix in {".yaml", ".yml"}:
            return f"{name} {command} -f {shlex.quote(token)}"
        if command in _READ_ARCHIVES:
            return f"{name} {command} --cluster {shlex.quote(f'bundle:{token}')}"
    return ""


def _run(name: str, arguments: list[str]) -> int:
    from cyclopts import CycloptsError, RepeatArgumentError, UnusedCliTokensError

    from railwright.cli.streams import unwritten
    from railwright.core.errors import UsageError

    try:
        result = make_app(name)(arguments, exit_on_error=False, print_error=False)
    except CycloptsError as wrong:
        known = f"{name} {arguments[0]} --help" if arguments[0] in COMMANDS else f"{name} --help"
        if isinstance(wrong, RepeatArgumentError) and wrong.token.keyword in {"--file", "-f"}:
            known = "several fabrics go into one file, parted by lines of ---; --name picks one of them"
        if isinstance(wrong, UnusedCliTokensError):
            known = _where_it_belongs(name, arguments[0], wrong.unused_tokens or []) or known
        return _wrong(UsageError(str(wrong), hint=known))
    except SystemExit:
        # Of the printer of --help, whose reader has seen enough (`| head`); no command ends so.
        return 0
    except OSError as error:
        # A command translates its own: this is the text of its --help.
        return _wrong(unwritten(error))
    return result if isinstance(result, int) else 0
