"""
What a command asks of an API server, as the rights that it takes. Values only.

Whoever reads or writes objects says so beside the code that does it, from the same tables and functions; what is said
is put together by `pipeline/needs.py` and written as roles by `report/rbac.py`.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from railwright.core.objects import Kind, Ref

_ODD_PLURALS = {"NetworkAttachmentDefinition": "network-attachment-definitions"}


def plural_of(kind: Kind) -> str:
    """Name a kind as the API server does in paths and roles."""
    name = kind.kind.lower()
    if kind.kind in _ODD_PLURALS:
        return _ODD_PLURALS[kind.kind]
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    if name.endswith("constraints"):
        return name
    return f"{name}es" if name.endswith("s") else f"{name}s"


@dataclass(frozen=True, order=True)
class Need:
    """
    One verb on one resource.

    Attributes:
        resource: plural, with its subresource: "pods/exec".
        namespace: "" for every namespace, and for what has none.
        name: "" for objects of any name.
        held: never asked for; whoever makes a role that grants it must hold it.
    """

    group: str
    resource: str
    verb: str
    namespace: str = ""
    name: str = ""
    held: bool = False

    def __str__(self) -> str:
        """Write as people say it: "patch clusterpolicies.nvidia.com gpu-cluster-policy in namespace a"."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        named = f" {self.name}" if self.name else ""
        return f"{self.verb} {resource}{named}" + (f" in namespace {self.namespace}" if self.namespace else "")

    def holds(self, other: "Need") -> bool:
        """Whether a role that has this one needs the other no more."""
        same = (self.group, self.resource, self.verb) == (other.group, other.resource, other.verb)
        return same and self.namespace in {"", other.namespace} and self.name in {"", other.name}


def of_kind(verbs: str, kind: Kind, namespace: str = "", name: str = "") -> tuple[Need, ...]:
    """Need verbs ("get list") of a kind."""
    return tuple(Need(kind.group, plural_of(kind), verb, namespace, name) for verb in verbs.split())


def of_ref(verbs: str, ref: Ref) -> tuple[Need, ...]:
    """Need verbs of one object."""
    return of_kind(verbs, ref.kind, ref.namespace, ref.name)


def least(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Sort, each once; what a wider one holds is left out."""
    by_verb: dict[tuple[str, str, str], set[Need]] = defaultdict(set)
    for need in needs:
        by_verb[need.group, need.resource, need.verb].add(need)
    kept: list[Need] = []
    for several in by_verb.values():
        wide = [need for need in several if not need.name]
        kept += [need for need in several if not any(other != need and other.holds(need) for other in wide)]
    asked = {replace(need, held=False) for need in kept if not need.held}
    return tuple(sorted(need for need in kept if not need.held or replace(need, held=False) not in asked))
