"""The writing half of a Cluster that is only read: every call is refused, and says why."""

from collections.abc import Sequence
from typing import ClassVar, NoReturn

from railwright.core.errors import Refused
from railwright.core.objects import FIELD_MANAGER, KubeObject, Ref, ref_of
from railwright.ports.cluster import ExecResult


def refuse(what: str) -> NoReturn:
    """Refuse to change an archive. Raises Refused."""
    message = f"an archive is read only: cannot {what}"
    raise Refused(message, hint="give the cluster itself: --cluster CONTEXT")


class ReadOnly:
    """What a Cluster of an archive answers to whoever wants to change something."""

    _when: ClassVar[str] = ""

    async def apply(
        self,
        obj: KubeObject,
        *,
        field_manager: str = FIELD_MANAGER,
        take_over: bool = False,
        dry_run: bool = False,
    ) -> KubeObject:
        """Refuse."""
        del field_manager, take_over, dry_run
        refuse(f"apply {ref_of(obj)}{self._when}")

    async def patch(self, ref: Ref, merge_patch: KubeObject, *, dry_run: bool = False) -> KubeObject:
        """Refuse."""
        del merge_patch, dry_run
        refuse(f"patch {ref}{self._when}")

    async def delete(self, ref: Ref, *, uid: str = "", dry_run: bool = False) -> None:
        """Refuse."""
        del uid, dry_run
        refuse(f"delete {ref}{self._when}")

    async def exec(
        self, namespace: str, pod: str, container: str, command: Sequence[str], *, stdin: str = "", timeout_s: float
    ) -> ExecResult:
        """Refuse: the inside of nodes is read through the Node port."""
        del container, stdin, timeout_s
        refuse(f"run {' '.join(command[:1])} in {namespace}/{pod}{self._when}")
