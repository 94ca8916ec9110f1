"""By what railwright's own objects are known on a cluster, each name once."""

from railwright.core.objects import KubeObject, labels_of

MANAGED_BY_LABEL, MANAGED_BY = "app.kubernetes.io/managed-by", "railwright"
"""On every object that we made; what we only took fields of has no such label."""

LEDGER_NAMESPACE = "railwright"
LEDGER_LABEL = "railwright.dev/ledger"
"""On every ConfigMap of the ledger; its value says what is in it: head, entries, fabric."""


def is_ours(obj: KubeObject | None) -> bool:
    """Whether we made it."""
    return obj is not None and labels_of(obj).get(MANAGED_BY_LABEL) == MANAGED_BY
