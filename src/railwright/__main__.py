"""Entry point of `railwright`, `oc railwright` and `kubectl railwright`."""

import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    from railwright.cli.app import main as run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
