"""Everything that an API server stores, to be compared with what it stored before."""

import json
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

COMING_AND_GOING = frozenset({"events", "leases", "componentstatuses", "pods", "controllerrevisions"})
_SERVERS_OWN = ("resourceVersion", "managedFields", "generation", "creationTimestamp", "uid")
_OF_NODES = ("allocatable",)
"""A kubelet keeps the capacity of a device plugin that has stopped for minutes; what it gives out is 0 at once."""
State = dict[str, Mapping[str, Any]]
"""Kind, namespace and name -> the object, without what the API server and heartbeats write."""


def read_state(kubeconfig: Path) -> State:
    """Read every object of every kind that can be listed, but what comes and goes by itself."""
    config = json.loads(kubeconfig.read_text())
    server, token = config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"]
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    def get(path: str) -> Any:
        request = urllib.request.Request(
            f"{server}{path}", headers={"Authorization": f"Bearer {token}", "Accept": "application/json"}
        )
        with urllib.request.urlopen(request, context=context, timeout=120) as answer:
            return json.load(answer)

    groups = ["/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in get("/apis")["groups"])]
    found: State = {}
    for group in groups:
        for resource in get(group)["resources"]:
            name = resource["name"]
            if "/" in name or "list" not in resource["verbs"] or name in COMING_AND_GOING:
                continue
            for obj in get(f"{group}/{name}").get("items") or ():
                meta = obj["metadata"]
                found[f"{resource['kind']} {meta.get('namespace', '')}/{meta['name']}"] = _stripped(obj, name)
    return found


def _stripped(obj: dict[str, Any], resource: str) -> dict[str, Any]:
    meta = {key: value for key, value in obj["metadata"].items() if key not in _SERVERS_OWN}
    kept = {**obj, "metadata": meta}
    if resource == "nodes":
        status = obj.get("status", {})
        kept["status"] = {key: _without_zeros(status.get(key, {})) for key in _OF_NODES}
    return kept


def _without_zeros(resources: Mapping[str, str]) -> dict[str, str]:
    """Leave out what a node lists and has none of: kubelets keep the names of resources that are gone."""
    return {key: value for key, value in resources.items() if value != "0"}


def differences(before: State, after: State) -> list[str]:
    """Name what came, what went, and every field that is another one, a line each."""
    lines = [f"gone: {name}" for name in sorted(before.keys() - after.keys())]
    lines += [f"new: {name}" for name in sorted(after.keys() - before.keys())]
    for name in sorted(before.keys() & after.keys()):
        lines += [f"{name} {where}" for where in _fields("", before[name], after[name])]
    return lines


def _fields(path: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            yield from _fields(f"{path}.{key}", old.get(key, "(absent)"), new.get(key, "(absent)"))
    elif old != new:
        yield f"{path}: {old!r} -> {new!r}"
