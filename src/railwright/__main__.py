"""Entry point of `railwright`, `oc railwright` and `kubectl railwright`."""

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        from railwright.cli.streams import prepare_streams

        prepare_streams()
        from railwright.cli.app import main as run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        # Before the command began, or after it ended: what happens inside it is told by the command.
        sys.stderr.write("interrupted\n")
        code = _INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
