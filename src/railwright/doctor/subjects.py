"""
What rules are about, and whether a cluster has any of it: a rule about what is not there has not passed.

A subject is absent only where every node was read well enough to know; otherwise nothing is said, and the rule's needs
say what is missing.
"""

from railwright.core.ids import NodeName
from railwright.doctor.everything import Everything
from railwright.doctor.model import Subject
from railwright.doctor.needs import RAIL_SECTIONS
from railwright.facts.model import LinkLayer, NodeHardware

_CONNECTX = "15b3"


def has_connectx(hardware: NodeHardware) -> bool:
    """Whether a node has a port of the vendor's, with or without a driver."""
    return any(port.vendor_id == _CONNECTX for port in hardware.ports)


def _is_known(everything: Everything, *sections: str) -> bool:
    """Whether these sections were read whole on every node, of which there is one."""
    if not everything.nodes or len(everything.inside) < len(everything.nodes):
        return False
    return all(found.keys().isdisjoint(sections) for found in everything.unread.values())


def _no_gpus(everything: Everything) -> str:
    if not _is_known(everything, "pci") or any(item.gpus for item in everything.inside.values()):
        return ""
    return "no node has an NVIDIA GPU"


def _no_connectx(everything: Everything) -> str:
    if not _is_known(everything, "pci") or any(has_connectx(item) for item in everything.inside.values()):
        return ""
    return "no node has a ConnectX port"


def _neither(everything: Everything) -> str:
    gpus, ports = _no_gpus(everything), _no_connectx(everything)
    return "no node has an NVIDIA GPU or a ConnectX port" if gpus and ports else ""


def _no_rails(everything: Everything) -> str:
    if everything.rails or not _is_known(everything, "pci"):
        return ""
    bare = _neither(everything) or _no_gpus(everything) or _no_connectx(everything)
    if bare:
        return bare
    if not any(item.gpus and has_connectx(item) for item in everything.inside.values()):
        return "no node has both an NVIDIA GPU and a ConnectX port"
    return "no ConnectX port beside a GPU can be a rail" if _is_known(everything, *RAIL_SECTIONS) else ""


def _no_rails_of(layer: LinkLayer, words: str, everything: Everything) -> str:
    found = {rail.port.link_layer for rails in everything.rails.values() for rail in rails}
    if not found:
        return _no_rails(everything)
    is_known = _is_known(everything, *RAIL_SECTIONS) and LinkLayer.UNKNOWN not in found
    return f"no rail speaks {words}" if is_known and layer not in found else ""


def _no_rail_on(everything: Everything, node: NodeName) -> bool:
    hardware = everything.inside.get(node)
    if hardware is None or "pci" in everything.unread.get(node, {}) or node in everything.rails:
        return False
    return not (hardware.gpus and has_connectx(hardware))


GPUS = Subject("NVIDIA GPUs", _no_gpus)
CONNECTX = Subject("ConnectX ports", _no_connectx)
GPUS_OR_CONNECTX = Subject("NVIDIA GPUs or ConnectX ports", _neither)
RAILS = Subject("rails", _no_rails, _no_rail_on)
ETHERNET_RAILS = Subject(
    "rails on Ethernet", lambda seen: _no_rails_of(LinkLayer.ETHERNET, "Ethernet", seen), _no_rail_on
)
INFINIBAND_RAILS = Subject(
    "rails on InfiniBand", lambda seen: _no_rails_of(LinkLayer.INFINIBAND, "InfiniBand", seen), _no_rail_on
)
