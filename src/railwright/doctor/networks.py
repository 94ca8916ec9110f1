"""Networks of pods as rules read them: NADs, their addresses, and what pods ask for of them. Pure."""

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from railwright.core import kinds
from railwright.core.multus import RESOURCE_NAME
from railwright.core.objects import KubeObject, Ref, annotations_of, dig, ref_of
from railwright.doctor.seen import Seen

RAIL_TYPES = frozenset({"macvlan", "ipvlan", "ipoib", "host-device", "sriov", "ib-sriov"})
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Attachment:
    """One NAD of a kind that rails use; `resource` is empty where it names none."""

    ref: Ref
    plugins: tuple[Mapping[str, Any], ...]
    resource: str

    @property
    def type(self) -> str:
        """CNI type of the plugin that makes the interface."""
        return str(self.plugins[0].get("type", ""))

    @property
    def ipam(self) -> Mapping[str, Any]:
        """How its addresses are given."""
        ipam = self.plugins[0].get("ipam")
        return ipam if isinstance(ipam, Mapping) else {}

    @property
    def thing(self) -> str:
        """How findings are linked by it."""
        return f"nad:{self.ref.namespace}/{self.ref.name}"


def attachments(seen: Seen) -> tuple[Attachment, ...]:
    """Every NAD whose config can be read and whose type rails use."""
    found = (attachment_of(seen, nad) for nad in seen.of_kind(kinds.NETWORK_ATTACHMENT_DEFINITION))
    return tuple(item for item in found if item is not None)


def attachment_of(seen: Seen, nad: KubeObject) -> Attachment | None:
    """Read one NAD; None when its config cannot be read, or it is not of a type that rails use."""
    plugins = seen.nad_plugins(nad)
    if not plugins or plugins[0].get("type") not in RAIL_TYPES:
        return None
    return Attachment(ref_of(nad), plugins, annotations_of(nad).get(RESOURCE_NAME, ""))


def ranges_of(ipam: Mapping[str, Any]) -> Iterator[Network]:
    """Prefixes that an ipam section hands addresses out of, as far as it names them itself."""
    texts = [ipam.get("range"), ipam.get("subnet"), *(item.get("range") for item in ipam.get("ipRanges") or ())]
    texts += [
        item.get("subnet") for group in ipam.get("ranges") or () for item in (group or ()) if isinstance(item, dict)
    ]
    for text in texts:
        network = network_of(text)
        if network is not None:
            yield network


def network_of(text: object) -> Network | None:
    """Read a prefix, also one written as "192.168.3.225/28" or as a range "192.168.2.1-192.168.2.9/24"."""
    if not isinstance(text, str) or not text:
        return None
    try:
        return ipaddress.ip_network(text.rpartition("-")[2].strip() if "-" in text else text, strict=False)
    except ValueError:
        return None


def is_shared_resource(name: str) -> bool:
    """Whether a resource is one of the shared device plugin: such pods bring their network by themselves."""
    return name.startswith("rdma/")


def nads_by_place(seen: Seen) -> Mapping[tuple[str, str], KubeObject]:
    """NADs by namespace and name."""
    return {
        (str(dig(nad, "metadata", "namespace", default="")), str(nad["metadata"]["name"])): nad
        for nad in seen.of_kind(kinds.NETWORK_ATTACHMENT_DEFINITION)
    }
