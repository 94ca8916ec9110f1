"""
Print what verify promises for large fabrics: the schedule of 1,000 nodes, and the report of 200.

`python benchmarks/verify.py [--browser]`: with a chromium at hand the page is opened in it too, beside an empty one.
On a busy machine `cpu_s` says more than the time on the wall.

Measured 2026-11-30, two cores that a dozen others wanted: the schedule 1.1 s (0.3 s of a processor); a page of 318,400
cells and 1.3 MB written in 8.5 s of a processor, opened 0.1 s after an empty one would have been (10.8 and 10.8 s).
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from railwright.core.ids import NodeName, RailName
from railwright.core.verdicts import Verdict
from railwright.intent.model import Fabric
from railwright.report.verification.html import to_html
from railwright.verify.layout import Layout
from railwright.verify.model import (
    Cell,
    Coverage,
    Direction,
    MemoryKind,
    Seat,
    SizePoint,
    Summary,
    VerifyRecord,
)
from railwright.verify.planned import Options, plan_run
from railwright.verify.schedule import tournament

SCHEDULE_NODES, REPORT_NODES, RAILS = 1000, 200, 8
SIMULATED = True
BUDGETS = {"schedule": "2 s", "report": "20 MB", "open": "2 s in a browser"}


def fabric(count: int) -> Layout:
    """Name nodes and rails."""
    nodes = tuple(NodeName(f"worker-{number}") for number in range(count))
    rails = tuple(RailName(f"rail{number}") for number in range(RAILS))
    seats = tuple(Seat(node, rail) for node in nodes for rail in rails)
    return Layout("east-west", "sriov", Fabric.ROCE, "benchmark", SIMULATED, "nothing", nodes, rails, seats)


def schedule() -> dict[str, float]:
    """Plan a whole tournament."""
    layout = fabric(SCHEDULE_NODES)
    began, used = time.perf_counter(), time.process_time()
    planned = plan_run(layout, Options())
    return {
        "s": round(time.perf_counter() - began, 2),
        "cpu_s": round(time.process_time() - used, 2),
        "rounds": len(planned.schedule.rounds),
        "cells": planned.cells,
    }


def record() -> VerifyRecord:
    """Make a run of every way of 200 nodes, with one dead port."""
    layout = fabric(REPORT_NODES)
    cells = []
    for matches in tournament(REPORT_NODES):
        for pair in matches:
            for source, target in (pair, pair[::-1]):
                for rail in layout.rails:
                    bad = 7 in pair and rail == "rail3"
                    cells.append(
                        Cell(
                            f"c{len(cells):06d}",
                            layout.nodes[source],
                            layout.nodes[target],
                            rail,
                            rail,
                            Direction.WRITE,
                            MemoryKind.HOST,
                            "engine",
                            Verdict.FAIL if bad else Verdict.PASS,
                            reason="transport retry counter exceeded" if bad else "",
                            average_gbps=None if bad else 385.0,
                            sizes=() if bad else (SizePoint(65536, 384.0, 360.0), SizePoint(1 << 20, 385.0, 360.0)),
                        )
                    )
    planned = plan_run(layout, Options(families=("engine",)))
    summary = Summary(
        Verdict.FAIL, Verdict.SKIP, Verdict.PASS, "A benchmark.", 5, "east-west", "sriov", "benchmark", SIMULATED, "nothing",
        (), "2026-03-02T08:00:00Z", "2026-03-02T09:00:00Z", 3600.0,
    )  # fmt: skip
    coverage = Coverage(len(cells), {}, REPORT_NODES, REPORT_NODES, len(cells), len(cells))
    return VerifyRecord(summary, tuple(cells), (), coverage, planned.summary(), layout.seats)


def report(*, browser: bool) -> dict[str, float]:
    """Write the page, and open it."""
    made = record()
    began, used = time.perf_counter(), time.process_time()
    page = to_html(made)
    figures = {
        "cells": len(made.cells),
        "written_s": round(time.perf_counter() - began, 1),
        "written_cpu_s": round(time.process_time() - used, 1),
        "MB": round(len(page) / 1e6, 2),
    }
    path = shutil.which("chromium") if browser else None
    if path:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.html"
            for text, name in (("<p>empty", "empty_page_s"), (page, "page_s")):
                file.write_text(text)
                command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/p"]
                began = time.perf_counter()
                subprocess.run([*command, "--dump-dom", f"file://{file}"], check=True, capture_output=True)
                figures[name] = round(time.perf_counter() - began, 2)
    return figures


if __name__ == "__main__":
    print(
        json.dumps(
            {"budgets": BUDGETS, "schedule": schedule(), "report": report(browser="--browser" in sys.argv)}, indent=1
        )
    )
