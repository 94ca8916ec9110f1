r"""
Addresses of a node that its network plugin announces in the node's annotations. Pure.

Samples: k8s.ovn.org/node-encap-ips '["10.0.0.2","10.0.0.3"]'; k8s.ovn.org/node-primary-ifaddr '{"ipv4":"10.0.0.2/24"}';
k8s.ovn.org/l3-gateway-config '{"default":{"mode":"shared","bridge-id":"br-ex","ip-addresses":["10.0.0.2/24"],...}}';
projectcalico.org/IPv4Address "10.0.0.2/24". k8s.ovn.org/host-cidrs is left out: it lists every address, rails' too.

Source: ovn-kubernetes go-controller/pkg/util/node_annotations.go; Calico documentation, "Configure IP autodetection";
flannel documentation, "Annotations" (read 2026-11-30).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core.foreign_text import parse_json

OVN_TUNNELS = "k8s.ovn.org/node-encap-ips"
_JSON = {
    OVN_TUNNELS: "cluster network (OVN tunnels)",
    "k8s.ovn.org/node-primary-ifaddr": "primary address of OVN",
    "k8s.ovn.org/l3-gateway-config": "gateway of OVN",
    "k8s.ovn.org/secondary-host-egress-ips": "egress address of OVN",
}
_PLAIN = {
    "projectcalico.org/IPv4Address": "cluster network (Calico)",
    "projectcalico.org/IPv6Address": "cluster network (Calico)",
    "flannel.alpha.coreos.com/public-ip": "cluster network (Flannel)",
    "flannel.alpha.coreos.com/public-ipv6": "cluster network (Flannel)",
}
_OTHERS = ("next-hop", "mac-address", "vlan-id", "interface-id", "bridge-id")


@dataclass(frozen=True)
class Announced:
    """One address, or with `address` empty an annotation that could not be read."""

    what: str
    address: str
    annotation: str


def announced_by(annotations: Mapping[str, str]) -> tuple[Announced, ...]:
    """List the addresses that carry the cluster network of a node, without prefix lengths."""
    found: dict[Announced, None] = {}
    for key, what in _JSON.items():
        if key in annotations:
            try:
                addresses = list(_addresses(parse_json(annotations[key])))
            except ValueError:
                addresses = [""]
            found.update((Announced(what, address, key), None) for address in addresses)
    for key, what in _PLAIN.items():
        if key in annotations:
            found[Announced(what, annotations[key].partition("/")[0].strip(), key)] = None
    return tuple(found)


def _addresses(value: Any, key: str = "") -> Iterator[str]:
    """Find every string that stands for an address of the node itself."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if not str(name).startswith(_OTHERS):
                yield from _addresses(item, str(name))
    elif isinstance(value, list):
        for item in value:
            yield from _addresses(item, key)
    elif isinstance(value, str) and (not key or key.startswith("ip") or key.endswith(("ip-address", "ip-addresses"))):
        yield value.partition("/")[0]
