"""What a virtual cluster is made of, and the addresses that follow from it."""

from dataclasses import dataclass
from pathlib import Path

NIC_IDS = "15b3:1021:020000"
"""What rails show: a ConnectX-7. Source: pci.ids, 15b3 1021 MT2910 Family [ConnectX-7]."""
GPU_IDS = "10de:2330:030200"
"""What stands for a GPU shows: an H100. Source: pci.ids, 10de 2330 GH100 [H100 SXM5 80GB]."""
MEMORY_MIB = 2048
"""1.5 GB were in use at the end of a run with two plugins (measured 2026-11-30)."""
MOST_NODES, MOST_RAILS = 8, 4
"""What one machine can be asked to emulate."""
MTU_BYTES = 4200
"""Of rails: room for soft-RoCE's largest payload, 4096 bytes."""


@dataclass(frozen=True)
class Shape:
    """
    A cluster.

    Attributes:
        network: second number of the loopback addresses at which the API server finds the kubelets; another one for
            every cluster of this machine.
        bare: an OpenShift cluster without any operator; else NVIDIA's Network Operator is there already.
    """

    nodes: int = 2
    rails: int = 2
    network: int = 200
    bare: bool = False

    def numbers(self) -> range:
        """Give the numbers of its nodes."""
        return range(1, self.nodes + 1)


def node_name(number: int) -> str:
    """Name a node."""
    return f"node-{number}"


def node_address(number: int) -> str:
    """Give its address in the nodes' own network."""
    return f"10.88.0.{10 + number}"


def kubelet_address(shape: Shape, number: int) -> str:
    """Give the loopback address of this machine at which its kubelet answers."""
    return f"127.{shape.network}.0.{10 + number}"


def segments(shape: Shape, folder: Path) -> tuple[Path, ...]:
    """Name the sockets of its networks: the nodes' own, then one a rail."""
    return (folder / "net-pods", *(folder / f"net-rail{rail}" for rail in range(shape.rails)))


def settings_text(shape: Shape, number: int) -> str:
    """Write /etc/railwright/node, which the node's first process reads."""
    peers = " ".join(f"{peer}:{node_address(peer)}" for peer in shape.numbers() if peer != number)
    values = {
        "NODE": node_name(number),
        "NUMBER": str(number),
        "ADDRESS": node_address(number),
        "PEERS": peers,
        "MTU": str(MTU_BYTES),
        "MEMLOCK": "unlimited",
        "NIC_IDS": NIC_IDS,
        "GPU_IDS": GPU_IDS,
    }
    return "".join(f'{key}="{value}"\n' for key, value in values.items())
