"""Pods that stand on a port from inside their own network namespace: what nobody may end is not cut."""

import json

import pytest
from unit.plan.clusters import FABRIC, a_cluster, a_node, a_port, an_intent, an_object, hardware

from railwright.catalog.load import load_catalog
from railwright.core import kinds
from railwright.core.ids import NetDevice, NodeName, PciAddress
from railwright.facts.device_model import NetDeviceFacts
from railwright.facts.pod_model import PodFacts
from railwright.intent.model import DriverIntent, Method, NicDriver, RailSelector
from railwright.plan.model import ADMITTED, fabric_label
from railwright.plan.plan import plan

CATALOG = load_catalog()
RAIL, STORAGE = "ens3f0np0", "ens7f0np0"
REFUSED = "port-carries-pods"
IN_BOX = DriverIntent(nic=NicDriver.IN_BOX)
ONE_RAIL = (RailSelector(name="rail0", netdev=NetDevice(RAIL)),)


def a_nad(config, namespace="openshift-storage"):
    text = config if isinstance(config, str) else json.dumps({"cniVersion": "0.3.1", "name": "ceph", **config})
    return an_object(kinds.NETWORK_ATTACHMENT_DEFINITION, "ceph", namespace, spec={"config": text})


def a_pod(networks="ceph", node="worker-0", phase="Running", requests=None, **changes):
    named = ("openshift-storage", "rook-ceph-osd-0", NodeName(node), phase, "ReplicaSet/rook-ceph-osd-0")
    return PodFacts(*named, requests or {}, networks, **changes)


def a_netdev(name, **changes):
    given = {
        "pci": None,
        "master": None,
        "lowers": (),
        "mtu_bytes": 9000,
        "address": "",
        "ip_addresses": (),
        "kind": "",
    }
    return NetDeviceFacts(name=NetDevice(name), arp_type=1, **(given | changes))


def found(nad, pod, method=Method.SHARED, netdevs=(), rails=ONE_RAIL, objects=(), ports=None, **intent):
    node = a_node(0, hardware(netdevs=netdevs, **({"ports": ports} if ports else {})))
    cluster = a_cluster((node,), (nad, *objects), pods=(pod,))
    made = plan((an_intent(method, rails=rails, **intent),), cluster, CATALOG)
    return [item for plan_ in made.nodes for item in plan_.refused if item.code == REFUSED]


def test_storage_of_pods_over_a_rail_is_not_cut_and_its_path_is_shown():
    (refusal,) = found(a_nad({"type": "macvlan", "master": RAIL}), a_pod())
    assert refusal.node == "worker-0"
    assert "pod openshift-storage/rook-ceph-osd-0" in refusal.message
    assert "openshift-storage/ceph" in refusal.message
    assert refusal.seen.startswith(f"{RAIL} > 0000:")


@pytest.mark.parametrize(
    ("driver", "refused"),
    [(DriverIntent(), True), (IN_BOX, False)],
    ids=["DOCA takes every function", "in-box only rails"],
)
def test_a_port_that_is_no_rail_counts_where_the_driver_takes_it(driver, refused):
    assert bool(found(a_nad({"type": "macvlan", "master": STORAGE}), a_pod(), driver=driver)) == refused


@pytest.mark.parametrize(
    "config",
    [
        {"type": "host-device", "device": RAIL},
        {"type": "host-device", "pciBusID": "0000:44:00.0"},
        {"plugins": [{"type": "ipvlan", "master": RAIL}, {"type": "tuning"}]},
        {"type": "macvlan", "master": "bond0.20"},
        {"type": "bridge", "bridge": "br-storage"},
    ],
    ids=["moved by name", "moved by address", "a chain", "a VLAN of a bond", "a bridge"],
)
def test_every_way_to_name_a_port_is_followed(config):
    """The port is in a bond, so no rail; the DOCA driver takes it all the same."""
    netdevs = (
        a_netdev(RAIL, pci=PciAddress("0000:44:00.0"), master=NetDevice("bond0")),
        a_netdev("bond0", kind="bond"),
        a_netdev("bond0.20", kind="vlan", lowers=(NetDevice("bond0"),)),
        a_netdev("br-storage", kind="bridge", lowers=(NetDevice("bond0.20"),)),
    )
    assert found(a_nad(config), a_pod(), netdevs=netdevs)


@pytest.mark.parametrize(
    "pod",
    [
        a_pod(phase="Succeeded"),
        a_pod(node="worker-9"),
        a_pod(host_network=True),
        a_pod(requests={"nvidia.com/gpu": 8}),
        a_pod(claims=("gpus",)),
        a_pod(networks=""),
        a_pod(networks="elsewhere/ceph"),
    ],
    ids=[
        "over",
        "on another node",
        "in the node's own namespace",
        "a workload",
        "a workload by claims",
        "without network",
        "of another NAD",
    ],
)
def test_pods_that_do_not_stand_on_it_are_no_reason(pod):
    assert not found(a_nad({"type": "macvlan", "master": RAIL}), pod)


NOT_MLX5 = {"vendor_id": "8086", "driver": "ice"}
AWAY = (*(a_port(number) for number in (0, 1, 2)), a_port(3, netdev=None), a_port(7, **NOT_MLX5))
"""Ports of a node while a pod of host-device runs: the netdev of one that the DOCA driver takes is in it."""
OTHER_RAIL = (RailSelector(name="rail0", netdev=AWAY[0].netdev),)


@pytest.mark.parametrize(
    "names",
    [
        {"pciBusID": "0000:44:00.0"},
        {"device": RAIL},
        {"hwaddr": "B8:3F:D2:00:00:01"},
        {"kernelpath": "/0000:44:00.0/net"},
    ],
    ids=lambda names: next(iter(names)),
)
def test_a_netdev_that_is_in_the_pod_is_on_its_port_all_the_same(names):
    nad = a_nad({"type": "host-device", **names})
    assert found(nad, a_pod(), ports=AWAY, rails=OTHER_RAIL)


@pytest.mark.parametrize(
    "names",
    [{"pciBusID": str(AWAY[-1].pci)}, {"device": STORAGE}, {"hwaddr": "b8:3f:d2:00:00:02"}],
    ids=lambda names: next(iter(names)),
)
def test_another_port_is_no_reason_while_a_netdev_is_away(names):
    netdevs = (a_netdev(STORAGE, pci=AWAY[-1].pci, address="b8:3f:d2:00:00:02"),)
    nad = a_nad({"type": "host-device", **names})
    assert not found(nad, a_pod(), ports=AWAY, netdevs=netdevs, rails=OTHER_RAIL)


LABELS = {fabric_label(FABRIC): ADMITTED}


@pytest.mark.parametrize(
    ("labels", "driver", "loaded", "touches_ports", "refused"),
    [
        ({}, IN_BOX, "", False, True),
        (LABELS, IN_BOX, "", False, False),
        (LABELS, IN_BOX, "", True, True),
        (LABELS, DriverIntent(), "25.10", False, False),
        (LABELS, DriverIntent(), "", False, True),
    ],
    ids=["new", "admitted", "admitted and set up anew", "its driver is there", "its driver is still to come"],
)
def test_a_pod_that_came_to_a_port_later_keeps_no_admitted_node_out(labels, driver, loaded, touches_ports, refused):
    node = a_node(0, hardware(mlx5_driver=loaded), labels=labels)
    cluster = a_cluster((node,), (a_nad({"type": "macvlan", "master": RAIL}),), pods=(a_pod(),))
    intent = an_intent(Method.SHARED, rails=ONE_RAIL, driver=driver)
    made = plan((intent,), cluster, CATALOG, touches_ports=touches_ports)
    assert [item.code for item in made.nodes[0].refused] == [REFUSED] * refused
    assert ("pods-on-taken-port" in {item.code for item in made.warnings}) is not refused


def test_a_pod_on_a_network_of_ours_is_a_workload_that_forgot_its_device():
    labels = {"app.kubernetes.io/managed-by": "railwright"}
    network = an_object(kinds.MACVLAN_NETWORK, "ceph", spec={"master": RAIL})
    ours = {**network, "metadata": {**network["metadata"], "labels": labels}}
    assert found(a_nad({"type": "macvlan", "master": RAIL}), a_pod(), objects=(network,))
    assert not found(a_nad({"type": "macvlan", "master": RAIL}), a_pod(), objects=(ours,))


@pytest.mark.parametrize(
    "config",
    [{"type": "macvlan", "master": "eno1"}, {"type": "macvlan", "master": RAIL, "linkInContainer": True}, "no JSON"],
    ids=["over another NIC", "over an interface of the pod", "cannot be read"],
)
def test_a_network_that_is_not_on_it_is_no_reason(config):
    assert not found(a_nad(config), a_pod())
