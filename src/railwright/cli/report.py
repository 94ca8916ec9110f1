"""`railwright report show|diff`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.keep import check_folder, keep_run
from railwright.cli.options import Common, refuse_cluster


def report(
    what: Literal["show", "diff"],
    *folders: Annotated[Path, Parameter(help="Folders that verify --to wrote: one to show, two to compare.")],
    to: Path | None = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Look at an earlier run of verify, or compare two; no cluster needed.

    Exit code of `show`: as the run had it; of `diff`: 5 when something got worse.

    Args:
        what: show one run, or diff two (the earlier first).
        folders: folders that verify --to wrote.
        to: show: write the report's files anew into this folder, from the record alone.
        common: output; no cluster is asked.
    """

    async def action() -> int:
        refuse_cluster("report", common)
        expected = 1 if what == "show" else 2
        if len(folders) != expected:
            message = f"report {what} takes {'one folder' if expected == 1 else 'two folders'}, not {len(folders)}"
            raise api.UsageError(message, hint=f"railwright report {what} {'DIR' if expected == 1 else 'BEFORE AFTER'}")
        if what == "diff" and to is not None:
            message = "report diff has no use for --to: it writes no files"
            raise api.UsageError(message, hint="railwright report diff BEFORE AFTER -o json > FILE")
        records = [api.open_record(folder) for folder in folders]
        if what == "diff":
            return show(api.verify_diff_document(*records), common)
        if to is not None:
            check_folder(to)
            keep_run(to, records[0])
        return show(api.verify_document(records[0]), common)

    return run(action, common)
