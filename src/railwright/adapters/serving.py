"""
Which kinds an API server serves, and under which path.

Aggregated discovery answers all groups at once (Kubernetes 1.27 and later); older servers answer one group version
at a time, and so do we when a single kind is looked up.

    {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "apps"}, "versions": [{"version": "v1",
     "resources": [{"resource": "deployments", "responseKind": {"kind": "Deployment"}, "scope": "Namespaced"}]}]}]}

Source: https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
"""

from collections.abc import Iterable, Mapping
from typing import Any

from railwright.adapters.failures import understood
from railwright.adapters.transport import Request, Transport
from railwright.core.errors import KindNotServed
from railwright.core.objects import Kind, Ref, dig
from railwright.ports.cluster import ServedKind

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


def group_path(api_version: str) -> str:
    """Give the path of a group version: "/api/v1", "/apis/apps/v1"."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def object_path(served: ServedKind, namespace: str, name: str = "") -> str:
    """Give the path of an object, or of a collection without a name; all namespaces without a namespace."""
    parts = [group_path(served.kind.api_version)]
    if served.namespaced and namespace:
        parts += ["namespaces", namespace]
    parts.append(served.plural)
    if name:
        parts.append(name)
    return "/".join(parts)


def kinds_of_group(api_version: str, answer: Mapping[str, Any]) -> tuple[ServedKind, ...]:
    """Read an APIResourceList; subresources ("pods/log") are left out."""
    return tuple(
        ServedKind(Kind(api_version, str(item["kind"])), str(item["name"]), bool(item["namespaced"]))
        for item in answer.get("resources") or ()
        if "/" not in str(item["name"])
    )


def kinds_of_discovery(answer: Mapping[str, Any]) -> tuple[ServedKind, ...]:
    """Read an APIGroupDiscoveryList."""
    return tuple(_aggregated(answer))


def _aggregated(answer: Mapping[str, Any]) -> Iterable[ServedKind]:
    for group in answer.get("items") or ():
        name = str(dig(group, "metadata", "name", default=""))
        for version in group.get("versions") or ():
            api_version = f"{name}/{version['version']}" if name else str(version["version"])
            for resource in version.get("resources") or ():
                kind = str(dig(resource, "responseKind", "kind", default=""))
                if kind:
                    namespaced = resource.get("scope") == "Namespaced"
                    yield ServedKind(Kind(api_version, kind), str(resource["resource"]), namespaced)


class Serving:
    """Looks kinds up, and remembers what it found; what is not found is asked again each time."""

    def __init__(self, transport: Transport) -> None:
        """Start with nothing known."""
        self._transport = transport
        self._known: dict[Kind, ServedKind] = {}

    async def find(self, kind: Kind) -> ServedKind:
        """
        Look up one kind.

        Raises:
            KindNotServed: its group version, or the kind in it, is not there now.
        """
        if kind not in self._known:
            request = Request("GET", group_path(kind.api_version), f"look up {kind}")
            answer = await self._transport.json(request)
            with understood(request.what, self._transport.server):
                self._known |= {served.kind: served for served in kinds_of_group(kind.api_version, answer)}
        if kind not in self._known:
            message = f"{kind}: {kind.api_version} is served, but has no kind {kind.kind}"
            raise KindNotServed(message)
        return self._known[kind]

    def forget(self, kind: Kind) -> None:
        """Look the kind up again next time: a path that was served answered as if it were not."""
        self._known.pop(kind, None)

    async def all(self) -> tuple[ServedKind, ...]:
        """Read every kind that is served now."""
        found: list[ServedKind] = []
        for root in ("/api", "/apis"):
            request = Request("GET", root, "discover kinds", accept=_AGGREGATED)
            answer = await self._transport.json(request)
            with understood(request.what, self._transport.server):
                if answer.get("kind") == "APIGroupDiscoveryList":
                    found += kinds_of_discovery(answer)
                else:
                    found += await self._each_group(answer)
        return tuple(found)

    async def _each_group(self, answer: Mapping[str, Any]) -> list[ServedKind]:
        """Ask every group version by itself; one whose own server is away is left out, as kubectl does."""
        versions = [str(version) for version in answer.get("versions") or ()]
        for group in answer.get("groups") or ():
            versions += [str(version["groupVersion"]) for version in group.get("versions") or ()]
        found: list[ServedKind] = []
        for version in versions:
            request = Request("GET", group_path(version), f"discover kinds of {version}")
            try:
                found += kinds_of_group(version, await self._transport.json(request))
            except KindNotServed:
                continue
        return found

    async def path_of(self, ref: Ref) -> str:
        """Give the path of one object."""
        return object_path(await self.find(ref.kind), ref.namespace, ref.name)
