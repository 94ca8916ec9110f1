r"""
NCCL's picture of a node (NCCL_TOPO_DUMP_FILE), for a comparison with our own reading.

Sample: <cpu numaid="0"><pci busid="0000:17:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
<pci busid="0000:1b:00.0" class="0x030200"><gpu dev="0" sm="90" gdr="1"/></pci><pci busid="0000:18:00.0"><nic>
<net name="mlx5_3" dev="0" speed="400000" port="1" gdr="1"/></nic></pci></pci></cpu>

NCCL writes a switch as one element, and no root port. Read by its few tags, not as XML at large: it may come from
anywhere. Source: NCCL 2.27 src/graph/xml.cc, ncclTopoDumpXmlRec.
"""

import re
from dataclasses import dataclass

from railwright.core.ids import PciAddress
from railwright.facts.record import pci_address, whole_number

_TAG = re.compile(r"<(/?)(\w+)((?:\s+\w+=\"[^\"<>]*\")*)\s*(/?)>")
_ATTRIBUTE = re.compile(r"(\w+)=\"([^\"<>]*)\"")
_MOST_CHARACTERS = 4 << 20
_DEEPEST = 64


@dataclass(frozen=True)
class NcclDevice:
    """
    A GPU or a network port as NCCL sees it.

    Attributes:
        pci: its function.
        cpu: NUMA node that it hangs off; None when NCCL names none.
        above: switches from the host down to it.
        name: of a network port: "mlx5_0"; empty for a GPU.
        has_gdr: whether NCCL may use GPUDirect RDMA with it; None when it does not say.
    """

    pci: PciAddress
    cpu: int | None
    above: tuple[PciAddress, ...]
    name: str = ""
    has_gdr: bool | None = None


@dataclass(frozen=True)
class NcclTopology:
    """GPUs and network ports of one node."""

    gpus: tuple[NcclDevice, ...] = ()
    nets: tuple[NcclDevice, ...] = ()


def parse_nccl_topology(text: str) -> NcclTopology:
    """Read the picture; what is none gives an empty one."""
    gpus: list[NcclDevice] = []
    nets: list[NcclDevice] = []
    open_tags: list[tuple[str, dict[str, str]]] = []
    for closing, tag, attributes, ends in _TAG.findall(text[:_MOST_CHARACTERS]):
        if closing:
            while open_tags and open_tags.pop()[0] != tag:
                continue
            continue
        fields = dict(_ATTRIBUTE.findall(attributes))
        if tag in {"gpu", "net"} and (device := _device(open_tags, fields)) is not None:
            (gpus if tag == "gpu" else nets).append(device)
        if not ends and len(open_tags) < _DEEPEST:
            open_tags.append((tag, fields))
    return NcclTopology(tuple(gpus), tuple(nets))


def _device(open_tags: list[tuple[str, dict[str, str]]], fields: dict[str, str]) -> NcclDevice | None:
    path = [pci_address(found.get("busid")) for tag, found in open_tags if tag == "pci"]
    known = [step for step in path if step is not None]
    if not known or len(known) != len(path):
        return None
    cpu = next((whole_number(found.get("numaid")) for tag, found in open_tags if tag == "cpu"), None)
    return NcclDevice(
        pci=known[-1],
        cpu=cpu if cpu is not None and cpu >= 0 else None,
        above=tuple(known[:-1]),
        name=fields.get("name", ""),
        has_gdr={"0": False, "1": True}.get(fields.get("gdr", "")),
    )
