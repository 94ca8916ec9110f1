"""
The shape of rails.yaml as pydantic models: types, words to choose from, patterns, bounds; nothing across keys.

What is required is a column of keys.py, so that a document with mistakes can still be looked at as a whole.
Keys are camelCase in the file. None means left out; a null in the file is a mistake found before.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from railwright.intent.key_doc import (
    MAX_NAME,
    MAX_NODE_PREFIX,
    MAX_PODS,
    MAX_RAIL_NAME,
    MAX_VFS,
    MTU_RANGE,
)

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
DNS_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
LABEL_KEY = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
)
PCI_ADDRESS = r"^([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$"
GPU = r"^([0-9]|[1-5][0-9]|6[0-3]|([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])$"
PROXY = r"^https?://[A-Za-z0-9\[]([-A-Za-z0-9.:\]]*[A-Za-z0-9\]])?/?$"
REGISTRY = r"^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]([-a-z0-9._]*[a-z0-9])?)*$"

Name = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=MAX_NAME)]
RailName = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=MAX_RAIL_NAME)]
Namespace = Annotated[str, StringConstraints(pattern=DNS_LABEL, max_length=63)]
ObjectName = Annotated[str, StringConstraints(pattern=DNS_SUBDOMAIN, max_length=253)]
LabelKey = Annotated[str, StringConstraints(pattern=LABEL_KEY, max_length=316)]
LabelValue = Annotated[str, StringConstraints(pattern=LABEL_VALUE, max_length=63)]
ProxyUrl = Annotated[str, StringConstraints(pattern=PROXY, max_length=300)]
Channel = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$", max_length=63)]


def _as_text(value: Any) -> Any:
    """Take a whole number where a string is wanted too."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _as_list(value: Any) -> Any:
    """Take one string for a list of one."""
    return [value] if isinstance(value, str) else value


def _auto_is_left_out(value: Any) -> Any:
    """Take `auto` for left out."""
    return None if value == "auto" else value


class Shape(BaseModel):
    """Base: unknown keys and values of another type are mistakes; nothing is converted in silence."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
    )


class NodesShape(Shape):
    """Which nodes."""

    names: Annotated[list[ObjectName], Field(min_length=1)] | None = None
    labels: Annotated[dict[LabelKey, LabelValue], Field(min_length=1)] | None = None


class GroupRailShape(Shape):
    """One rail of a group of nodes; its subnet is the fabric's."""

    name: RailName | None = None
    pci_address: Annotated[str, StringConstraints(pattern=PCI_ADDRESS)] | None = None
    netdev: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][-A-Za-z0-9_.]*$", max_length=15)] | None = None
    device_id: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{4}$")] | None = None
    gpu: Annotated[Annotated[str, StringConstraints(pattern=GPU)] | None, BeforeValidator(_as_text)] = None


class RailShape(GroupRailShape):
    """One rail."""

    subnet: str | None = None


class GroupShape(Shape):
    """Rails of some nodes."""

    nodes: NodesShape | None = None
    rails: Annotated[list[GroupRailShape], Field(min_length=1)] | None = None


class RouteShape(Shape):
    """One route."""

    destination: str | None = None
    gateway: str | None = None


class NetworkShape(Shape):
    """Networks."""

    subnets: Annotated[Annotated[list[str], Field(min_length=1)] | None, BeforeValidator(_as_list)] = None
    mtu: Annotated[int, Field(ge=MTU_RANGE[0], le=MTU_RANGE[1])] | None = None
    ipam: Literal["nv-ipam", "nv-ipam-cidr", "whereabouts", "static"] | None = None
    per_node_prefix: Annotated[int, Field(ge=1, le=MAX_NODE_PREFIX)] | None = None
    gateway: bool | None = None
    routes: list[RouteShape] | None = None
    pkey: Annotated[str, StringConstraints(pattern=r"^0[xX][0-9a-fA-F]{1,4}$")] | None = None
    guid: Literal["auto", "pool"] | None = None
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    exclude: list[str] | None = None


class DriverShape(Shape):
    """Drivers."""

    nic: Literal["doca", "in-box"] | None = None
    nic_version: (
        Annotated[
            str,
            StringConstraints(pattern=r"^((doca)?[0-9][-0-9A-Za-z.]*[0-9A-Za-z]|sha256:[0-9a-f]{64})$", max_length=80),
        ]
        | None
    ) = None
    gpu: Literal["open", "proprietary"] | None = None
    gpu_version: Annotated[str, StringConstraints(pattern=r"^[0-9]{3,4}(\.[0-9]{1,4}){1,2}$")] | None = None
    memory: Literal["dma-buf", "nvidia-peermem"] | None = None
    gdrcopy: bool | None = None
    gds: bool | None = None


class OperatorsShape(Shape):
    """Operators."""

    approval: Literal["Manual", "Automatic"] | None = None
    upgrade: bool | None = None
    channels: dict[str, Channel] | None = None
    catalogs: dict[str, ObjectName] | None = None


class ProxyShape(Shape):
    """The way out."""

    http: ProxyUrl | None = None
    https: ProxyUrl | None = None
    no_proxy: list[Annotated[str, StringConstraints(min_length=1, max_length=253)]] | None = None


class UpgradeShape(Shape):
    """Roll-outs."""

    auto: bool | None = None
    max_parallel: Annotated[int, Field(ge=1, le=1000)] | None = None
    drain_timeout_seconds: Annotated[int, Field(ge=0, le=86400)] | None = None


class TolerationShape(Shape):
    """One toleration."""

    key: LabelKey | None = None
    operator: Literal["Exists", "Equal"] | None = None
    value: LabelValue | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None


class SpecShape(Shape):
    """What is wanted."""

    method: Literal["shared", "host-device", "sriov"] | None = None
    fabric: Literal["roce", "infiniband"] | None = None
    nodes: NodesShape | None = None
    rails: Annotated[Annotated[list[RailShape], Field(min_length=1)] | None, BeforeValidator(_auto_is_left_out)] = None
    groups: Annotated[list[GroupShape], Field(min_length=1)] | None = None
    network: NetworkShape | None = None
    driver: DriverShape | None = None
    operators: OperatorsShape | None = None
    upgrade: UpgradeShape | None = None
    workload_namespaces: list[Namespace] | None = None
    vfs_per_rail: Annotated[int, Field(ge=1, le=MAX_VFS)] | None = None
    pods_per_rail: Annotated[int, Field(ge=1, le=MAX_PODS)] | None = None
    rdma_isolation: bool | None = None
    traffic_class: Annotated[int, Field(ge=0, le=255)] | None = None
    path_mtu: Literal[256, 512, 1024, 2048, 4096] | None = None
    resource_prefix: Name | None = None
    tolerations: list[TolerationShape] | None = None
    pull_secret: ObjectName | None = None
    proxy: ProxyShape | None = None
    image_registry: Annotated[str, StringConstraints(pattern=REGISTRY, max_length=200)] | None = None
    numa_aligned: bool | None = None


class MetadataShape(Shape):
    """What it is called."""

    name: Name | None = None


class DocumentShape(Shape):
    """One document of the file."""

    api_version: Literal["railwright.dev/v1alpha1"] | None = None
    kind: Literal["RailFabric"] | None = None
    metadata: MetadataShape | None = None
    spec: SpecShape | None = None
