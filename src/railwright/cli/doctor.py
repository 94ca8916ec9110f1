"""`railwright doctor`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import DEFAULT_FILE, Common, Wanted
from railwright.cli.pasted import read_log
from railwright.cli.progress import progress
from railwright.cli.wanted import intents_in, typed
from railwright.cli.ways import Ways

FailOn = Literal["info", "warning", "error", "never"]


def doctor(
    *,
    wanted: Wanted = Wanted(),  # noqa: B008 - frozen
    only: list[str] | None = None,
    skip: list[str] | None = None,
    node: list[str] | None = None,
    fail_on: FailOn = "error",
    log: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    fix: bool = False,
    ways: Ways = Ways(),  # noqa: B008 - frozen
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Say what is wrong, with evidence, cause and remedy; of a cluster, an archive, or pasted text.

    Exit code 5 for a finding at --fail-on or worse, or a wanted state that the plan refuses; 6 when something could not
    be looked at; 0 when nothing is at --fail-on or worse. Without -f and without ./rails.yaml: of the fabrics in the
    ledger, if any.

    Args:
        wanted: the wanted state.
        only: ask only these rules; may be given several times.
        skip: leave these rules out; may be given several times.
        node: show only what concerns these nodes; may be given several times.
        fail_on: from which severity on findings make the exit code 5.
        log: read log lines from this file instead of a cluster; "-" is stdin.
        fix: carry out remedies that have no risk, through the ledger; the others are printed.
        ways: how nodes are looked into.
        common: cluster and output.
    """

    async def action() -> int:
        threshold = None if fail_on == "never" else api.Severity(fail_on)
        asked = api.Asked(
            only=api.known_rules(only or []),
            skip=api.known_rules(skip or []),
            nodes=frozenset(api.NodeName(name) for name in node or ()),
            fix=fix,
            fail_on=threshold,
            wanted_from=_origin(wanted),
            typed=typed(wanted, common),
        )
        if log is not None:
            return show(api.text_document(api.diagnose_text(read_log(log), asked), fail_on=threshold), common)
        async with await api.open_cluster(common.cluster, ways.access) as world:
            record = await api.diagnose(world, intents_in(wanted), asked, progress=progress(quiet=common.quiet))
            return show(api.diagnosis_document(record), common)

    return run(action, common, writes=fix)


def _origin(wanted: Wanted) -> str:
    """Name the file of the wanted state, and say so where nobody named it."""
    if wanted.file is not None:
        return str(wanted.file)
    return f"./{DEFAULT_FILE} (found here, no -f was given)" if DEFAULT_FILE.exists() else ""
