"""The worlds, each once: name, one line, and how it is built."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from railwright.simulator.kinds import KUBERNETES, MACHINE_CONFIG_KINDS, OPENSHIFT
from railwright.simulator.worlds.adopted import adopted_phases, helm_phases
from railwright.simulator.worlds.machines import arm_worker, control_plane, worker
from railwright.simulator.worlds.model import Draft, Phase
from railwright.simulator.worlds.objects import kubernetes, openshift

_NO_OLM = frozenset({"catalog-operator", "machine-config-controller"})


@dataclass(frozen=True)
class World:
    """One entry of the table."""

    name: str
    description: str
    build: Callable[[], Draft]


def _standard(*, infiniband: bool) -> Draft:
    machines = (*map(control_plane, range(3)), *(worker(number, infiniband=infiniband) for number in range(2)))
    return Draft(machines, (Phase("installer", openshift(machines)),), (*KUBERNETES, *OPENSHIFT))


def _mixed() -> Draft:
    first = tuple(worker(number) for number in range(32))
    second = tuple(worker(number, gpu="2330", rails=4) for number in range(32, 64))
    machines = (*map(control_plane, range(3)), *first, *second)
    return Draft(machines, (Phase("installer", openshift(machines)),), (*KUBERNETES, *OPENSHIFT))


def _adopt() -> Draft:
    draft = _standard(infiniband=False)
    return replace(draft, phases=(*draft.phases, *adopted_phases()))


def _sno() -> Draft:
    node = replace(worker(0), name="node-0", roles=("master", "control-plane", "worker"))
    return Draft(
        (node,), (Phase("installer", openshift((node,), topology="SingleReplica")),), (*KUBERNETES, *OPENSHIFT)
    )


def _hcp() -> Draft:
    machines = tuple(worker(number) for number in range(2))
    served = tuple(item for item in OPENSHIFT if item.kind not in MACHINE_CONFIG_KINDS)
    phase = Phase("installer", openshift(machines, topology="External"))
    return Draft(machines, (phase,), (*KUBERNETES, *served), silent=frozenset({"machine-config-controller"}))


def _gb200() -> Draft:
    machines = (*map(control_plane, range(3)), *map(arm_worker, range(2)))
    return Draft(machines, (Phase("installer", openshift(machines)),), (*KUBERNETES, *OPENSHIFT))


def _vanilla() -> Draft:
    system: dict[str, Any] = {
        "os_image": "Ubuntu 24.04.3 LTS",
        "kernel": "6.8.0-87-generic",
        "os_release": ('NAME="Ubuntu"', "ID=ubuntu", 'VERSION_ID="24.04"'),
    }
    machines = tuple(replace(item, **system) for item in (control_plane(0), worker(0), worker(1)))
    phases = (Phase("kubeadm", kubernetes(machines)), *helm_phases())
    return Draft(machines, phases, KUBERNETES, silent=_NO_OLM, troubles=frozenset({"nfd-upstream"}))


WORLDS = (
    World(
        "h200-roce",
        "OpenShift 4.20, 2 workers with 8 H200 and 8 ConnectX-7 on Ethernet",
        lambda: _standard(infiniband=False),
    ),
    World("h200-ib", "the same on InfiniBand, with a subnet manager", lambda: _standard(infiniband=True)),
    World("mixed", "64 workers in two groups: 8 GPUs with 8 rails, and 8 GPUs with 4 rails", _mixed),
    World("adopt", "all four operators are there already, with other settings and other owners", _adopt),
    World("sno", "single-node OpenShift", _sno),
    World("hcp", "hosted control plane: no MachineConfigs", _hcp),
    World("gb200", "arm64, 64 KiB pages, GPUs and NICs on different root complexes", _gb200),
    World("vanilla", "plain Kubernetes on Ubuntu, operators from Helm charts, no OLM", _vanilla),
)
