"""
What rules are about, and whether a cluster has any of it: a rule about what is not there has not passed.

A subject is absent only where every node, or every list of objects, was read well enough to know; otherwise nothing is
said, and the rule's needs say what is missing. A rule that finds that something is missing answers all the same: what it
is about is asked only where it found nothing.
"""

from collections.abc import Callable

from railwright.core import kinds as known
from railwright.core.ids import NodeName
from railwright.core.objects import Kind, dig
from railwright.doctor.everything import Everything
from railwright.doctor.model import Subject
from railwright.doctor.needs import RAIL_SECTIONS
from railwright.doctor.wanted import uses_rails
from railwright.facts.model import LinkLayer, NodeHardware

_CONNECTX = "15b3"
BY_A_WANTED_STATE = "give -f FILE to judge by a wanted state"


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


def _none_of(words: str, *kinds: Kind) -> Callable[[Everything], str]:
    """Judge by whether there is an object of any of these kinds, or a plan of one's own that makes some."""

    def absent(everything: Everything) -> str:
        if everything.plan is not None or any(everything.by_kind.get(kind) for kind in kinds):
            return ""
        return words if all(everything.is_whole(kind) for kind in kinds) else ""

    return absent


def _no_driver_container(everything: Everything, *, only_nic: bool = False) -> str:
    """Judge by the policies that bring drivers in containers, and the plan."""
    nic = (item for item in everything.by_kind.get(known.NIC_CLUSTER_POLICY, ()) if dig(item, "spec", "ofedDriver"))
    gpu = () if only_nic else everything.by_kind.get(known.CLUSTER_POLICY, ())
    if everything.plan is not None or any(nic) or any(gpu):
        return ""
    is_known = everything.is_whole(known.NIC_CLUSTER_POLICY) and everything.is_whole(known.CLUSTER_POLICY)
    return f"no driver container here: {BY_A_WANTED_STATE}" if is_known else ""


def _no_nic_driver_container(everything: Everything) -> str:
    return _no_connectx(everything) or _no_driver_container(everything, only_nic=True)


def _no_wanted_rails(everything: Everything) -> str:
    """Judge by rails, and by who may want RDMA on them: the plan, policies, pods."""
    bare = _no_rails(everything)
    if bare:
        return bare
    makers = (known.NIC_CLUSTER_POLICY, known.SRIOV_NETWORK_NODE_POLICY)
    is_known = all(everything.is_whole(kind) for kind in (*makers, known.POD))
    if everything.plan is not None or not is_known or any(everything.by_kind.get(kind) for kind in makers):
        return ""
    users = (pod for pod in everything.cluster.pods if uses_rails(pod, frozenset()))
    return "" if any(users) else f"nobody asks for RDMA here: {BY_A_WANTED_STATE}"


def _no_workloads(everything: Everything) -> str:
    """Judge by pods that hold or want devices or networks, outside the operators' namespaces."""
    pods = (item for item in everything.cluster.pods if item.namespace not in everything.homes)
    if not everything.is_whole(known.POD) or any(item.requests or item.networks for item in pods):
        return ""
    return "no pod asks for a device or a rail's network"


def _no_operands(everything: Everything) -> str:
    pods = (item for item in everything.cluster.pods if item.namespace in everything.homes)
    return "" if any(pods) or not everything.is_whole(known.POD) else "no operator has pods here"


def _no_operators(everything: Everything) -> str:
    is_known = everything.is_whole(known.SUBSCRIPTION) and everything.is_whole(known.DEPLOYMENT)
    return "" if everything.operators or not is_known else "none of the four operators is here"


def _no_proofs(everything: Everything) -> str:
    kept = everything.kept
    return "" if kept.proofs or kept.problem else "no fabric of the ledger was verified"


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
WANTED_RAILS = Subject("rails on which RDMA is wanted", _no_wanted_rails, _no_rail_on)
DRIVER_CONTAINERS = Subject("driver containers", _no_driver_container)
NIC_DRIVER_CONTAINERS = Subject("containers of the NIC driver", _no_nic_driver_container)
OPERATORS = Subject("operators", _no_operators)
OPERANDS = Subject("pods of operators", _no_operands)
SUBSCRIPTIONS = Subject("Subscriptions", _none_of("no operator has a Subscription", known.SUBSCRIPTION))
VF_POLICIES = Subject("SR-IOV policies", _none_of("no SR-IOV policy was made", known.SRIOV_NETWORK_NODE_POLICY))
DEVICE_POLICIES = Subject(
    "policies of devices",
    _none_of("no policy of devices was made", known.NIC_CLUSTER_POLICY, known.SRIOV_NETWORK_NODE_POLICY),
)
POLICIES = Subject(
    "policies of operators",
    _none_of(
        "no policy was made",
        known.NIC_CLUSTER_POLICY,
        known.CLUSTER_POLICY,
        known.NVIDIA_DRIVER,
        known.SRIOV_NETWORK_NODE_POLICY,
    ),
)
NETWORKS = Subject(
    "networks of rails",
    _none_of(
        "no network was made",
        known.NETWORK_ATTACHMENT_DEFINITION,
        known.MACVLAN_NETWORK,
        known.IPOIB_NETWORK,
        known.HOST_DEVICE_NETWORK,
        known.SRIOV_NETWORK,
        known.SRIOV_IB_NETWORK,
        known.NV_IPAM_IP_POOL,
        known.NV_IPAM_CIDR_POOL,
    ),
)
WORKLOADS = Subject("pods with devices", _no_workloads)
PROOFS = Subject("runs of verify", _no_proofs)
