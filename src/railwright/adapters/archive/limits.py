"""
How much of an archive is looked at: whoever made it may mean harm, and memory must stay small whatever is in it.

Measured: must-gathers of clusters with hundreds of nodes have some 10**5 files; the largest list of objects, pods of
one namespace, some 10**7 bytes; one object is below 1.5 MiB, the limit of etcd (etcd documentation, System limits).
"""

from railwright.core.errors import UsageError

MAX_FILES = 500_000
MAX_PATH_BYTES = 4096
MAX_DEPTH = 64
"""Folders in folders."""
MAX_HEADER_BYTES = 64 << 10
"""Of an extended tar header: it holds a path or two."""
MAX_OBJECT_BYTES = 8 << 20
"""One object, as text."""
MAX_FILE_BYTES = 1 << 30
"""One file of objects; it is read an object at a time."""
MAX_RECORD_BYTES = 16 << 20
"""One node record."""
MAX_NESTING = 100
"""Levels in one object; Kubernetes' own deepest schemas stay below 40."""
MAX_VALUES = 500_000
"""Values in one object."""
LOG_BYTES = 4 << 20
"""The end of a log; the rest is not looked at."""
MAX_EXPANDED_BYTES = 64 << 30
"""What a compressed archive may expand to."""
MAX_KEPT_BYTES = 4 << 30
"""What of it is kept in a temporary file, without a name, while the archive is open."""
FREE_EXPANDED_BYTES = 1 << 30
MAX_RATIO = 500
"""Beyond FREE_EXPANDED_BYTES a file that expands more than this is a bomb; logs reach 50."""


def too_much(where: str, what: str) -> UsageError:
    """Make the error for something that goes beyond a limit."""
    return UsageError(
        f"{where}: {what}; it was not read any further", hint="make sure that it is what you were sent, and unhurt"
    )
