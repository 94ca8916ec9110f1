"""Commands of railwright through a faulty proxy on a bed, and what must hold of each try, however it ended."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from support.bed_world import Bed, FasterCluster
from support.faulty_proxy import FaultyProxy

from railwright.adapters.kubeconfig import read_login
from railwright.adapters.transport import Transport
from railwright.core.errors import EXIT_CODE_ORDER, RailwrightError
from railwright.lab.controlplane.plane import Plane
from railwright.ports.world import World

TRY_LIMIT_S = 600.0
"""By the wall: a command that waits for longer than this under faults waits for ever."""
Job = Callable[[World], Awaitable[tuple[int, str]]]
"""Gives an exit code and everything that was said."""


@dataclass
class Tries:
    """What became of each try."""

    plane: Plane
    bed: Bed
    proxy: FaultyProxy
    broken: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)

    async def once(self, name: str, job: Job) -> int:
        """Run a command once; an end that is no clean error is noted with the faults that it met."""
        met = len(self.proxy.done)
        login = read_login(None, {"KUBECONFIG": str(self.plane.kubeconfig)}, Path("/nonexistent"))
        cluster = FasterCluster(login.name, Transport(replace(login, server=self.proxy.url)), self.bed.time)
        try:
            async with asyncio.timeout(TRY_LIMIT_S):  # noqa: TID251 - by the wall: the bed's clock runs at its own pace
                code, said = await job(World(cluster, self.bed.world.node, self.bed.time))
        except RailwrightError as error:
            code, said = error.exit_code, f"{error.code}: {error.message} {error.hint} {error.context}"
            if not error.message or error.code == "internal":
                self._note(name, f"an error without words: {error!r}", met)
        except Exception as error:  # noqa: BLE001 - whatever is no error of ours is what is looked for here
            code, said = 1, ""
            self._note(name, f"ended with {type(error).__name__}: {error}", met)
        finally:
            await cluster.close()
        if code not in EXIT_CODE_ORDER or (code == 1 and said):
            self._note(name, f"exit code {code}: {said[:500]}", met)
        if login.token in said:
            self._note(name, "the token is in what was said", met)
        self.ends.append(f"{name}: {code} {said[:200]}")
        return code

    def _note(self, name: str, what: str, met: int) -> None:
        self.broken.append("\n  ".join((f"{name}: {what}", *self.proxy.done[met:])))


def bug_files() -> frozenset[str]:
    """What railwright leaves behind when it meets a bug of its own, or is not cleaned up."""
    return frozenset(path.name for path in Path(tempfile.gettempdir()).glob("railwright-bug-*"))
