"""Kubernetes objects as plain data, and references to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KubeObject = Mapping[str, Any]
"""An object as the API server sends it; treated as frozen everywhere: copy before changing."""

FIELD_MANAGER = "railwright"

MISSHAPEN = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
"""
What reading an object ends with where a field holds something else than its kind allows: a text where a list belongs.

No API server takes such an object, but an archive may hold one. Whoever reads objects of any origin one by one catches
these, and says that this one was not understood, so that the others are.
"""


@dataclass(frozen=True, order=True)
class Kind:
    """A kind of object: `api_version` as in a manifest ("v1", "mellanox.com/v1alpha1")."""

    api_version: str
    kind: str

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    def __str__(self) -> str:
        """Write as Kind.group, the way people name kinds on a command line."""
        return f"{self.kind}.{self.group}" if self.group else self.kind


@dataclass(frozen=True, order=True)
class Ref:
    """One object: `namespace` is empty for cluster-scoped kinds."""

    kind: Kind
    namespace: str
    name: str

    def __str__(self) -> str:
        """Write as `Kind namespace/name`."""
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind.kind} {where}"


def kind_of(obj: KubeObject) -> Kind:
    """Read the kind of an object."""
    return Kind(str(obj["apiVersion"]), str(obj["kind"]))


def ref_of(obj: KubeObject) -> Ref:
    """Read the reference of an object."""
    metadata = obj["metadata"]
    return Ref(kind_of(obj), str(metadata.get("namespace", "")), str(metadata["name"]))


def dig(value: Any, *path: str | int, default: Any = None) -> Any:
    """
    Follow keys and indices into nested data.

    Returns:
        What is there, or `default` as soon as one step is missing or null.
    """
    for step in path:
        # Asked millions of times, nearly always of a plain dict: the check of an abstract type comes last.
        if type(value) is dict:
            value = value.get(step)
        elif isinstance(step, int):
            if not isinstance(value, list | tuple) or len(value) <= step:
                return default
            value = value[step]
        elif isinstance(value, Mapping):
            value = value.get(step)
        else:
            return default
        if value is None:
            return default
    return value


def labels_of(obj: KubeObject) -> Mapping[str, str]:
    """Labels of an object; empty when it has none."""
    found: Mapping[str, str] = dig(obj, "metadata", "labels", default={})
    return found


def annotations_of(obj: KubeObject) -> Mapping[str, str]:
    """Annotations of an object; empty when it has none."""
    found: Mapping[str, str] = dig(obj, "metadata", "annotations", default={})
    return found
