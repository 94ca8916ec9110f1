"""
Long lists read in brief: nodes and pods without what only fills memory, which the decoder then skips.

A node in use has 15 kB, most of it images and managed fields; a pod has 6 kB. Decoded whole, 5,000 nodes and 10,000 pods
take three times as long and make ten times as much garbage.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from railwright.core.kinds import NODE, POD
from railwright.core.objects import Kind


class _Part(msgspec.Struct, omit_defaults=True, rename="camel"):
    """Fields that are kept; what is not there stays out."""


class _Metadata(_Part):
    name: str
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[Any] | None = None


class _NodeStatus(_Part):
    allocatable: Any = None
    capacity: Any = None
    conditions: Any = None
    addresses: Any = None
    node_info: Any = None


class _Node(_Part):
    metadata: _Metadata
    spec: Any = None
    status: _NodeStatus | None = None


class _Container(_Part):
    name: Any = None
    image: Any = None
    command: Any = None
    args: Any = None
    env: Any = None
    resources: Any = None
    security_context: Any = None
    volume_mounts: Any = None


class _PodSpec(_Part):
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None
    node_name: Any = None
    host_network: Any = None
    runtime_class_name: Any = None
    security_context: Any = None
    service_account_name: Any = None
    volumes: Any = None


class _PodStatus(_Part):
    phase: Any = None
    reason: Any = None
    message: Any = None
    start_time: Any = None
    conditions: Any = None
    container_statuses: Any = None
    init_container_statuses: Any = None


class _Pod(_Part):
    metadata: _Metadata
    spec: _PodSpec | None = None
    status: _PodStatus | None = None


class _ListMetadata(msgspec.Struct, rename={"token": "continue"}):
    token: str = ""


class _Nodes(msgspec.Struct):
    metadata: _ListMetadata = msgspec.field(default_factory=_ListMetadata)
    items: list[_Node] | None = None


class _Pods(msgspec.Struct):
    metadata: _ListMetadata = msgspec.field(default_factory=_ListMetadata)
    items: list[_Pod] | None = None


_DECODERS: Mapping[Kind, msgspec.json.Decoder[_Nodes | _Pods]] = {
    NODE: msgspec.json.Decoder(_Nodes),
    POD: msgspec.json.Decoder(_Pods),
}


def has_brief_form(kind: Kind) -> bool:
    """Whether lists of this kind can be read in brief."""
    return kind in _DECODERS


def decode_brief(kind: Kind, content: bytes) -> tuple[list[dict[str, Any]], str]:
    """
    Decode one page of a list in brief.

    Returns:
        Its objects, and the token of the page that follows ("" after the last).

    Raises:
        msgspec.DecodeError: this is no such list.
    """
    page = _DECODERS[kind].decode(content)
    return [msgspec.to_builtins(item) for item in page.items or ()], page.metadata.token
