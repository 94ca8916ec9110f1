"""What a right rails.yaml becomes: every key lands in its field, positions and the canonical document included."""

from dataclasses import fields

import pytest

from railwright.intent.convert import to_intent
from railwright.intent.model import (
    DriverIntent,
    Fabric,
    GpuDriver,
    GpuMemory,
    GroupOverride,
    Intent,
    Ipam,
    Method,
    NetworkIntent,
    NicDriver,
    NodeSelection,
    OperatorsIntent,
    ProxyIntent,
    RailSelector,
    Route,
    UpgradePolicy,
)
from railwright.intent.parse import parse_intents
from railwright.intent.shape import DocumentShape
from railwright.intent.tree import path_text

HEAD = "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: east-west}\nspec:\n"
SHORT = f"{HEAD}  method: shared\n  fabric: roce\n"

EVERY_KEY = """\
# every key once
apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata:
  name: east-west
spec:
  method: sriov
  fabric: infiniband
  nodes: {labels: {example.com/rack: "7", on: no}}
  rails:
  - {name: rail0, pciAddress: "1B:00.0", gpu: 0}
  - {name: rail1, netdev: ibs2f0, gpu: "0000:3D:00.0"}
  - {name: rail2, deviceId: A2DC}
  groups:
  - nodes: {names: [worker-9]}
    rails: [{name: rail0, netdev: ibs9}]
  network:
    subnets: [192.168.0.0/16, "FD00:0::/56"]
    mtu: 4092
    ipam: whereabouts
    gateway: false
    routes: [{destination: 10.0.0.0/8, gateway: 192.168.0.1}]
    pkey: "0x801"
    guid: pool
    exclude: [192.168.0.1, 192.168.0.128/26]
  driver:
    nic: doca
    nicVersion: "24.10-0.7.0.0-0"
    gpu: open
    gpuVersion: "580.95.05"
    memory: nvidia-peermem
    gdrcopy: true
    gds: false
  operators:
    approval: Automatic
    channels: {nfd: stable}
    catalogs: {nfd: cs-mirror}
  upgrade: {auto: false, maxParallel: 2, drainTimeoutSeconds: 0}
  workloadNamespaces: [training, serving]
  vfsPerRail: 16
  rdmaIsolation: true
  pathMtu: 2048
  resourcePrefix: gpu-net
  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
  pullSecret: mirror-login
  imageRegistry: mirror.example.com:5000/nvidia
  proxy: {http: http://proxy.example.com:3128, https: https://proxy.example.com, noProxy: [.svc, 10.0.0.0/16]}
  numaAligned: true
"""

ALL_FIELDS = Intent(
    name="east-west",
    method=Method.SRIOV,
    fabric=Fabric.INFINIBAND,
    nodes=NodeSelection(labels={"example.com/rack": "7", "on": "no"}),
    rails=(
        RailSelector("rail0", pci_address="0000:1b:00.0", gpu="0"),
        RailSelector("rail1", netdev="ibs2f0", gpu="0000:3d:00.0"),
        RailSelector("rail2", device_id="a2dc"),
    ),
    groups=(GroupOverride(NodeSelection(names=("worker-9",)), (RailSelector("rail0", netdev="ibs9"),)),),
    network=NetworkIntent(
        subnets=("192.168.0.0/16", "fd00::/56"),
        mtu_bytes=4092,
        ipam=Ipam.WHEREABOUTS,
        gateway=False,
        routes=(Route("10.0.0.0/8", "192.168.0.1"),),
        pkey="0x0801",
        guid="pool",
        exclude=("192.168.0.1", "192.168.0.128/26"),
    ),
    driver=DriverIntent(
        nic=NicDriver.DOCA,
        nic_version="24.10-0.7.0.0-0",
        gpu=GpuDriver.OPEN,
        gpu_version="580.95.05",
        memory=GpuMemory.PEERMEM,
        gdrcopy=True,
        gds=False,
    ),
    operators=OperatorsIntent("Automatic", {"nfd": "stable"}, {"nfd": "cs-mirror"}),
    upgrade=UpgradePolicy(auto=False, max_parallel=2, drain_timeout_s=0),
    workload_namespaces=("training", "serving"),
    vfs_per_rail=16,
    rdma_isolation=True,
    path_mtu_bytes=2048,
    resource_prefix="gpu-net",
    tolerations=({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},),
    pull_secret="mirror-login",
    image_registry="mirror.example.com:5000/nvidia",
    proxy=ProxyIntent("http://proxy.example.com:3128", "https://proxy.example.com", (".svc", "10.0.0.0/16")),
    numa_aligned=True,
)


def one(text):
    (intent,) = parse_intents(text, "f.yaml")
    return intent


def test_every_key_lands_in_its_field():
    assert one(EVERY_KEY) == ALL_FIELDS


def test_the_shortest_file_leaves_everything_else_out():
    intent = one(SHORT)
    left_out = Intent(name="east-west", method=Method.SHARED, fabric=Fabric.ROCE)
    assert intent == left_out
    assert {field.name for field in fields(NetworkIntent) if getattr(intent.network, field.name)} == set()


def test_left_out_and_false_stay_different():
    assert one(SHORT).driver.gds is None
    assert one(f"{SHORT}  driver: {{gds: false}}\n").driver.gds is False
    assert "gds: false" in one(f"{SHORT}  driver: {{gds: false}}\n").document


@pytest.mark.parametrize("text", [EVERY_KEY, SHORT])
def test_the_canonical_document_gives_an_equal_intent_and_itself_again(text):
    intent = one(text)
    again = one(intent.document)
    assert again == intent
    assert again.document == intent.document


@pytest.mark.parametrize(
    "value", ["no", "on", "0o17", "1_000", "12.30.45", "2024-01-01", "1e3", "0x1f", "null", "true", "y"]
)
def test_words_that_some_yaml_reads_as_something_else_survive(value):
    intent = one(f'{SHORT}  nodes: {{labels: {{a: "{value}"}}}}\n')
    assert intent.nodes.labels == {"a": value}
    assert one(intent.document) == intent


@pytest.mark.parametrize("value", ["no", "on", "y", "2024-01-01", "12.30.45"])
def test_plain_words_of_yaml_1_1_are_strings(value):
    assert one(f"{SHORT}  nodes: {{labels: {{a: {value}}}}}\n").nodes.labels == {"a": value}


def test_auto_and_left_out_are_the_same():
    assert one(f"{SHORT}  rails: auto\n") == one(SHORT)


def test_one_subnet_may_be_written_without_a_list():
    written = one(f"{SHORT}  network: {{subnets: 10.0.0.0/16}}\n")
    assert written == one(f"{SHORT}  network: {{subnets: [10.0.0.0/16]}}\n")
    assert written.network.subnets == ("10.0.0.0/16",)


def test_a_subnet_a_node_and_its_length():
    network = (
        "network: {ipam: nv-ipam-cidr, subnets: 10.0.0.0/12, perNodePrefix: 26, routes: [{destination: 10.0.0.0/8}]}"
    )
    intent = one(f"{SHORT}  trafficClass: 106\n  {network}\n")
    assert intent.network == NetworkIntent(
        ("10.0.0.0/12",), ipam=Ipam.NV_IPAM_CIDR, per_node_prefix=26, routes=(Route("10.0.0.0/8"),)
    )
    assert intent.traffic_class == 106
    assert one(intent.document) == intent


def test_subnets_of_both_families_one_a_rail():
    rails = "rails: [{name: a, netdev: e1}, {name: b, netdev: e2}]"
    subnets = "subnets: [10.0.0.0/24, 10.0.1.0/24, 'fd00::/64', 'fd00:0:0:1::/64']"
    assert len(one(f"{SHORT}  {rails}\n  network: {{{subnets}}}\n").network.subnets or ()) == 4


def test_anchors_are_written_out():
    text = f"{SHORT}  nodes: &n {{names: [a]}}\n  groups: [{{nodes: *n, rails: [{{name: r, netdev: e}}]}}]\n"
    assert one(text).groups[0].nodes == NodeSelection(names=("a",))


def test_several_documents_become_several_intents():
    text = f"---\n{SHORT}---\n{SHORT.replace('east-west', 'other')}---\n"
    assert [intent.name for intent in parse_intents(text)] == ["east-west", "other"]


def test_places_are_those_of_keys():
    intent = one(EVERY_KEY)
    for path in ("spec.network.mtu", "spec.rails[1].gpu", "metadata.name", "spec.groups[0].rails[0].netdev"):
        place = intent.places[path]
        line = EVERY_KEY.splitlines()[place.line - 1]
        assert line[place.column - 1 :].startswith(path.rpartition(".")[2])
    assert str(intent.places["spec.network.mtu"]) == "f.yaml:19:5"


def test_the_place_of_a_key_that_was_not_written_is_its_parents():
    assert one(EVERY_KEY).place("spec.network.vlan") == one(EVERY_KEY).places["spec.network"]


def test_a_key_path_is_written_on_one_line():
    assert path_text(("spec", "rails", 0, "name")) == "spec.rails[0].name"
    assert path_text(("a\nb",)) == "a\\nb"


def test_an_unchecked_shape_is_no_intent():
    with pytest.raises(ValueError, match="an unchecked document"):
        to_intent(DocumentShape(), {})


@pytest.mark.parametrize(
    ("written", "kept"),
    [("", None), ("  operators: {upgrade: false}\n", False), ("  operators: {upgrade: true}\n", True)],
)
def test_left_out_and_false_stay_apart_in_the_ledgers_document_too(written, kept):
    (intent,) = parse_intents(f"{HEAD}  method: shared\n  fabric: roce\n{written}")
    (again,) = parse_intents(intent.document)
    assert (intent.operators.upgrade, again.operators.upgrade) == (kept, kept)
