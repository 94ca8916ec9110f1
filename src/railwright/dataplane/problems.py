"""How a half gives up: with a Problem, from wherever it is; nothing outside this package ever sees the exception."""

import errno
import os

from railwright.dataplane.model import Problem


class HalfFailed(Exception):
    """A half that cannot go on; `problem` is what its reply will say."""

    def __init__(self, code: str, message: str, status: str = "") -> None:
        """Take the parts of the Problem."""
        super().__init__(message)
        self.problem = Problem(code, message, status)


def errno_name(number: int) -> str:
    """Name an error number of the kernel, with its words: "ENOMEM (Cannot allocate memory)"."""
    return f"{errno.errorcode.get(number, str(number))} ({os.strerror(number)})"
