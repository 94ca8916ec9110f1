"""
A simulated world behind RBAC: roles are evaluated as kube-apiserver does, and every request is written down.

Knows roles and requests, and nothing of what railwright says that it needs. What the requests of each call of the port
are is held to the real thing by tests/bed/test_rbac.py.
"""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from support.audit import Asked
from support.limited import AskingNode

from railwright.adapters.answers import Answer, error_of
from railwright.adapters.answers import Asked as Words
from railwright.core.errors import ClusterError, NotFound
from railwright.core.objects import FIELD_MANAGER, Kind, KubeObject, Ref, ref_of
from railwright.ports.cluster import Cluster, ExecResult, Selection, ServedKind, Watch
from railwright.ports.world import World

READS = frozenset({"get", "list", "watch"})
_USER = "somebody"


@dataclass(frozen=True)
class Rules:
    """What roles allow: each rule with the namespace of its Role, "" for a ClusterRole's."""

    rules: tuple[tuple[str, KubeObject], ...]

    def allow(self, verb: str, group: str, resource: str, namespace: str, name: str) -> bool:
        """Whether any rule does; a rule with names says nothing of requests without one."""
        return any(
            where in {"", namespace}
            and verb in rule["verbs"]
            and group in rule.get("apiGroups", ())
            and resource in rule.get("resources", ())
            and ("resourceNames" not in rule or name in rule["resourceNames"])
            for where, rule in self.rules
        )


def rules_in(objects: Iterable[KubeObject]) -> Rules:
    """Take the rules out of roles; everything else is passed over."""
    return Rules(
        tuple(
            (obj["metadata"].get("namespace", ""), rule)
            for obj in objects
            if obj["kind"] in {"Role", "ClusterRole"}
            for rule in obj["rules"]
        )
    )


@dataclass
class GuardedCluster:
    """The Cluster port; `asked` is everything that was asked, in order."""

    inner: Cluster
    rules: Rules
    asked: list[Asked] = field(default_factory=list)
    plurals: dict[Kind, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def simulated(self) -> bool:
        return self.inner.simulated

    @property
    def writes(self) -> list[Asked]:
        """What was let through and changed something; looking into nodes and asking for rights do not."""
        harmless = {_REVIEWS, "pods/exec"}
        return [
            item
            for item in self.asked
            if item.resource not in harmless and item.verb not in READS and not item.was_denied
        ]

    async def version(self) -> str:
        return await self.inner.version()

    async def served_kinds(self) -> tuple[ServedKind, ...]:
        return await self.inner.served_kinds()

    async def get(self, ref: Ref) -> KubeObject:
        await self._check("get", ref)
        return await self.inner.get(ref)

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        await self._check("list", Ref(selection.kind, selection.namespace, selection.name))
        async for obj in self.inner.list(selection):
            yield obj

    @asynccontextmanager
    async def watch(self, selections: Sequence[Selection]) -> AsyncIterator[Watch]:
        for item in selections:
            for verb in ("list", "watch"):
                await self._check(verb, Ref(item.kind, item.namespace, item.name))
        async with self.inner.watch(selections) as watch:
            yield watch

    async def apply(
        self, obj: KubeObject, *, field_manager: str = FIELD_MANAGER, take_over: bool = False, dry_run: bool = False
    ) -> KubeObject:
        ref = ref_of(obj)
        await self._check("patch", ref)
        try:
            await self.inner.get(ref)
        except NotFound:
            await self._check("create", ref)
        return await self.inner.apply(obj, field_manager=field_manager, take_over=take_over, dry_run=dry_run)

    async def patch(self, ref: Ref, merge_patch: KubeObject, *, dry_run: bool = False) -> KubeObject:
        await self._check("patch", ref)
        return await self.inner.patch(ref, merge_patch, dry_run=dry_run)

    async def delete(self, ref: Ref, *, uid: str = "", dry_run: bool = False) -> None:
        await self._check("delete", ref)
        await self.inner.delete(ref, uid=uid, dry_run=dry_run)

    async def exec(
        self, namespace: str, pod: str, container: str, command: Sequence[str], *, stdin: str = "", timeout_s: float
    ) -> ExecResult:
        for verb in ("get", "create"):
            self._judge(verb, "", "pods/exec", namespace, pod)
        return await self.inner.exec(namespace, pod, container, command, stdin=stdin, timeout_s=timeout_s)

    async def logs(self, namespace: str, pod: str, container: str, *, tail_lines: int, previous: bool = False) -> str:
        self._judge("get", "", "pods/log", namespace, pod)
        return await self.inner.logs(namespace, pod, container, tail_lines=tail_lines, previous=previous)

    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> bool:
        self._judge("create", "authorization.k8s.io", _REVIEWS, "", "")
        return self.rules.allow(verb, group, plural, namespace, name)

    async def _check(self, verb: str, ref: Ref) -> None:
        """Judge a request for a kind that is served; the client asks nothing of another."""
        plural = await self._plural(ref.kind)
        if plural:
            self._judge(verb, ref.kind.group, plural, ref.namespace, ref.name)

    async def _plural(self, kind: Kind) -> str:
        if kind not in self.plurals:
            self.plurals = {item.kind: item.plural for item in await self.inner.served_kinds()}
        return self.plurals.get(kind, "")

    def _judge(self, verb: str, group: str, resource: str, namespace: str, name: str) -> None:
        """Write the request down. Raises what the adapter makes of a refusal by RBAC."""
        allowed = self.rules.allow(verb, group, resource, namespace, name)
        decision = "allow" if allowed else "forbid"
        self.asked.append(
            Asked(_USER, verb, group, resource, namespace, name, "", 200 if allowed else 403, decision),
        )
        if not allowed:
            raise _refusal(verb, group, resource, namespace)


_REVIEWS = "selfsubjectaccessreviews"


def _refusal(verb: str, group: str, resource: str, namespace: str) -> ClusterError:
    """Give what the adapter makes of the API server's words."""
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    words = f'User "{_USER}" cannot {verb} resource "{resource}" in API group "{group}" {where}'
    body = json.dumps({"kind": "Status", "code": 403, "message": words})
    return error_of(Answer(403, body), Words(f"{verb} {resource}"))


def guarded(world: World, objects: Iterable[KubeObject]) -> tuple[World, GuardedCluster]:
    """Put a world behind these roles."""
    cluster = GuardedCluster(world.cluster, rules_in(objects))
    return World(cluster, AskingNode(cluster, world.node), world.clock), cluster
