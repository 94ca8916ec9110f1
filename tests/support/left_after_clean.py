"""What a clean leaves, against a reviewed list."""

from collections.abc import Mapping

from support.bed_world import QUIET_FACTOR, Bed
from support.soon import soon
from support.whole_state import Reviewed, differences, read_state, unexpected

from railwright.core.objects import KubeObject, Ref

LEFT = (
    Reviewed(
        r"Node worker-\d",
        r"metadata\.labels\.(feature\.node\.kubernetes\.io/|nvidia\.com/|network\.nvidia\.com/|sriovnetwork\.)",
        "operators leave their labels; clean names each of them in what cannot be restored",
    ),
    Reviewed(
        r"Node worker-\d",
        r"metadata\.annotations\.(nvidia\.com/gpu-driver-upgrade-enabled|machineconfiguration\.openshift\.io/)",
        "what operators and the machine config operator note for themselves",
    ),
    Reviewed(
        r"Node worker-\d",
        r"status\.(allocatable|capacity)\.(rdma/|nvidia\.com/|openshift\.io/)\S+: '0' was added",
        "a kubelet keeps the name of a resource whose plugin left, with 0",
    ),
    Reviewed(r"Node worker-\d", r"status\.conditions", "times and reasons: the nodes were rebooted"),
    Reviewed(r"MachineConfig rendered-worker-\d+", "was made", "the machine config operator keeps what it rendered"),
    Reviewed(r"MachineConfigPool worker", r"status\.(conditions|observedGeneration)", "the pool was rolled out twice"),
    Reviewed(r"Pod openshift-machine-config-operator/machine-config-daemon-\w+", "", "the daemon's pods restarted"),
)
"""What may differ after a clean, and why. Whoever adds a line says why nobody can do better."""
LEFT_BY_SRIOV_OPERATOR = (
    Reviewed(
        r"ClusterRole(Binding)? (operator-webhook|network-resources-injector)(-role-binding)?",
        "was made",
        "the real operator leaves the roles of its webhooks when its settings are deleted, and nothing else needs them",
    ),
    Reviewed(
        r"(Node worker-\d|MachineConfigPool worker)",
        r"metadata\.annotations(\.sriovnetwork\.openshift\.io/state)?: \S*(sriovnetwork\S+ )?'Idle'\S* was added",
        "its note that no drain is going on",
    ),
)
"""Beside LEFT, where that operator is real."""


async def left_at_rest(
    bed: Bed, before: Mapping[Ref, KubeObject], reviewed: tuple[Reviewed, ...] = LEFT
) -> tuple[str, ...]:
    """Give what a clean left that nobody reviewed, once operators and nodes had their time to follow."""
    bed.actors.quiet_factor = QUIET_FACTOR

    async def left() -> tuple[str, ...]:
        return unexpected(differences(before, await read_state(bed.client, bed.kinds)), reviewed)

    with bed.time.waiting():
        return await soon(left, lambda found: not found)
