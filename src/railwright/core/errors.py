"""
Every error that a caller of railwright may see.

    RailwrightError
    +-- UsageError            2   wrong use of a command, or a wrong file
    |   +-- IntentError       2   mistakes in rails.yaml, all of them at once
    +-- ClusterError          3   the cluster cannot be reached, or refuses us
    |   +-- ClusterUnreachable    transient
    |   +-- ClusterBusy           transient: 429, webhook unreachable, etcd leader lost
    |   +-- LoginExpired
    |   +-- PermissionMissing
    |   +-- KindNotServed
    |   +-- NotFound
    |   +-- WriteConflict         another field manager owns a field, or the object moved
    |   +-- ObjectRefused         the API server or a webhook refuses the object for good
    +-- StageError            4   a stage failed, or was not ready in time
    +-- Refused               7   what the cluster's facts make harmful, or what was not confirmed
    +-- NotCollected          6   an archive does not hold what was asked for
    +-- Interrupted         130

`code` is kebab-case and stable, and has a page in docs/reference/errors. `transient` is the retry decision.
"""

from collections.abc import Mapping
from typing import ClassVar


class RailwrightError(Exception):
    """Base of all; `message` says what, where, expected and seen; `hint` is the next command."""

    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1
    transient: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", context: Mapping[str, str] | None = None) -> None:
        """Keep the parts apart: `context` holds names and values for JSON output."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.context: dict[str, str] = dict(context or {})


class UsageError(RailwrightError):
    """The command was used wrongly, or a file it names cannot be used."""

    code = "usage"
    exit_code = 2


class IntentError(UsageError):
    """rails.yaml has mistakes; the message lists every one, a line each."""

    code = "intent-invalid"


class ClusterError(RailwrightError):
    """The cluster cannot be reached, or refuses."""

    code = "cluster"
    exit_code = 3


class ClusterUnreachable(ClusterError):
    """No answer: refused, reset, timed out, name not found, certificate not trusted."""

    code = "cluster-unreachable"
    transient = True


class ClusterBusy(ClusterError):
    """The API server asks to come back later (429, 503, a webhook that does not answer)."""

    code = "cluster-busy"
    transient = True


class LoginExpired(ClusterError):
    """401: the token or certificate is not accepted (any more)."""

    code = "login-expired"


class PermissionMissing(ClusterError):
    """403: the message names verb, resource and namespace."""

    code = "permission-missing"


class KindNotServed(ClusterError):
    """The API server does not serve this kind: its definition is not installed."""

    code = "kind-not-served"


class NotFound(ClusterError):
    """The object does not exist."""

    code = "not-found"


class WriteConflict(ClusterError):
    """Another field manager owns a field that we would change, or the object changed since it was read."""

    code = "write-conflict"


class ObjectRefused(ClusterError):
    """The API server or an admission webhook refuses the object; sending it again does not help."""

    code = "object-refused"


class StageError(RailwrightError):
    """A stage failed, or its gate was not ready in time."""

    code = "gate-timeout"
    exit_code = 4


class Refused(RailwrightError):
    """What the cluster's facts make harmful or impossible, or what was not confirmed."""

    code = "refused"
    exit_code = 7


class NotCollected(RailwrightError):
    """An archive does not hold what was asked for; never an empty answer in its place."""

    code = "not-collected"
    exit_code = 6


class Interrupted(RailwrightError):
    """The person stopped the command; what was done is in the ledger."""

    code = "interrupted"
    exit_code = 130


EXIT_CODE_ORDER = (130, 1, 3, 2, 7, 4, 5, 6, 0)
"""When several apply, the first of these wins."""


def first_exit_code(codes: set[int]) -> int:
    """Choose the exit code that wins when several apply; 0 for none."""
    return next((code for code in EXIT_CODE_ORDER if code in codes), 0)
