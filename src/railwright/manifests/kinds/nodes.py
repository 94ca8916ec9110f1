"""Labels of nodes: admission to a fabric, the group, holding operands back. Never the node itself."""

from railwright.core.kinds import NODE
from railwright.manifests.assemble import a_manifest, an_object
from railwright.manifests.model import Manifest
from railwright.plan.model import NodeLabelShare


def node_labels(share: NodeLabelShare) -> tuple[Manifest, ...]:
    """Render one node's labels; the object is partial: a node is made by its kubelet."""
    obj = an_object(NODE, share.node, labels=share.labels, ours=False)
    return (a_manifest(obj, share.stage, [share.fabric], node=share.node, partial=True),)
