"""The HTML report in a real browser, headless: its script runs under its own policy, hostile names run nothing."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from support.uncovered import record as uncovered
from support.verifying import verified

from railwright.core.ids import NodeName
from railwright.report.verification.html import to_html
from railwright.verify.model import VerifyRecord

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
LIMIT_S = 90


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        uncovered("the HTML report in a real browser", "no chromium here (apt-get install chromium)")
        pytest.skip("no chromium here")
    return found


def seen(browser: str, page: str, folder: Path, *options: str) -> str:
    """Open a page, let its script run, and give the document as it stands then."""
    file = folder / "report.html"
    file.write_text(page)
    command = [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=3000",
        *options,
        "--dump-dom",
        f"file://{file}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout


def many(record: VerifyRecord, nodes: int, name: str) -> VerifyRecord:
    cells = tuple(
        replace(record.cells[0], id=f"c{one}-{two}", source=NodeName(f"{name}{one}"), target=NodeName(f"{name}{two}"))
        for one in range(nodes)
        for two in range(nodes)
        if one != two
    )
    return replace(record, cells=cells)


async def test_the_pages_script_runs_and_hostile_names_run_nothing(browser: str, tmp_path: Path) -> None:
    record = await verified(2, "rail-drops")
    hostile = many(record, 3, HOSTILE)
    summary = replace(hostile.summary, cluster=HOSTILE, fabric=HOSTILE, claim=HOSTILE)
    document = seen(browser, to_html(replace(hostile, summary=summary)), tmp_path)
    assert re.search(r'id="counted"[^>]*>6 of 6<', document), "the filter of cells has run"
    title = re.search(r"<title>(.*?)</title>", document, re.DOTALL)
    assert title
    assert title[1].startswith("railwright verify: FAIL")


async def test_maps_of_a_large_fabric_are_painted(browser: str, tmp_path: Path) -> None:
    record = await verified(2)
    document = seen(browser, to_html(many(record, 40, "node-")), tmp_path)
    assert re.search(r'<canvas[^>]*width="480"[^>]*height="480"', document) or re.search(
        r'<canvas[^>]*height="480"[^>]*width="480"', document
    )
