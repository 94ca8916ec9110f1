"""Faults of the cluster around the nodes: catalogs, groups, pools."""

from collections.abc import Callable
from dataclasses import replace

from railwright.core.objects import KubeObject
from railwright.simulator.worlds.model import Draft, Phase
from railwright.simulator.worlds.objects import namespace
from railwright.standins.openshift import thing
from railwright.standins.operators import GPU, NETWORK, NFD, SRIOV


def trouble(name: str) -> Callable[[Draft], Draft]:
    """Give a fault that changes how the world behaves, by name."""
    return lambda draft: replace(draft, troubles=draft.troubles | {name})


def change_objects(draft: Draft, change: Callable[[KubeObject], KubeObject | None]) -> Draft:
    """Change every object that a world begins with; None leaves one out."""
    phases = []
    for phase in draft.phases:
        kept = [changed for item in phase.objects if (changed := change(item)) is not None]
        phases.append(replace(phase, objects=tuple(kept)))
    return replace(draft, phases=tuple(phases))


def package_missing(draft: Draft) -> Draft:
    """Take the Network Operator out of the catalog, as in a mirror that was not given it."""

    def change(obj: KubeObject) -> KubeObject | None:
        is_it = obj["kind"] == "PackageManifest" and obj["metadata"]["name"] == NETWORK.package
        return None if is_it else obj

    return change_objects(draft, change)


def second_operator_group(draft: Draft) -> Draft:
    """Let somebody else's OperatorGroups be in the operators' namespaces: OLM then installs nothing, in silence."""
    made = [
        item
        for operator in (NFD, SRIOV, NETWORK, GPU)
        for item in (
            namespace(operator.namespace),
            *(
                thing(
                    "operators.coreos.com/v1",
                    "OperatorGroup",
                    f"{operator.namespace}-{number}",
                    operator.namespace,
                    spec={"targetNamespaces": [operator.namespace]},
                )
                for number in ("old", "older")
            ),
        )
    ]
    return replace(draft, phases=(*draft.phases, Phase("kubectl-create", tuple(made))))


def pool_paused(draft: Draft) -> Draft:
    """Pause the worker pool: no MachineConfig reaches its nodes."""

    def change(obj: KubeObject) -> KubeObject:
        if obj["kind"] != "MachineConfigPool" or obj["metadata"]["name"] != "worker":
            return obj
        return {**obj, "spec": {**obj["spec"], "paused": True}}

    return change_objects(draft, change)
