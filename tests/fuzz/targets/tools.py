"""What tools and people print: probes, diagnosis of links and subnets, pasted logs, reports of others."""

from functools import cache
from pathlib import Path

import yaml
from fuzz.model import Target, text_target
from fuzz.targets.node_records import RECORDS

from railwright.core.foreign_text import parse_json
from railwright.core.redactor import Redactor
from railwright.doctor.text.diagnose import diagnose_text
from railwright.facts.crosscheck import cross_check
from railwright.facts.model import NodeHardware
from railwright.facts.node_record import parse_node_record
from railwright.facts.sources.infiniband_diags import parse_ibstat, parse_pkey_table
from railwright.facts.sources.nccl import parse_nccl
from railwright.facts.sources.nccl_topology import parse_nccl_topology
from railwright.facts.sources.network_status import parse_network_status
from railwright.facts.sources.nixl import parse_nixl
from railwright.facts.sources.nvidia_smi_topo import parse_topo_matrix
from railwright.facts.sources.perftest import parse_perftest
from railwright.facts.sources.ucx import parse_ucx_usage

CASES = Path(__file__).parents[2] / "cases"
_NCCL_TREE = (
    '<system version="1"><cpu numaid="0"><pci busid="0000:17:00.0"><pci busid="0000:19:00.0"><gpu dev="0"/></pci>'
    '<pci busid="0000:1a:00.0"><nic><net name="mlx5_0" gdr="1"/></nic></pci></pci></cpu></system>'
)
_IBSTAT = (
    "CA 'ibsim0'\n\tCA type: simulator\n\tNumber of ports: 1\n\tNode GUID: 0x0000000000100006\n\tPort 1:\n"
    "\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 10\n\t\tBase lid: 6\n\t\tLMC: 0\n\t\tSM lid: 1\n"
    "\t\tPort GUID: 0x0000000000100007\n\t\tLink layer: IB\n"
)
_PKEYS = "   0: 0xffff 0x8001 0x0000 0x0000\n   8: 0x0000 0x0000 0x0000 0x0000\n8 pkeys capacity for this port\n"
_NUMBERS = ("bandwidth", "latency", "transfers", "rows", "channels")
_TOOLS = {"perftest": parse_perftest, "nixl": parse_nixl, "ucx": parse_ucx_usage, "nccl": parse_nccl}


def _printed(folder: str) -> tuple[str, ...]:
    return tuple(path.read_text(errors="replace") for path in sorted((CASES / "facts" / folder).glob("*.txt")))


def _logs() -> tuple[str, ...]:
    files = sorted((CASES / "doctor" / "text").glob("*.yaml"))
    return tuple(case["text"] for file in files for case in yaml.safe_load(file.read_text()))


def _network_status() -> tuple[str, ...]:
    (path,) = (CASES / "facts" / "pods").glob("*.json")
    return (parse_json(path.read_text())["pod"]["metadata"]["annotations"]["k8s.v1.cni.cncf.io/network-status"],)


def _measured(tool: str) -> Target:
    """A tool's output; what it says of a problem takes every number back."""
    parse = _TOOLS[tool]

    def read(text: str) -> None:
        output = parse(text)
        assert not (output.problem and any(getattr(output, name, ()) for name in _NUMBERS))

    return text_target(tool, lambda: _printed(tool), read)


@cache
def _hardware() -> NodeHardware:
    return parse_node_record((RECORDS / "hgx-eight-gpus-eight-nics.txt").read_text())


def _checked(text: str) -> None:
    """Both cross-checks: one text is the matrix and the tree."""
    parse_topo_matrix(text)
    parse_nccl_topology(text)
    cross_check(_hardware(), text, text)


_REDACTOR = Redactor(b"k" * 32)
TARGETS = (
    *(_measured(tool) for tool in _TOOLS),
    text_target("topology", lambda: (*_printed("topo"), _NCCL_TREE), _checked),
    text_target("ibstat", lambda: (_IBSTAT,), parse_ibstat),
    text_target("pkey-table", lambda: (_PKEYS,), parse_pkey_table),
    text_target("network-status", _network_status, parse_network_status),
    text_target("pasted-log", _logs, diagnose_text, short=20),
    text_target("log-redacted", _logs, _REDACTOR.text),
)
