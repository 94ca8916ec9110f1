"""
What the SR-IOV network operator does: node states, the device plugin and its config.

The operator makes the node states, the daemon (sriov_config_daemon.py) fills their status.

Measured: SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, 2026-11.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from railwright.core.ids import NodeName
from railwright.core.kinds import (
    DAEMON_SET,
    SRIOV_NETWORK_NODE_POLICY,
    SRIOV_NETWORK_NODE_STATE,
    SRIOV_NETWORK_POOL_CONFIG,
    SRIOV_OPERATOR_CONFIG,
)
from railwright.core.objects import KubeObject, dig, labels_of
from railwright.standins.kinds.sriov_config_daemon import (
    CURRENT_STATE,
    DAEMON,
    DESIRED_STATE,
    IDLE,
    configure,
    nodes_with_daemon,
)
from railwright.standins.model import NodeDevices, Objects, Port, Write
from railwright.standins.operators import SRIOV, running_namespace
from railwright.standins.view import (
    create,
    delete,
    ensure,
    find,
    matches,
    merge,
    name_of,
    nodes,
    of_kind,
    owned_by,
    term_matches,
)
from railwright.standins.workloads import config_map, daemon_set

PLUGIN_LABEL = "sriovnetwork.openshift.io/device-plugin"
_IMAGE = "registry.redhat.io/openshift4/ose-sriov-network-config-daemon-rhel9"


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Bring daemon, node states, VFs and device plugin one step on."""
    namespace = running_namespace(world, SRIOV)
    config = find(world, SRIOV_OPERATOR_CONFIG, "default", namespace or "")
    if namespace is None or config is None:
        return ()
    selector = dig(config, "spec", "configDaemonNodeSelector", default=None) or {"node-role.kubernetes.io/worker": ""}
    tolerations = [{"operator": "Exists"}]
    writes: list[Write] = []
    wanted = daemon_set(
        DAEMON, namespace, config, containers=[(DAEMON, _IMAGE)], node_selector=selector, tolerations=tolerations
    )
    writes += ensure(world, wanted, change={"spec": {"template": {"spec": {"nodeSelector": _only(world, wanted)}}}})
    policies = [item for item in of_kind(world, SRIOV_NETWORK_NODE_POLICY, namespace) if name_of(item) != "default"]
    daemon = find(world, DAEMON_SET, DAEMON, namespace)
    ready = nodes_with_daemon(world, daemon) if daemon is not None else set()
    plugin_config: dict[str, str] = {}
    for node in nodes(world):
        name = name_of(node)
        state = find(world, SRIOV_NETWORK_NODE_STATE, name, namespace)
        if not matches(labels_of(node), selector) and state is None:
            continue
        mine = _chosen(policies, node)
        if state is None:
            writes.append(create(_node_state(config, name)))
            continue
        devices = world.devices.get(NodeName(name), NodeDevices(0, ()))
        interfaces = _interfaces(mine, devices)
        spec = {"interfaces": interfaces, "system": _system(world, namespace, node)}
        writes += merge(state, {"spec": spec}) if dig(state, "spec") != spec else ()
        if name in ready:
            writes += configure(world, state, interfaces, now)
        if interfaces:
            plugin_config[name] = _plugin_config(mine, devices)
        label = {PLUGIN_LABEL: "Enabled" if interfaces else "Disabled"}
        writes += merge(node, {"metadata": {"labels": label}})
    writes += _device_plugin(world, config, namespace, plugin_config)
    return tuple(writes)


def _only(world: Objects, wanted: KubeObject) -> Mapping[str, Any]:
    """Spell a node selector as a merge that also drops the keys it no longer has."""
    selector: dict[str, Any] = dict(wanted["spec"]["template"]["spec"]["nodeSelector"])
    live = find(world, DAEMON_SET, DAEMON, wanted["metadata"]["namespace"])
    old = dig(live, "spec", "template", "spec", "nodeSelector", default={})
    return {key: None for key in old if key not in selector} | selector


def _node_state(config: KubeObject, node: str) -> KubeObject:
    return {
        "apiVersion": SRIOV_NETWORK_NODE_STATE.api_version,
        "kind": "SriovNetworkNodeState",
        "metadata": {
            "name": node,
            "namespace": config["metadata"]["namespace"],
            "annotations": {
                CURRENT_STATE: IDLE,
                DESIRED_STATE: IDLE,
            },
            "ownerReferences": owned_by(config),
        },
        "spec": {"interfaces": [], "system": {}},
    }


def _system(world: Objects, namespace: str, node: KubeObject) -> dict[str, str]:
    for pool in of_kind(world, SRIOV_NETWORK_POOL_CONFIG, namespace):
        mode = dig(pool, "spec", "rdmaMode")
        if mode and term_matches(labels_of(node), dig(pool, "spec", "nodeSelector", default={})):
            return {"rdmaMode": str(mode)}
    return {}


def _chosen(policies: list[KubeObject], node: KubeObject) -> list[KubeObject]:
    mine = [item for item in policies if matches(labels_of(node), dig(item, "spec", "nodeSelector", default={}))]
    return sorted(mine, key=lambda item: (-int(dig(item, "spec", "priority", default=99)), name_of(item)))


def _selected(policy: KubeObject, port: Port) -> bool:
    selector = dig(policy, "spec", "nicSelector", default={})
    names = [str(item).partition("#")[0] for item in selector.get("pfNames") or ()]
    return (
        (not names or port.netdev in names)
        and (not selector.get("rootDevices") or port.pci in selector["rootDevices"])
        and selector.get("vendor") in {None, "", port.vendor_id}
        and selector.get("deviceID") in {None, "", port.device_id}
        and bool(selector)
    )


def _interfaces(policies: list[KubeObject], devices: NodeDevices) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for port in devices.ports:
        for policy in policies:
            if not _selected(policy, port):
                continue
            spec = policy["spec"]
            count = int(spec.get("numVfs", 0))
            group = {
                "deviceType": spec.get("deviceType", "netdevice"),
                "isRdma": bool(spec.get("isRdma", False)),
                "policyName": name_of(policy),
                "resourceName": spec["resourceName"],
                "vfRange": f"0-{count - 1}",
            }
            entry: dict[str, Any] = {"name": port.netdev, "pciAddress": port.pci, "numVfs": count, "vfGroups": [group]}
            if spec.get("mtu"):
                entry["mtu"] = group["mtu"] = spec["mtu"]
            if spec.get("linkType"):
                entry["linkType"] = spec["linkType"]
            made = [item for item in made if item["name"] != port.netdev] + [entry]
    return made


def _plugin_config(policies: list[KubeObject], devices: NodeDevices) -> str:
    pools: dict[str, dict[str, Any]] = {}
    for policy in policies:
        spec = policy["spec"]
        for port in devices.ports:
            if not _selected(policy, port):
                continue
            selectors: dict[str, Any] = {"vendors": [port.vendor_id], "pfNames": []}
            if dig(spec, "nicSelector", "rootDevices"):
                selectors["rootDevices"] = list(spec["nicSelector"]["rootDevices"])
            if spec.get("linkType"):
                selectors["linkTypes"] = ["infiniband" if str(spec["linkType"]).upper() == "IB" else "ether"]
            selectors |= {"IsRdma": bool(spec.get("isRdma", False)), "NeedVhostNet": False}
            pool = pools.setdefault(
                spec["resourceName"],
                {"resourceName": spec["resourceName"], "selectors": selectors, "SelectorObj": None},
            )
            pool["selectors"]["pfNames"].append(f"{port.netdev}#0-{int(spec.get('numVfs', 0)) - 1}")
    return json.dumps({"resourceList": list(pools.values())}, separators=(",", ":"))


def _device_plugin(world: Objects, config: KubeObject, namespace: str, data: dict[str, str]) -> list[Write]:
    live = find(world, DAEMON_SET, "sriov-device-plugin", namespace)
    if not data:
        return [delete(live)] if live is not None else []
    text = config_map("device-plugin-config", namespace, config, data)
    plugin = daemon_set(
        "sriov-device-plugin",
        namespace,
        config,
        containers=[("sriov-device-plugin", "registry.redhat.io/openshift4/ose-sriov-network-device-plugin-rhel9")],
        node_selector={PLUGIN_LABEL: "Enabled"},
        tolerations=[{"operator": "Exists"}],
    )
    return [*ensure(world, text, change={"data": data}), *ensure(world, plugin)]
