"""Seeds of long runs: others every day, and the same again when somebody says which."""

import os
import time

FIRST = "RAILWRIGHT_SEED"
_DAY_S = 86_400
_A_DAY = 1000
"""More than any run takes."""


def rotating(count: int) -> tuple[int, ...]:
    """Give so many seeds from $RAILWRIGHT_SEED on, else from one that the day gives."""
    first = int(os.environ.get(FIRST, int(time.time()) // _DAY_S * _A_DAY))
    return tuple(range(first, first + count))
