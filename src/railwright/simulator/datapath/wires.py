"""
The truth of a way in a simulated world: whether bytes arrive, how fast, and through what.

Speeds follow from the machine: the port's rate, the PCIe links as they trained, ACS where GPU and NIC part. What a
machine can't say (cables, switches, a host that corrupts) are troubles of the world, by name.
"""

from dataclasses import dataclass
from zlib import crc32

from railwright.simulator.hardware import Gpu, Machine, Nic

_ACS_REQUEST_REDIRECT = 0x04
_REDIRECTED_SHARE = 0.2
"""Through the root complex of a two-socket server; the order of magnitude is all that is claimed."""
_HOST_SHARE, _GPU_SHARE = 0.965, 0.972
_PCIE_SHARE = 0.80
_LOSSY_SHARE = 0.35
_SLOW_DIRECTION_SHARE = 0.1
_STAGED_SHARE = 0.25
"""Through a bounce buffer in host memory; the order of magnitude is all that is claimed."""

TROUBLES = {
    "rails-swapped": "the cables of two rails of one node are swapped at the switch",
    "rail-drops": "one rail of one node drops every RDMA packet",
    "one-way-slow": "what one rail of one node sends is slow; what it receives is not",
    "corrupt-memory": "one rail of one node flips bits in what arrives",
    "packet-loss": "one rail of one node loses packets",
    "gpu-staged": "GPU memory of one node can't be registered with the NIC: UCX and NCCL stage it through host memory",
    "rights-unchecked": "the NICs of one node let everybody read its memory",
    "pod-memlock": "pods of one node may lock 64 KiB of memory",
    "hung-peer": "halves of probes on one node never come back",
}


@dataclass(frozen=True)
class SimPort:
    """One rail of one node, as a pod on it holds it."""

    node: str
    rail: int
    device: str
    netdev: str
    address: str
    rate_gbps: float
    infiniband: bool
    mtu_bytes: int
    gpu: str
    pcie_gbps: float
    gpu_pcie_gbps: float
    link_local: str
    pkeys: tuple[int, ...] = ()


@dataclass(frozen=True)
class Truth:
    """
    What happens between two ports.

    Attributes:
        problem: code and message where nothing passes; at: which end says it, "source", "target" or "" for the driver.
        checks_rights: whether the end that is read refuses whom it gave no right to.
        staged_at: the end whose GPU memory the NIC can't reach, "source" or "target": bytes that a library moves pass
            through host memory there, and what wants the NIC to reach it fails. "" where it can, or none is meant.
    """

    rate_gbps: float = 0.0
    problem: tuple[str, str] = ("", "")
    at: str = ""
    checks_rights: bool = True
    staged_at: str = ""
    corrupt: bool = False
    lost_share: float = 0.0


@dataclass(frozen=True)
class Wiring:
    """All ports, and what is wrong with what joins them; `sick` is the node that one-node troubles are about."""

    ports: tuple[SimPort, ...]
    troubles: frozenset[str]
    sick: str

    def port(self, node: str, netdev: str, device: str) -> SimPort | None:
        """Find a port of a node by its netdev in the pod, or by its device."""
        own = (port for port in self.ports if port.node == node)
        return next(
            (port for port in own if (netdev and port.netdev == netdev) or (not netdev and port.device == device)), None
        )

    def truth(self, source: SimPort, target: SimPort, *, gpu: bool, over_link_local: bool = False) -> Truth:
        """Say what happens to bytes from source to target."""
        problem = self._problem(source, target, over_link_local=over_link_local)
        if problem is not None:
            return problem
        limits = [source.rate_gbps * (_GPU_SHARE if gpu else _HOST_SHARE), source.pcie_gbps, target.pcie_gbps]
        if gpu:
            limits += [source.gpu_pcie_gbps, target.gpu_pcie_gbps]
        rate = min(limits) * _steady(source, target)
        lost = 0.0
        ends = (source, target)
        staged_at = self._staged_at(source, target) if gpu else ""
        if staged_at:
            rate *= _STAGED_SHARE
        if "packet-loss" in self.troubles and any(self._is_sick(port) for port in ends):
            rate, lost = rate * _LOSSY_SHARE, 0.02
        if "one-way-slow" in self.troubles and self._is_sick(source):
            rate *= _SLOW_DIRECTION_SHARE
        corrupt = "corrupt-memory" in self.troubles and self._is_sick(target)
        checks_rights = "rights-unchecked" not in self.troubles or source.node != self.sick
        return Truth(rate, checks_rights=checks_rights, staged_at=staged_at, corrupt=corrupt, lost_share=lost)

    def _staged_at(self, source: SimPort, target: SimPort) -> str:
        if "gpu-staged" not in self.troubles:
            return ""
        return next((where for where, port in (("source", source), ("target", target)) if port.node == self.sick), "")

    def _problem(self, source: SimPort, target: SimPort, *, over_link_local: bool) -> Truth | None:
        for where, port in (("source", source), ("target", target)):
            if "pod-memlock" in self.troubles and port.node == self.sick:
                text = "ibv_reg_mr of 8388608 bytes: ENOMEM (Cannot allocate memory), and this process may lock 65536 bytes"
                return Truth(problem=("no-memory-to-lock", text), at=where)
        drops = "rail-drops" in self.troubles and (self._is_sick(source) or self._is_sick(target))
        same_wire = self._segment(source) == self._segment(target) or source.infiniband
        same_subnet = source.rail == target.rail or source.infiniband or over_link_local
        if drops or not (same_wire and same_subnet):
            return Truth(problem=("transfer-failed", "a work request failed: transport retry counter exceeded"))
        return None

    def _is_sick(self, port: SimPort) -> bool:
        return port.node == self.sick and port.rail == 0

    def _segment(self, port: SimPort) -> int:
        if "rails-swapped" in self.troubles and port.node == self.sick and port.rail in {0, 1}:
            return 1 - port.rail
        return port.rail


def _steady(source: SimPort, target: SimPort) -> float:
    """Give each way its own share near one, the same in every run."""
    return 1 - crc32(f"{source.node}.{source.rail}.{target.node}".encode()) % 1000 / 1e5


def ports_of(machines: tuple[Machine, ...]) -> tuple[SimPort, ...]:
    """Number rails as pods get them: by PCI address, net1 first."""
    found = []
    for index, machine in enumerate(machine for machine in machines if machine.gpus):
        rails = sorted((nic for nic in machine.nics if nic.is_rail), key=lambda nic: nic.pci)
        for rail, nic in enumerate(rails):
            gpu = _nearest(machine, nic)
            found.append(
                SimPort(
                    node=machine.name,
                    rail=rail,
                    device=nic.rdma,
                    netdev=f"net{rail + 1}",
                    address=f"192.168.{rail}.{index + 1}",
                    rate_gbps=float(nic.rate_gbps),
                    infiniband=nic.is_ib,
                    mtu_bytes=4096 if nic.is_ib or nic.mtu >= 4200 else 1024,
                    gpu=gpu.pci if gpu else "",
                    pcie_gbps=nic.registers.link_speed_gts * nic.registers.link_width_lanes * _PCIE_SHARE,
                    gpu_pcie_gbps=_gpu_gbps(machine, nic, gpu),
                    link_local=f"fe80:0000:0000:0000:0000:00ff:fe00:{index:02x}{rail:02x}",
                    pkeys=nic.pkeys if nic.is_ib else (),
                )
            )
    return tuple(found)


def _nearest(machine: Machine, nic: Nic) -> Gpu | None:
    """Find the GPU that shares the longest way with a NIC."""
    return max(machine.gpus, key=lambda gpu: (_shared(gpu, nic), gpu.numa == nic.numa), default=None)


def _shared(gpu: Gpu, nic: Nic) -> int:
    pairs = zip(gpu.path.split("/"), nic.path.split("/"), strict=False)
    return next((index for index, (one, other) in enumerate(pairs) if one != other), 0)


def _gpu_gbps(machine: Machine, nic: Nic, gpu: Gpu | None) -> float:
    """Say how fast GPU and NIC reach each other: slower where a bridge between them redirects."""
    if gpu is None:
        return 0.0
    shared = _shared(gpu, nic)
    between = [step for path in (gpu.path, nic.path) for step in path.split("/")[shared:-1]]
    redirects = shared > 1 and any(machine.bridge(step).acs_control & _ACS_REQUEST_REDIRECT for step in between)
    lanes = gpu.registers.link_speed_gts * gpu.registers.link_width_lanes * _PCIE_SHARE
    return lanes * (_REDIRECTED_SHARE if redirects else 1.0)
