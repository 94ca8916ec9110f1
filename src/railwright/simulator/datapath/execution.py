"""What runs when a command is run in a pod of a simulated world: probes of verify, and nothing else."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from railwright.core.errors import ObjectRefused
from railwright.core.ids import NetDevice
from railwright.core.multus import NETWORK_STATUS
from railwright.core.objects import KubeObject, annotations_of, dig
from railwright.dataplane.wire import read_request, reply_text
from railwright.ports.cluster import ExecResult
from railwright.simulator.datapath.switchboard import Switchboard


@dataclass(frozen=True)
class Execution:
    """Commands in pods of one world."""

    board: Switchboard

    async def run(self, pod: KubeObject, command: Sequence[str], stdin: str, timeout_s: float) -> ExecResult:
        """
        Run a probe, or say what an image has.

        Raises:
            ObjectRefused: a command that the simulator was not taught.
        """
        words = list(command)
        if words[:2] == ["sh", "-c"] and "sys.version_info" in words[2]:
            return ExecResult("python 3 12\n/usr/bin/ib_write_bw\n/usr/bin/ib_read_bw\n", "", 0)
        if words[:2] == ["python3", "-c"] and "--timeout-s" in words:
            return await self._probe(pod, stdin, timeout_s)
        raise not_taught(words, str(dig(pod, "metadata", "name")))

    async def _probe(self, pod: KubeObject, stdin: str, timeout_s: float) -> ExecResult:
        request = read_request(stdin.strip().splitlines()[-1])
        interface = request.rail.netdev
        rail = _rails(pod).get(interface)
        if rail is not None:
            request = replace(request, rail=replace(request.rail, netdev=NetDevice(f"net{rail + 1}")))
        node, address = str(dig(pod, "spec", "nodeName", default="")), str(dig(pod, "status", "podIP", default=""))
        reply = await self.board.run(node, address, request, timeout_s)
        return ExecResult(reply_text(reply) + "\n", "", 0)


def _rails(pod: KubeObject) -> dict[str, int]:
    """Give the rail that each interface of a pod is on: networks of rails end in their number."""
    found = {}
    for item in json.loads(annotations_of(pod).get(NETWORK_STATUS, "[]")):
        name = str(item.get("name", ""))
        digits = name[len(name.rstrip("0123456789")) :]
        if digits and "interface" in item:
            found[str(item["interface"])] = int(digits)
    return found


def not_taught(command: Sequence[str], pod: str) -> ObjectRefused:
    """Say that a command is not simulated."""
    return ObjectRefused(
        f"the simulator was not taught to run {' '.join(command[:1])!r} in pod {pod}",
        hint="a node's inside is read through the Node port",
    )
