"""A shape without mistakes -> Intent: values normalised, nothing added."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address, ip_network

from railwright.core.ids import FabricName, parse_pci_address
from railwright.intent.model import (
    DriverIntent,
    Fabric,
    GpuDriver,
    GpuMemory,
    GroupOverride,
    Intent,
    Ipam,
    Method,
    NetworkIntent,
    NicDriver,
    NodeSelection,
    OperatorsIntent,
    Place,
    ProxyIntent,
    RailSelector,
    Route,
    UpgradePolicy,
)
from railwright.intent.shape import (
    DocumentShape,
    DriverShape,
    GroupRailShape,
    NetworkShape,
    NodesShape,
    OperatorsShape,
    ProxyShape,
    RailShape,
    RouteShape,
    TolerationShape,
    UpgradeShape,
)
from railwright.intent.write import to_yaml


def to_intent(shape: DocumentShape, places: Mapping[str, Place]) -> Intent:
    """
    Make the Intent of one document.

    Raises:
        ValueError: name, method or fabric is missing: the shape was not checked (a bug of ours).
    """
    spec = shape.spec
    if (
        spec is None
        or spec.method is None
        or spec.fabric is None
        or shape.metadata is None
        or shape.metadata.name is None
    ):
        message = "an unchecked document"
        raise ValueError(message)
    intent = Intent(
        name=FabricName(shape.metadata.name),
        method=Method(spec.method),
        fabric=Fabric(spec.fabric),
        nodes=_nodes(spec.nodes),
        rails=_rails(spec.rails) if spec.rails is not None else None,
        groups=tuple(GroupOverride(_nodes(group.nodes), _rails(group.rails or [])) for group in spec.groups or []),
        network=_network(spec.network or NetworkShape()),
        driver=_driver(spec.driver or DriverShape()),
        operators=_operators(spec.operators or OperatorsShape()),
        upgrade=_upgrade(spec.upgrade or UpgradeShape()),
        workload_namespaces=tuple(spec.workload_namespaces or ()),
        vfs_per_rail=spec.vfs_per_rail,
        pods_per_rail=spec.pods_per_rail,
        rdma_isolation=spec.rdma_isolation,
        traffic_class=spec.traffic_class,
        path_mtu_bytes=spec.path_mtu,
        resource_prefix=spec.resource_prefix,
        tolerations=tuple(_toleration(toleration) for toleration in spec.tolerations or []),
        pull_secret=spec.pull_secret,
        image_registry=spec.image_registry,
        proxy=_proxy(spec.proxy or ProxyShape()),
        numa_aligned=spec.numa_aligned,
        places=dict(places),
    )
    return replace(intent, document=to_yaml(intent))


def _nodes(shape: NodesShape | None) -> NodeSelection:
    if shape is None:
        return NodeSelection()
    return NodeSelection(
        names=tuple(shape.names) if shape.names is not None else None,
        labels=dict(shape.labels) if shape.labels is not None else None,
    )


def _rails(rails: Sequence[GroupRailShape]) -> tuple[RailSelector, ...]:
    return tuple(
        RailSelector(
            name=rail.name or "",
            pci_address=parse_pci_address(rail.pci_address) if rail.pci_address is not None else None,
            netdev=rail.netdev,
            device_id=rail.device_id.lower() if rail.device_id is not None else None,
            gpu=_gpu(rail.gpu),
            subnet=str(ip_network(rail.subnet)) if isinstance(rail, RailShape) and rail.subnet is not None else None,
        )
        for rail in rails
    )


def _gpu(text: str | None) -> str | None:
    return parse_pci_address(text) if text is not None and ":" in text else text


def _network(shape: NetworkShape) -> NetworkIntent:
    return NetworkIntent(
        subnets=tuple(str(ip_network(text)) for text in shape.subnets) if shape.subnets is not None else None,
        mtu_bytes=shape.mtu,
        ipam=Ipam(shape.ipam) if shape.ipam is not None else None,
        gateway=shape.gateway,
        routes=tuple(_route(route) for route in shape.routes or []),
        pkey=f"0x{int(shape.pkey, 16):04x}" if shape.pkey is not None else None,
        guid=shape.guid,
        vlan=shape.vlan,
        exclude=tuple(_address_or_network(text) for text in shape.exclude or []),
        per_node_prefix=shape.per_node_prefix,
    )


def _route(shape: RouteShape) -> Route:
    return Route(
        destination=str(ip_network(shape.destination or "")),
        gateway=str(ip_address(shape.gateway)) if shape.gateway is not None else None,
    )


def _address_or_network(text: str) -> str:
    return str(ip_network(text)) if "/" in text else str(ip_address(text))


def _driver(shape: DriverShape) -> DriverIntent:
    return DriverIntent(
        nic=NicDriver(shape.nic) if shape.nic is not None else None,
        nic_version=shape.nic_version,
        gpu=GpuDriver(shape.gpu) if shape.gpu is not None else None,
        gpu_version=shape.gpu_version,
        memory=GpuMemory(shape.memory) if shape.memory is not None else None,
        gdrcopy=shape.gdrcopy,
        gds=shape.gds,
    )


def _operators(shape: OperatorsShape) -> OperatorsIntent:
    return OperatorsIntent(
        approval=shape.approval,
        upgrade=shape.upgrade,
        channels=dict(shape.channels or {}),
        catalogs=dict(shape.catalogs or {}),
    )


def _proxy(shape: ProxyShape) -> ProxyIntent:
    return ProxyIntent(shape.http, shape.https, tuple(shape.no_proxy or ()))


def _upgrade(shape: UpgradeShape) -> UpgradePolicy:
    return UpgradePolicy(auto=shape.auto, max_parallel=shape.max_parallel, drain_timeout_s=shape.drain_timeout_seconds)


def _toleration(shape: TolerationShape) -> dict[str, str]:
    return {name: value for name, value in shape.model_dump(by_alias=True).items() if value is not None}
