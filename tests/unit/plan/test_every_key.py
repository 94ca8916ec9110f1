"""
Nothing that a file may say is ignored: each key changes what is put on the cluster, asked of it, or said about it.

Decisions do not count, for they only repeat the file; a refusal or warning does.
"""

import pytest
import yaml
from unit.plan.clusters import a_cluster, a_node, hardware

from railwright.catalog.load import load_catalog
from railwright.core.errors import IntentError
from railwright.intent.keys import KEYS
from railwright.intent.model import Fabric
from railwright.intent.parse import parse_intents
from railwright.manifests.render import render
from railwright.manifests.workload import workload, workload_text
from railwright.manifests.yamltext import to_yaml
from railwright.plan.plan import plan

CATALOG = load_catalog()
ROCE, IB = {"method": "shared", "fabric": "roce"}, {"method": "sriov", "fabric": "infiniband"}
SRIOV = {"method": "sriov", "fabric": "roce"}
NETDEV = {"name": "rail0", "netdev": "ens0f0np0"}
GROUP = {"nodes": {"names": ["worker-1"]}, "rails": [NETDEV]}
CIDR = {"network": {"ipam": "nv-ipam-cidr", "subnets": "10.64.0.0/13"}}
ROUTED = {"network": {"ipam": "whereabouts", "subnets": "10.64.0.0/16", "gateway": True}}
TOLERATES = {"tolerations": [{"key": "gpu"}]}
CONTAINERS = frozenset(
    key.path for key in KEYS if any(other.path.startswith((f"{key.path}.", f"{key.path}[].")) for other in KEYS)
)

ROWS = (
    ("metadata.name", {}, "other"),
    ("spec.method", {}, "host-device"),
    ("spec.fabric", {}, "infiniband"),
    ("spec.workloadNamespaces", {}, ["serving"]),
    ("spec.vfsPerRail", SRIOV, 4),
    ("spec.podsPerRail", {}, 7),
    ("spec.rdmaIsolation", SRIOV, True),
    ("spec.trafficClass", {}, 106),
    ("spec.pathMtu", {}, 2048),
    ("spec.resourcePrefix", {}, "gpu-net"),
    ("spec.pullSecret", {}, "mirror-login"),
    ("spec.imageRegistry", {}, "mirror.example.com"),
    ("spec.proxy.http", {}, "http://proxy.example.com"),
    ("spec.proxy.https", {}, "http://proxy.example.com"),
    ("spec.proxy.noProxy", {}, [".svc"]),
    ("spec.numaAligned", {}, True),
    ("spec.nodes.names", {}, ["worker-1"]),
    ("spec.nodes.labels", {}, {"rack": "7"}),
    ("spec.tolerations[].key", TOLERATES, "other"),
    ("spec.tolerations[].operator", TOLERATES, "Exists"),
    ("spec.tolerations[].value", TOLERATES, "yes"),
    ("spec.tolerations[].effect", TOLERATES, "NoSchedule"),
    ("spec.rails[].name", {"rails": [NETDEV]}, "left"),
    ("spec.rails[].pciAddress", {"rails": [{"name": "rail0", "pciAddress": "0000:14:00.0"}]}, "0000:24:00.0"),
    ("spec.rails[].netdev", {"rails": [NETDEV]}, "ens1f0np0"),
    ("spec.rails[].deviceId", {"rails": [{"name": "rail0", "deviceId": "1021"}]}, "101b"),
    ("spec.rails[].gpu", {"rails": [NETDEV]}, 3),
    ("spec.rails[].subnet", {"rails": [NETDEV]}, "10.9.0.0/24"),
    ("spec.groups[].nodes.names", {"groups": [GROUP]}, ["worker-0"]),
    ("spec.groups[].nodes.labels", {"groups": [{**GROUP, "nodes": {"labels": {"rack": "7"}}}]}, {"rack": "8"}),
    ("spec.groups[].rails[].name", {"groups": [GROUP]}, "left"),
    (
        "spec.groups[].rails[].pciAddress",
        {"groups": [{**GROUP, "rails": [{"name": "rail0", "pciAddress": "0000:14:00.0"}]}]},
        "0000:24:00.0",
    ),
    ("spec.groups[].rails[].netdev", {"groups": [GROUP]}, "ens1f0np0"),
    ("spec.groups[].rails[].deviceId", {"groups": [{**GROUP, "rails": [{"name": "rail0", "deviceId": "1021"}]}]}, "101b"),
    ("spec.groups[].rails[].gpu", {"groups": [GROUP]}, 3),
    ("spec.network.subnets", {}, "10.9.0.0/16"),
    ("spec.network.mtu", {}, 4200),
    ("spec.network.mtu", IB, 2044),
    ("spec.network.ipam", {}, "whereabouts"),
    ("spec.network.ipam", {}, "static"),
    ("spec.network.ipam", {}, "nv-ipam-cidr"),
    ("spec.network.gateway", {}, True),
    ("spec.network.gateway", {"network": {"ipam": "whereabouts"}}, True),
    ("spec.network.perNodePrefix", CIDR, 27),
    ("spec.network.routes[].destination", {**ROUTED, "network": {**ROUTED["network"], "routes": [{"destination": "10.0.0.0/8"}]}}, "10.0.0.0/9"),
    (
        "spec.network.routes[].gateway",
        {**ROUTED, "network": {**ROUTED["network"], "routes": [{"destination": "10.0.0.0/8"}]}},
        "10.64.0.9",
    ),
    ("spec.network.pkey", IB, "0x8001"),
    ("spec.network.guid", IB, "pool"),
    ("spec.network.vlan", SRIOV, 120),
    ("spec.network.exclude", {"network": {"subnets": "10.9.0.0/16"}}, ["10.9.0.7"]),
    ("spec.driver.nic", {}, "in-box"),
    ("spec.driver.nicVersion", {}, "doca3.3.0-26.01-1.0.0.0-0"),
    ("spec.driver.gpu", {"driver": {"memory": "nvidia-peermem"}}, "proprietary"),
    ("spec.driver.gpuVersion", {}, "580.95.05"),
    ("spec.driver.memory", {}, "nvidia-peermem"),
    ("spec.driver.gdrcopy", {}, True),
    ("spec.driver.gds", {}, True),
    ("spec.operators.approval", {}, "Automatic"),
    ("spec.operators.channels", {}, {"nfd": "v9"}),
    ("spec.operators.catalogs", {}, {"nfd": "mirror"}),
    ("spec.upgrade.auto", {}, False),
    ("spec.upgrade.maxParallel", {}, 4),
    ("spec.upgrade.drainTimeoutSeconds", {}, 17),
)  # fmt: skip

FIXED = {"apiVersion", "kind"}
"""They say what a document is."""

LATER = {"spec.operators.upgrade"}
"""Changes nothing before operators are installed: tests/scenario/test_operator_moves.py tries it."""


def a_document(spec):
    return {
        "apiVersion": "railwright.dev/v1alpha1",
        "kind": "RailFabric",
        "metadata": {"name": "east-west"},
        "spec": {**ROCE, "workloadNamespaces": ["training"], **spec},
    }


def with_key(document, path, value):
    """Write a value at a key path; "[]" is the first item."""
    name, _, rest = path.partition(".")
    key = name.removesuffix("[]")
    if not rest:
        return {**document, key: value}
    below = document.get(key, [{}] if name != key else {})
    changed = [with_key(below[0], rest, value), *below[1:]] if name != key else with_key(below, rest, value)
    return {**document, key: changed}


def effects(document):
    """Everything that comes of a file but the repetition of it: objects, pods, expectations, warnings, refusals."""
    try:
        intents = parse_intents(yaml.safe_dump(document))
    except IntentError as error:
        return error.message
    inside = hardware(Fabric(document["spec"]["fabric"]))
    snapshot = a_cluster((a_node(0, inside), a_node(1, inside, labels={"rack": "7"})))
    made = plan(intents, snapshot, CATALOG)
    (fabric,) = made.fabrics
    refused = (made.refusals, tuple(item for node in made.nodes for item in node.refused))
    objects = [to_yaml(item.obj) for item in render(made).items]
    pods = workload_text(workload(made, fabric.name, namespace=intents[0].workload_namespaces[0]))
    return (objects, pods, made.rails, [stage.expectations for stage in made.stages], made.warnings, refused)


@pytest.mark.parametrize(("path", "spec", "value"), ROWS, ids=[f"{path}={value}" for path, _, value in ROWS])
def test_a_key_changes_something_or_is_refused(path, spec, value):
    document = a_document(spec)
    changed = with_key(document, path, value)
    assert changed != document
    assert effects(changed) != effects(document)


def test_every_key_is_tried():
    assert {path for path, _, _ in ROWS} == {key.path for key in KEYS} - CONTAINERS - FIXED - LATER
