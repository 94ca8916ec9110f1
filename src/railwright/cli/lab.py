"""`railwright lab`."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.keep import check_folder, keep_run
from railwright.cli.lab_cluster import cluster
from railwright.cli.lab_limits import check_counts
from railwright.cli.options import Common, names
from railwright.cli.progress import progress
from railwright.cli.streams import write_result
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


@Parameter(name="*")
@dataclass(frozen=True)
class _Bed:
    """What a lab consists of, and what is broken in it."""

    method: Literal["shared", "host-device", "sriov"] | None = None
    """How pods get their RDMA device: a macvlan child (shared, the default), a moved netdev, or a VF of an emulated
    NIC."""
    nodes: int | None = None
    """How many nodes, of one pod each; default 2. For fabric: how many hosts; default 8."""
    rails: int | None = None
    """How many rails; default 2, and 1 for sriov."""
    fault: str | None = None
    """Break something real: loss, mtu, gid, gid-index, memlock, netns, link-down, peer-killed, corruption,
    one-direction, swapped-rails, slow-node; for fabric: pkey."""

    @property
    def shape(self) -> Shape:
        """The same with its defaults."""
        method = self.method or "shared"
        rails = self.rails if self.rails is not None else (1 if method == "sriov" else 2)
        return Shape(method, self.nodes or 2, rails)


@Parameter(name="*")
@dataclass(frozen=True)
class _Proof:
    """What is run in a lab, and where it is kept."""

    families: Annotated[list[str] | None, Parameter(name=["--families", "--family"])] = None
    """Only these families of probes (engine, perftest, latency, cm, sweep)."""
    full: bool = False
    """Every family, not only those that prove most."""
    to: Path | None = None
    """Keep the run in this folder: report.html, record.json, junit.xml, raw replies."""


lab = App(name="lab")
lab.command(cluster)


@lab.default
def in_machine(
    what: Literal["run", "up", "down", "shell", "status", "fabric"] = "run",
    command: str | None = None,
    *,
    bed: _Bed = _Bed(),
    proof: _Proof = _Proof(),
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Move real RDMA bytes on this machine: soft-RoCE between network namespaces, in a small virtual machine.

    The same schedule, witnesses and verdicts as on a cluster. On a Linux host that has rdma_rxe loaded no virtual
    machine is needed. `lab fabric` runs an InfiniBand subnet on a simulator. `lab cluster` is a Kubernetes cluster of
    virtual machines with real kubelets, experimental; `lab cluster --help` says what it takes.

    Args:
        what: run (the default) verifies and ends; up leaves a lab for you to play in; shell runs a command in it;
            status and down are what they say; fabric is InfiniBand.
        command: for shell: what to run, as one argument; without it, lines are read from standard input.
        bed: what the lab consists of.
        proof: what is run in it.
        common: output; --cluster is not used.
    """

    async def action() -> int:
        _refuse_unused(what, {"command": command, **_given(bed, proof)}, common)
        check_counts(bed.nodes, bed.rails)
        match what:
            case "run":
                options = _options(proof.families, full=proof.full)
                return await _verify(bed.shape, bed.fault or "", options, proof.to, common)
            case "up":
                write_result(await up(bed.shape, progress(quiet=common.quiet), bed.fault or ""))
            case "down":
                write_result(await down())
            case "status":
                write_result(await status())
            case "shell":
                return await _shell(command)
            case "fabric":
                from railwright.cli.lab_fabric import fabric

                return await fabric(bed.nodes or _FABRIC_HOSTS, bed.fault or "", common)
        return 0

    return run(action, common)


_FABRIC_HOSTS = 8
_USED: dict[str, set[str]] = {
    "run": {"--method", "--nodes", "--rails", "--fault", "--families", "--full", "--to", "--output"},
    "up": {"--method", "--nodes", "--rails", "--fault"},
    "shell": {"command"},
    "status": set(),
    "down": set(),
    "fabric": {"--nodes", "--fault", "--output"},
}


def _given(bed: _Bed, proof: _Proof) -> Mapping[str, object]:
    """Name the options; None for those that were left out."""
    given = {f"--{name}": value for each in (bed, proof) for name, value in vars(each).items()}
    return given | {"--full": proof.full or None}


def _refuse_unused(what: str, given: Mapping[str, object], common: Common) -> None:
    """Refuse an option that would do nothing. Raises UsageError."""
    wanted = {name for name, value in given.items() if value is not None}
    wanted |= {"--output"} if common.output != "text" else set()
    wanted |= {"--cluster"} if common.cluster is not None else set()
    useless = sorted(wanted - _USED[what])
    if useless:
        does = ", ".join(sorted(_USED[what])) or "no options"
        raise api.UsageError(f"lab {what} has no use for {', '.join(useless)}", hint=f"lab {what} takes {does}")


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
