"""A source is something that a reader can open: it is listed in docs/sources.md, and names no notes of our own."""

import re
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from railwright.catalog.load import load_catalog

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/sources.md"
ROWS = [
    tuple(cell.strip() for cell in line.split("|")[1:-1])
    for line in (ROOT / PAGE).read_text().splitlines()
    if line.startswith("| ")
]
CATALOG = load_catalog()
SOURCES = sorted({entry.source for field in fields(CATALOG) for entry in getattr(CATALOG, field.name)})

_NOTES = ("six-configurations", "operator-behaviour", "control-plane", "peers", "libraries", "failures")
NOTES = re.compile(
    rf"(?<![\w-])(?:{'|'.join(_NOTES)})\.md\b|\b(?:six-configurations|operator-behaviour)\b"
    r"|\bDESIGN(?:\.md)? (?:section )?\d|\b(?:DESIGN|STYLE)\.md\b"
    r"|\bshared/(?:reference|samples|crds|DESIGN|STYLE)|\breference/crd-trees\b|\bsamples/[\w.-]+/[\w.-]+"
)
"""What the authors wrote down for themselves: nobody else has it."""
CITED = re.compile(r"\b([A-Za-z0-9-]+/[A-Za-z0-9._-]+) ([0-9a-f]{7,8})\b")
ISSUE = re.compile(r"\b([A-Za-z0-9-]+/[A-Za-z0-9._-]+) (#[0-9]+)")
DOCUMENT = re.compile(
    r"OpenShift 4\.\d+ (docs|release notes)\b|NVIDIA (GPU|Network) Operator docs\b|CSVs? |relatedImages of "
)
NOT_FROM_A_DOCUMENT = ("estimate", "inferred", "decision of the authors", "Measured: ")
HERE = Path(__file__).resolve()


def texts() -> list[tuple[str, str]]:
    """Every text file of the project, this one left out, with its path."""
    listed = subprocess.run(  # git says what belongs to the project, and nothing of what lies beside it
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = [name for name in listed.stdout.split("\0") if name] or [
        str(path.relative_to(ROOT))
        for top in ("src", "docs", "tests", "examples")
        for path in (ROOT / top).rglob("*.*")
    ]
    paths = [ROOT / name for name in names if not name.endswith((".pyc", ".png", ".gz"))]
    found = [path for path in paths if path.is_file() and path.resolve() != HERE]
    return [(str(path.relative_to(ROOT)), path.read_text(errors="replace")) for path in found]


TEXTS = texts()


@pytest.mark.parametrize(
    "text",
    [
        "six-configurations.md 4.4",
        "operator-behaviour.md 1.5",
        "reference/control-plane.md section 5.2",
        "(six-configurations 1.7)",
        "failures.md B035",
        "DESIGN 5",
        "As DESIGN section 9 has it",
        "shared/reference/peers.md",
        "samples/olm/install.json",
    ],
)
def test_a_note_of_our_own_is_recognised(text: str) -> None:
    assert NOTES.search(text)


@pytest.mark.parametrize("text", ["docs/configurations/shared-roce.md", "0003-real-control-plane.md", "by DESIGN"])
def test_what_a_reader_has_is_no_note(text: str) -> None:
    assert not NOTES.search(text)


def test_no_file_names_a_note_of_our_own() -> None:
    found = [
        f"{path}:{number}: {line.strip()[:120]}"
        for path, text in TEXTS
        for number, line in enumerate(text.splitlines(), start=1)
        if NOTES.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("source", SOURCES)
def test_a_catalog_source_is_on_the_page_or_says_that_it_is_none(source: str) -> None:
    repositories = {row[0] for row in ROWS if "/" in row[0]}
    on_the_page = any(name in source for name in repositories) or DOCUMENT.match(source)
    assert on_the_page or source.startswith(NOT_FROM_A_DOCUMENT)


def test_every_commit_that_is_cited_is_listed() -> None:
    cited = {found for path, text in TEXTS if path != PAGE for found in CITED.findall(text)}
    assert cited
    assert cited - {(row[0], row[2]) for row in ROWS if len(row) == 4} == set()


def test_every_issue_that_is_cited_is_listed() -> None:
    cited = {found for path, text in TEXTS if path != PAGE for found in ISSUE.findall(text)}
    assert cited
    assert [found for found in cited if not any(found[0] in row[0] and found[1] in row[0] for row in ROWS)] == []
