"""Nodes that apply admitted, and whose label somebody took off since: they are untouched, and no fabric's for now. Pure."""

from collections.abc import Iterator

from railwright.core import kinds
from railwright.core.ids import FabricName, NodeName
from railwright.core.objects import Ref
from railwright.pipeline.model import Prepared
from railwright.plan.model import ADMITTED, fabric_label


def no_longer_admitted(prepared: Prepared, fabric: FabricName) -> dict[NodeName, str]:
    """Name them for one fabric, with what to do."""
    return dict(_lost(prepared, fabric))


def _lost(prepared: Prepared, fabric: FabricName) -> Iterator[tuple[NodeName, str]]:
    label = fabric_label(fabric)
    for node in prepared.snapshot.nodes:
        entry = prepared.ledger.entries.get(Ref(kinds.NODE, "", node.name))
        ours = {item.path[-1]: item.ours for item in entry.fields} if entry is not None else {}
        if ours.get(label) == ADMITTED and node.labels.get(label) != ADMITTED:
            seen = f"is {node.labels[label]} now" if label in node.labels else "is gone"
            yield node.name, f"its label {label}={ADMITTED}, which apply set, {seen}: railwright apply admits it again"
