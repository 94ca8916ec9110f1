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


def holdings_of(tree: Tree) -> Holdings | None:
    """Read every object of a kind that railwright names; None when there is none. Files that are no YAML are passed over."""
    paths = sorted(path for path in tree.sizes if path.endswith((".yaml", ".yml", ".json")))
    if sum(tree.sizes[path] for path in paths) > _ALL_BYTES:
        raise too_much(tree.where, f"its loose YAML and JSON files are more than {_ALL_BYTES:,} bytes")
    known = {(kind.api_version, kind.kind): kind for kind in known_kinds() - {SECRET}}
    found: dict[Kind, dict[Ref, KubeObject]] = {}
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
        except UsageError:
            continue
    if not found:
        return None
    shelves = tuple(Shelf(kind, partial(_objects, objects), is_complete=False) for kind, objects in found.items())
    names = ", ".join(sorted(kind.kind for kind in found))
    return Holdings(shelves=shelves, notes=(f"loose objects: {names}",))


def _objects(objects: dict[Ref, KubeObject]) -> Iterator[KubeObject]:
    return iter(objects.values())
