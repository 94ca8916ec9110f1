"""Objects in files of any name, as `oc get KIND -o yaml` prints them: what is there is there, and nothing else is known."""

from collections.abc import Iterator
from functools import partial

from railwright.adapters.archive.holdings import Holdings, Shelf
from railwright.adapters.archive.limits import too_much
from railwright.adapters.archive.objects import whole
from railwright.adapters.archive.plurals import known_kinds
from railwright.adapters.archive.tree import Tree
from railwright.adapters.archive.yaml_text import values
from railwright.core.errors import UsageError
from railwright.core.kinds import SECRET
from railwright.core.objects import Kind, KubeObject, Ref, ref_of

_ALL_BYTES = 64 << 20
_NAMED = 5
"""Damaged files that are named one by one."""


def holdings_of(tree: Tree) -> Holdings | None:
    """
    Read every object of a kind that railwright names; None when there is none.

    A file that can't be read is named: what stood behind the damage may be what somebody looks for.
    """
    paths = sorted(path for path in tree.sizes if path.endswith((".yaml", ".yml", ".json")))
    if sum(tree.sizes[path] for path in paths) > _ALL_BYTES:
        raise too_much(tree.where, f"its loose YAML and JSON files are more than {_ALL_BYTES:,} bytes")
    known = {(kind.api_version, kind.kind): kind for kind in known_kinds() - {SECRET}}
    found: dict[Kind, dict[Ref, KubeObject]] = {}
    damaged: list[str] = []
    for path in paths:
        try:
            for value in values(tree, path):
                kind = (
                    known.get((str(value.get("apiVersion")), str(value.get("kind"))))
                    if isinstance(value, dict)
                    else None
                )
                obj = whole(value, kind) if kind is not None else None
                if kind is not None and obj is not None:
                    found.setdefault(kind, {})[ref_of(obj)] = obj
        except UsageError as error:
            damaged.append(error.message.removeprefix(f"{tree.where}: "))
    if not found and not damaged:
        return None
    shelves = tuple(Shelf(kind, partial(_objects, objects), is_complete=False) for kind, objects in found.items())
    names = ", ".join(sorted(kind.kind for kind in found))
    objects = (f"loose objects: {names}",) if names else ()
    return Holdings(shelves=shelves, notes=(*objects, *_told(damaged)))


def _told(damaged: list[str]) -> tuple[str, ...]:
    if not damaged:
        return ()
    more = f", and {len(damaged) - _NAMED} more" if len(damaged) > _NAMED else ""
    return (f"damaged, and read only as far as it goes: {'; '.join(damaged[:_NAMED])}{more}",)


def _objects(objects: dict[Ref, KubeObject]) -> Iterator[KubeObject]:
    return iter(objects.values())
