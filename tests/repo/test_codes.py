"""Every code that a person may meet has a page, a test that meets it, and a next step that leads somewhere."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from railwright.cli.overview import COMMANDS
from railwright.core import errors
from railwright.core.errors import RailwrightError
from railwright.report.codes import REFUSALS, WARNINGS
from railwright.report.errors import ErrorPage, error_pages

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTS = "\n".join(
    path.read_text()
    for folder in ("unit", "scenario", "faults", "cases", "bed", "golden")
    for path in sorted((ROOT / "tests" / folder).rglob("*"))
    if path.suffix in {".py", ".yaml", ".json", ".txt"}
)
CLASSES = {
    item.code: name
    for name, item in vars(errors).items()
    if isinstance(item, type) and issubclass(item, RailwrightError)
}


@pytest.mark.parametrize("page", error_pages(), ids=lambda page: page.code)
def test_an_error_code_has_a_page_a_remedy_and_a_test(page: ErrorPage) -> None:
    text = (ROOT / "docs" / "reference" / "errors" / f"{page.code}.md").read_text()
    assert page.remedy
    assert page.remedy in " ".join(text.split())
    assert page.code in TESTS or CLASSES[page.code] in TESTS


def test_a_code_of_a_plan_is_met_by_a_test() -> None:
    assert [code for code in (*REFUSALS, *WARNINGS) if code not in TESTS] == []


def _hints() -> Iterator[tuple[str, str]]:
    """Give every hint in the sources, with its place; what is put in at run time is left out."""
    for path in SOURCES:
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "hint=" in text else ():
            if isinstance(node, ast.keyword) and node.arg == "hint":
                parts = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
                said = " ".join(part for part in parts if isinstance(part, str))
                yield f"{path.relative_to(ROOT)}:{node.value.lineno}", said


def test_a_next_command_exists_with_its_options() -> None:
    """Prose calls the program railwright, too: a command is one of ours or of no meaning."""
    manual = (ROOT / "docs" / "reference" / "commands.md").read_text()
    remedies = [(page.code, page.remedy) for page in error_pages()]
    texts = [*_hints(), *remedies]
    assert len(texts) > 100
    wrong = [
        f"{where}: {word}"
        for where, text in texts
        for word in re.findall(r"(?:^|[`;,(] ?)railwright ([a-z-]+)\b(?! no)", text)
        if word not in COMMANDS
    ]
    wrong += [
        f"{where}: {option}"
        for where, text in texts
        for command, option in re.findall(r"railwright ([a-z]+)[^`;,]*? (--[a-z-]+)", text)
        if command in COMMANDS and option not in manual
    ]
    assert wrong == []
