"""
`python -m railwright.dataplane [--timeout-s N]`: one request as JSON on standard input, its reply on standard output.

Exit code 0 whenever there is a reply, whatever it says; 2 for a request that is none.
"""

import signal
import sys

from railwright.dataplane.bounded import run_bounded
from railwright.dataplane.wire import read_request

_DEFAULT_LIMIT_S = 120.0


def main(arguments: list[str]) -> int:
    """Serve one request."""
    try:
        limit_s = (
            float(arguments[arguments.index("--timeout-s") + 1]) if "--timeout-s" in arguments else _DEFAULT_LIMIT_S
        )
        request = read_request(sys.stdin.readline())
    except (ValueError, IndexError) as error:
        sys.stderr.write(f"not a request: {error}\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.stdout.write(run_bounded(request, limit_s) + "\n")
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
