"""What a port that carries the node's own traffic is called."""

import pytest
from unit.plan.clusters import a_cluster, a_node, a_port, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.ids import NetDevice, NodeName, PciAddress
from railwright.facts.model import Carried, NetDeviceFacts, Unseen
from railwright.facts.sources import sockets, storage
from railwright.intent.model import Fabric, RailSelector
from railwright.plan.plan import plan
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


BF3 = {"device_id": "a2dc", "card_name": "Nvidia BlueField-3 B3140H E-series HHHL SuperNIC; 400GbE"}
ANSWERED, SILENT = "legacy", ""
NEW_ID = {"device_id": "a2df", "card_name": "NVIDIA BlueField-4 DPU", "eswitch_mode": SILENT}


def nic_device(*, dpu, pci=None):
    status = {"node": "worker-0", "dpu": dpu, "superNIC": True, "ports": [{"pci": str(pci or a_port(0).pci)}]}
    return an_object(kinds.NIC_DEVICE, "worker-0-a2dc", "nvidia-network-operator", status=status)


def planned(port, *, beside=ANSWERED, devices=(), named=False, unseen=()):
    """What becomes of a BlueField beside the first of two GPUs: rails of the node, and what is said of it."""
    ports = (a_port(0, **port), a_port(1, eswitch_mode=beside))
    inside = hardware(count=2, ports=ports, unseen=unseen)
    rails = (RailSelector("rail0", pci_address=ports[0].pci),) if named else None
    snapshot = a_cluster((a_node(0, inside), a_node(1, hardware(count=2))), tuple(devices))
    made = plan((an_intent(rails=rails),), snapshot, CATALOG)
    notes = (*made.refusals, *made.nodes[0].refused, *made.warnings)
    said = {item.code for item in notes if "bluefield" in item.code}
    roles = {item.role for item in made.other_ports if item.node == "worker-0" and item.pci == ports[0].pci}
    return said, roles


@pytest.mark.parametrize(
    ("port", "around", "said", "roles"),
    [
        ({**BF3, "eswitch_mode": ANSWERED}, {}, set(), set()),
        ({**BF3, "eswitch_mode": SILENT}, {}, {"bluefield-left-out"}, {"dpu"}),
        ({**BF3, "eswitch_mode": SILENT}, {"named": True}, {"bluefield-asked-for"}, set()),
        ({**BF3, "eswitch_mode": ANSWERED}, {"named": True}, set(), set()),
        ({**BF3, "eswitch_mode": SILENT}, {"beside": SILENT}, {"bluefield-mode-unknown"}, set()),
        ({**BF3, "eswitch_mode": SILENT}, {"beside": SILENT, "named": True}, {"bluefield-asked-for"}, set()),
        ({**BF3, "sriov_total_vfs": 0}, {}, {"bluefield-mode-unknown"}, set()),
        (
            {**BF3},
            {"unseen": (Unseen("eswitch", "the devlink command is not here"),)},
            {"bluefield-mode-unknown"},
            set(),
        ),
        ({**BF3}, {"beside": SILENT, "devices": [nic_device(dpu=False)]}, set(), set()),
        ({**BF3}, {"beside": SILENT, "devices": [nic_device(dpu=True)]}, {"bluefield-left-out"}, {"dpu"}),
        ({**BF3}, {"beside": SILENT, "devices": [nic_device(dpu=None)]}, {"bluefield-mode-unknown"}, set()),
        (
            {**BF3},
            {"beside": SILENT, "devices": [nic_device(dpu=False, pci="0000:ff:00.0")]},
            {"bluefield-mode-unknown"},
            set(),
        ),
        (NEW_ID, {}, {"bluefield-left-out"}, {"dpu"}),
        ({"device_id": "1021", "card_name": "NVIDIA ConnectX-7", "eswitch_mode": SILENT}, {}, set(), set()),
    ],
)
def test_a_bluefield_is_a_rail_where_the_host_owns_its_switch(port, around, said, roles):
    assert planned(port, **around) == (said, roles)


def test_a_bluefield_far_from_every_gpu_is_north_south_whatever_its_mode():
    far = a_port(0, **BF3, root="pci0000:f0", pci_path=(PciAddress("0000:f1:00.0"),), pci=PciAddress("0000:f1:00.0"))
    inside = hardware(count=2, ports=(*hardware(count=2).ports, far))
    found, others = candidates(NodeName("worker-0"), inside, Fabric.ROCE, CATALOG)
    assert [(item.pci, item.role) for item in others] == [("0000:f1:00.0", "north-south")]
    assert len(found) == 2


TEMPLATE = {"configuration": {"template": {"linkType": "Ethernet", "numVfs": 8}}}


@pytest.mark.parametrize(
    ("spec", "changes", "said"),
    [
        (TEMPLATE, {}, ["linkType Ethernet, numVfs 8"]),
        (
            {"configuration": {"template": {"linkType": "Infiniband", "numVfs": 0}}},
            {},
            ["linkType Infiniband, which is another one than now, numVfs 0"],
        ),
        ({"configuration": {"resetToDefault": True}}, {}, ["settings back to the factory's"]),
        ({"firmware": {"updatePolicy": "Update", "nicFirmwareSourceRef": "fw"}}, {}, ["firmware of fw"]),
        ({"firmware": {"updatePolicy": "Validate", "nicFirmwareSourceRef": "fw"}}, {}, []),
        ({}, {}, []),
        (TEMPLATE, {"ports": [{"pci": "0000:f9:00.0"}]}, []),
        (TEMPLATE, {"ports": None}, []),
        (TEMPLATE, {"node": "worker-7"}, []),
    ],
)
def test_a_card_of_a_rail_that_others_set_up_is_named_with_what_they_do(spec, changes, said):
    device = nic_device(dpu=False) | {"spec": spec}
    device = device | {"status": device["status"] | changes}
    snapshot = a_cluster((a_node(0, hardware(count=2)), a_node(1, hardware(count=2))), (device,))
    warnings = [
        item for item in plan((an_intent(),), snapshot, CATALOG).warnings if item.code == "nic-configured-by-others"
    ]
    assert [item.message.partition("): ")[2].partition("; firmware")[0] for item in warnings] == said
    assert all("ens0f0np0 of worker-0" in item.message for item in warnings)
