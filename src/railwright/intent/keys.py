"""
One row of documentation for every key of rails.yaml.

`explain`, the JSON Schema's descriptions, docs/rails-yaml.md and the "expected" of mistakes all come from here.
"""

import re

from railwright.intent.key_doc import KeyDoc
from railwright.intent.key_rows import FABRIC_KEYS, NODE_KEYS, RAIL_KEYS
from railwright.intent.key_rows_network import DRIVER_KEYS, NETWORK_KEYS, OPERATOR_KEYS

__all__ = ["KEYS", "KeyDoc", "children", "find_key", "parents_of", "row_of"]

KEYS: tuple[KeyDoc, ...] = (*FABRIC_KEYS, *NODE_KEYS, *RAIL_KEYS, *NETWORK_KEYS, *DRIVER_KEYS, *OPERATOR_KEYS)

_BY_PATH = {key.path: key for key in KEYS}
_MAPS = ("spec.nodes.labels", "spec.groups[].nodes.labels", "spec.operators.channels", "spec.operators.catalogs")


def find_key(path: str) -> KeyDoc | None:
    """
    Find the row of a key path; with or without "spec.", with or without indices ("rails[2].name").

    A key inside a map (a label, a package) has the map's row. None when there is no such key.
    """
    plain = re.sub(r"\[\d*\]", "[]", path.strip())
    for candidate in (plain, f"spec.{plain}", plain.removesuffix("[]"), f"spec.{plain.removesuffix('[]')}"):
        if candidate in _BY_PATH:
            return _BY_PATH[candidate]
        parent = next((each for each in _MAPS if candidate.startswith(f"{each}.")), None)
        if parent is not None:
            return _BY_PATH[parent]
    return None


def row_of(path: str) -> KeyDoc:
    """Find the row of a key that the shape knows. Raises KeyError for one without a row (a bug of ours)."""
    key = find_key(path)
    if key is None:
        raise KeyError(path)
    return key


def children(path: str) -> tuple[str, ...]:
    """Names of the keys directly below a path ("" for the document, "spec.rails[]" for a rail)."""
    start = f"{path}." if path else ""
    names = (key.path[len(start) :] for key in KEYS if key.path.startswith(start))
    return tuple(name for name in names if re.fullmatch(r"\w+", name))


def parents_of(name: str) -> tuple[str, ...]:
    """Paths that end in this key, wherever it stands: for a key that was written at the wrong place."""
    return tuple(key.path for key in KEYS if key.path.rpartition(".")[2] == name)
