"""
The annotation in which Multus says what a pod was given: an interface and addresses a network.

Sample: [{"name": "default", "interface": "eth0", "ips": ["10.244.1.3"], "default": true, "dns": {}},
{"name": "training/east-west-rail0", "interface": "net1", "ips": ["192.168.0.1"], "mac": "52:54:00:01:03:00", "dns": {}}]

An interface on InfiniBand, and one without address management, has no "ips".
Source: Network Plumbing Working Group, "Kubernetes Network Custom Resource Definition De-facto Standard" 1.3, section 5.
Measured: Multus 4.2.3 thin plugin, 2026-11, tests/cases/facts/pods/macvlan-on-a-shared-device.json.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.foreign_text import parse_json
from railwright.core.ids import NetDevice


@dataclass(frozen=True)
class JoinedNetwork:
    """
    One network that a pod is in.

    Attributes:
        name: "NAMESPACE/NAME" of its NetworkAttachmentDefinition; whatever the cluster's own network is called.
        interface: as the pod sees it; "" where the status does not say.
        addresses: without prefix length; may be empty.
        is_default: it is the cluster's own network.
    """

    name: str
    interface: NetDevice
    addresses: tuple[str, ...]
    is_default: bool = False


def parse_network_status(text: str) -> tuple[JoinedNetwork, ...]:
    """Read the annotation; empty where there is none, or nothing that Multus writes."""
    try:
        items = parse_json(text) if text else []
    except ValueError:
        return ()
    return tuple(_joined(item) for item in items if isinstance(item, Mapping)) if isinstance(items, list) else ()


def _joined(item: Mapping[str, Any]) -> JoinedNetwork:
    ips = item.get("ips")
    return JoinedNetwork(
        name=str(item.get("name") or ""),
        interface=NetDevice(str(item.get("interface") or "")),
        addresses=tuple(str(address) for address in ips) if isinstance(ips, list) else (),
        is_default=item.get("default") is True,
    )
