"""
What commands cost on a real kube-apiserver with 100 nodes and with 1,000: processor, time, memory, and every call.

`python benchmarks/scale.py [METHOD ...] [--nodes 100 1000]`, methods `shared` and `sriov` by default; each node has eight
rails, a GPU of each, and fifteen pods of the operators' DaemonSets (thirteen with `shared`). Each command runs on the live
adapter in a process of its own; the insides of nodes are kept records of the simulator's machine, so what ways into nodes
take is not in the figures. `wait` is a gate that cannot get ready, for a while.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scale_command import COMMANDS
from scale_world import RAILS, Grown, applied

from railwright.core.kinds import NODE, NODE_NETWORK_CONFIGURATION_POLICY
from railwright.core.objects import Ref
from railwright.lab.controlplane.definitions import install_definitions
from railwright.lab.controlplane.plane import Plane, running_plane
from railwright.lab.controlplane.programs import Unavailable, ensure_programs
from railwright.ports.progress import Silent

METHODS, SIZES, WAIT_S = ("shared", "sriov"), (100, 1_000), 40.0
Figures = dict[str, Any]


async def measure(method: str, sizes: Sequence[int], wait_s: float) -> Figures:
    """Grow one cluster from size to size, and run every command at each; by size and command."""
    programs = await ensure_programs(Silent())
    if isinstance(programs, Unavailable):
        return {"not_covered": programs.reason}
    async with running_plane(programs) as plane:
        client = plane.client()
        try:
            # Nobody plays nmstate here: a plan must not choose it.
            await install_definitions(client, None, frozenset({NODE_NETWORK_CONFIGURATION_POLICY}))
            grown = await applied(client, method)
            await grown.begin()
            found: Figures = {}
            for size in sizes:
                await grown.grow(size)
                found[str(size)] = {"pods": grown.pods, **await _commands(plane, grown, method, wait_s)}
            return found
        finally:
            await client.close()


async def _commands(plane: Plane, grown: Grown, method: str, wait_s: float) -> Figures:
    with tempfile.TemporaryDirectory(prefix="railwright-scale-") as name:
        folder = Path(name)
        (folder / "records.json").write_text(json.dumps(grown.records))
        (folder / "rails.yaml").write_text(RAILS.format(method=method))
        found = {command: await _run(plane, command, folder, wait_s) for command in COMMANDS}
        await _offer(grown, rails=0)
        found["wait"] = await _run(plane, "wait", folder, wait_s)
        await _offer(grown, rails=None)
        return found


async def _run(plane: Plane, command: str, folder: Path, wait_s: float) -> Figures:
    argv: list[str | Path] = [
        sys.executable,
        Path(__file__).with_name("scale_command.py"),
        command,
        folder,
        str(wait_s),
    ]
    env = {**os.environ, "KUBECONFIG": str(plane.kubeconfig)}
    told = await asyncio.to_thread(lambda: subprocess.run(argv, env=env, check=True, stdout=subprocess.PIPE, text=True))
    found: Figures = json.loads(told.stdout)
    short = {name: value for name, value in found.items() if name != "calls"}
    print(f"{command}: {sum(found['calls'].values())} calls, {short}", file=sys.stderr, flush=True)
    return found


async def _offer(grown: Grown, *, rails: int | None) -> None:
    """Let the last node offer so many of each rail's devices; None for as many as the others do."""
    node = Ref(NODE, "", f"worker-{grown.nodes - 5:04d}")
    like = next(obj for obj in grown.objects if obj["kind"] == "Node" and obj["metadata"]["name"] == "worker-1")
    offered = like["status"]["allocatable"]
    changed = {name: text if rails is None else str(rails) for name, text in offered.items() if "rail" in name}
    assert changed, "no rail is offered"
    await grown.client.merge(node, {"status": {"allocatable": changed}}, status=True)


def main(arguments: list[str]) -> int:
    """Measure each method, and print all figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("methods", nargs="*", default=METHODS)
    parser.add_argument("--nodes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--wait", type=float, default=WAIT_S)
    wanted = parser.parse_args(arguments)
    found = {method: asyncio.run(measure(method, wanted.nodes, wanted.wait)) for method in wanted.methods}
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
