"""What of a node is drift, and what is still to be done."""

import pytest

from railwright.apply.model import LedgerEntry
from railwright.changes.model import FieldChange, TakenField
from railwright.core import kinds
from railwright.core.objects import Ref
from railwright.pipeline.not_begun import split_begun
from railwright.plan.model import NIC_DRIVER_READY

LABEL, HELD = ("metadata", "labels", "fabric"), ("metadata", "labels", "held")
WORKER = Ref(kinds.NODE, "", "worker-1")


@pytest.mark.parametrize(("written", "begun"), [(HELD, False), (LABEL, True)])
def test_a_label_that_was_never_written_has_not_drifted(written, begun):
    taken = (TakenField(written, None, "x"),)
    entry = LedgerEntry(WORKER, created=False, uid="", fields=taken, fabrics=(), order=1, stage=NIC_DRIVER_READY)
    drifted, waiting = split_begun({WORKER: (FieldChange(LABEL, None, "admitted", ""),)}, {WORKER: entry})
    assert (WORKER in drifted, waiting) == (begun, () if begun else ("worker-1",))
