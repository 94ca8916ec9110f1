"""VerifyRecord -> JUnit XML, as CI systems read it: a test suite a family, a test case a cell."""

from xml.etree import ElementTree as ET

from railwright.core.verdicts import Verdict
from railwright.verify.model import Cell, VerifyRecord

_NOT_IN_XML = {code: "\N{REPLACEMENT CHARACTER}" for code in range(32) if code not in {9, 10, 13}}


def to_junit(record: VerifyRecord) -> str:
    """Write it; UNKNOWN is an error, never a success."""
    summary = record.summary
    root = ET.Element("testsuites", name="railwright verify", time=f"{summary.elapsed_s:.1f}")
    families: dict[str, list[Cell]] = {}
    for cell in record.cells:
        families.setdefault(cell.family, []).append(cell)
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for name, cells in families.items():
        numbers = {
            "tests": len(cells),
            "failures": sum(cell.verdict is Verdict.FAIL for cell in cells),
            "errors": sum(cell.verdict is Verdict.UNKNOWN for cell in cells),
            "skipped": sum(cell.verdict is Verdict.SKIP for cell in cells),
        }
        shown = f"{name} [simulated]" if summary.simulated else name
        suite = ET.SubElement(root, "testsuite", {"name": shown, "timestamp": summary.started_at.rstrip("Z")})
        for key, number in numbers.items():
            suite.set(key, str(number))
            totals[key] += number
        for cell in cells:
            _case(suite, cell)
    for key, number in totals.items():
        root.set(key, str(number))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(suite: ET.Element, cell: Cell) -> None:
    name = f"{cell.way}: {cell.direction.value} of {cell.memory.value} memory"
    case = ET.SubElement(suite, "testcase", classname=f"railwright.verify.{cell.family}", name=_text(name))
    tag = {Verdict.FAIL: "failure", Verdict.UNKNOWN: "error", Verdict.SKIP: "skipped"}.get(cell.verdict)
    if tag:
        ET.SubElement(case, tag, message=_text(cell.reason))
    if cell.average_gbps is not None:
        floor = f", floor {cell.floor_gbps:.1f}" if cell.floor_gbps is not None else ""
        ET.SubElement(case, "system-out").text = f"{cell.average_gbps:.3f} Gb/s on average{floor}"


def _text(text: str) -> str:
    """Take out what XML can't hold, whoever named a node that way."""
    return text.translate(_NOT_IN_XML)
