"""Whether the NIC driver has an image for each node's system: the driver that is planned, or the one that is there and stays."""

from railwright.catalog.model import Catalog, NetworkOperatorEntry, driver_os_tag
from railwright.core.ids import NodeName
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import NodeFacts, Snapshot
from railwright.intent.model import NicDriver
from railwright.plan.draft import FabricNodes
from railwright.plan.notes import Notes

_BY_DIGEST = "sha256:"


def os_tag(node: NodeFacts, openshift_version: str) -> str:
    """Name the node's system the way driver images do; empty when it is not known."""
    release = node.hardware.os_release if node.hardware else {}
    return driver_os_tag(release.get("ID", ""), release.get("VERSION_ID", ""), openshift_version)


def check_driver_images(
    fabric: FabricNodes,
    snapshot: Snapshot,
    entry: NetworkOperatorEntry | None,
    policy: KubeObject | None,
    catalog: Catalog,
    notes: Notes,
) -> None:
    """
    Refuse nodes for whose system the DOCA driver has no image.

    Args:
        policy: the NicClusterPolicy of others; a driver in it stays, whatever was asked for.
    """
    if fabric.settings.nic_driver is not NicDriver.DOCA:
        return
    stays = dig(policy, "spec", "ofedDriver") is not None
    version = str(dig(policy, "spec", "ofedDriver", "version", default="")) if stays else ""
    if not stays and entry is not None:
        version = fabric.settings.intent.driver.nic_version or entry.doca_version
    if not version and not stays:
        return
    for node in snapshot.nodes:
        hardware = fabric.hardware.get(node.name)
        # What runs on a node already has an image, be it somebody's own.
        if hardware is None or (stays and hardware.mlx5_driver):
            continue
        tag = os_tag(node, snapshot.cluster.openshift_version)
        known = bool(tag and version) and not version.startswith(_BY_DIGEST)
        exists = catalog.doca_image_exists(version, tag) if known else None
        if exists is False:
            _refuse(node.name, version, tag, notes, stays=stays)
        elif exists is None:
            notes.warn(
                "driver-image-unknown",
                f"whether DOCA driver {version or 'of the NicClusterPolicy that is there'} has an image for"
                f" {tag or 'this system'} is not known",
                node.name,
            )


def _refuse(node: NodeName, version: str, tag: str, notes: Notes, *, stays: bool) -> None:
    notes.refuse(
        "no-driver-image",
        f"DOCA driver {version} has no image for {tag}, which {node} runs"
        + (", and the NicClusterPolicy that is there wants it" if stays else ""),
        where="NicClusterPolicy spec.ofedDriver.version" if stays else "",
        hint="its owner names another version there, or driver.nic: in-box with driver.memory: dma-buf"
        if stays
        else "another Network Operator channel, another driver.nicVersion, or driver.nic: in-box",
        node=node,
    )
