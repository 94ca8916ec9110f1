"""The NicClusterPolicy as rules read it: sections, device pools, and the nodes that it reaches. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from railwright.core.foreign_text import parse_json
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import NicPort, NodeFacts, NodeHardware
from railwright.facts.nodes import selects

NAME = "nic-cluster-policy"
SHARED, HOST = "rdmaSharedDevicePlugin", "sriovDevicePlugin"
NIC_LABEL = "feature.node.kubernetes.io/pci-15b3.present"
WAIT_LABEL = "network.nvidia.com/operator.mofed.wait"
PLUGIN_DAEMON_SETS: Mapping[str, str] = {SHARED: "rdma-shared-dp-ds", HOST: "network-operator-sriov-device-plugin"}
_LISTS = {SHARED: "configList", HOST: "resourceList"}
_PREFIXES = {SHARED: "rdma", HOST: "nvidia.com"}
_LINKS = {"ether": "ethernet", "infiniband": "infiniband"}


@dataclass(frozen=True)
class Pool:
    """
    One entry of a device plugin's configuration.

    Attributes:
        section: SHARED or HOST.
        resource: full name: "rdma/rail0".
        selectors: alternatives, each with its criteria; one empty alternative takes every device.
        share_count: rdmaHcaMax; None for the other plugin, or where it is not set.
        entry: as written.
    """

    section: str
    resource: str
    selectors: tuple[Mapping[str, Any], ...]
    share_count: int | None
    entry: Mapping[str, Any]


def config_text(policy: KubeObject, section: str) -> str | None:
    """Configuration of a plugin as the policy holds it; None when the section or its config is not set."""
    text = dig(policy, "spec", section, "config")
    return text if isinstance(text, str) else None


def read_config(text: str) -> tuple[Mapping[str, Any], str]:
    """Read a configuration; the text says what is wrong with it, empty when nothing is."""
    try:
        data = parse_json(text)
    except ValueError as error:
        return {}, f"no JSON: {error}"
    return (data, "") if isinstance(data, dict) else ({}, "no JSON object")


def pools_of(policy: KubeObject) -> tuple[Pool, ...]:
    """Every pool of both device plugins; what cannot be read has none."""
    return tuple(pool for section in (SHARED, HOST) for pool in _pools(config_text(policy, section) or "", section))


@cache
def _pools(text: str, section: str) -> tuple[Pool, ...]:
    data, _ = read_config(text)
    entries = data.get(_LISTS[section], ())
    return tuple(_pool(entry, section) for entry in entries if isinstance(entry, dict))


def _pool(entry: Mapping[str, Any], section: str) -> Pool:
    prefix = str(entry.get("resourcePrefix") or _PREFIXES[section])
    selectors = entry.get("selectors")
    ways = selectors if isinstance(selectors, list) else [selectors or {}]
    flat = {key: entry[key] for key in ("devices",) if key in entry}
    count = entry.get("rdmaHcaMax")
    return Pool(
        section,
        f"{prefix}/{entry.get('resourceName', '')}",
        tuple({**flat, **way} for way in ways if isinstance(way, dict)),
        count if isinstance(count, int) else None,
        entry,
    )


def reaches(policy: KubeObject, node: NodeFacts) -> bool:
    """Whether a node has the label for NICs and passes the policy's node affinity."""
    return node.labels.get(NIC_LABEL) == "true" and passes_affinity(policy, node)


def passes_affinity(policy: KubeObject, node: NodeFacts) -> bool:
    """Whether a node passes the policy's node affinity, whatever its hardware."""
    affinity = dig(policy, "spec", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    return is_meant(affinity, node.labels)


def is_meant(affinity: object, labels: Mapping[str, str]) -> bool:
    """Whether labels pass a required node affinity, whose terms are alternatives; everything passes none."""
    terms = dig(affinity, "nodeSelectorTerms", default=None)
    if terms is None:
        return True
    return any(selects({"matchExpressions": term.get("matchExpressions") or ()}, labels) for term in terms)


def ports_in(pool: Pool, hardware: NodeHardware) -> tuple[NicPort, ...]:
    """Ports of a node that a pool takes; pools of the shared plugin never take virtual functions by themselves."""
    return tuple(port for port in hardware.ports if any(not misfits(way, port) for way in pool.selectors))


def misfits(way: Mapping[str, Any], port: NicPort) -> tuple[str, ...]:
    """Name the criteria of one alternative that a port does not meet."""
    return tuple(key for key, wanted in way.items() if not _meets(key, wanted, port))


def _meets(key: str, wanted: Any, port: NicPort) -> bool:
    if not isinstance(wanted, list) or not wanted:
        return True
    seen = _seen(key, port)
    if seen is None:
        return True
    return any(item in seen for item in _names(key, wanted))


def _names(key: str, wanted: list[Any]) -> Iterator[str]:
    """What a criterion asks for; a range of VFs behind a name ("ens1f0#0-3") is left out."""
    for item in wanted:
        yield str(item).partition("#")[0] if key in {"pfNames", "rootDevices"} else str(item)


def _seen(key: str, port: NicPort) -> tuple[str, ...] | None:
    """What a port has for a criterion; None for a criterion that is not known here, which is then not judged."""
    match key:
        case "vendors":
            return (port.vendor_id,)
        case "devices" | "deviceIDs":
            return (port.device_id,)
        case "drivers":
            return (port.driver,)
        case "ifNames" | "pfNames":
            return (str(port.netdev or ""),)
        case "pciAddresses" | "rootDevices":
            return (str(port.pci),)
        case "linkTypes":
            return tuple(word for word, layer in _LINKS.items() if layer == port.link_layer.value)
        case _:
            return None
