"""What a kube-apiserver wrote down of its requests: who asked what, and whether they might. Knows nothing of railwright."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CREATED = 201
_FORBIDDEN = 403


@dataclass(frozen=True)
class Asked:
    """One request: `url` is set, and the rest of the object's place empty, for what is no object."""

    user: str
    verb: str
    group: str
    resource: str
    namespace: str
    name: str
    url: str
    code: int
    decision: str

    @property
    def was_denied(self) -> bool:
        return self.decision == "forbid" or self.code == _FORBIDDEN

    @property
    def verbs(self) -> tuple[str, ...]:
        """Server-side apply that makes an object is authorized as patch, and as create."""
        return ("patch", "create") if self.verb == "patch" and self.code == _CREATED else (self.verb,)


def requests_of(log: Path, user: str) -> tuple[Asked, ...]:
    """Read what a user asked; the last line may be half written."""
    return tuple(asked for asked in _read(log) if asked.user == user)


def _read(log: Path) -> Iterator[Asked]:
    for line in log.read_text().splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        place = event.get("objectRef", {})
        parts = [part for part in (place.get("resource"), place.get("subresource")) if part]
        yield Asked(
            user=event["user"]["username"],
            verb=event["verb"],
            group=place.get("apiGroup", ""),
            resource="/".join(parts),
            namespace=place.get("namespace", ""),
            name=place.get("name", ""),
            url="" if parts else event["requestURI"].partition("?")[0],
            code=event.get("responseStatus", {}).get("code", 0),
            decision=event.get("annotations", {}).get("authorization.k8s.io/decision", ""),
        )
