"""`railwright lab`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.keep import check_folder, keep_run
from railwright.cli.options import Common, names
from railwright.cli.progress import progress
from railwright.cli.streams import write_result
from railwright.lab.cluster.shape import Shape as ClusterShape
from railwright.lab.rdma.faults import check_fault
from railwright.lab.rdma.lab import lab as open_lab
from railwright.lab.rdma.standing import down, run_in, status, up
from railwright.lab.rdma.topology import Shape

NOT_REAL = ("NIC hardware: soft-RoCE moves the bytes, so no figure says anything about a NIC", "GPUs", "Kubernetes")
EFFORT = api.Effort(
    duration_s=0.5, sizes_bytes=(32768,), sweep_bytes=(4096, 65536, 1 << 20), qps=2, depth=2, iterations=10
)
"""Little, because an emulated processor moves 20 MiB/s."""
PEER_SHARE = 0.2
"""All halves share one emulated processor, so that equals differ by half and more; what is broken differs by far."""


def lab(
    what: Literal["run", "up", "down", "shell", "status", "fabric", "cluster"] = "run",
    command: str | None = None,
    *words: str,
    method: Literal["shared", "host-device", "sriov"] | None = None,
    nodes: int | None = None,
    rails: int | None = None,
    fault: str | None = None,
    families: Annotated[list[str] | None, Parameter(name=["--families", "--family"])] = None,
    full: bool = False,
    to: Path | None = None,
    definitions: Path | None = None,
    bare: bool = False,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Move real RDMA bytes on this machine: soft-RoCE between network namespaces, in a small virtual machine.

    The same schedule, witnesses and verdicts as on a cluster. On a Linux host that has rdma_rxe loaded no virtual
    machine is needed. `lab fabric` runs an InfiniBand subnet on a simulator. `lab cluster` is experimental, and has moved
    no byte yet: a Kubernetes cluster of virtual machines with real kubelets: up, status, kubeconfig, shell NODE, down.

    Args:
        what: run (the default) verifies and ends; up leaves a lab for you to play in; shell runs a command in it;
            status and down are what they say; fabric is InfiniBand; cluster is Kubernetes.
        command: for shell: what to run, as one argument; without it, lines are read from standard input. For cluster:
            up, status, kubeconfig, shell or down.
        words: for cluster shell: the node, and what to run there.
        method: how pods get their RDMA device: a macvlan child (shared, the default), a moved netdev, or a VF of an
            emulated NIC.
        nodes: how many nodes, of one pod each; default 2. For fabric: how many hosts; default 8.
        rails: how many rails; default 2, and 1 for sriov.
        fault: break something real: loss, mtu, gid, gid-index, memlock, netns, link-down, peer-killed, corruption,
            one-direction, swapped-rails, slow-node; for fabric: pkey.
        families: only these families of probes (engine, perftest, latency, cm, sweep).
        full: every family, not only those that prove most.
        to: keep the run in this folder: report.html, record.json, junit.xml, raw replies.
        definitions: for cluster up: a folder of published CustomResourceDefinitions, to be checked by; without it
            operators' objects are taken as they are.
        bare: for cluster up: an OpenShift cluster without operators, for `railwright apply` to do its whole job on;
            without it NVIDIA's Network Operator is there already, to try things by hand.
        common: output; --cluster is not used.
    """
    given: dict[str, object] = {
        "command": command,
        "words": words or None,
        "--method": method,
        "--nodes": nodes,
        "--rails": rails,
    }
    given |= {"--fault": fault, "--families": families, "--full": full or None, "--to": to}
    given |= {"--definitions": definitions, "--bare": bare or None}

    async def action() -> int:
        _refuse_unused(what, given, common)
        chosen = method or "shared"
        shape = Shape(chosen, nodes or 2, rails if rails is not None else (1 if chosen == "sriov" else 2))
        match what:
            case "run":
                return await _verify(shape, fault or "", _options(families, full=full), to, common)
            case "up":
                write_result(await up(shape, progress(quiet=common.quiet), fault or ""))
            case "down":
                write_result(await down())
            case "status":
                write_result(await status())
            case "shell":
                return await _shell(command)
            case "cluster":
                from railwright.cli.lab_cluster import cluster

                wanted = ClusterShape(nodes or 2, rails or 2, bare=bare)
                return await cluster(command, words, wanted, definitions, common)
            case "fabric":
                from railwright.cli.lab_fabric import fabric

                return await fabric(nodes or _FABRIC_HOSTS, fault or "", common)
        return 0

    return run(action, common)


_FABRIC_HOSTS = 8
_MOST_NODES = 64
_MOST_RAILS = 8
"""More than that, one emulated processor comes to no end with."""
_USED: dict[str, set[str]] = {
    "run": {"--method", "--nodes", "--rails", "--fault", "--families", "--full", "--to", "--output"},
    "up": {"--method", "--nodes", "--rails", "--fault"},
    "shell": {"command"},
    "status": set(),
    "down": set(),
    "fabric": {"--nodes", "--fault", "--output"},
    "cluster": {"command", "words", "--nodes", "--rails", "--definitions", "--bare"},
}


def _refuse_unused(what: str, given: Mapping[str, object], common: Common) -> None:
    """Refuse an option that would do nothing, and numbers with which nothing can be done. Raises UsageError."""
    wanted = {name for name, value in given.items() if value is not None}
    wanted |= {"--output"} if common.output != "text" else set()
    wanted |= {"--cluster"} if common.cluster is not None else set()
    useless = sorted(wanted - _USED[what])
    if useless:
        does = ", ".join(sorted(_USED[what])) or "no options"
        raise api.UsageError(f"lab {what} has no use for {', '.join(useless)}", hint=f"lab {what} takes {does}")
    for name, fewest, most in (("--nodes", 2, _MOST_NODES), ("--rails", 1, _MOST_RAILS)):
        value = given[name]
        if isinstance(value, int) and not fewest <= value <= most:
            raise api.UsageError(
                f"{name} {value} is too {'few' if value < fewest else 'many'}", hint=f"{name} {fewest} to {most}"
            )


def _options(families: list[str] | None, *, full: bool) -> api.Options:
    wanted = names("--families", families)
    return api.Options(
        families=api.known_families(wanted), quick=not full and not wanted, peer_share=PEER_SHARE, effort=EFFORT
    )


async def _verify(shape: Shape, fault: str, options: api.Options, to: Path | None, common: Common) -> int:
    check_fault(fault, shape)
    check_folder(to)
    shown = progress(quiet=common.quiet)
    async with open_lab(shape, shown, fault) as opened:
        record = await api.verify_endpoints(
            opened.endpoints,
            api.machine_clock(),
            method=shape.method,
            bed=f"the lab: {opened.where}" + (f", broken on purpose: {fault}" if fault else ""),
            not_real=NOT_REAL,
            options=options,
            progress=shown,
        )
    if to is not None:
        keep_run(to, record)
        if not common.quiet:
            sys.stderr.write(f"kept in {to}: open {to / 'report.html'}\n")
    return show(api.verify_document(record), common)


async def _shell(command: str | None) -> int:
    lines = [command] if command is not None else sys.stdin
    code = 0
    for line in lines:
        done = await run_in(line)
        write_result(done.out)
        sys.stderr.write(done.err)
        code = done.exit_code if done.exit_code is not None else 4
    return code
