"""NCCL and UCX variables that fit a fabric, each with its reason."""

from dataclasses import replace

from railwright.facts.model import Distance
from railwright.intent.model import Method
from railwright.plan.draft import FabricNodes
from railwright.plan.model import Decision, Rail

_NCCL = "NCCL documentation, Environment Variables (read 2026-11)"
_NCCL_SOURCE = "NVIDIA/nccl 5067397 (2.30.7), transport/net.cc:326-330"
_IN_A_POD = "OpenShift 4.22 docs, Hardware accelerators 5.10: ibstatus in a pod (2026-09-05)"
_UCX = "UCX documentation"
_HCAS, _UCX_DEVICES = "NCCL_IB_HCA", "UCX_NET_DEVICES"
_NCCL_LIMIT = Distance.PXB
"""What NCCL takes as near enough for GPUDirect unless told otherwise. Source: NCCL documentation, NCCL_NET_GDR_LEVEL."""
_CACHE_COHERENT = "aarch64"
"""Grace hosts, where GPU and CPU share a link of their own and NCCL chooses its level by that."""
_UCX_TCP = "Measured: NIXL 1.5.1 over UCX 1.23.0, 2026-11: a write over TCP passed without a word"


def environment(fabric: FabricNodes) -> tuple[Decision, ...]:
    """Choose the variables; which HCAs a pod has is not known before it runs, so none is named by index."""
    settings, rails = fabric.settings, fabric.rails
    rows: list[tuple[str, str, str, str]] = [
        ("NCCL_SOCKET_IFNAME", "eth0", "bootstrap over the pod network: rails need not be routed", _NCCL),
        ("NCCL_DEBUG", "INFO", "its lines say whether GPUDirect RDMA is used (via NET/IB/n/GDRDMA)", _NCCL_SOURCE),
        ("NCCL_DEBUG_SUBSYS", "INIT,NET", "only what that needs", _NCCL),
        ("NCCL_IB_DISABLE", "0", "never fall back to sockets in silence", _NCCL),
        (
            "UCX_TLS",
            "rc,cuda,sm,self",
            "no TCP: a transfer that can't go over RDMA must fail, not crawl",
            _UCX_TCP,
        ),
    ]
    values = _devices(rails)
    if settings.intent.method is Method.SHARED and values:
        why = "a shared pod sees every RDMA device of the node: only rails may be used"
        rows.append((_HCAS, values[_HCAS], why, _IN_A_POD))
        rows.append((_UCX_DEVICES, values[_UCX_DEVICES], "the same for UCX", _IN_A_POD))
    farthest = _beyond_nccl(fabric)
    if farthest is not None:
        why = f"a rail is {farthest.value} from its GPU: by itself NCCL goes through host memory beyond {_NCCL_LIMIT.value}"
        rows.append(("NCCL_NET_GDR_LEVEL", "SYS" if farthest is Distance.NODE else farthest.value, why, _NCCL))
    if settings.intent.path_mtu_bytes is not None:
        value = str(settings.intent.path_mtu_bytes)
        rows.append(("UCX_RC_PATH_MTU", value, "spec.pathMtu; NCCL takes the ports' own", _UCX))
    if not settings.is_infiniband:
        rows.append(
            ("NCCL_IB_ADDR_FAMILY", "AF_INET" if _has_ipv4(rails) else "AF_INET6", "the rails' address family", _NCCL)
        )
        rows.append(("NCCL_IB_ROCE_VERSION_NUM", "2", "RoCE v2; the GID is found, never a fixed index", _NCCL))
        if settings.intent.traffic_class is not None:
            value = str(settings.intent.traffic_class)
            rows.append(
                ("NCCL_IB_TC", value, "spec.trafficClass: must match what the switches treat as lossless", _NCCL)
            )
            rows.append(("UCX_IB_TRAFFIC_CLASS", value, "the same for UCX", _UCX))
    return tuple(Decision(name, value, "catalog", reason, source) for name, value, reason, source in rows)


def _devices(rails: tuple[Rail, ...]) -> dict[str, str]:
    """Name the rails' RDMA devices; empty where nodes call them differently."""
    devices = sorted({port.rdma for rail in rails for port in rail.ports if port.rdma})
    if not devices or any(len({port.rdma for port in rail.ports}) != 1 for rail in rails):
        return {}
    return {_HCAS: f"={','.join(devices)}", _UCX_DEVICES: ",".join(f"{device}:1" for device in devices)}


def of_rails(variables: tuple[Decision, ...], rails: tuple[Rail, ...]) -> tuple[Decision, ...]:
    """Narrow the variables of a fabric to a pod that gets only some of its rails."""
    values = _devices(rails)
    return tuple(replace(item, value=values.get(item.key, item.value)) for item in variables)


def _beyond_nccl(fabric: FabricNodes) -> Distance | None:
    """Find the farthest rail of which NCCL would not use GPUDirect by itself; None where there is none."""
    far = [
        port.distance
        for rail in fabric.rails
        for port in rail.ports
        if port.distance is not None
        and port.distance.rank > _NCCL_LIMIT.rank
        and port.node in fabric.hardware
        and fabric.hardware[port.node].architecture != _CACHE_COHERENT
    ]
    return max(far, key=lambda distance: distance.rank, default=None)


def _has_ipv4(rails: tuple[Rail, ...]) -> bool:
    return any(":" not in subnet for rail in rails for subnet in rail.subnets)
