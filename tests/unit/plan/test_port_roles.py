"""What a port that carries the node's own traffic is called."""

import pytest
from unit.plan.clusters import hardware

from railwright.catalog.load import load_catalog
from railwright.core.ids import NetDevice, NodeName
from railwright.facts.model import Carried
from railwright.facts.sources import sockets, storage
from railwright.intent.model import Fabric
from railwright.plan.roles import candidates

CATALOG = load_catalog()
NO_STORAGE = {"API server", "etcd"}
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
