"""
The Cluster port over a real API server, by its HTTP interface.

Not here: how to connect and log in (`transport.py`, `kubeconfig.py`), what refusals mean (`answers.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from railwright.adapters.brief import decode_brief, has_brief_form
from railwright.adapters.execution import execute
from railwright.adapters.failures import understood
from railwright.adapters.paging import Paging
from railwright.adapters.serving import Serving, object_path
from railwright.adapters.transport import Request, Transport
from railwright.adapters.watching import Followed, MergedWatch
from railwright.core.errors import KindNotServed
from railwright.core.objects import FIELD_MANAGER, Kind, KubeObject, Ref, dig, ref_of
from railwright.ports.cluster import ExecResult, Selection, ServedKind, Watch

PAGE_SIZE = 500
"""kubectl's page size: what is in memory at once stays small, and etcd is read in short steps."""
VERSION_LIMIT_S = 15.0
"""It costs the API server nothing: one that does not say it by then does not answer at all."""
_Page = tuple[list[KubeObject], str]
STRICT = ("fieldValidation", "Strict")


class LiveCluster:
    """One API server; `close` it when done."""

    simulated = False

    def __init__(self, name: str, transport: Transport) -> None:
        """
        Prepare; nothing is sent yet.

        Args:
            name: what the person called it: the context.
        """
        self.name = name
        self._transport = transport
        self._serving = Serving(transport)

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.close()

    async def version(self) -> str:
        """Kubernetes version, as "v1.33.4"."""
        request = Request("GET", "/version", "read the version")
        answer = await self._transport.json(request, limit_s=VERSION_LIMIT_S)
        with understood(request.what, self._transport.server):
            return str(answer["gitVersion"])

    async def served_kinds(self) -> tuple[ServedKind, ...]:
        """Every kind served now."""
        return await self._serving.all()

    async def get(self, ref: Ref) -> KubeObject:
        """Read one whole object."""
        return await self._ask("GET", ref, f"get {ref}")

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        """Read objects, a page at a time."""
        served = await self._serving.find(selection.kind)
        path = object_path(served, selection.namespace)
        paging = Paging(f"list {selection.kind}", self._transport.server)
        items, token = await self._page(selection, path, "")
        paging.take(len(items), token)
        coming = self._coming(selection, path, token)
        try:
            while True:
                for item in items:
                    yield item
                if coming is None:
                    return
                items, token = await coming
                coming = None
                paging.take(len(items), token)
                coming = self._coming(selection, path, token)
        finally:
            if coming is not None:
                coming.cancel()
                # Its connection is given back only once it has heard of it.
                await asyncio.gather(coming, return_exceptions=True)

    def _coming(self, selection: Selection, path: str, token: str) -> asyncio.Task[_Page] | None:
        """Ask for the page that follows while this one is worked on; None after the last."""
        return asyncio.ensure_future(self._page(selection, path, token)) if token else None

    async def _page(self, selection: Selection, path: str, token: str) -> _Page:
        """Read one page: its objects, and the token of the page that follows ("" after the last)."""
        what = f"list {selection.kind}"
        params = [*_selectors(selection), ("limit", str(PAGE_SIZE))]
        if token:
            params.append(("continue", token))
        request = Request("GET", path, what, tuple(params))
        if selection.brief and has_brief_form(selection.kind):
            content = await self._transport.content(request)
            with understood(what, self._transport.server):
                brief, token = decode_brief(selection.kind, content)
                return [_whole(item, selection.kind) for item in brief], token
        page = await self._transport.json(request)
        with understood(what, self._transport.server):
            items = [_whole(item, selection.kind) for item in page.get("items") or ()]
            return items, str(dig(page, "metadata", "continue", default=""))

    @asynccontextmanager
    async def watch(self, selections: Sequence[Selection]) -> AsyncIterator[Watch]:
        """Watch several selections; kinds that are not served are left out."""
        followed: list[Followed] = []
        for selection in selections:
            try:
                served = await self._serving.find(selection.kind)
            except KindNotServed:
                continue
            path = object_path(served, selection.namespace)
            followed.append(Followed(selection.kind, path, _selectors(selection)))
        async with MergedWatch(self._transport, tuple(followed)) as watch:
            yield watch

    async def apply(
        self,
        obj: KubeObject,
        *,
        field_manager: str = FIELD_MANAGER,
        take_over: bool = False,
        dry_run: bool = False,
    ) -> KubeObject:
        """Server-side apply, strict about unknown fields."""
        ref = ref_of(obj)
        params = [("fieldManager", field_manager), STRICT, *_dry(dry_run)]
        if take_over:
            params.append(("force", "true"))
        kind_of_patch = "application/apply-patch+yaml"
        return await self._ask("PATCH", ref, f"apply {ref}", params=params, body=obj, content_type=kind_of_patch)

    async def patch(self, ref: Ref, merge_patch: KubeObject, *, dry_run: bool = False) -> KubeObject:
        """JSON merge patch, strict about unknown fields."""
        params = [("fieldManager", FIELD_MANAGER), STRICT, *_dry(dry_run)]
        kind_of_patch = "application/merge-patch+json"
        return await self._ask(
            "PATCH", ref, f"patch {ref}", params=params, body=merge_patch, content_type=kind_of_patch
        )

    async def delete(self, ref: Ref, *, uid: str = "", dry_run: bool = False) -> None:
        """Delete in the background."""
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if dry_run:
            options["dryRun"] = ["All"]
        await self._ask("DELETE", ref, f"delete {ref}", body=options)

    async def exec(
        self, namespace: str, pod: str, container: str, command: Sequence[str], *, stdin: str = "", timeout_s: float
    ) -> ExecResult:
        """Run a command in a container."""
        params = [("command", part) for part in command]
        params += [("container", container), ("stdout", "true"), ("stderr", "true")]
        if stdin:
            params.append(("stdin", "true"))
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/exec"
        request = Request("GET", path, f"exec in {namespace}/{pod}", tuple(params))
        return await execute(self._transport, request, stdin, timeout_s)

    async def logs(self, namespace: str, pod: str, container: str, *, tail_lines: int, previous: bool = False) -> str:
        """Read the end of a log."""
        params = [("container", container), ("tailLines", str(tail_lines))]
        if previous:
            params.append(("previous", "true"))
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        request = Request("GET", path, f"read the log of {namespace}/{pod}", tuple(params), accept="*/*")
        return (await self._transport.content(request)).decode(errors="replace")

    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> bool:
        """Ask whether we may."""
        resource, _, subresource = plural.partition("/")
        attributes = {
            "verb": verb,
            "group": group,
            "resource": resource,
            "subresource": subresource,
            "namespace": namespace,
            "name": name,
        }
        kind = Kind("authorization.k8s.io/v1", "SelfSubjectAccessReview")
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "spec": {"resourceAttributes": attributes}}
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        answer = await self._transport.json(Request("POST", path, f"ask whether we may {verb} {plural}", body=body))
        return bool(dig(answer, "status", "allowed", default=False))

    async def _ask(
        self,
        method: str,
        ref: Ref,
        what: str,
        *,
        params: Sequence[tuple[str, str]] = (),
        body: KubeObject | None = None,
        content_type: str = "application/json",
    ) -> KubeObject:
        """Ask for one object; a path that is gone (its definition was deleted) is looked up anew next time."""
        path = await self._serving.path_of(ref)
        try:
            return await self._transport.json(Request(method, path, what, tuple(params), body, content_type))
        except KindNotServed:
            self._serving.forget(ref.kind)
            raise


def _whole(item: KubeObject, kind: Kind) -> KubeObject:
    """Give one object of a list its type. Raises TypeError or KeyError for what is no object with a name."""
    str(item["metadata"]["name"])
    return {"apiVersion": kind.api_version, "kind": kind.kind, **item}


def _dry(dry_run: bool) -> list[tuple[str, str]]:
    return [("dryRun", "All")] if dry_run else []


def _selectors(selection: Selection) -> tuple[tuple[str, str], ...]:
    params: list[tuple[str, str]] = []
    if selection.labels:
        params.append(("labelSelector", selection.labels))
    if selection.name:
        params.append(("fieldSelector", f"metadata.name={selection.name}"))
    return tuple(params)
