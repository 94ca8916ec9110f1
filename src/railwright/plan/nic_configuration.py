"""Rails whose card somebody else sets up: NVIDIA's NIC configuration operator, by templates. Nothing here is ours to change."""

from collections.abc import Iterable, Iterator

from railwright.core import kinds
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import ClusterFacts, LinkLayer
from railwright.plan.notes import Notes
from railwright.plan.rails import NodeRails, Paired

_LAYERS = {"Ethernet": LinkLayer.ETHERNET, "Infiniband": LinkLayer.INFINIBAND}
"""Source: NicDevice CRD, nic-configuration-operator 26.4.1, spec.configuration.template.linkType."""


def warn_configured_by_others(rails: NodeRails, cluster: ClusterFacts, notes: Notes) -> None:
    """
    Warn once a NIC of every rail that a NicDevice of the node gives another configuration or firmware.

    The operator writes into a NicDevice's spec what the one template that matches it wants; where several match, or
    none, the spec is empty, and nothing is said here.
    Source: Mellanox/nic-configuration-operator 360f41ff, internal/controller/template_matcher.go (2026-12-01).
    """
    for ref, device in sorted(cluster.objects.items(), key=lambda item: str(item[0])):
        if ref.kind != kinds.NIC_DEVICE or dig(device, "status", "node") != rails.node:
            continue
        addresses = {str(dig(port, "pci", default="")).lower() for port in _list(dig(device, "status", "ports"))}
        ours = [rail for rail in rails.rails if rail.port.pci in addresses]
        wants = list(_wants(device, ours)) if ours else []
        if wants:
            named = " and ".join(str(rail.port.netdev or rail.port.pci) for rail in ours)
            notes.warn(
                "nic-configured-by-others",
                f"the NIC configuration operator sets up {named} of {rails.node} (NicDevice {ref.name}): {', '.join(wants)};"
                " firmware that changes takes the link down or restarts the node, whatever runs there",
                rails.node,
            )


def _wants(device: KubeObject, rails: Iterable[Paired]) -> Iterator[str]:
    """Say what the operator does to the card, in words; nothing for a template that only looks."""
    if dig(device, "spec", "configuration", "resetToDefault") is True:
        yield "settings back to the factory's"
    template = dig(device, "spec", "configuration", "template")
    if isinstance(template, dict):
        layer = _LAYERS.get(str(template.get("linkType")), LinkLayer.UNKNOWN)
        now = {rail.port.link_layer for rail in rails}
        another = layer is not LinkLayer.UNKNOWN and now - {layer, LinkLayer.UNKNOWN}
        yield f"linkType {template.get('linkType')}" + (", which is another one than now" if another else "")
        yield f"numVfs {template.get('numVfs')}"
    if dig(device, "spec", "firmware", "updatePolicy") == "Update":
        yield f"firmware of {dig(device, 'spec', 'firmware', 'nicFirmwareSourceRef')}"


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
