"""
Run one job of railwright against a bed from a process of its own, which kills itself before a certain write.

Usage: bed_child.py apply|clean WORLD KUBECONFIG CLOCK RAILS NUMBER. The write NUMBER, counted from 1 and with those of the
ledger, never happens: no handler runs, no `finally`, nothing is given back. On stdout are lines `write VERB OBJECT`, each
before its write, and `wait FOR WHAT`.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from support.bed_world import FasterCluster, engine_of
from support.kills import LookingCluster

from railwright.adapters.kubeconfig import read_login
from railwright.adapters.transport import Transport
from railwright.catalog.load import load_catalog
from railwright.core.ids import NodeName
from railwright.core.kinds import MACHINE_CONFIG, NODE, POD, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import Ref, ref_of
from railwright.intent.parse import parse_intents
from railwright.lab.controlplane.client import PlaneClient
from railwright.lab.controlplane.faster_time import FasterTime
from railwright.pipeline.apply import apply_fabrics
from railwright.pipeline.clean import clean
from railwright.ports.approval import Question
from railwright.ports.node import NodeAnswer
from railwright.ports.progress import Event, Waiting
from railwright.ports.world import World
from railwright.simulator.record import node_record
from railwright.simulator.worlds.machines import Machine
from railwright.standins.model import Objects

_SHOWN = (POD, NODE, MACHINE_CONFIG, SRIOV_NETWORK_NODE_STATE)
"""What a node record shows of objects."""


@dataclass(frozen=True)
class FreshRecordNode:
    """Answers with the record of a made-up machine, from objects that are read when it is asked."""

    machines: tuple[Machine, ...]
    client: PlaneClient

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        objects = {ref_of(obj): obj for kind in _SHOWN for obj in (await self.client.list(kind))[0]}
        machine = next(each for each in self.machines if each.name == node)
        return NodeAnswer(node_record(machine, Objects(objects)), "made-up machine")


class Waits:
    """A line for each wait, flushed: whoever keeps the time reads them."""

    def emit(self, event: Event) -> None:
        if isinstance(event, Waiting):
            print(f"wait {event.waiting_for}", flush=True)  # noqa: T201 - read by the test


def dying_at(number: int) -> Callable[[str, Ref], None]:
    """Show each write, and die of SIGKILL just before one."""
    left = iter(range(number - 1, -1, -1))

    def look(verb: str, ref: Ref) -> None:
        print(f"write {verb} {ref}", flush=True)  # noqa: T201 - read by the test
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return look


class Yes:
    def approve(self, question: Question) -> bool:
        return not question.takes_over


async def main(job: str, world_name: str, kubeconfig: str, clock: str, rails: str, number: str) -> int:
    login, time = read_login(None, {"KUBECONFIG": kubeconfig}, Path("/nonexistent")), FasterTime(1, shared=Path(clock))
    cluster = FasterCluster(login.name, Transport(login), time)
    client = PlaneClient(login.server, login.token)
    node = FreshRecordNode(engine_of(world_name).machines, client)
    world = World(LookingCluster(cluster, dying_at(int(number))), node, time)
    try:
        if job == "apply":
            return (await apply_fabrics(world, parse_intents(rails), load_catalog(), Waits(), Yes())).exit_code
        return (await clean(world, None, load_catalog(), Waits(), Yes())).exit_code
    finally:
        await cluster.close()
        await client.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
