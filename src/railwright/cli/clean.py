"""`railwright clean`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from railwright import api
from railwright.cli.consent import Consent
from railwright.cli.edge import run, show
from railwright.cli.options import Common
from railwright.cli.progress import progress
from railwright.cli.wanted import names_in


def clean(
    *,
    file: Annotated[Path | None, Parameter(name=["--file", "-f"], allow_leading_hyphen=True)] = None,
    name: str | None = None,
    dry_run: bool = False,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Remove what apply made and put back what it changed; nothing else.

    A field that no longer holds our value stays, and is named. Without -f and --name every fabric in the ledger goes;
    ./rails.yaml is not read by itself.

    Args:
        file: only the fabrics that this file names; "-" is stdin.
        name: only this fabric.
        dry_run: show what would be removed and put back.
        yes: consent to every risk; without a terminal and without it, a risk is refused (exit 7).
        common: cluster and output.
    """

    async def action() -> int:
        async with await api.open_cluster(common.cluster) as world:
            record = await api.clean(
                world,
                names_in(file, name),
                approval=Consent(yes=yes, take_over=False, quiet=common.quiet),
                dry_run=dry_run,
                progress=progress(quiet=common.quiet),
            )
            return show(api.clean_document(record), common)

    return run(action, common, writes=True)
