"""
Look at Objects the way a controller does: by kind, by label, by owner, by age; and spell the writes they make.

Nothing here knows an operator; each file of `kinds` does.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar, overload

from railwright.core.kinds import CLUSTER_VERSION, NODE, POD
from railwright.core.objects import Kind, KubeObject, Ref, dig, labels_of, ref_of
from railwright.standins.model import Objects, Write

_T = TypeVar("_T")


class KindIndex(dict[Ref, KubeObject]):
    """
    Objects by reference that also answer "all of one kind" and "pods of one owner" without looking at the rest.

    Answers are kept until an object of that kind changes: most steps of a world change nothing. Which kinds were
    asked for is kept too: whoever is asked the same again, at the same time, need not answer twice.
    """

    def __init__(self, items: Iterable[tuple[Ref, KubeObject]] = ()) -> None:
        """Take the objects that are there from the start."""
        super().__init__()
        self.by_kind: dict[Kind, dict[Ref, KubeObject]] = {}
        self._listings: dict[Kind, dict[str | None, tuple[KubeObject, ...]]] = {}
        self._owned: dict[str, list[KubeObject]] | None = None
        self._parts: dict[str, dict[Ref, None]] = {}
        self._changes = 0
        self._changed_at: dict[Kind, int] = {}
        self._asked: set[Kind] = set()
        self._remembered: dict[Any, tuple[frozenset[Kind], int, Any]] = {}
        for ref, obj in items:
            self[ref] = obj

    def __setitem__(self, ref: Ref, obj: KubeObject) -> None:
        self._leave_owners(ref)
        for uid in _owner_uids(obj):
            self._parts.setdefault(uid, {})[ref] = None
        super().__setitem__(ref, obj)
        self.by_kind.setdefault(ref.kind, {})[ref] = obj
        self._forget(ref.kind)

    def __delitem__(self, ref: Ref) -> None:
        self._leave_owners(ref)
        super().__delitem__(ref)
        del self.by_kind[ref.kind][ref]
        self._forget(ref.kind)

    @overload
    def get(self, ref: Ref, default: None = None, /) -> KubeObject | None: ...
    @overload
    def get(self, ref: Ref, default: _T, /) -> KubeObject | _T: ...
    def get(self, ref: Ref, default: Any = None, /) -> Any:
        """Find one object."""
        self._asked.add(ref.kind)
        return super().get(ref, default)

    def _forget(self, kind: Kind) -> None:
        self._changes += 1
        self._changed_at[kind] = self._changes
        self._listings.pop(kind, None)
        if kind == POD:
            self._owned = None

    def _leave_owners(self, ref: Ref) -> None:
        before = super().get(ref)
        for uid in _owner_uids(before) if before is not None else ():
            self._parts.get(uid, {}).pop(ref, None)

    def parts_of(self, uid: str) -> tuple[Ref, ...]:
        """Name the objects that belong to nobody but one owner."""
        return tuple(ref for ref in self._parts.get(uid, ()) if set(_owner_uids(self[ref])) == {uid})

    def mark(self) -> int:
        """Number the present; what was asked for until now is forgotten."""
        self._asked = set()
        return self._changes

    def asked(self) -> frozenset[Kind]:
        """Kinds that were asked for since the last mark."""
        return frozenset(self._asked)

    def has_news(self, kinds: Iterable[Kind], mark: int) -> bool:
        """Whether an object of one of these kinds changed since a mark."""
        return any(self._changed_at.get(kind, 0) > mark for kind in kinds)

    def remembered(self, key: Any, make: Callable[[], Any]) -> Any:
        """Give what was made before as long as nothing that it was made from has changed."""
        known = self._remembered.get(key)
        if known is None or self.has_news(known[0], known[1]):
            mark, value = self.mark(), make()
            known = self._remembered[key] = (self.asked(), mark, value)
        return known[2]

    def all_of(self, kind: Kind) -> Mapping[Ref, KubeObject]:
        """Objects of one kind, with those that are being deleted."""
        self._asked.add(kind)
        return self.by_kind.get(kind, {})

    def listing(self, kind: Kind, namespace: str | None) -> tuple[KubeObject, ...]:
        """Objects of one kind that are not being deleted, by reference."""
        self._asked.add(kind)
        kept = self._listings.setdefault(kind, {})
        if namespace not in kept:
            kept[namespace] = _living(self.by_kind.get(kind, {}), namespace)
        return kept[namespace]

    def pods_owned_by(self, uid: str) -> list[KubeObject]:
        """Pods of one owner, by reference."""
        self._asked.add(POD)
        if self._owned is None:
            self._owned = {}
            for pod in self.listing(POD, None):
                for reference in dig(pod, "metadata", "ownerReferences", default=()):
                    self._owned.setdefault(reference.get("uid", ""), []).append(pod)
        return self._owned.get(uid, [])


def _owner_uids(obj: KubeObject) -> list[str]:
    return [str(owner.get("uid")) for owner in dig(obj, "metadata", "ownerReferences", default=())]


def _living(pool: Mapping[Ref, KubeObject], namespace: str | None) -> tuple[KubeObject, ...]:
    """List objects of one kind by namespace and name."""
    there = [ref for ref in pool if namespace in {None, ref.namespace} and not is_leaving(pool[ref])]
    return tuple(pool[ref] for ref in sorted(there, key=_place))


def of_kind(world: Objects, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...]:
    """List objects of one kind by name, leaving out those that are being deleted; `namespace` None for all."""
    known = world.objects
    if isinstance(known, KindIndex):
        return known.listing(kind, namespace)
    return _living({ref: obj for ref, obj in known.items() if ref.kind == kind}, namespace)


def everything(world: Objects, kind: Kind, namespace: str | None = None) -> tuple[KubeObject, ...]:
    """List objects of one kind, with those that are being deleted."""
    known = world.objects
    if isinstance(known, KindIndex):
        there = [ref for ref in known.all_of(kind) if namespace in {None, ref.namespace}]
    else:
        there = [ref for ref in known if ref.kind == kind and namespace in {None, ref.namespace}]
    return tuple(known[ref] for ref in sorted(there, key=_place))


def leaving(world: Objects, kind: Kind) -> tuple[KubeObject, ...]:
    """List objects of one kind that are being deleted."""
    known = world.objects
    pool = known.all_of(kind) if isinstance(known, KindIndex) else known
    there = [ref for ref in pool if ref.kind == kind and is_leaving(pool[ref])]
    return tuple(pool[ref] for ref in sorted(there, key=_place))


def _place(ref: Ref) -> tuple[str, str]:
    return ref.namespace, ref.name


def find(world: Objects, kind: Kind, name: str, namespace: str = "") -> KubeObject | None:
    """Find one object that is not being deleted."""
    obj = world.objects.get(Ref(kind, namespace, name))
    return None if obj is None or is_leaving(obj) else obj


def is_openshift(world: Objects) -> bool:
    """Whether the world is an OpenShift cluster."""
    return bool(everything(world, CLUSTER_VERSION))


def is_leaving(obj: KubeObject) -> bool:
    """Whether the object is being deleted."""
    return bool(obj["metadata"].get("deletionTimestamp"))


def name_of(obj: KubeObject) -> str:
    """Name of an object."""
    return str(obj["metadata"]["name"])


def matches(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether labels hold every wanted pair."""
    return all(labels.get(key) == value for key, value in wanted.items())


def age_s(stamp: str, now: datetime) -> float:
    """Seconds since an RFC 3339 time; 0 for an empty one."""
    return (now - datetime.fromisoformat(stamp)).total_seconds() if stamp else 0.0


def created(obj: KubeObject) -> str:
    """When the object was made, RFC 3339."""
    return str(dig(obj, "metadata", "creationTimestamp", default=""))


def rfc3339(moment: datetime) -> str:
    """Spell a moment as the API server does."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def short_hash(value: Any) -> str:
    """Ten digits that depend on nothing but the value."""
    text = json.dumps(value, sort_keys=True, default=str)
    return str(int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)).zfill(10)


def suffix(*parts: str) -> str:
    """Five letters for a generated name, the same for the same parts."""
    alphabet = "bcdfghjklmnpqrstvwxz2456789"
    digest = hashlib.sha256("/".join(parts).encode()).digest()
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:5])


def owned_by(owner: KubeObject, *, controller: bool = True) -> list[dict[str, Any]]:
    """Spell ownerReferences that make one object belong to another."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": controller,
        "blockOwnerDeletion": controller,
    }
    return [reference]


def is_owned_by(obj: KubeObject, owner: KubeObject) -> bool:
    """Whether an object belongs to another, by uid."""
    uid = owner["metadata"]["uid"]
    return any(reference.get("uid") == uid for reference in dig(obj, "metadata", "ownerReferences", default=()))


def differs(have: Any, want: Any) -> bool:
    """Whether a merge of `want` would change `have`."""
    if isinstance(want, Mapping) and isinstance(have, Mapping):
        return any(key in have if item is None else differs(have.get(key), item) for key, item in want.items())
    if isinstance(want, Mapping) and have is None:
        return any(item is not None for item in want.values()) or not want
    return bool(have != want)


def create(obj: KubeObject) -> Write:
    """Make an object."""
    return Write("create", ref_of(obj), obj)


def merge(obj: KubeObject, change: Mapping[str, Any]) -> tuple[Write, ...]:
    """Merge a change into an object; nothing when it holds already."""
    return (Write("merge", ref_of(obj), change),) if differs(obj, change) else ()


def set_status(obj: KubeObject, status: Mapping[str, Any]) -> tuple[Write, ...]:
    """Merge into the status; nothing when it holds already."""
    if not differs(dig(obj, "status", default={}), status):
        return ()
    return (Write("status", ref_of(obj), {"status": status}),)


def delete(obj: KubeObject) -> Write:
    """Delete an object."""
    return Write("delete", ref_of(obj))


def ensure(world: Objects, wanted: KubeObject, *, change: Mapping[str, Any] | None = None) -> tuple[Write, ...]:
    """Make an object where it is missing; else merge `change` into it, when there is one."""
    there = world.objects.get(ref_of(wanted))
    if there is None:
        return (create(wanted),)
    return merge(there, change) if change and not is_leaving(there) else ()


def condition(obj: KubeObject, kind: str) -> Mapping[str, Any]:
    """Find a status condition; empty when it is not there."""
    found: Iterable[Mapping[str, Any]] = dig(obj, "status", "conditions", default=())
    return next((item for item in found if item.get("type") == kind), {})


def pods_of(world: Objects, owner: KubeObject) -> tuple[KubeObject, ...]:
    """Pods that belong to a workload."""
    if isinstance(world.objects, KindIndex):
        return tuple(world.objects.pods_owned_by(str(owner["metadata"]["uid"])))
    namespace = str(owner["metadata"].get("namespace", ""))
    return tuple(pod for pod in of_kind(world, POD, namespace) if is_owned_by(pod, owner))


def is_pod_ready(pod: KubeObject) -> bool:
    """Whether a pod is Ready."""
    # Asked of every pod at every step: no path-walking here.
    for item in (pod.get("status") or {}).get("conditions") or ():
        if item["type"] == "Ready":
            return bool(item["status"] == "True")
    return False


def node_of(pod: KubeObject) -> str:
    """Node that a pod runs on; empty while it has none."""
    return str(pod["spec"].get("nodeName") or "")


def nodes(world: Objects) -> tuple[KubeObject, ...]:
    """Every node."""
    return of_kind(world, NODE)


def tolerates(node: KubeObject, tolerations: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the NoSchedule and NoExecute taints of a node are tolerated; a cordon is not looked at."""
    allowed = tuple(tolerations)
    for taint in dig(node, "spec", "taints", default=()):
        if taint.get("effect") == "PreferNoSchedule" or str(taint.get("key", "")).startswith("node.kubernetes.io/"):
            continue
        if not any(
            (item.get("operator") == "Exists" and item.get("key") in {None, "", taint["key"]})
            or (item.get("key") == taint["key"] and item.get("value", "") == taint.get("value", ""))
            for item in allowed
        ):
            return False
    return True


def selects(node: KubeObject, pod_spec: Mapping[str, Any]) -> bool:
    """Whether a pod may run on a node: node selector, required node affinity, taints."""
    labels = labels_of(node)
    if not matches(labels, dig(pod_spec, "nodeSelector", default={})):
        return False
    terms = dig(
        pod_spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"
    )
    if terms is not None and not any(term_matches(labels, term) for term in terms):
        return False
    return tolerates(node, dig(pod_spec, "tolerations", default=()))


def term_matches(labels: Mapping[str, str], term: Mapping[str, Any]) -> bool:
    """Whether labels satisfy matchLabels and matchExpressions of a selector."""
    if not matches(labels, dig(term, "matchLabels", default={})):
        return False
    for rule in dig(term, "matchExpressions", default=()):
        value, operator = labels.get(rule["key"]), rule["operator"]
        holds = {
            "In": value in rule.get("values", ()),
            "NotIn": value not in rule.get("values", ()),
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }
        if not holds.get(operator, False):
            return False
    return True
