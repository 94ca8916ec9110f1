"""Documentation that runs, and links that lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_HANGS_S = 1200.0
"""The program runs on simulated time and ends by itself, on a busy machine in minutes: only one that hangs takes so long."""
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_program_of_the_library_page_runs() -> None:
    program = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "library.md").read_text(), re.DOTALL)
    assert program
    done = subprocess.run(
        [sys.executable, "-c", program[1]], cwd=ROOT, capture_output=True, text=True, timeout=_HANGS_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "plan for east-west" in done.stdout
    assert re.search(r"^0 \[", done.stdout, re.MULTILINE), "apply ended well"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []
