"""What a run did not cover: said in the closing list of `make test`, never skipped in silence."""

import os
from pathlib import Path

LIST = "RAILWRIGHT_UNCOVERED"
"""Environment variable that names the file of the closing list, a line an entry."""


def record(what: str, why: str) -> None:
    """Add one line to the closing list, once; without a list the skip reason of the test says it."""
    named = os.environ.get(LIST)
    if not named:
        return
    line = f"{what}: {why}\n"
    file = Path(named)
    if not file.exists() or line not in file.read_text():
        with file.open("a") as out:
            out.write(line)
