"""One real control plane for a whole test session, kept by a thread of its own."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from railwright.adapters.cluster import LiveCluster
from railwright.adapters.kubeconfig import read_login
from railwright.adapters.transport import Transport
from railwright.core.kinds import NODE_NETWORK_CONFIGURATION_POLICY
from railwright.lab.controlplane.definitions import install_definitions
from railwright.lab.controlplane.plane import Plane, running_plane
from railwright.lab.controlplane.programs import Unavailable, ensure_programs
from railwright.ports.progress import Silent

CRDS = "RAILWRIGHT_CRDS"
ABSENT = frozenset({NODE_NETWORK_CONFIGURATION_POLICY})
"""No stand-in plays nmstate, and the simulated worlds do not have it: a plan must not choose it."""
START_LIMIT_S = 3600
"""Programs that are not cached are built first."""


def crds_folder() -> Path | None:
    """The folder of published definitions, where there is one: $RAILWRIGHT_CRDS, or beside the checkout."""
    named = os.environ.get(CRDS)
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "crds"
    return folder if folder.is_dir() else None


AnyLive = TypeVar("AnyLive", bound=LiveCluster)


def live_cluster(plane: Plane, kind: Callable[[str, Transport], AnyLive]) -> AnyLive:
    """Our own adapter, logged in as a person would be; to be closed by the caller."""
    login = read_login(None, {"KUBECONFIG": str(plane.kubeconfig)}, Path("/nonexistent"))
    return kind(login.name, Transport(login))


@contextmanager
def session_plane(definitions: Path | None, *, audited: bool = False) -> Iterator[Plane | Unavailable]:
    """Run a plane until the block ends, with published definitions or, for None, small ones that accept anything."""
    keeper = _Keeper(definitions, audited=audited)
    keeper.start()
    try:
        keeper.answered.wait(START_LIMIT_S)
        if keeper.failure is not None:
            raise keeper.failure
        assert keeper.answer is not None, "no plane in time"
        yield keeper.answer
    finally:
        keeper.end()


class _Keeper(threading.Thread):
    def __init__(self, definitions: Path | None, *, audited: bool) -> None:
        super().__init__(name="control plane", daemon=True)
        self._definitions = definitions
        self._audited = audited
        self.answer: Plane | Unavailable | None = None
        self.failure: BaseException | None = None
        self.answered = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()

    def run(self) -> None:
        try:
            self._loop.run_until_complete(self._keep())
        except BaseException as error:  # noqa: BLE001 - handed to the session, which raises it
            self.failure = error
        finally:
            self.answered.set()
            self._loop.close()

    async def _keep(self) -> None:
        programs = await ensure_programs(Silent())
        if isinstance(programs, Unavailable):
            self.answer = programs
            return
        async with running_plane(programs, audited=self._audited) as plane:
            client = plane.client()
            try:
                await install_definitions(client, self._definitions, ABSENT)
            finally:
                await client.close()
            self.answer = plane
            self.answered.set()
            await self._ended.wait()

    def end(self) -> None:
        if self.is_alive():
            self._loop.call_soon_threadsafe(self._ended.set)
        self.join()
