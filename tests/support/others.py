"""What other people and controllers do on a simulated cluster, under names of their own."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import yaml

from railwright.core import kinds
from railwright.core.objects import KubeObject, Ref, dig
from railwright.ports.world import World
from railwright.simulator.clock import SimClock
from railwright.simulator.cluster import SimCluster
from railwright.simulator.engine import Engine
from railwright.simulator.node import SimNode
from railwright.simulator.open import BEGINNING, begin, draft_of, parse_specification
from railwright.simulator.ownership import Manager
from railwright.simulator.store import Store
from railwright.simulator.worlds.model import Draft

NIC = Ref(kinds.NIC_CLUSTER_POLICY, "", "nic-cluster-policy")
TEAM_POOL = Ref(kinds.NV_IPAM_IP_POOL, "nvidia-network-operator", "team-a-storage")
PLUGINS = {"rdmaSharedDevicePlugin": "configList", "sriovDevicePlugin": "resourceList"}


def open_changed(spec: str, change_it: Callable[[Draft], Draft]) -> World:
    """Open a world after a change to what it is built of."""
    draft = change_it(draft_of(parse_specification(spec)))
    engine = Engine(Store(draft.kinds), draft.machines, draft.troubles, BEGINNING, silent=draft.silent)
    begin(engine, draft.phases)
    return World(SimCluster(f"sim:{spec}", engine, draft.kubernetes_version), SimNode(engine), SimClock(engine))


def only_on(node: str, draft: Draft, changed: Draft) -> Draft:
    """Take one machine from a changed draft, and all else from the first."""
    pairs = zip(draft.machines, changed.machines, strict=True)
    return replace(draft, machines=tuple(new if new.name == node else old for old, new in pairs))


def driver_pods(world: World) -> list[Ref]:
    """Pods of the NIC driver."""
    return [ref for ref in store(world).objects if ref.kind == kinds.POD and ref.name.startswith("mofed-")]


def store(world: World) -> Store:
    cluster = world.cluster
    assert isinstance(cluster, SimCluster)
    return cluster.engine.store


def now_is(world: World, ref: Ref) -> KubeObject:
    return store(world).get(ref)


def change(world: World, ref: Ref, patch: Mapping[str, Any], *, who: str = "team-b") -> None:
    """Somebody's merge patch."""
    store(world).merge(ref, patch, Manager(who, "Update"), world.clock.now())


def make(world: World, obj: KubeObject, *, who: str = "team-b") -> None:
    store(world).create(obj, Manager(who, "Update"), world.clock.now())


def remove(world: World, ref: Ref) -> None:
    store(world).delete(ref, world.clock.now())


def an_ip_pool(name: str) -> KubeObject:
    kind = kinds.NV_IPAM_IP_POOL
    metadata = {"name": name, "namespace": "nvidia-network-operator"}
    spec = {"subnet": "10.65.0.0/24", "perNodeBlockSize": 8}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


def plugin_pools(world: World, section: str = "rdmaSharedDevicePlugin") -> dict[str, Any]:
    """Pools in the policy's configuration of a device plugin, by resource name; empty without the section."""
    text = dig(now_is(world, NIC), "spec", section, "config", default="{}")
    return {item["resourceName"]: item for item in json.loads(text).get(PLUGINS[section], ())}


def with_pool(world: World, name: str, section: str = "rdmaSharedDevicePlugin", *, who: str = "team-b") -> None:
    """Somebody adds a pool to a device plugin's configuration, or takes the place of one, by hand."""
    pool = {"resourceName": name, "rdmaHcaMax": 5, "selectors": {"ifNames": ["enp215s0np0"]}}
    if section == "sriovDevicePlugin":
        pool = {"resourcePrefix": "nvidia.com", "resourceName": name, "selectors": {"pfNames": ["enp215s0np0"]}}
    config = json.dumps({PLUGINS[section]: [*({**plugin_pools(world, section), name: pool}).values()]})
    change(world, NIC, {"spec": {section: {"config": config}}}, who=who)


def device_classes(world: World, ref: Ref) -> list[str]:
    """PCI classes that NFD makes labels of."""
    data = yaml.safe_load(now_is(world, ref)["spec"]["workerConfig"]["configData"])
    return list(data["sources"]["pci"]["deviceClassWhitelist"])


def with_device_class(world: World, ref: Ref, name: str, *, who: str = "team-b") -> None:
    """Somebody adds a PCI class to NFD's configuration by hand."""
    data = yaml.safe_load(now_is(world, ref)["spec"]["workerConfig"]["configData"])
    data["sources"]["pci"]["deviceClassWhitelist"].append(name)
    change(world, ref, {"spec": {"workerConfig": {"configData": yaml.safe_dump(data)}}}, who=who)
