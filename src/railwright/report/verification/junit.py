"""
VerifyRecord -> JUnit XML, as CI systems read it: a test suite a family, a test case a cell.

What fails without a cell that fails (a port that partition keys cut off: its cells are left out) is a case of its own.
"""

from xml.etree import ElementTree as ET

from railwright.core.foreign_text import inert
from railwright.core.marks import is_virtual
from railwright.core.verdicts import Verdict
from railwright.verify.model import Cell, Culprit, VerifyRecord

_COUNTED = ("tests", "failures", "errors", "skipped")
_NOT_IN_XML = dict.fromkeys((65534, 65535), "�")


def to_junit(record: VerifyRecord) -> str:
    """Write it; UNKNOWN is an error, never a success."""
    summary = record.summary
    root = ET.Element("testsuites", name="railwright verify", time=f"{summary.elapsed_s:.1f}")
    families: dict[str, list[Cell]] = {}
    for cell in record.cells:
        families.setdefault(cell.family, []).append(cell)
    suites = [_suite(root, record, name, cells) for name, cells in families.items()]
    unseen = _without_failed_cell(record)
    if unseen:
        suites.append(_places(root, record, unseen))
    for key in _COUNTED:
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, record: VerifyRecord, name: str, cells: list[Cell]) -> ET.Element:
    numbers = (
        len(cells),
        sum(cell.verdict is Verdict.FAIL for cell in cells),
        sum(cell.verdict is Verdict.UNKNOWN for cell in cells),
        sum(cell.verdict is Verdict.SKIP for cell in cells),
    )
    suite = _empty_suite(root, record, name, numbers)
    for cell in cells:
        _case(suite, cell)
    return suite


def _places(root: ET.Element, record: VerifyRecord, culprits: list[Culprit]) -> ET.Element:
    suite = _empty_suite(root, record, "places", (len(culprits), len(culprits), 0, 0))
    for culprit in culprits:
        case = ET.SubElement(suite, "testcase", classname="railwright.verify.places", name=_text(culprit.where))
        ET.SubElement(case, "failure", message=_text(culprit.text))
    return suite


def _empty_suite(root: ET.Element, record: VerifyRecord, name: str, numbers: tuple[int, int, int, int]) -> ET.Element:
    shown = f"{name} [simulated]" if record.summary.simulated else name
    if is_virtual(record.summary.cluster):
        shown = f"{name} [virtual cluster]"
    named = {"name": _text(shown), "timestamp": _text(record.summary.started_at.rstrip("Z"))}
    suite = ET.SubElement(root, "testsuite", named)
    for key, number in zip(_COUNTED, numbers, strict=True):
        suite.set(key, str(number))
    return suite


def _without_failed_cell(record: VerifyRecord) -> list[Culprit]:
    failed = {cell.id for cell in record.cells if cell.verdict is Verdict.FAIL}
    return [culprit for culprit in record.culprits if failed.isdisjoint(culprit.cells)]


def _case(suite: ET.Element, cell: Cell) -> None:
    name = f"{cell.way}: {cell.direction.value} of {cell.memory.value} memory"
    case = ET.SubElement(suite, "testcase", classname=_text(f"railwright.verify.{cell.family}"), name=_text(name))
    tag = {Verdict.FAIL: "failure", Verdict.UNKNOWN: "error", Verdict.SKIP: "skipped"}.get(cell.verdict)
    if tag:
        ET.SubElement(case, tag, message=_text(cell.reason))
    if cell.average_gbps is not None:
        floor = f", floor {cell.floor_gbps:.1f}" if cell.floor_gbps is not None else ""
        ET.SubElement(case, "system-out").text = f"{cell.average_gbps:.3f} Gb/s on average{floor}"


def _text(text: str) -> str:
    """Write what XML can't hold, or a terminal would obey, in another way, whoever named a node so."""
    return inert(text).translate(_NOT_IN_XML)
