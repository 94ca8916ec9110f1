"""`railwright apply`."""

from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from railwright import api
from railwright.cli.consent import Consent
from railwright.cli.edge import run, show
from railwright.cli.options import Common, Wanted
from railwright.cli.progress import progress
from railwright.cli.wanted import required_intents, typed


def apply(
    *,
    wanted: Wanted = Wanted(),  # noqa: B008 - frozen
    until: str | None = None,
    dry_run: bool = False,
    yes: Annotated[bool, Parameter(name=["--yes", "-y"])] = False,
    take_over: bool = False,
    skip_verify: bool = False,
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Do it: stage by stage, each with a gate; interrupt it and run it again whenever you like.

    Asks before every risk (driver reload, drain, reboot). Exit code 4 when a stage is not ready in time.

    Args:
        wanted: the wanted state.
        until: stop after this stage.
        dry_run: let the API server check every object; nothing is stored.
        yes: consent to every risk; without a terminal and without it, a risk is refused (exit 7).
        take_over: consent to overwriting fields that somebody else owns.
        skip_verify: don't end with verify --quick, which holds GPUs and rails that nobody uses for some minutes.
        common: cluster and output.
    """

    async def action() -> int:
        intents = required_intents(wanted)
        async with await api.open_cluster(common.cluster) as world:
            record = await api.apply(
                world,
                intents,
                approval=Consent(yes=yes, take_over=take_over),
                until=api.StageName(until) if until else None,
                dry_run=dry_run,
                take_over=take_over,
                verify=not skip_verify,
                progress=progress(quiet=common.quiet),
            )
            findings = api.as_typed(record.findings, typed(wanted, common))
            return show(api.apply_document(replace(record, findings=findings)), common)

    return run(action, common, writes=True)
