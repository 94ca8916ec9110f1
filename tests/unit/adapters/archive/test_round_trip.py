"""What is read from an archive is what was read from the cluster it was made of."""

import asyncio
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from railwright import api
from railwright.adapters.archive.collect import collecting
from railwright.core.redactor import Redactor
from railwright.pipeline.collect import gather
from railwright.pipeline.collect_keep import keep
from railwright.simulator.open import open_simulator

KEY = b"k" * 32


class Yes:
    def approve(self, question: api.Question) -> bool:
        return not question.takes_over


def rails(method: str, fabric: str) -> tuple[api.Intent, ...]:
    return api.parse_intents(
        "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: east-west}\n"
        f"spec: {{method: {method}, fabric: {fabric}, workloadNamespaces: [training]}}\n"
    )


async def plan_of(world: api.World, intents: tuple[api.Intent, ...]) -> api.Document:
    prepared = await api.plan(world, intents)
    return api.plan_document(prepared.plan, prepared.manifests, prepared.changes)


async def documents(world: api.World, intents: tuple[api.Intent, ...]) -> dict[str, Any]:
    """What the reading commands print, but for the name of the cluster."""
    found = {
        "discover": api.snapshot_document(await api.discover(world)),
        "plan": await plan_of(world, intents),
        "doctor": api.diagnosis_document(await api.diagnose(world, intents)),
        "status": api.status_document(await api.status(world)),
        "status of a file": api.status_document(await api.status(world, intents)),
    }
    text = json.dumps({name: [item.as_data(), item.text, item.exit_code] for name, item in found.items()})
    return json.loads(text.replace(world.cluster.name, "CLUSTER"))  # type: ignore[no-any-return]  # a dict of ours


@pytest.fixture(scope="module")
def applied() -> api.World:
    """A world with everything on it."""
    world = open_simulator("h200-roce")
    asyncio.run(api.apply(world, rails("sriov", "roce"), approval=Yes()))
    return world


WORLDS = [
    ("h200-ib", "host-device", "infiniband"),
    ("sno+api-forbidden", "shared", "roce"),
    ("h200-roce+node-unreadable", "shared", "roce"),
    ("vanilla", "shared", "roce"),
    ("adopt", "shared", "roce"),
    ("hcp", "shared", "roce"),
]


async def check_same(live: api.World, intents: tuple[api.Intent, ...], file: Path) -> None:
    await api.collect(live, file, redact=False)
    async with await api.open_cluster(f"bundle:{file}") as archive:
        assert await documents(archive, intents) == await documents(live, intents)


@pytest.mark.parametrize(("world_name", "method", "fabric"), WORLDS)
async def test_an_archive_of_a_bare_cluster_gives_the_same_documents(
    world_name: str, method: str, fabric: str, tmp_path: Path
) -> None:
    await check_same(open_simulator(world_name), rails(method, fabric), tmp_path / "a.tgz")


async def test_an_archive_of_a_finished_cluster_gives_the_same_documents(applied: api.World, tmp_path: Path) -> None:
    await check_same(applied, rails("sriov", "roce"), tmp_path / "a.tgz")


async def test_a_redacted_archive_gives_the_same_documents_with_pseudonyms(applied: api.World, tmp_path: Path) -> None:
    intents = rails("sriov", "roce")
    async with collecting(applied, tmp_path / "a.tgz", keep=keep, redaction=Redactor(KEY)) as collection:
        await gather(collection.world, api.Scope(), collection.missed, api.Silent())
    async with await api.open_cluster(f"bundle:{tmp_path / 'a.tgz'}") as archive:
        seen, told = await documents(archive, intents), await documents(applied, intents)
    assert seen != told
    assert seen == Redactor(KEY).value(told)


async def test_the_manifest_counts_what_is_in_the_archive(tmp_path: Path) -> None:
    manifest = await api.collect(open_simulator("h200-roce"), tmp_path / "a.tgz")
    with tarfile.open(tmp_path / "a.tgz") as tar:
        names = {name.removeprefix("railwright-archive/") for name in tar.getnames()}
    listed = {item.file for item in (*manifest.lists, *manifest.nodes, *manifest.logs)}
    assert listed | {"format.json", "manifest.json", "served-kinds.json", "objects/by-name.jsonl"} == names
    assert {node.node for node in manifest.nodes} == {"master-0", "master-1", "master-2", "worker-0", "worker-1"}
    assert manifest.missing == ()
    assert manifest.simulated
    assert manifest.redacted
