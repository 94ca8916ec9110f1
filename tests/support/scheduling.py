"""A plane with the real scheduler and KWOK, and what `railwright workload` prints for a simulated world."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from support.soon import soon

from railwright import api
from railwright.core import kinds
from railwright.core.objects import Kind, KubeObject, Ref, dig, labels_of
from railwright.lab.controlplane.plane import Plane, running_plane
from railwright.lab.controlplane.pods import (
    KWOK_PROGRAMS,
    SCHEDULER_PROGRAMS,
    WORKLOAD_CONTROLLERS,
    running_kwok,
    running_scheduler,
)
from railwright.lab.controlplane.programs import PROGRAMS, Unavailable, ensure_programs
from railwright.ports.progress import Silent


@asynccontextmanager
async def pod_plane() -> AsyncIterator[Plane | Unavailable]:
    """Run everything for the length of a block, or say why that is not possible here."""
    folders = []
    for programs in (PROGRAMS, SCHEDULER_PROGRAMS, KWOK_PROGRAMS):
        folder = await ensure_programs(Silent(), programs)
        if isinstance(folder, Unavailable):
            yield folder
            return
        folders.append(folder)
    async with (
        running_plane(folders[0], WORKLOAD_CONTROLLERS) as plane,
        running_scheduler(folders[1], plane),
        running_kwok(folders[2], plane),
    ):
        yield plane


@dataclass(frozen=True)
class Printed:
    """The pod and the Job of one configuration."""

    pod: KubeObject
    job: KubeObject

    @property
    def selector(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.pod["spec"]["nodeSelector"]
        return found

    @property
    def requests(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.pod["spec"]["containers"][0]["resources"]["requests"]
        return found


async def printed_workload(world: str, rails: str) -> Printed:
    """Make what the command prints, from a plan on a simulated world."""
    async with await api.open_cluster(f"sim:{world}") as opened:
        prepared = await api.plan(opened, api.parse_intents(rails))
    fabric = prepared.plan.fabrics[0].name
    objects = api.workload(prepared.plan, fabric, namespace="training").objects
    by_kind = {obj["kind"]: obj for obj in objects}
    return Printed(by_kind["Pod"], by_kind["Job"])


async def pods_when(
    plane: Plane, labels: Mapping[str, str], hold: Callable[[list[KubeObject]], bool]
) -> list[KubeObject]:
    """Give the pods with these labels as soon as the claim holds for them; after a minute, whatever they are."""
    client = plane.client()
    try:

        async def pods() -> list[KubeObject]:
            return [pod for pod in (await client.list(kinds.POD))[0] if labels.items() <= labels_of(pod).items()]

        return await soon(pods, hold)
    finally:
        await client.close()


async def put(plane: Plane, objects: Iterable[KubeObject]) -> None:
    """Create objects."""
    client = plane.client()
    try:
        for obj in objects:
            kind = Kind(obj["apiVersion"], obj["kind"])
            await client.create(obj, Ref(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"]))
    finally:
        await client.close()


def why_unscheduled(pod: KubeObject) -> str:
    """Give the scheduler's words on a pod that it found no node for; "" for any other."""
    conditions = dig(pod, "status", "conditions", default=())
    words = [item["message"] for item in conditions if item["type"] == "PodScheduled" and item["status"] == "False"]
    return str(words[0]) if words else ""
