"""Everything that an API server holds, and what differs between two moments; knows nothing of how railwright works."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.kinds import POD
from railwright.core.objects import Kind, KubeObject, Ref, ref_of
from railwright.lab.controlplane.client import PlaneClient

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_INSTALL_PLAN = re.compile(r"install-[a-z0-9]{5}\b")
_POD_NAME = re.compile(r"-[a-z0-9]{5}\b(?=\"|$)")
_SERVERS_OWN = ("resourceVersion", "generation", "managedFields")
"""Says how often and by whom something was written, not what."""


@dataclass(frozen=True)
class Reviewed:
    """A difference that is known and meant; both patterns match whole words of Kind, name and dotted path."""

    what: str
    path: str
    why: str


async def read_state(client: PlaneClient, kinds: Iterable[Kind]) -> dict[Ref, KubeObject]:
    """Read every object of these kinds."""
    return {ref_of(obj): _plain(obj) for kind in kinds for obj in (await client.list(kind))[0]}


async def read_portable(client: PlaneClient, kinds: Iterable[Kind], manager: str) -> dict[Ref, KubeObject]:
    """
    Read every object as it is the same on another day: without uids, times and generated names.

    Args:
        manager: the field manager whose owned fields are part of it.
    """
    found: dict[Ref, KubeObject] = {}
    for kind in kinds:
        for obj in (await client.list(kind))[0]:
            owned = [
                {key: value for key, value in entry.items() if key != "time"}
                for entry in obj["metadata"].get("managedFields", ())
                if entry.get("manager") == manager
            ]
            text = json.dumps({**_plain(obj), "owned": sorted(owned, key=str)})
            masked: KubeObject = json.loads(_masked(text, kind))
            if kind == POD:
                # Pods of one DaemonSet lose what told them apart: their nodes do.
                masked["metadata"]["name"] += f"-on-{masked['spec'].get('nodeName', 'none')}"
            found[ref_of(masked)] = masked
    return found


def _masked(text: str, kind: Kind) -> str:
    text = _TIME.sub("TIME", _UID.sub("UID", text))
    text = _INSTALL_PLAN.sub("install-XXXXX", text)
    return _POD_NAME.sub("-XXXXX", text) if kind == POD else text


def differences(before: Mapping[Ref, KubeObject], after: Mapping[Ref, KubeObject]) -> tuple[str, ...]:
    """Give one line a difference: the object, and what came, went or changed of it."""
    lines = [f"{ref} was made" for ref in after if ref not in before]
    lines += [f"{ref} is gone" for ref in before if ref not in after]
    for ref in before:
        if ref in after:
            lines += [f"{ref} {path}: {text}" for path, text in _fields(before[ref], after[ref], "")]
    return tuple(sorted(lines))


def unexpected(lines: Iterable[str], reviewed: Iterable[Reviewed]) -> tuple[str, ...]:
    """Leave out what was reviewed."""
    patterns = [re.compile(f"{item.what} {item.path}") for item in reviewed]
    return tuple(line for line in lines if not any(pattern.match(line) for pattern in patterns))


def _plain(obj: KubeObject) -> KubeObject:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SERVERS_OWN}
    return {**obj, "metadata": metadata}


def _fields(old: Any, new: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            inside = f"{path}.{key}" if path else str(key)
            if key not in new:
                yield inside, f"{old[key]!r} is gone"
            elif key not in old:
                yield inside, f"{new[key]!r} was added"
            else:
                yield from _fields(old[key], new[key], inside)
    elif old != new:
        yield path, f"{old!r} became {new!r}"
