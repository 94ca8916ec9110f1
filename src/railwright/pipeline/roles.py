"""From a command and how much is known to the rights that are granted for it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from railwright.core import kinds
from railwright.core.errors import UsageError
from railwright.core.ids import StageName
from railwright.core.marks import LEDGER_NAMESPACE
from railwright.core.needs import Need, plural_of
from railwright.facts.model import Platform
from railwright.pipeline.model import Prepared
from railwright.pipeline.needs import COMMANDS, Extent, made_namespaces
from railwright.plan.stages import TABLE
from railwright.report.rbac import Grant

_ALWAYS = ("default", "kube-system")
_OPENSHIFTS = ("openshift", "openshift-machine-config-operator", "openshift-multus")
"""Of the namespaces that are looked into: those that come with every cluster, and with every OpenShift."""


@dataclass(frozen=True)
class Surroundings:
    """What the adapters ask for: to find out what is served, to ask for rights, to look into nodes."""

    client: tuple[Need, ...]
    asking: tuple[Need, ...]
    doors: tuple[Need, ...]


@dataclass(frozen=True)
class RoleWish:
    """
    How a command will be run, and by whom.

    Attributes:
        prepared: a plan made with the cluster, so that every object is named; None for any plan.
        until: the last stage of an apply.
        verify: whether an apply ends with a quick verify.
        unprivileged: without looking into nodes, and without SCCs.
        subject: "User:NAME", "Group:NAME" or "ServiceAccount:NAMESPACE/NAME"; "" for nobody yet.
    """

    prepared: Prepared | None = None
    until: StageName | None = None
    verify: bool = True
    unprivileged: bool = False
    subject: str = ""


def grant_of(command: str, wish: RoleWish, around: Surroundings) -> Grant:
    """
    Say what to grant for a command.

    Raises:
        UsageError: no such command or stage, or one that cannot do without.
    """
    extent = Extent(wish.prepared, wish.until, wish.verify)
    known = COMMANDS.get(command)
    if known is None:
        message = f"{command!r} is no command that talks to a cluster"
        raise UsageError(message, hint=f"one of {', '.join(COMMANDS)}")
    stages = tuple(row.name for row in TABLE)
    if wish.until is not None and wish.until not in stages:
        raise UsageError(f"no stage is named {wish.until!r}", hint="stages: " + ", ".join(stages))
    asks = known.outside if wish.unprivileged else known.needs
    if asks is None:
        able = ", ".join(name for name, item in COMMANDS.items() if item.outside)
        message = f"{command} cannot do without looking into nodes"
        raise UsageError(message, hint=f"--unprivileged is for {able}")
    needs = (*around.client, *asks(extent), *(around.asking if known.writes else ()))
    needs = _unprivileged(needs) if wish.unprivileged else (*needs, *around.doors)
    made = made_namespaces(extent) if command == "apply" else ()
    needs = tuple(_there(needs, extent, {obj["metadata"]["name"] for obj in made}))
    cluster = extent.prepared.snapshot.cluster if extent.prepared else None
    return Grant(
        command=command,
        needs=needs,
        made=made,
        subject=wish.subject,
        notes=_notes(extent, unprivileged=wish.unprivileged),
        cluster=cluster.name if cluster else "",
        simulated=cluster.simulated if cluster else False,
    )


def _unprivileged(needs: Iterable[Need]) -> tuple[Need, ...]:
    constraints = plural_of(kinds.SECURITY_CONTEXT_CONSTRAINTS)
    return tuple(need for need in needs if need.resource not in {constraints, "pods/exec"})


def _there(needs: Iterable[Need], extent: Extent, made: set[str]) -> Iterable[Need]:
    """
    Leave out Roles in namespaces that are not there, and making namespaces that the roles bring with them.

    Of an operator's namespace labels are written, too; the ledger's and a workload's are only made.
    """
    prepared = extent.prepared
    there = None
    if prepared is not None:
        cluster = prepared.snapshot.cluster
        there = {ref.name for ref in cluster.objects if ref.kind == kinds.NAMESPACE} | made | set(_ALWAYS)
        there |= set(_OPENSHIFTS) if cluster.platform is Platform.OPENSHIFT else set()
    done = {name: {"create"} if name in extent.namespaces else {"create", "get", "patch"} for name in made}
    done[LEDGER_NAMESPACE] = {"create", "patch"}
    for need in needs:
        if need.resource == plural_of(kinds.NAMESPACE) and need.name in made and need.verb in done[need.name]:
            continue
        if there is None or not need.namespace or need.namespace in there:
            yield need
        elif need.name and need.verb == "get":
            # No Role can be there, and to see that an object is absent is to ask for it: by name, it may be anywhere.
            yield replace(need, namespace="")


def _notes(extent: Extent, *, unprivileged: bool) -> tuple[str, ...]:
    notes = []
    if extent.prepared is None:
        notes.append("For any plan and any cluster: with -f rails.yaml and --cluster it names every object.")
        notes.append("A Role whose namespace is not there can be left out.")
    if unprivileged:
        notes.append("Without looking into nodes and without SCCs: what would be seen there is UNKNOWN (exit 6).")
    return tuple(notes)
