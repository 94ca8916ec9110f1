"""Whether an object on the cluster was made by us: then it is planned again, not adopted."""

from railwright.core.objects import FIELD_MANAGER, KubeObject, labels_of

MANAGED_BY = "app.kubernetes.io/managed-by"


def is_ours(obj: KubeObject | None) -> bool:
    """Whether we made it; what we only took fields of carries no such label."""
    return obj is not None and labels_of(obj).get(MANAGED_BY) == FIELD_MANAGER
