"""NCCL and UCX variables that fit a fabric, each with its reason."""

from railwright.intent.model import Method
from railwright.plan.model import Decision, Rail
from railwright.plan.settings import Settings

_NCCL = "NCCL documentation, Environment Variables (read 2026-11)"
_NCCL_SOURCE = "NVIDIA/nccl 5067397 (2.30.7), transport/net.cc:326-330"
_IN_A_POD = "OpenShift 4.22 docs, Hardware accelerators 5.10: ibstatus in a pod (2026-09-05)"
_UCX_TCP = "Measured: NIXL 1.5.1 over UCX 1.23.0, 2026-11: a write over TCP passed without a word"


def environment(settings: Settings, rails: tuple[Rail, ...]) -> tuple[Decision, ...]:
    """Choose the variables; which HCAs a pod has is not known before it runs, so none is named by index."""
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
    if settings.intent.method is Method.SHARED:
        devices = sorted({port.rdma for rail in rails for port in rail.ports if port.rdma})
        if devices and all(len({port.rdma for port in rail.ports}) == 1 for rail in rails):
            listed = ",".join(devices)
            rows.append(
                (
                    "NCCL_IB_HCA",
                    f"={listed}",
                    "a shared pod sees every RDMA device of the node: only rails may be used",
                    _IN_A_POD,
                )
            )
            rows.append(
                ("UCX_NET_DEVICES", ",".join(f"{device}:1" for device in devices), "the same for UCX", _IN_A_POD)
            )
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
            rows.append(("UCX_IB_TRAFFIC_CLASS", value, "the same for UCX", "UCX documentation"))
    return tuple(Decision(name, value, "catalog", reason, source) for name, value, reason, source in rows)


def _has_ipv4(rails: tuple[Rail, ...]) -> bool:
    return any(":" not in subnet for rail in rails for subnet in rail.subnets)
