"""
apply and clean, killed between writes and started again: the same end as if nobody had killed them.

The job runs in a process of its own and is ended by SIGKILL: no handler, no `finally`, no lease given back.
"""

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support import bed_child
from support.bed_world import QUIET_FACTOR, UNSEEN_FACTOR, Bed, bed_of
from support.left_after_clean import left_at_rest
from support.whole_state import Reviewed, differences, read_portable, read_state, unexpected

from railwright.adapters.clock import RealClock
from railwright.core.objects import FIELD_MANAGER, KubeObject, Ref
from railwright.lab.controlplane.plane import Plane

pytestmark = [
    pytest.mark.bed,
    pytest.mark.soak,
    # The stand-ins' fifty watches leave sockets to the garbage collector when they are cancelled: their noise, not ours.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
WORLD = "h200-roce"
RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: sriov, fabric: roce, workloadNamespaces: [training]}
"""
SEED = 20261130
MORE_SEEDS = tuple(range(1, 6))
"""Each kills at other writes."""
APPLY_KILLS = 4
CLEAN_KILLS = 2
MOST_WRITES = 14
"""Before a kill; an apply of this fabric writes about sixty objects."""
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


class Jobs:
    """Jobs of railwright on one bed, in processes of their own."""

    def __init__(self, bed: Bed, plane: Plane, clock: Path) -> None:
        self._bed = bed
        self._arguments = [WORLD, str(plane.kubeconfig), str(clock), RAILS]
        self.killed_after: list[str] = []

    async def to_the_end(self, job: str) -> int:
        async with self._process(job) as process:
            assert process.stdout is not None
            await process.stdout.read()
            return await process.wait()

    async def killed(self, job: str, writes: int, pause_s: float) -> bool:
        """Kill a job after so many writes and a pause; False when it ended before."""
        async with self._process(job) as process:
            assert process.stdout is not None
            line = b""
            for _ in range(writes):
                line = await process.stdout.readline()
                if not line:
                    return False
            await RealClock().sleep(pause_s)
            self.killed_after.append(line.decode().strip())
            return process.returncode is None

    @asynccontextmanager
    async def _process(self, job: str) -> AsyncIterator[asyncio.subprocess.Process]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            bed_child.__name__,
            job,
            *self._arguments,
            stdout=asyncio.subprocess.PIPE,
            env={"PYTHONPATH": str(Path(bed_child.__file__).parents[1])},
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def end_state(bed: Bed) -> dict[Ref, KubeObject]:
    with bed.time.waiting():
        await bed.actors.at_rest(2)
    return await read_portable(bed.client, bed.kinds, FIELD_MANAGER)


@pytest.mark.parametrize("seed", [SEED, *MORE_SEEDS])
async def test_a_killed_run_that_is_started_again_ends_as_one_that_was_never_killed(
    plane: Plane, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    async with bed_of(plane, WORLD, tmp_path / "clock.0") as bed:
        assert await Jobs(bed, plane, tmp_path / "clock.0").to_the_end("apply") == 0
        never_killed = await end_state(bed)
    async with bed_of(plane, WORLD, tmp_path / "clock") as bed:
        jobs = Jobs(bed, plane, tmp_path / "clock")
        before = await read_state(bed.client, bed.kinds)
        for _ in range(APPLY_KILLS):
            assert await jobs.killed("apply", dice.randint(1, MOST_WRITES), dice.uniform(0, 0.3)), jobs.killed_after
        assert await jobs.to_the_end("apply") == 0, jobs.killed_after
        unlike = unexpected(differences(never_killed, await end_state(bed)), MAY_DIFFER)
        assert not unlike, "\n".join((*jobs.killed_after, *unlike))
        bed.actors.quiet_factor = UNSEEN_FACTOR
        for _ in range(CLEAN_KILLS):
            assert await jobs.killed("clean", dice.randint(1, MOST_WRITES), dice.uniform(0, 0.3)), jobs.killed_after
        assert await jobs.to_the_end("clean") == 0, jobs.killed_after
        bed.actors.quiet_factor = QUIET_FACTOR
        left = await left_at_rest(bed, before)
        assert not left, "\n".join((*jobs.killed_after, *left))
        assert bed.actors.refused == []
