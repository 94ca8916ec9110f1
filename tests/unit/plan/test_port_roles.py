"""What a port that carries the node's own traffic is called."""

import pytest
from unit.plan.clusters import hardware

from railwright.catalog.load import load_catalog
from railwright.core.ids import NetDevice, NodeName
from railwright.facts.model import Carried, NetDeviceFacts
from railwright.facts.sources import sockets, storage
from railwright.intent.model import Fabric
from railwright.plan.roles import candidates

CATALOG = load_catalog()
NO_STORAGE = {"API server", "etcd", "BGP"}
STORED = [
    *(f"{what} x" for what in storage._DEVICES.values()),
    *(f"{what} mount /data" for what in storage._KINDS.values()),
    *sorted({f"{name} (TCP 1) at 10.1.0.4" for _, name in sockets._SERVICES if name not in NO_STORAGE}),
    "NVMe-oF nvme2 (rdma)",
    "iSCSI session1",
]
OTHER = [
    "default route (IPv4)",
    "node address 10.0.0.4",
    "cluster network (OVN tunnels) at 10.0.0.4",
    "tunnel flannel.1",
    *sorted(f"{name} (TCP 1) at 10.1.0.4" for name in NO_STORAGE),
]


@pytest.mark.parametrize(
    ("what", "role"), [*((what, "storage") for what in STORED), *((what, "management") for what in OTHER)]
)
def test_a_port_is_called_after_the_traffic_that_it_carries(what, role):
    inside = hardware()
    port = inside.ports[0]
    carried = (Carried(what, (NetDevice(port.netdev),), port.pci),)
    _, others = candidates(NodeName("worker-0"), hardware(carried=carried), Fabric.ROCE, CATALOG)
    assert [(item.pci, item.role) for item in others] == [(port.pci, role)]


def a_netdev(name, *, master=None, kind=""):
    return NetDeviceFacts(NetDevice(name), 1, None, master and NetDevice(master), (), 9000, "", (), kind)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("bond", "it belongs to up0 (bond)"),
        ("openvswitch", "it belongs to up0 (openvswitch)"),
        ("", "it belongs to up0"),
        ("vrf", None),
    ],
)
def test_a_port_that_belongs_to_another_device_is_no_rail(kind, reason):
    """Nothing of the node goes over it now: it is no uplink, and a macvlan child of it would get no frame."""
    inside = hardware(netdevs=(a_netdev("ens0f0np0", master="up0"), a_netdev("up0", kind=kind)))
    found, others = candidates(NodeName("worker-0"), inside, Fabric.ROCE, CATALOG)
    assert len(found) == (8 if reason is None else 7)
    assert [(item.role, item.reason) for item in others] == ([] if reason is None else [("member", reason)])
