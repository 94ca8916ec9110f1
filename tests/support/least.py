"""Holds a role to what was asked under it: denied nothing, and every rule used by a request that no other rule allows."""

from collections.abc import Iterable, Sequence

from support.audit import Asked

from railwright.core.needs import Need, least


def denied_of(requests: Iterable[Asked]) -> list[str]:
    """Name what was denied, each once."""
    return sorted(
        {f"{item.verb} {item.resource}{item.url} {item.namespace}".strip() for item in requests if item.was_denied}
    )


def unused_of(
    needs: Iterable[Need], requests: Sequence[Asked], served: Iterable[tuple[str, str]], manned: Iterable[str]
) -> list[str]:
    """
    Name the rights that nobody used, of those that could have been.

    Args:
        served: group and plural of each kind that is served: nobody asks for another.
        manned: namespaces with somebody behind a door that leads into nodes.
    """
    there, doors = set(served), set(manned)
    return [
        str(need)
        for need in least(needs)
        if not need.held
        and (need.resource.startswith("/") or (need.group, need.resource.partition("/")[0]) in there)
        and (need.resource != "pods/exec" or need.namespace in doors)
        and not any(_uses(need, item) for item in requests)
    ]


def _uses(need: Need, asked: Asked) -> bool:
    if need.resource.startswith("/"):
        return asked.url == need.resource or (need.resource.endswith("*") and asked.url.startswith(need.resource[:-1]))
    place = (need.group, need.resource) == (asked.group, asked.resource)
    where = need.namespace in {"", asked.namespace} and need.name in {"", asked.name}
    # The audit log has one verb a request: that opening a websocket is authorized as create, too, is tested by itself.
    return place and where and (need.verb in asked.verbs or need.resource == "pods/exec")
