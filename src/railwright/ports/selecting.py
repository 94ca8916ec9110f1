"""Which objects a Selection takes, for every Cluster that has no API server to ask. Pure."""

from collections.abc import Mapping

from railwright.core.errors import ObjectRefused
from railwright.core.objects import KubeObject, Ref, labels_of
from railwright.ports.cluster import Selection


def selected(obj: KubeObject, ref: Ref, selection: Selection) -> bool:
    """
    Whether a selection takes an object.

    Raises:
        ObjectRefused: a label selector of another form than a=b, a==b, a!=b, a and !a, comma separated.
    """
    if ref.kind != selection.kind:
        return False
    if selection.namespace and ref.namespace != selection.namespace:
        return False
    if selection.name and ref.name != selection.name:
        return False
    return all(_label_holds(labels_of(obj), term.strip()) for term in selection.labels.split(",") if term.strip())


def _label_holds(have: Mapping[str, str], term: str) -> bool:
    if " " in term:
        message = f"a label selector of this form is understood by a real API server only: {term!r}"
        raise ObjectRefused(message, hint="use a=b, a!=b, a or !a")
    if "!=" in term:
        key, _, value = term.partition("!=")
        return bool(have.get(key) != value)
    if "=" in term:
        key, _, value = term.replace("==", "=").partition("=")
        return bool(have.get(key) == value)
    return term[1:] not in have if term.startswith("!") else term in have
