"""
What the SR-IOV operator's config daemon does on its node: it reports the ports, and makes the VFs that a node state asks for.

A daemon that would change VFs which are there asks the operator for a drain first; from none to some it asks for none.

Measured: SR-IOV network operator 1.6.0 against kube-apiserver 1.36.3, 2026-11. Its VFs were played: a minute is an
estimate.
Source: k8snetworkplumbingwg/sriov-network-operator v1.6.0, pkg/plugins/generic/generic_plugin.go:367 (needToUpdateVFs).
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from railwright.core.ids import NodeName
from railwright.core.kinds import DAEMON_SET, NODE, SRIOV_NETWORK_NODE_STATE
from railwright.core.objects import KubeObject, dig
from railwright.standins.model import NodeDevices, Objects, Port, Write
from railwright.standins.view import (
    age_s,
    find,
    is_pod_ready,
    merge,
    name_of,
    node_of,
    of_kind,
    pods_of,
    rfc3339,
    set_status,
)

VF_CREATION_S = 60
SINCE = "standins.railwright.dev/in-progress-since"
CURRENT_STATE = "sriovnetwork.openshift.io/current-state"
DESIRED_STATE = "sriovnetwork.openshift.io/desired-state"
NODE_STATE = "sriovnetwork.openshift.io/state"
DAEMON = "sriov-network-config-daemon"
IDLE = "Idle"
_LOCKDOWN = "mellanox device detected when in lockdown mode"


def react(world: Objects, now: datetime) -> tuple[Write, ...]:
    """Bring every node whose daemon runs one step on, under an operator that is not played: drains are asked for."""
    writes: list[Write] = []
    for state in of_kind(world, SRIOV_NETWORK_NODE_STATE):
        daemon = find(world, DAEMON_SET, DAEMON, state["metadata"]["namespace"])
        if daemon is None or name_of(state) not in nodes_with_daemon(world, daemon):
            continue
        wanted = dig(state, "spec", "interfaces", default=None) or []
        may_go_on = _is_drained(state) or not _takes_away(state, wanted)
        if may_go_on:
            writes += configure(world, state, wanted, now)
        else:
            writes += (*_ask(world, state, "Drain_Required"), *set_status(state, {"syncStatus": "InProgress"}))
        if _is_done(state, wanted) and dig(state, "metadata", "annotations", DESIRED_STATE, default=IDLE) != IDLE:
            writes += _ask(world, state, IDLE)
        system = dig(state, "spec", "system", default={})
        if dig(state, "status", "interfaces", default=()) and system != dig(state, "status", "system", default={}):
            writes += set_status(state, {"system": system})
    return tuple(writes)


def nodes_with_daemon(world: Objects, daemon: KubeObject) -> set[str]:
    """Nodes on which the daemon's pod is ready."""
    return {node_of(pod) for pod in pods_of(world, daemon) if is_pod_ready(pod)}


def configure(
    world: Objects, state: KubeObject, wanted: Iterable[Mapping[str, Any]], now: datetime
) -> tuple[Write, ...]:
    """Fill the status: what is there, then VFs one minute after they were asked for."""
    devices = world.devices.get(NodeName(name_of(state)), NodeDevices(0, ()))
    goal = {item["name"]: int(item["numVfs"]) for item in wanted}
    mtu = {item["name"]: int(item["mtu"]) for item in wanted if "mtu" in item}
    if not dig(state, "status", "interfaces", default=()):
        return set_status(state, {"interfaces": _discovered(devices, {}, mtu), "syncStatus": "Succeeded"})
    if _is_done(state, wanted):
        return ()
    if "vf-lockdown" in world.troubles:
        return set_status(state, {"syncStatus": "Failed", "lastSyncError": _LOCKDOWN})
    since = dig(state, "metadata", "annotations", SINCE, default="")
    if not since:
        started = merge(state, {"metadata": {"annotations": {SINCE: rfc3339(now)}}})
        return (*started, *set_status(state, {"syncStatus": "InProgress", "lastSyncError": ""}))
    if age_s(since, now) < VF_CREATION_S or "vfs-stuck" in world.troubles:
        return ()
    done = {"interfaces": _discovered(devices, goal, mtu), "syncStatus": "Succeeded", "lastSyncError": ""}
    return (*set_status(state, done), *merge(state, {"metadata": {"annotations": {SINCE: None}}}))


def _there(state: KubeObject) -> dict[str, int]:
    return {item["name"]: len(item.get("Vfs", ())) for item in dig(state, "status", "interfaces", default=())}


def _differing(state: KubeObject, wanted: Iterable[Mapping[str, Any]]) -> Iterator[int]:
    """Give how many VFs are there now, of each port that has not what is wanted."""
    have, goal = _there(state), {item["name"]: int(item["numVfs"]) for item in wanted}
    return (have.get(name, 0) for name in {*have, *goal} if have.get(name, 0) != goal.get(name, 0))


def _is_done(state: KubeObject, wanted: Iterable[Mapping[str, Any]]) -> bool:
    return not any(True for _ in _differing(state, wanted))


def _takes_away(state: KubeObject, wanted: Iterable[Mapping[str, Any]]) -> bool:
    return any(_differing(state, wanted))


def _is_drained(state: KubeObject) -> bool:
    return bool(dig(state, "metadata", "annotations", CURRENT_STATE, default="") == "DrainComplete")


def _ask(world: Objects, state: KubeObject, wish: str) -> tuple[Write, ...]:
    """Say on the node and on its state what the operator is to do."""
    node = find(world, NODE, name_of(state))
    asked = () if node is None else merge(node, {"metadata": {"annotations": {NODE_STATE: wish}}})
    return (*asked, *merge(state, {"metadata": {"annotations": {DESIRED_STATE: wish}}}))


def _discovered(devices: NodeDevices, goal: Mapping[str, int], mtu: Mapping[str, int]) -> list[dict[str, Any]]:
    return [_interface(port, goal.get(port.netdev, 0), mtu.get(port.netdev, port.mtu_bytes)) for port in devices.ports]


def _interface(port: Port, count: int, mtu: int) -> dict[str, Any]:
    bus, _, function = port.pci.rpartition(".")
    entry: dict[str, Any] = {
        "deviceID": port.device_id,
        "vendor": port.vendor_id,
        "driver": "mlx5_core",
        "eSwitchMode": "legacy",
        "linkAdminState": "up",
        "linkSpeed": f"{port.speed_mbps} Mb/s",
        "linkType": "IB" if port.link_type == "infiniband" else "ETH",
        "mac": port.mac,
        "mtu": mtu,
        "name": port.netdev,
        "pciAddress": port.pci,
        "totalvfs": port.sriov_total_vfs,
    }
    if count and port.sriov_total_vfs:
        base = port.netdev.removesuffix("np0")
        entry["numVfs"] = count
        entry["Vfs"] = [
            {
                "deviceID": "101e",
                "vendor": "15b3",
                "driver": "mlx5_core",
                "mac": f"02:00:00:00:{int(function):02x}:{number:02x}",
                "mtu": mtu,
                "name": f"{base}v{number}",
                "pciAddress": _vf_address(bus, number),
                "vfID": number,
            }
            for number in range(count)
        ]
    return entry


def _vf_address(bus: str, number: int) -> str:
    """Give the address of a VF: eight functions a device number, from .2 of the PF's on."""
    place = number + 2
    return f"{bus.rpartition(':')[0]}:{place // 8:02x}.{place % 8}"
