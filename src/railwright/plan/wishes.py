"""
Wishes that nothing of this plan carries out: what is adopted stays its owner's, and plain Kubernetes has no OLM.

A wish that is not carried out is said where it stands in the file; silence would look like consent.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from railwright.core.kinds import CLUSTER_POLICY
from railwright.core.objects import KubeObject, Ref, dig
from railwright.facts.model import ClusterFacts, Platform
from railwright.intent.model import Intent
from railwright.plan.model import GpuPolicyShare, NicPolicyShare, OperatorShare, Share
from railwright.plan.notes import Notes
from railwright.plan.operands import nic_policy
from railwright.plan.settings import Settings


@dataclass(frozen=True)
class _Undone:
    """One wish: its key, its value, what is in force instead, and why."""

    key: str
    wanted: object
    seen: str
    why: str


def check_wishes(
    all_settings: tuple[Settings, ...], cluster: ClusterFacts, shares: tuple[Share, ...], notes: Notes
) -> None:
    """Warn of every wish that stays undone; refuse what a plain Kubernetes has nobody for."""
    for settings in all_settings:
        intent = settings.intent
        undone = [*_of_operators(intent, cluster, shares), *_of_policies(settings, cluster, shares)]
        for item in undone:
            notes.warn(
                "wish-not-carried-out",
                f"{item.key} {item.wanted} is not carried out: {item.why}, and has {item.seen}",
                str(intent.place(item.key) or intent.name),
            )
        if intent.numa_aligned and cluster.platform is not Platform.OPENSHIFT:
            notes.refuse(
                "numa-alignment-needs-openshift",
                "on plain Kubernetes nobody rolls out a KubeletConfig",
                where=str(intent.place("spec.numaAligned") or intent.name),
                expected="topologyManagerPolicy: single-numa-node in the kubelets' own configuration",
                seen="spec.numaAligned: true",
                hint="set it where the kubelets are configured, and leave spec.numaAligned out",
            )


def _of_operators(intent: Intent, cluster: ClusterFacts, shares: tuple[Share, ...]) -> Iterator[_Undone]:
    operators = intent.operators
    if cluster.platform is not Platform.OPENSHIFT:
        why = "plain Kubernetes has no OLM"
        asked = {"approval": operators.approval, "channels": operators.channels, "catalogs": operators.catalogs}
        for name, value in asked.items():
            if value:
                yield _Undone(f"spec.operators.{name}", value, "operators installed by Helm", why)
        return
    for share in shares:
        if not isinstance(share, OperatorShare) or not share.adopted:
            continue
        why = f"package {share.package} is subscribed to by others"
        rows = (
            ("approval", operators.approval, share.approval),
            ("channels", operators.channels.get(share.package), share.channel),
            ("catalogs", operators.catalogs.get(share.package), share.catalog),
        )
        for name, wanted, seen in rows:
            if wanted is not None and wanted != seen:
                yield _Undone(f"spec.operators.{name}", wanted, seen or "none", why)


def _of_policies(settings: Settings, cluster: ClusterFacts, shares: tuple[Share, ...]) -> Iterator[_Undone]:
    for share in shares:
        if isinstance(share, GpuPolicyShare) and share.adopted:
            yield from _of_gpu_policy(settings, cluster.objects.get(Ref(CLUSTER_POLICY, "", share.name)))
        elif isinstance(share, NicPolicyShare) and share.adopted:
            yield from _of_nic_policy(settings, share, nic_policy(cluster))


def _of_gpu_policy(settings: Settings, live: KubeObject | None) -> Iterator[_Undone]:
    why, intent, driver = "the ClusterPolicy that is there stays its owner's", settings.intent, settings.intent.driver
    version = str(dig(live, "spec", "driver", "version", default="") or "its operator's own")
    if driver.gpu_version not in {None, version}:
        yield _Undone("spec.driver.gpuVersion", driver.gpu_version, version, why)
    for key, wanted, name in (
        ("spec.driver.gdrcopy", driver.gdrcopy, "gdrcopy"),
        ("spec.driver.gds", driver.gds, "gds"),
    ):
        if wanted is False and dig(live, "spec", name, "enabled") is True:
            yield _Undone(key, "false", f"{name}.enabled true", why)
    yield from _own_of_policies(intent, why)


def _of_nic_policy(settings: Settings, share: NicPolicyShare, live: KubeObject | None) -> Iterator[_Undone]:
    why, intent = "the NicClusterPolicy that is there stays its owner's", settings.intent
    if share.driver is None and dig(live, "spec", "ofedDriver") is not None:
        version = str(dig(live, "spec", "ofedDriver", "version", default="") or "none")
        if intent.driver.nic_version not in {None, version}:
            yield _Undone("spec.driver.nicVersion", intent.driver.nic_version, version, why)
        yield from _own_of_policies(intent, why)


def _own_of_policies(intent: Intent, why: str) -> Iterator[_Undone]:
    """Wishes that say how a driver's pods are made: those of a driver that is there are made already."""
    upgrade = intent.upgrade
    rows: tuple[tuple[str, object], ...] = (
        ("spec.proxy", intent.proxy.environment() or None),
        ("spec.pullSecret", intent.pull_secret),
        ("spec.imageRegistry", intent.image_registry),
        ("spec.upgrade.auto", upgrade.auto),
        ("spec.upgrade.maxParallel", upgrade.max_parallel),
        ("spec.upgrade.drainTimeoutSeconds", upgrade.drain_timeout_s),
    )
    for key, wanted in rows:
        if wanted is not None:
            yield _Undone(key, wanted, "its own settings of the driver's pods", why)
