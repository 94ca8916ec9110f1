"""
Who writes the ledger now: an annotation on the ledger's first ConfigMap, with a time.

It makes two runs at once a clear message. What keeps them from harming each other are the resourceVersion guards of
the ledger itself; so a lease that was lost is never a danger, and one whose owner died is waited out.
"""

import uuid

from railwright.apply.retry import retried
from railwright.apply.stamps import from_stamp, to_stamp
from railwright.core import kinds
from railwright.core.errors import ClusterError, NotFound, WriteConflict
from railwright.core.marks import LEDGER_LABEL, LEDGER_NAMESPACE
from railwright.core.objects import KubeObject, Ref, annotations_of
from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster

HEAD = Ref(kinds.CONFIG_MAP, LEDGER_NAMESPACE, "railwright-ledger")
HOLDER_ANNOTATION = "railwright.dev/holder"
HOLDER_TIME_ANNOTATION = "railwright.dev/holder-seen"

LEASE_S = 60.0
"""A holder that has not been seen for so long is gone; reading the inside of every node may take half of it."""
RENEW_S = 10.0
_MOST_CONFLICTS = 10
"""Two runs that begin together meet once or twice; more is somebody who writes there all the time."""
_RELEASE_LIMIT_S = 5.0
"""A claim that cannot be given up runs out by itself: not worth a longer wait."""


class Lease:
    """One run's claim to the ledger."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        """Claim nothing yet."""
        self._cluster = cluster
        self._clock = clock
        self._holder = str(uuid.uuid4())
        self._renewed_s: float | None = None
        self._renewed_at = clock.now()

    async def take(self) -> None:
        """
        Become the holder; wait for one that does not renew its claim.

        Raises:
            WriteConflict: another run is at work, or the ledger's head does not hold still.
        """
        waited_since_s = self._clock.monotonic_s()
        conflicts = 0
        while True:
            head = await self._read_head()
            other, age_s = self._other_holder(head)
            if not other or age_s >= LEASE_S:
                if await self._write(head, self._holder):
                    return
                conflicts += 1
                if conflicts >= _MOST_CONFLICTS:
                    raise WriteConflict(
                        f"{HEAD} changed each of the {conflicts} times that it was to be claimed: something writes to it"
                        " all the time",
                        hint=f"oc -n {HEAD.namespace} get configmap {HEAD.name} -o yaml --show-managed-fields says who",
                    )
            elif self._clock.monotonic_s() - waited_since_s > LEASE_S:
                raise running_elsewhere(other)
            await self._clock.sleep(1.0)

    async def renew(self) -> None:
        """
        Say that we are still there, if it was not said for `RENEW_S`.

        Raises:
            WriteConflict: another run took over meanwhile.
        """
        if self._renewed_s is None or self._was_just_said(self._renewed_s):
            return
        for _ in range(3):
            head = await self._read_head()
            other, _ = self._other_holder(head)
            if other:
                raise running_elsewhere(other)
            if await self._write(head, self._holder):
                return
        raise running_elsewhere("unknown")

    def _was_just_said(self, at_s: float) -> bool:
        """
        Decide by both clocks: while a machine sleeps only its wall clock goes on, and others see that one.

        Source: clock_gettime(2), CLOCK_MONOTONIC "does not count time that the system is suspended".
        """
        ago_s = self._clock.monotonic_s() - at_s
        return ago_s < RENEW_S and 0.0 <= (self._clock.now() - self._renewed_at).total_seconds() < RENEW_S

    async def release(self) -> None:
        """Give the claim up, if it is still ours; a ledger that is gone is given up already."""
        if self._renewed_s is None:
            return
        self._renewed_s = None
        try:
            head = await retried(lambda: self._cluster.get(HEAD), self._clock, limit_s=_RELEASE_LIMIT_S)
        except NotFound:
            return
        if annotations_of(head).get(HOLDER_ANNOTATION) == self._holder:
            await self._write(head, None)

    def _other_holder(self, head: KubeObject) -> tuple[str, float]:
        """Name somebody else who holds it, and for how many seconds nothing was heard of them."""
        annotations = annotations_of(head)
        holder = annotations.get(HOLDER_ANNOTATION, "")
        if not holder or holder == self._holder:
            return "", 0.0
        seen = from_stamp(annotations.get(HOLDER_TIME_ANNOTATION, ""))
        age_s = LEASE_S if seen is None else (self._clock.now() - seen).total_seconds()
        # A time that lies ahead is a clock that is wrong, not a claim for ever.
        return holder, LEASE_S if age_s < -LEASE_S else age_s

    async def _read_head(self) -> KubeObject:
        try:
            return await retried(lambda: self._cluster.get(HEAD), self._clock)
        except NotFound:
            # Without data and without annotations: applied twice at once it is still the same empty object.
            head = {
                "apiVersion": HEAD.kind.api_version,
                "kind": HEAD.kind.kind,
                "metadata": {"namespace": HEAD.namespace, "name": HEAD.name, "labels": {LEDGER_LABEL: "head"}},
            }
            try:
                return await retried(lambda: self._cluster.apply(head), self._clock)
            except NotFound as error:
                raise ledger_is_gone(HEAD) from error

    async def _write(self, head: KubeObject, holder: str | None) -> bool:
        """Set the holder on exactly this version of the head; False when it moved meanwhile."""
        stamp = to_stamp(self._clock.now()) if holder else None
        patch = {
            "metadata": {
                "resourceVersion": head["metadata"]["resourceVersion"],
                "annotations": {HOLDER_ANNOTATION: holder, HOLDER_TIME_ANNOTATION: stamp},
            }
        }
        try:
            await retried(lambda: self._cluster.patch(HEAD, patch), self._clock)
        except (WriteConflict, NotFound):
            return False
        self._renewed_s, self._renewed_at = self._clock.monotonic_s() if holder else None, self._clock.now()
        return True


def ledger_is_gone(ref: Ref) -> ClusterError:
    """Say that somebody took the ledger away under us."""
    return ClusterError(
        f"{ref}, a part of the ledger, is gone: somebody deleted it while railwright worked",
        hint="run the same command again; what it knew of objects of before is lost, and clean names what it cannot undo",
        context={"ledger": f"{ref.namespace}/{ref.name}"},
    )


class RunningElsewhere(WriteConflict):
    """Another run is at work on this cluster: whoever meets it stops, whatever it was about to write."""


def running_elsewhere(holder: str) -> RunningElsewhere:
    """Say that another run is at work on this cluster."""
    return RunningElsewhere(
        f"another railwright is writing to this cluster (ledger {HEAD.namespace}/{HEAD.name}, holder {holder})",
        hint="wait for it, or look for it: "
        f"oc -n {HEAD.namespace} get configmap {HEAD.name} -o jsonpath='{{.metadata.annotations}}'",
        context={"holder": holder},
    )
