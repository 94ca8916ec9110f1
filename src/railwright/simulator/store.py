"""
Objects in memory with the promises of a Kubernetes API server.

Server-side apply, merge patch, delete with finalizers and garbage collection, resource versions, generations, and a
log of changes. It knows no operator and no clock: the time of a write is handed in. What it was not taught it refuses.
"""

import copy
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from railwright.core.errors import KindNotServed, NotFound, ObjectRefused, WriteConflict
from railwright.core.kinds import CUSTOM_RESOURCE_DEFINITION, NAMESPACE
from railwright.core.objects import Kind, KubeObject, Ref, dig, ref_of
from railwright.ports.cluster import Seen, ServedKind
from railwright.simulator import ownership
from railwright.simulator.kinds import WITHOUT_GENERATION, definitions
from railwright.simulator.ownership import Manager, Owners
from railwright.standins.view import KindIndex, rfc3339

_UID_SPACE = uuid.UUID("6f1f3c0e-7a52-4c1b-9a57-0d6d2a1f9b11")


@dataclass(frozen=True)
class Change:
    """One entry of the log: what a watch sees."""

    version: int
    seen: Seen


@dataclass
class Store:
    """The objects of one world; `base_kinds` are served from the start."""

    base_kinds: tuple[ServedKind, ...]
    objects: KindIndex = field(default_factory=KindIndex)
    version: int = 1000
    log: list[Change] = field(default_factory=list)
    _served: dict[Kind, ServedKind] | None = None

    # --- reading -----------------------------------------------------------------------------------------------------

    def served(self) -> dict[Kind, ServedKind]:
        """Every kind served now."""
        if self._served is None:
            added = definitions(self.objects.by_kind.get(CUSTOM_RESOURCE_DEFINITION, {}))
            self._served = {item.kind: item for item in (*self.base_kinds, *added)}
        return self._served

    def check_kind(self, kind: Kind) -> ServedKind:
        """Give what is known of a kind. Raises KindNotServed."""
        served = self.served().get(kind)
        if served is None:
            raise KindNotServed(
                f"the API server does not serve {kind.kind} of {kind.api_version}",
                hint="the operator that brings this kind is not installed (yet)",
                context={"kind": kind.kind, "apiVersion": kind.api_version},
            )
        return served

    def get(self, ref: Ref) -> KubeObject:
        """Read one object. Raises KindNotServed, NotFound."""
        self.check_kind(ref.kind)
        obj = self.objects.get(ref)
        if obj is None:
            raise NotFound(f"{ref} does not exist", context={"object": str(ref)})
        return obj

    # --- writing -----------------------------------------------------------------------------------------------------

    def create(self, obj: KubeObject, manager: Manager, now: datetime) -> KubeObject:
        """Make a new object, status included. Raises WriteConflict when it is there already."""
        ref = self._check_place(obj)
        if ref in self.objects:
            raise WriteConflict(f"{ref} exists already", context={"object": str(ref)})
        owners = {manager: frozenset(ownership.leaves(obj))}
        return self._store(ref, None, copy.deepcopy(dict(obj)), owners, now)

    def apply(
        self, obj: KubeObject, manager: Manager, now: datetime, *, take_over: bool = False, dry_run: bool = False
    ) -> KubeObject:
        """Server-side apply. Raises WriteConflict for fields of others, and for a resourceVersion that moved on."""
        ref = self._check_place(obj)
        live = self.objects.get(ref)
        wanted = {path: value for path, value in ownership.leaves(obj).items() if path[0] != "status"}
        guard = dig(obj, "metadata", "resourceVersion")
        if live is None:
            if guard:
                raise NotFound(f"{ref} does not exist any more", context={"object": str(ref)})
            body = copy.deepcopy({key: value for key, value in obj.items() if key != "status"})
            return self._store(ref, None, body, {manager: frozenset(wanted)}, now, dry_run=dry_run)
        self._check_guard(ref, live, guard)
        owners = ownership.owners_of(live)
        held = ownership.conflicts(wanted, live, owners, manager)
        if held and not take_over:
            raise _conflict(ref, live, held)
        body = copy.deepcopy(dict(live))
        for path, value in wanted.items():
            if value != {} or not isinstance(ownership.read(body, path), Mapping):
                ownership.put(body, path, copy.deepcopy(value))
        given_up = owners.get(manager, frozenset()) - frozenset(wanted)
        after: Owners = {
            other: frozenset(path for path in paths if path not in held) for other, paths in owners.items()
        }
        after[manager] = frozenset(wanted)
        for path in given_up:
            if not any(ownership.holds(paths, path) for paths in after.values()):
                ownership.remove(body, path)
        return self._store(ref, live, body, after, now, dry_run=dry_run)

    def merge(
        self,
        ref: Ref,
        change: Mapping[str, Any],
        manager: Manager,
        now: datetime,
        *,
        dry_run: bool = False,
        status: bool = False,
    ) -> KubeObject:
        """Merge patch of the object, or of its status only. Raises NotFound, WriteConflict."""
        live = self.get(ref)
        self._check_guard(ref, live, dig(change, "metadata", "resourceVersion"))
        part = {key: value for key, value in change.items() if (key == "status") == status}
        body = merged(live, part)
        body["metadata"] = dict(body["metadata"])
        for key in ("resourceVersion", "uid", "creationTimestamp", "generation", "managedFields"):
            if key in live["metadata"]:
                body["metadata"][key] = live["metadata"][key]
        before, after = ownership.leaves(live), ownership.leaves(body)
        changed = {path for path, value in after.items() if before.get(path, ownership) != value}
        gone = set(before) - set(after)
        owners: Owners = {
            other: frozenset(path for path in paths if path not in changed and path not in gone)
            for other, paths in ownership.owners_of(live).items()
        }
        owners[manager] = owners.get(manager, frozenset()) | changed
        return self._store(ref, live, body, owners, now, dry_run=dry_run)

    def delete(self, ref: Ref, now: datetime, *, uid: str = "", dry_run: bool = False) -> None:
        """Delete; what has finalizers is only marked. Raises NotFound, WriteConflict (another uid)."""
        live = self.get(ref)
        if uid and live["metadata"]["uid"] != uid:
            raise WriteConflict(
                f"{ref} is another object now (uid {live['metadata']['uid']}, expected {uid})",
                context={"object": str(ref)},
            )
        if dry_run:
            return
        if ref.kind == NAMESPACE:
            for other in [item for item in self.objects if item.namespace == ref.name]:
                if other in self.objects:
                    self.delete(other, now)
        if dig(live, "metadata", "finalizers") or self._is_blocked(ref):
            if not dig(live, "metadata", "deletionTimestamp"):
                body = copy.deepcopy(dict(live))
                body["metadata"]["deletionTimestamp"] = rfc3339(now)
                self._store(ref, live, body, ownership.owners_of(live), now)
            return
        if ref in self.objects:
            self._drop(ref, now)

    def _is_blocked(self, ref: Ref) -> bool:
        """Whether a namespace still holds something that a finalizer keeps."""
        return ref.kind == NAMESPACE and any(item.namespace == ref.name for item in self.objects)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _check_place(self, obj: KubeObject) -> Ref:
        ref = ref_of(obj)
        served = self.check_kind(ref.kind)
        if served.namespaced and not ref.namespace:
            raise ObjectRefused(f"{ref.kind.kind} {ref.name} needs a namespace", context={"object": str(ref)})
        if not served.namespaced and ref.namespace:
            raise ObjectRefused(f"{ref.kind.kind} {ref.name} is cluster-scoped", context={"object": str(ref)})
        if served.namespaced and Ref(NAMESPACE, "", ref.namespace) not in self.objects:
            raise NotFound(f'namespaces "{ref.namespace}" not found', context={"namespace": ref.namespace})
        return ref

    def _check_guard(self, ref: Ref, live: KubeObject, version: Any) -> None:
        if version and version != live["metadata"]["resourceVersion"]:
            raise WriteConflict(
                f"{ref} changed since it was read (resourceVersion {version}, now {live['metadata']['resourceVersion']})",
                context={"object": str(ref)},
            )

    def _store(
        self,
        ref: Ref,
        live: KubeObject | None,
        body: dict[str, Any],
        owners: Owners,
        now: datetime,
        *,
        dry_run: bool = False,
    ) -> KubeObject:
        meta = body.setdefault("metadata", {})
        before = dig(live, "metadata", "managedFields", default=[])
        lines = ownership.managed_fields(owners, before, ref.kind.api_version, rfc3339(now))
        meta["managedFields"] = lines
        if live is not None and lines == before and _content(body) == _content(live):
            return live
        if live is None:
            meta["uid"] = str(uuid.uuid5(_UID_SPACE, f"{ref}/{self.version}"))
            meta["creationTimestamp"] = rfc3339(now)
            if ref.kind not in WITHOUT_GENERATION:
                meta["generation"] = 1
            if ref.kind == NAMESPACE:
                body["status"] = {"phase": "Active"}
        elif "generation" in meta and _specification(body) != _specification(live):
            meta["generation"] = live["metadata"]["generation"] + 1
        meta["resourceVersion"] = str(self.version + 1)
        if dry_run:
            return body
        self.version += 1
        if meta.get("deletionTimestamp") and not meta.get("finalizers") and not self._is_blocked(ref):
            self._drop(ref, now)
            return body
        self.objects[ref] = body
        self.log.append(Change(self.version, Seen(body)))
        if ref.kind == CUSTOM_RESOURCE_DEFINITION:
            self._served = None
        return body

    def _drop(self, ref: Ref, now: datetime) -> None:
        """
        Remove an object and all that goes with it.

        That is what it owned, its kind's objects, and its namespace when that waited for it.
        """
        gone = self.objects[ref]
        del self.objects[ref]
        self.version += 1
        self.log.append(Change(self.version, Seen(gone, gone=True)))
        uid = gone["metadata"]["uid"]
        follow = list(self.objects.parts_of(uid))
        home = Ref(NAMESPACE, "", ref.namespace)
        if dig(self.objects.get(home), "metadata", "deletionTimestamp") and not self._is_blocked(home):
            follow.append(home)
        if ref.kind == CUSTOM_RESOURCE_DEFINITION:
            kinds = {item.kind for item in definitions({ref: gone})}
            follow += [other for other in self.objects if other.kind in kinds]
        for other in follow:
            if other in self.objects:
                self.delete(other, now)
        if ref.kind == CUSTOM_RESOURCE_DEFINITION:
            self._served = None


def _conflict(ref: Ref, live: KubeObject, held: Mapping[ownership.Path, tuple[str, ...]]) -> WriteConflict:
    fields = {ownership.spell(path): ", ".join(names) for path, names in sorted(held.items())}
    listed = "; ".join(
        f"{ownership.spell(path)} is owned by {', '.join(names)} (value {ownership.read(live, path)!r})"
        for path, names in sorted(held.items())
    )
    return WriteConflict(f"{ref}: {listed}", hint="take the fields over, or leave them as they are", context=fields)


def _content(obj: KubeObject) -> dict[str, Any]:
    skipped = {"managedFields", "resourceVersion"}
    return {
        key: {name: item for name, item in value.items() if name not in skipped} if key == "metadata" else value
        for key, value in obj.items()
    }


def _specification(obj: KubeObject) -> dict[str, Any]:
    return {key: value for key, value in obj.items() if key not in {"metadata", "status"}}


def merged(value: Any, change: Mapping[str, Any]) -> dict[str, Any]:
    """Apply a JSON merge patch (RFC 7396) and give a new value; unchanged parts are shared."""
    result = dict(value) if isinstance(value, Mapping) else {}
    for key, item in change.items():
        if item is None:
            result.pop(key, None)
        elif isinstance(item, Mapping):
            result[key] = merged(result.get(key), item)
        else:
            result[key] = item
    return result
