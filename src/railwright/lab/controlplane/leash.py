"""
Run a program that ends when the one that started it ends, however that came: `leash.py PARENT PROGRAM ARGUMENT...`.

A program of its own, started with Python's -I: the kernel is asked for a SIGKILL at the parent's death, and the program
takes this process over, with its id. Elsewhere than on Linux the program only runs.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, argv: list[str]) -> None:
    """Become the program; a parent that ended before the kernel was asked is noticed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            return
    os.execvp(argv[0], argv)  # noqa: S606 - it is told what to run by ours


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
