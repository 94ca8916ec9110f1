"""A flag wins over the file, and what the file says must still fit."""

import pytest

from railwright.core.errors import IntentError
from railwright.intent.flags import FLAGS, with_flags
from railwright.intent.model import Fabric, GpuMemory, Method, NicDriver
from railwright.intent.parse import parse_intents

HEAD = "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: east-west}\nspec:\n"
(PLAIN,) = parse_intents(f"{HEAD}  method: sriov\n  fabric: roce\n")
(WITH_VFS,) = parse_intents(f"{HEAD}  method: sriov\n  fabric: roce\n  vfsPerRail: 8\n")


def test_no_flags_leave_the_intent_as_it_is():
    assert with_flags(PLAIN) is PLAIN
    assert with_flags(PLAIN, method=Method.SRIOV, fabric=Fabric.ROCE) is PLAIN


def test_flags_win_over_the_file():
    changed = with_flags(
        PLAIN,
        method=Method.SHARED,
        fabric=Fabric.INFINIBAND,
        nic_driver=NicDriver.IN_BOX,
        memory=GpuMemory.DMA_BUF,
        workload_namespaces=("a",),
    )
    assert (changed.method, changed.fabric) == (Method.SHARED, Fabric.INFINIBAND)
    assert (changed.driver.nic, changed.driver.memory) == (NicDriver.IN_BOX, GpuMemory.DMA_BUF)
    assert changed.workload_namespaces == ("a",)


def test_the_document_has_the_flags_in_it():
    changed = with_flags(PLAIN, method=Method.SHARED)
    assert parse_intents(changed.document) == (changed,)


def test_places_name_the_command_line_for_flags_and_the_file_for_the_rest():
    changed = with_flags(PLAIN, method=Method.SHARED)
    assert changed.places["spec.method"].file == FLAGS
    assert changed.places["spec.fabric"].file == "rails.yaml"


def test_a_flag_that_the_file_does_not_fit_is_refused():
    with pytest.raises(IntentError, match=r"spec\.vfsPerRail: does not apply") as caught:
        with_flags(WITH_VFS, method=Method.SHARED)
    assert "the flags do not fit the RailFabric east-west" in caught.value.message
