"""
The programs of a virtual node and of its control plane, each built from its Go module and kept by version.

A group is what is built together: a changed version builds its own group anew, and no other. What a distribution has
in its packages (containerd, crun, CNI plugins, perftest) comes from there; see `disk.py`.
"""

from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import UsageError
from railwright.lab.controlplane.pods import KWOK_PROGRAMS, SCHEDULER_PROGRAMS
from railwright.lab.controlplane.programs import (
    PROGRAMS,
    Piece,
    Program,
    Unavailable,
    built_programs,
    ensure_programs,
)
from railwright.ports.progress import Note, Progress, Silent


@dataclass(frozen=True)
class Group:
    """
    Programs that are built together.

    Attributes:
        cold_s: how long a build took with nothing cached on two busy cores; shown, never waited for.
    """

    title: str
    pieces: tuple[Piece, ...]
    cold_s: int


GROUPS = (
    Group("etcd, kube-apiserver and kube-controller-manager", PROGRAMS, 300),
    Group("kube-scheduler", SCHEDULER_PROGRAMS, 120),
    Group("KWOK", KWOK_PROGRAMS, 70),
    Group("kubelet", (Program("kubernetes", "kubelet", "k8s.io/kubernetes/cmd/kubelet"),), 240),
    Group("Multus", (Program("multus", "multus", "gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus"),), 300),
    Group(
        "whereabouts",
        (Program("whereabouts", "whereabouts", "github.com/k8snetworkplumbingwg/whereabouts/cmd"),),
        190,
    ),
    Group(
        "the shared RDMA device plugin",
        (
            Program(
                "shared-device-plugin",
                "k8s-rdma-shared-dp",
                "github.com/Mellanox/k8s-rdma-shared-dev-plugin/cmd/k8s-rdma-shared-dp",
            ),
        ),
        50,
    ),
    Group(
        "the SR-IOV network device plugin",
        (
            Program(
                "sriov-device-plugin",
                "sriovdp",
                "github.com/k8snetworkplumbingwg/sriov-network-device-plugin/cmd/sriovdp",
            ),
        ),
        430,
    ),
)
"""Times measured 2026-11 on two cores that were shared, with empty Go caches."""


def missing_groups() -> tuple[Group, ...]:
    """Name what has to be built."""
    return tuple(group for group in GROUPS if built_programs(group.pieces) is None)


async def ensure_all(progress: Progress) -> dict[str, Path]:
    """
    Build what is missing.

    Returns:
        Program name -> its file.

    Raises:
        UsageError: one cannot be built here; the message has Go's last words.
    """
    for group in (missing := missing_groups()):
        minutes = -(-group.cold_s // 60)
        left = -(-sum(each.cold_s for each in missing[missing.index(group) :]) // 60)
        progress.emit(Note(f"building {group.title}: about {minutes} min, {left} min in all; kept for the next time"))
        await _built(group)
    return {piece.name: await _built(group) / piece.name for group in GROUPS for piece in group.pieces}


async def _built(group: Group) -> Path:
    folder = await ensure_programs(Silent(), group.pieces)
    if isinstance(folder, Unavailable):
        raise UsageError(
            f"the virtual cluster needs {group.title}: {folder.reason}",
            hint="install Go (1.26 or newer) and let it reach a Go module proxy",
        )
    return folder
