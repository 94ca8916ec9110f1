"""What must hold for the project as a whole."""

import re
from pathlib import Path

import pytest

import railwright
from railwright import api
from railwright.catalog.load import load_catalog
from railwright.core.errors import EXIT_CODE_ORDER, RailwrightError, first_exit_code
from railwright.report.codes import REFUSALS, WARNINGS
from railwright.report.errors import error_pages

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LONGEST_FILE_LINES = 500
LONGER_FOR_A_REASON = {"src/railwright/plan/model.py": 720}  # declarations only: the glossary of a plan, read as one


def test_the_package_itself_exports_only_its_version() -> None:
    assert railwright.__all__ == ["__version__"]


def test_every_exported_name_of_the_library_exists() -> None:
    assert [name for name in api.__all__ if not hasattr(api, name)] == []


def test_every_error_has_a_page_and_an_exit_code_of_the_table() -> None:
    pages = error_pages()
    assert {page.exit_code for page in pages} <= set(EXIT_CODE_ORDER)
    assert RailwrightError.code in {page.code for page in pages}


def test_the_first_exit_code_of_the_order_wins() -> None:
    assert first_exit_code({6, 4, 7, 0}) == 7
    assert first_exit_code({5, 130}) == 130
    assert first_exit_code(set()) == 0


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_source_file_is_short_enough_to_be_read(path: Path) -> None:
    longest = LONGER_FOR_A_REASON.get(str(path.relative_to(ROOT)), LONGEST_FILE_LINES)
    assert len(path.read_text().splitlines()) <= longest


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_source_file_says_what_it_is_for_and_leaves_nothing_undone(path: Path) -> None:
    text = path.read_text()
    assert text.startswith(('"""', 'r"""')), "no module docstring"
    assert not re.search(r"\bTODO\b|\bFIXME\b|NotImplementedError", text)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_text_of_others_becomes_a_number_only_where_it_is_one(path: Path) -> None:
    """For str.isdigit "²" is a digit, and int refuses it: whole_number of core/foreign_text reads such text."""
    asked = set(re.findall(r"([\w.\[\]()\"-]+)\.isdigit\(\)", path.read_text()))
    read = {name for name in asked if f"int({name}" in path.read_text()}
    bytes_or_ascii = {"core/foreign_text.py": {"text"}, "adapters/archive/tar_reader.py": {"value", "length"}}
    assert read <= bytes_or_ascii.get(str(path.relative_to(ROOT / "src" / "railwright")), set())


def test_every_code_of_a_refusal_or_warning_is_explained() -> None:
    used = set()
    for path in SOURCES:
        for verb, code in re.findall(r'notes\.(refuse|warn)\(\s*"([a-z0-9-]+)"', path.read_text()):
            used.add((verb, code))
    catalog = {entry.code for entry in load_catalog().combinations if not entry.supported}
    refusals = {code for verb, code in used if verb == "refuse"} | catalog
    assert refusals - set(REFUSALS) == set()
    assert {code for verb, code in used if verb == "warn"} - set(WARNINGS) == set()
