"""`railwright explain`."""

from collections.abc import Mapping
from typing import Annotated

from cyclopts import Parameter

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common, Wanted
from railwright.cli.progress import progress
from railwright.cli.wanted import intents_in


def explain(
    key: str | None = None,
    /,
    *,
    rbac: str | None = None,
    unprivileged: bool = False,
    skip_verify: bool = False,
    until: str | None = None,
    subject: Annotated[str, Parameter(show_default=False)] = "",
    wanted: Wanted = Wanted(),  # noqa: B008 - frozen
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Say what a key of rails.yaml, an error, a refusal, a stage or a rule means, and where a value comes from.

    With rails.yaml and a cluster it also gives the value in force. With --rbac it prints the least roles for a command.

    Args:
        key: "spec.network.mtu", "gate-timeout", "uplink-would-be-cut", "vfs-ready"; "all" lists every one.
        rbac: print the roles that this command needs, for `oc apply -f -`; with a cluster every object is named.
        unprivileged: with --rbac of discover, status, doctor, collect: without looking into nodes, and without SCCs.
        skip_verify: with --rbac apply: as for apply --skip-verify.
        until: with --rbac apply: as for apply --until.
        subject: with --rbac: bind them to User:NAME, Group:NAME or ServiceAccount:NAMESPACE/NAME.
        wanted: the wanted state.
        common: cluster and output.
    """

    async def action() -> int:
        if (key is None) == (rbac is None):
            message = "explain takes a key, or --rbac COMMAND"
            raise api.UsageError(message, hint="railwright explain all lists every key and code")
        _refuse_unused(
            rbac, {"--unprivileged": unprivileged, "--skip-verify": skip_verify, "--until": until, "--subject": subject}
        )
        prepared = await _planned(wanted, common, always=rbac is not None)
        if rbac is None:
            return show(api.explain(str(key), prepared.plan if prepared else None, intents_in(wanted) or ()), common)
        last = api.StageName(until) if until else None
        wish = api.RoleWish(prepared, last, not skip_verify, unprivileged, subject)
        return show(api.rbac(rbac, wish), common)

    return run(action, common)


def _refuse_unused(rbac: str | None, given: Mapping[str, object]) -> None:
    """Refuse what would change nothing of what is printed. Raises UsageError."""
    used = {"--subject", "--unprivileged"} if rbac is not None else set()
    used |= {"--skip-verify", "--until"} if rbac == "apply" else set()
    useless = sorted(name for name, value in given.items() if value and name not in used)
    if useless:
        of = f"--rbac {rbac}" if rbac is not None else "without --rbac"
        raise api.UsageError(f"explain {of} has no use for {', '.join(useless)}", hint="railwright explain --help")


async def _planned(wanted: Wanted, common: Common, *, always: bool) -> api.Prepared | None:
    """Plan with the cluster that was named; `always`: also without a file, for the fabrics in the ledger."""
    intents = intents_in(wanted)
    if not common.cluster and (wanted.file is None or always):
        return None
    if intents is None and not always:
        return None
    async with await api.open_cluster(common.cluster) as world:
        return await api.plan(world, intents or (), progress=progress(quiet=common.quiet))
