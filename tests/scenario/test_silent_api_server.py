"""An API server that falls silent while clean waits: waited for, as in a gate; only one that stays away ends the command."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from support.scenarios import Heard, Yes, applied, intents_for, open_for

from railwright import api
from railwright.core import kinds
from railwright.core.errors import ClusterUnreachable
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster, Selection, Watch
from railwright.ports.progress import Waiting

REBOOT_S = 420.0
"""Longer than any single call is repeated for."""


@dataclass
class SilentFor:
    """A cluster that does not answer for so long, from the first look at whether an object of a kind is gone."""

    inner: Cluster
    clock: Clock
    kind: Kind
    seconds: float
    since_s: float | None = None
    deleted: set[Ref] = field(default_factory=set)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def _answer(self) -> None:
        if self.since_s is not None and self.clock.monotonic_s() - self.since_s < self.seconds:
            raise ClusterUnreachable("no answer")

    async def get(self, ref: Ref) -> KubeObject:
        if ref in self.deleted and self.since_s is None:
            self.since_s = self.clock.monotonic_s()
        self._answer()
        return await self.inner.get(ref)

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        self._answer()
        async for obj in self.inner.list(selection):
            yield obj

    async def patch(self, ref: Ref, merge_patch: KubeObject, **options: Any) -> KubeObject:
        self._answer()
        return await self.inner.patch(ref, merge_patch, **options)

    async def delete(self, ref: Ref, *, uid: str = "", dry_run: bool = False) -> None:
        self._answer()
        await self.inner.delete(ref, uid=uid, dry_run=dry_run)
        if ref.kind == self.kind and not dry_run:
            self.deleted.add(ref)

    @asynccontextmanager
    async def watch(self, selections: Sequence[Selection]) -> AsyncIterator[Watch]:
        self._answer()
        async with self.inner.watch(selections) as watch:
            yield watch


async def a_fabric(method: str, kind: Kind, seconds: float) -> tuple[api.World, api.World]:
    world = await open_for("roce")
    assert (await applied(world, intents_for(method, "roce"))).exit_code == 0
    return world, replace(world, cluster=SilentFor(world.cluster, world.clock, kind, seconds))


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("shared", kinds.NIC_CLUSTER_POLICY),
        ("sriov", kinds.SRIOV_NETWORK_NODE_POLICY),
        ("shared", kinds.MACHINE_CONFIG),
    ],
    ids=lambda item: getattr(item, "kind", item),
)
async def test_clean_waits_for_an_api_server_that_comes_back(method: str, kind: Kind) -> None:
    _, silent = await a_fabric(method, kind, REBOOT_S)
    heard = Heard()
    assert (await api.clean(silent, approval=Yes(), progress=heard)).exit_code == 0
    waits = [event.waiting_for for event in heard.events if isinstance(event, Waiting)]
    assert "the API server: no answer" in waits


async def test_one_that_stays_away_ends_clean_with_its_words_and_a_later_clean_goes_on() -> None:
    world, silent = await a_fabric("shared", kinds.NIC_CLUSTER_POLICY, 86_400.0)
    with pytest.raises(ClusterUnreachable, match="no answer"):
        await api.clean(silent, approval=Yes())
    assert (await api.clean(world, approval=Yes())).exit_code == 0
