"""What a MachineConfig changes is shown file by file, argument by argument; it is written whole all the same."""

import base64

from railwright.changes.itemized import itemized, items_of
from railwright.changes.model import MISSING, Action, Change, FieldChange
from railwright.core import kinds
from railwright.core.objects import Ref

FILES = ("spec", "config", "storage", "files")
REF = Ref(kinds.MACHINE_CONFIG, "", "99-railwright-worker")


def a_file(path, text, mode=420):
    source = "data:text/plain;charset=utf-8;base64," + base64.b64encode(text.encode()).decode()
    return {"path": path, "mode": mode, "overwrite": True, "contents": {"source": source}}


def test_files_are_told_apart_by_path_and_shown_as_text():
    old = [a_file("/etc/a", "one\n"), a_file("/etc/b", "same\n"), a_file("/etc/gone", "x\n")]
    new = [a_file("/etc/a", "two\n"), a_file("/etc/b", "same\n"), a_file("/etc/new", "y\n", mode=384)]
    change = Change(REF, Action.UPDATE, {}, (FieldChange(FILES, old, new, ""),))
    assert [(item.path[-1], item.old, item.new) for item in items_of(change)] == [
        ("[path=/etc/a]", {"mode": "0o644", "text": "one\n"}, {"mode": "0o644", "text": "two\n"}),
        ("[path=/etc/gone]", {"mode": "0o644", "text": "x\n"}, MISSING),
        ("[path=/etc/new]", MISSING, {"mode": "0o600", "text": "y\n"}),
    ]


def test_kernel_arguments_and_units_are_told_apart_too():
    arguments = FieldChange(("spec", "kernelArguments"), ["iommu=pt"], ["iommu=pt", "module_blacklist=irdma"], "")
    assert [(item.path[-1], item.old, item.new) for item in itemized(kinds.MACHINE_CONFIG, arguments)] == [
        ("[=module_blacklist=irdma]", MISSING, "module_blacklist=irdma")
    ]
    units = FieldChange(("spec", "config", "systemd", "units"), MISSING, [{"name": "a.service"}], "someone")
    (unit,) = itemized(kinds.MACHINE_CONFIG, units)
    assert (unit.path[-1], unit.new, unit.owner) == ("[name=a.service]", {"name": "a.service"}, "someone")


def test_what_is_no_list_of_files_stays_whole():
    odd = FieldChange(FILES, [{"mode": 420}], [a_file("/etc/a", "x")], "")
    assert itemized(kinds.MACHINE_CONFIG, odd) == (odd,)
    other = FieldChange(("spec", "kernelArguments"), ["a"], ["b"], "")
    assert itemized(kinds.NIC_CLUSTER_POLICY, other) == (other,)
    turned = FieldChange(FILES, [a_file("/a", "1"), a_file("/b", "2")], [a_file("/b", "2"), a_file("/a", "1")], "")
    assert itemized(kinds.MACHINE_CONFIG, turned) == (turned,)


def test_text_that_cannot_be_decoded_is_shown_as_it_stands():
    broken = {"path": "/etc/a", "mode": 420, "contents": {"source": "data:;base64,%%%"}}
    (item,) = itemized(kinds.MACHINE_CONFIG, FieldChange(FILES, MISSING, [broken], ""))
    assert item.new == broken
