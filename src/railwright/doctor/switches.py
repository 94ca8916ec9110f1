"""
Variables of NCCL, UCX, NVSHMEM, Open MPI and libfabric that keep a job off RDMA, or its GPUs' memory off the NIC. Pure.

A table, since one mechanism has one name in each library.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

_OFF = frozenset({"0", "n", "no", "off", "false"})
_ON = frozenset({"1", "y", "yes", "on", "true"})
_TCP = "all of its traffic goes over TCP"
_COPIED = "GPU memory is copied through the host before it is sent"
_OURS = "mlx5"
"""How RDMA devices of the driver begin whose ports are known; "^" before a list negates all of it."""
_RDMA_TRANSPORTS = ("rc", "ud", "dc", "ib", "all")
_WITHOUT_RDMA = ({"ib"}, {"rc", "ud", "dc"})
"""Any of these, left out, leaves no RDMA. Source: UCX v1.20 docs, UCX_TLS aliases."""


@dataclass(frozen=True)
class Switch:
    """One variable, and the values that switch something off; all values in lower case."""

    name: str
    values: frozenset[str]
    problem: str


SWITCHES: tuple[Switch, ...] = (
    Switch("NCCL_IB_DISABLE", _ON, "NCCL uses sockets"),
    Switch("NCCL_NET", frozenset({"socket"}), "NCCL uses sockets"),
    Switch("NCCL_NET_GDR_LEVEL", frozenset({"loc", "0"}), _COPIED),
    Switch("UCX_IB_GPU_DIRECT_RDMA", _OFF, _COPIED),
    Switch("NVSHMEM_REMOTE_TRANSPORT", frozenset({"none"}), "NVSHMEM has no way to other nodes"),
    Switch("OMPI_MCA_pml", frozenset({"ob1"}), "Open MPI goes past UCX, and without its openib component that is TCP"),
    Switch("FI_PROVIDER", frozenset({"tcp", "sockets", "udp", "tcp;ofi_rxm", "net"}), f"libfabric: {_TCP}"),
)
"""
Source: NCCL 2.30.7 docs, Environment Variables (NCCL_NET, NCCL_NET_GDR_LEVEL); UCX v1.20 docs, UCX_IB_GPU_DIRECT_RDMA; NVSHMEM 3.4
docs, NVSHMEM_REMOTE_TRANSPORT; Open MPI 5.0 docs, network support; libfabric v2.1 docs, fi_provider(7) (2026-11).
"""
REMEDY = "Take it out, unless it is there for a test."


def switched_off(env: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Name each variable that switches RDMA or GPUDirect off: name, what comes of it, remedy."""
    for switch in SWITCHES:
        if env.get(switch.name, "").strip().lower() in switch.values:
            yield switch.name, switch.problem, REMEDY
    if _leaves_no_rdma(env.get("UCX_TLS", "")):
        yield "UCX_TLS", "no RDMA transport is allowed, so UCX and NIXL use TCP", "Take it out, or list rc and cuda."


def _leaves_no_rdma(value: str) -> bool:
    parts = {part.strip().lstrip("\\") for part in value.lstrip("^").split(",") if part.strip()}
    if value.startswith("^"):
        return any(left_out <= parts for left_out in _WITHOUT_RDMA)
    return bool(parts) and not any(part.startswith(_RDMA_TRANSPORTS) for part in parts)


DEVICE_FILTERS = frozenset({"NCCL_IB_HCA", "UCX_NET_DEVICES", "NVSHMEM_HCA_LIST"})
"""Variables that name RDMA devices."""


def not_there(env: Mapping[str, str], devices: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Name filters that name what a node does not have; `devices` are all of mlx5 there, so other drivers' are not judged."""
    hcas = env.get("NCCL_IB_HCA", "").strip()
    if hcas and not hcas.startswith("^"):
        is_exact = hcas.startswith("=")
        names = [part.strip().partition(":")[0] for part in hcas.lstrip("=").split(",") if part.strip()]
        gone = [
            name
            for name in names
            if name.startswith(_OURS)
            and not any(item == name or (not is_exact and item.startswith(name)) for item in devices)
        ]
        yield from _gone("NCCL_IB_HCA", gone, names)
    for variable in ("UCX_NET_DEVICES", "NVSHMEM_HCA_LIST"):
        value = env.get(variable, "").strip()
        if value.startswith("^"):
            continue
        parts = [part.strip() for part in value.split(",") if ":" in part]
        names = [part.partition(":")[0] for part in parts if not part.startswith("=")]
        yield from _gone(variable, [name for name in names if name.startswith(_OURS) and name not in devices], names)


def _gone(variable: str, gone: list[str], names: list[str]) -> Iterator[tuple[str, str, str]]:
    if gone:
        rest = (
            "so no device is left"
            if len(gone) == len(names)
            else f"so {len(names) - len(gone)} of {len(names)} are left"
        )
        yield (
            variable,
            f"its node has no RDMA device {', '.join(gone[:4])}, {rest}",
            "Name the devices that the pod's nodes have.",
        )
