"""By what railwright's own objects are known on a cluster, each name once."""

from railwright.core.objects import KubeObject, labels_of

MANAGED_BY_LABEL, MANAGED_BY = "app.kubernetes.io/managed-by", "railwright"
"""On every object that we made; what we only took fields of has no such label."""

LEDGER_NAMESPACE = "railwright"
LEDGER_LABEL = "railwright.dev/ledger"
"""On every ConfigMap of the ledger; its value says what is in it: head, entries, fabric."""

VIRTUAL_CLUSTER = "railwright-virtual-cluster"
"""Context of the virtual cluster's kubeconfig, so the name of the cluster in every result that comes of it."""
VIRTUAL_VARIANT = "virtual-cluster"
"""VARIANT_ID in its nodes' os-release, by which an archive of it is known whatever the context was called."""
VIRTUAL = "VIRTUAL CLUSTER: bytes, pods and device plugins are real; NICs (soft-RoCE), GPUs, drivers and operators are stand-ins"
VIRTUAL_NOT_REAL = (
    "NIC hardware: soft-RoCE moves the bytes, so no figure says anything about a NIC",
    "GPUs: nodes show their ids and offer a count, and there is no memory to move",
    "drivers of NICs and GPUs: modules that load and drive nothing",
    "operators and OpenShift itself: stand-ins that answer as the real ones were recorded to",
)
"""What results on it leave out."""
_OF_VIRTUAL = f" ({VIRTUAL_CLUSTER})"


def is_virtual(cluster: str) -> bool:
    """Whether a cluster's name is that of the virtual cluster, or of an archive of it: every result has it."""
    return cluster == VIRTUAL_CLUSTER or cluster.endswith(_OF_VIRTUAL)


def named_virtual(archive: str) -> str:
    """Give the name of an archive that was collected from the virtual cluster."""
    return archive if is_virtual(archive) else f"{archive}{_OF_VIRTUAL}"


def is_ours(obj: KubeObject | None) -> bool:
    """Whether we made it."""
    return obj is not None and labels_of(obj).get(MANAGED_BY_LABEL) == MANAGED_BY
