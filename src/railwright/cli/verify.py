"""`railwright verify`."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from railwright import api
from railwright.cli.consent import Consent
from railwright.cli.edge import run, show
from railwright.cli.keep import check_folder, check_no_run, keep_run, kept_in
from railwright.cli.options import Common, Wanted, check_image, names
from railwright.cli.progress import progress
from railwright.cli.wanted import intents_in

_BUDGET = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, None: 60.0}


@Parameter(name="*")
@dataclass(frozen=True)
class _Share:
    """How much of a fabric is looked at."""

    quick: bool = False
    """One round that touches every node, short, with the families that prove most."""
    budget: str | None = None
    """Run what fits into this time ("20m", "90s", "2h"), and say what is left out."""
    nodes: Annotated[list[str] | None, Parameter(name=["--nodes", "--node"])] = None
    """Only these nodes, by name; several in one argument are separated by commas."""
    rails: Annotated[list[str] | None, Parameter(name=["--rails", "--rail"])] = None
    """Only these rails ("rail0,rail1")."""
    families: Annotated[list[str] | None, Parameter(name=["--families", "--family"])] = None
    """Only these families of probes: engine, nixl, perftest, latency, cm, sweep, nccl."""
    cross_rail: bool = False
    """Also from each rail to the others, where the fabric routes between them."""
    include_busy: bool = False
    """Also nodes whose GPUs or rails pods use, and rails that carry traffic; takes only what is free."""

    def wish(self, image: str | None) -> api.Wish:
        """The same as an argument of the library. Raises UsageError for a family or a time that is none."""
        check_image(image)
        return api.Wish(
            options=api.Options(
                families=api.known_families(names("--families", self.families)),
                quick=self.quick,
                budget_s=_budget_s(self.budget),
                cross_rail=self.cross_rail,
            ),
            nodes=names("--nodes", self.nodes),
            rails=names("--rails", self.rails),
            include_busy=self.include_busy,
            image=image,
        )


def verify(
    *,
    wanted: Wanted = Wanted(),  # noqa: B008 - frozen
    share: _Share = _Share(),
    image: str | None = None,
    baseline: Path | None = None,
    to: Path | None = None,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Prove it: every node, every rail, host and GPU memory, with evidence; or say what is not so, and where.

    Holds the GPUs and rails of the nodes it looks at while it runs. Without -f and without ./rails.yaml: of the fabrics
    in the ledger. Exit code 5 when something was measured to be wrong, 6 when something could not be looked at.

    Args:
        wanted: the wanted state.
        share: how much of it is looked at.
        image: the image that pods run, with perftest for CUDA; with Python 3.11 in it every probe runs.
        baseline: an earlier run (a folder of --to): what is slower than it was is named.
        to: keep the run in this folder: report.html, record.json, junit.xml, raw replies.
        yes: don't ask before GPUs and rails are held.
        common: cluster and output.
    """

    async def action() -> int:
        wish = share.wish(image)
        check_no_run(to)
        check_folder(to)
        earlier = api.open_record(baseline) if baseline is not None else None
        async with await api.open_cluster(common.cluster) as world:
            record = await api.verify(
                world,
                intents_in(wanted),
                wish,
                name=wanted.name,
                baseline=earlier,
                approval=Consent(yes=yes, take_over=False),
                shown=lambda planned: _tell(planned, quiet=common.quiet),
                progress=progress(quiet=common.quiet),
            )
        if to is not None:
            keep_run(to, record)
            if not common.quiet:
                sys.stderr.write(kept_in(to))
        return show(api.verify_document(record), common)

    return run(action, common, writes=True)


def _tell(planned: api.PlannedRun, *, quiet: bool) -> None:
    if not quiet:
        sys.stderr.write(api.planned_run_text(planned))


def _budget_s(text: str | None) -> float | None:
    """Read "20m". Raises UsageError for anything but a number with s, m or h."""
    if text is None:
        return None
    match = _BUDGET.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise api.UsageError(f"--budget {text!r} is no duration", hint="such as 20m, 90s or 2h")
    return float(match[1]) * _SECONDS[match[2]]
