"""Entry points of `railwright`, `oc railwright` and `kubectl railwright`, and of what completes the last two."""

import signal
import sys
from types import FrameType

_INTERRUPTED = 130
_ENDINGS = ("SIGTERM", "SIGHUP")
"""What a scheduler, a service manager or a terminal that closes sends; not every system has both."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        _end_as_after_ctrl_c()
        from railwright.cli.streams import prepare_streams

        prepare_streams()
        from railwright.cli.app import main as run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        # Before the command began, or after it ended: what happens inside it is told by the command.
        sys.stderr.write("interrupted\n")
        code = _INTERRUPTED
    sys.exit(code)


def complete() -> None:
    """Complete a command line for kubectl or oc, which ask by running `kubectl_complete-railwright`."""
    from railwright.cli.completion import complete as candidates

    sys.stdout.write(candidates(sys.argv[1:]))


def _end_as_after_ctrl_c() -> None:
    """Let whoever asks us to end wait for the same care that Ctrl-C gets; what a parent ignores (nohup) stays ignored."""
    for name in _ENDINGS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def _interrupt(_number: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C does now, before a command runs and after it (cli/edge.py has its own); a shell's background ignores it."""
    after_ctrl_c = signal.getsignal(signal.SIGINT)
    if not callable(after_ctrl_c):
        raise KeyboardInterrupt
    after_ctrl_c(signal.SIGINT, frame)


if __name__ == "__main__":
    main()
