"""
The whole job on a real API server, undisturbed and killed: apply and clean of each configuration end alike.

Real here: etcd, kube-apiserver with server-side apply, kube-controller-manager's garbage collector and namespaces, our
adapter over HTTP. Played by stand-ins: OLM, operators, kubelets, machine config operator; nodes answer from records.

A killed job is a process of its own that dies of SIGKILL before a write that a seed chose: no handler, no `finally`, no
lease given back. Writes of the ledger count, so that some die between it and its effect.
"""

import asyncio
import random
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pytest
from support import bed_child
from support.bed_world import QUIET_FACTOR, UNSEEN_FACTOR, Bed, CleanPace, bed_of
from support.kills import LookingCluster
from support.left_after_clean import left_at_rest
from support.plane import crds_folder
from support.seeds import rotating
from support.uncovered import record
from support.whole_state import Reviewed, differences, read_portable, read_state, unexpected

from railwright.catalog.load import load_catalog
from railwright.core.objects import FIELD_MANAGER, KubeObject, Ref
from railwright.core.verdicts import Verdict
from railwright.intent.parse import parse_intents
from railwright.lab.controlplane.plane import Plane
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.clean import clean
from railwright.pipeline.status import status
from railwright.ports.approval import Question
from railwright.ports.progress import Event, Silent, Wrote

pytestmark = [
    pytest.mark.bed,
    # The stand-ins' fifty watches leave sockets to the garbage collector when they are cancelled: their noise, not ours.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
CONFIGURATIONS = [
    (method, fabric) for fabric in ("roce", "infiniband") for method in ("shared", "host-device", "sriov")
]
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: east-west}}
spec: {{method: {method}, fabric: {fabric}, workloadNamespaces: [training]}}
"""
NOT_REAL = (
    ("OLM, operators, kubelets, device plugins, CNI, machine config operator", "played by stand-ins"),
    ("the inside of nodes", "records of made-up machines, not the node script"),
    ("nmstate", "NodeNetworkConfigurationPolicy is not served: no stand-in plays it"),
)
SEED = 20261130
MORE_KILLS = 4
"""Of each job, one after the other, where the seed is another one every day."""
SURELY = 0.9
"""Of the writes of an undisturbed job, those that each run makes: the ledger's claim is renewed by time."""
MAY_DIFFER = (
    Reviewed(
        r"ConfigMap railwright/\S+",
        "",
        "the ledger tells orders and times, which a restart changes; that clean undoes all by it shows that it is right",
    ),
    Reviewed(
        r"\w+ \S+",
        r"(status\.observedGeneration|metadata\.annotations\.deprecated\.daemonset\.template\.generation)",
        "how often an operator wrote before it came to the same end",
    ),
)


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


@dataclass(frozen=True)
class WritesSlowly:
    """Lets time run fast until a clean has written for the first time: before, it waits for the claim of a dead one."""

    bed: Bed

    def emit(self, event: Event) -> None:
        if isinstance(event, Wrote):
            self.bed.actors.quiet_factor = UNSEEN_FACTOR
        CleanPace(self.bed).emit(event)


@dataclass(frozen=True)
class Jobs:
    """apply and clean of one configuration on a bed; `clock` is the file of its time."""

    bed: Bed
    plane: Plane
    clock: Path
    world_name: str
    rails: str

    async def apply(self) -> int:
        """Apply to the end, undisturbed; gives the number of writes."""
        self.bed.actors.quiet_factor = QUIET_FACTOR
        writes = count()
        world = replace(self.bed.world, cluster=LookingCluster(self.bed.world.cluster, lambda *_: next(writes)))
        record = await apply_fabrics(world, parse_intents(self.rails), load_catalog(), Silent(), Yes())
        skipped = {"verified"} if "sriov" in self.rails else {"verified", "vfs-ready"}
        not_passed = {(stage.stage, stage.verdict) for stage in record.stages if stage.verdict is not Verdict.PASS}
        assert not_passed == {(stage, Verdict.SKIP) for stage in skipped}, [stage.reason for stage in record.stages]
        assert (await status(self.bed.world, None, load_catalog(), Silent())).exit_code == 0
        return next(writes)

    async def clean(self) -> int:
        """Clean to the end, undisturbed; gives the number of writes."""
        self.bed.actors.quiet_factor = QUIET_FACTOR
        writes = count()
        world = replace(self.bed.world, cluster=LookingCluster(self.bed.world.cluster, lambda *_: next(writes)))
        record = await clean(world, None, load_catalog(), WritesSlowly(self.bed), Yes())
        assert [item for item in record.objects if item.verdict is not Verdict.PASS] == []
        return next(writes)

    async def killed(self, job: str, number: int) -> str:
        """Run a job in a process that dies before write `number`; gives what that would have been."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            bed_child.__name__,
            *(job, self.world_name, str(self.plane.kubeconfig), str(self.clock), self.rails, str(number)),
            stdout=asyncio.subprocess.PIPE,
            env={"PYTHONPATH": str(Path(bed_child.__file__).parents[1])},
        )
        assert process.stdout is not None
        last, pace = "", CleanPace(self.bed)
        self.bed.actors.quiet_factor = QUIET_FACTOR if job == "apply" else UNSEEN_FACTOR
        async for line in process.stdout:
            said, _, what = line.decode().strip().partition(" ")
            if said == "write":
                last = f"{job} died before {number}: {what}"
            elif job == "clean":
                pace.follow(what)
        code = await process.wait()
        # Nobody waits any more, and the dead could not say so.
        self.clock.with_suffix(".waiting").unlink(missing_ok=True)
        assert code == -signal.SIGKILL, f"{job} ended with {code} after {last}, before write {number}"
        return last

    async def end_state(self) -> dict[Ref, KubeObject]:
        self.bed.actors.quiet_factor = QUIET_FACTOR
        with self.bed.time.waiting():
            await self.bed.actors.at_rest(2)
        return await read_portable(self.bed.client, self.bed.kinds, FIELD_MANAGER)


def chosen(writes: int, kills: int, dice: random.Random) -> Iterator[int]:
    return (dice.randint(1, int(writes * SURELY)) for _ in range(kills))


@pytest.mark.parametrize(
    ("seed", "kills"),
    [(SEED, 1), *(pytest.param(seed, MORE_KILLS, marks=pytest.mark.soak) for seed in rotating(2))],
)
@pytest.mark.parametrize(("method", "fabric"), CONFIGURATIONS)
async def test_every_stage_passes_killed_or_not_and_clean_leaves_the_cluster_as_it_was(
    plane: Plane, tmp_path: Path, method: str, fabric: str, seed: int, kills: int
) -> None:
    for what, why in NOT_REAL:
        record(f"the whole job on a real API server: {what}", why)
    if crds_folder() is None:
        record("the whole job under published definitions", "no folder of them (RAILWRIGHT_CRDS); small ones instead")
    world_name = "h200-roce" if fabric == "roce" else "h200-ib"
    dice = random.Random(f"{seed} {method} {fabric}")
    died: list[str] = []
    async with bed_of(plane, world_name, tmp_path / "clock") as bed:
        jobs = Jobs(bed, plane, tmp_path / "clock", world_name, RAILS.format(method=method, fabric=fabric))
        before = await read_state(bed.client, bed.kinds)
        applying = await jobs.apply()
        never_killed = await jobs.end_state()
        cleaning = await jobs.clean()
        assert await left_at_rest(bed, before) == ()

        died += [await jobs.killed("apply", number) for number in chosen(applying, kills, dice)]
        await jobs.apply()
        unlike = unexpected(differences(never_killed, await jobs.end_state()), MAY_DIFFER)
        assert not unlike, "\n".join((*died, *unlike))
        died += [await jobs.killed("clean", number) for number in chosen(cleaning, kills, dice)]
        await jobs.clean()
        left = await left_at_rest(bed, before)
        assert not left, "\n".join((*died, *left))
        assert bed.actors.refused == []
