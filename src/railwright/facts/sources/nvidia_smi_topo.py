r"""
What `nvidia-smi topo -m` prints: how far GPUs and NICs are apart, for a comparison with our own reading.

Sample (fields separated by TABs, the first line underlined by escape sequences on a terminal):

        GPU0    GPU1    NIC0    CPU Affinity    NUMA Affinity   GPU NUMA ID
    GPU0     X      NV18    PIX     0-55    0               N/A
    NIC0    PIX     SYS      X

    NIC Legend:

      NIC0: mlx5_0

Older versions name the NICs themselves in the table ("mlx5_0"). Source: nvidia-smi(1), "topo"; drivers 470 to 580.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_LABEL = re.compile(r"(?:GPU|NIC)\d+|mlx\d+_\w+|\w+_\d+")
_LEGEND = re.compile(r"^\s*(NIC\d+): *(\S+)\s*$")
_GPU = re.compile(r"GPU(\d{1,9})")
_WORDS = frozenset({"PIX", "PXB", "PHB", "NODE", "SYS"})
_MOST_LINES = 1_000


@dataclass(frozen=True)
class TopoMatrix:
    """
    The table's part on GPUs and NICs.

    Attributes:
        distances: PIX, PXB, PHB, NODE or SYS by number of the GPU and name of the NIC.
        gpus: how many GPUs the table has.
    """

    distances: Mapping[tuple[int, str], str] = field(default_factory=dict)
    gpus: int = 0


def parse_topo_matrix(text: str) -> TopoMatrix:
    """Read the table; what is no table gives an empty one."""
    lines = [_ESCAPE.sub("", line) for line in text.splitlines()[:_MOST_LINES]]
    legend = {found[1]: found[2] for line in lines if (found := _LEGEND.match(line))}
    header = next((line for line in lines if "GPU0" in line), "")
    columns = [word.strip() for word in header.split("\t")[1:]]
    labels = [word for word in columns if _LABEL.fullmatch(word)]
    distances: dict[tuple[int, str], str] = {}
    gpus = 0
    for line in lines:
        cells = [cell.strip() for cell in line.split("\t")]
        row = _GPU.fullmatch(cells[0])
        if row is None:
            continue
        gpus += 1
        for label, cell in zip(labels, cells[1:], strict=False):
            if cell in _WORDS and _GPU.fullmatch(label) is None:
                distances[int(row[1]), legend.get(label, label)] = cell
    return TopoMatrix(distances, gpus)
