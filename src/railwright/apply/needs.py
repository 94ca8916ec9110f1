"""What writing, waiting and undoing take: each function says what its neighbour in this package asks for. Pure."""

from collections.abc import Iterable

from railwright.apply import approve
from railwright.apply.ledger import NAMESPACE_REF
from railwright.apply.model import CsvApproval, LedgerEntry, StageChanges
from railwright.apply.observe import selections_of
from railwright.changes.model import Action, Change
from railwright.core import kinds
from railwright.core.marks import LEDGER_NAMESPACE
from railwright.core.needs import Need, of_kind, of_ref
from railwright.core.objects import KubeObject, Ref, dig, kind_of
from railwright.ports.cluster import Selection

_GRANTING = frozenset({kinds.ROLE, kinds.CLUSTER_ROLE})


def ledger_needs(*, has_namespace: bool) -> tuple[Need, ...]:
    """Keep the ledger: its namespace, which is made when it is not there, and ConfigMaps in it."""
    maps = of_kind("create get list patch", kinds.CONFIG_MAP, LEDGER_NAMESPACE)
    return (*of_ref("get" if has_namespace else "create get patch", NAMESPACE_REF), *maps)


def change_needs(change: Change) -> tuple[Need, ...]:
    """
    Carry one change out (`Writer.write`).

    Whoever makes a Role must hold what it grants: kube-apiserver refuses an escalation.
    Source: Kubernetes documentation, Using RBAC Authorization, Restrictions on role creation or update.
    """
    writes = change.action is not Action.UNCHANGED and (change.action is not Action.ADOPT or bool(change.fields))
    needs = of_ref("get", change.ref)
    if writes:
        needs += of_ref("patch", change.ref) + granted(change.desired)
    if change.action is Action.CREATE:
        needs += of_ref("create", change.ref)
    return needs


def granted(obj: KubeObject) -> tuple[Need, ...]:
    """Give what a Role grants: its maker, and the maker of its binding, must hold it too."""
    if kind_of(obj) not in _GRANTING:
        return ()
    namespace = str(dig(obj, "metadata", "namespace", default=""))
    return tuple(
        Need(group, resource, verb, namespace, name, held=True)
        for rule in dig(obj, "rules", default=())
        for group in rule.get("apiGroups", ())
        for resource in rule.get("resources", ())
        for verb in rule.get("verbs", ())
        for name in rule.get("resourceNames") or ("",)
    )


def gate_needs(stage: StageChanges) -> tuple[Need, ...]:
    """Wait for a stage (`Gate`), and approve InstallPlans meanwhile."""
    watched = selections_of(stage.gated, stage.expectations, approve.selections(stage.approvals))
    return (*watch_needs(watched), *look_needs(watched), *_approval_needs(stage.approvals))


def _approval_needs(approvals: Iterable[CsvApproval]) -> tuple[Need, ...]:
    """Approve: their names are OLM's, so that any of the namespace may be meant."""
    return tuple(need for item in approvals for need in of_kind("patch", kinds.INSTALL_PLAN, item.namespace))


def look_needs(selections: Iterable[Selection]) -> tuple[Need, ...]:
    """Read selections as `Observer` does: one object by its name, else a list."""
    return tuple(
        need
        for item in selections
        for need in of_kind("get" if item.name else "list", item.kind, item.namespace, item.name)
    )


def watch_needs(selections: Iterable[Selection]) -> tuple[Need, ...]:
    """Watch selections: each begins with a list of one, that says where the collection stands."""
    return tuple(need for item in selections for need in of_kind("list watch", item.kind, item.namespace, item.name))


def undo_needs(entries: Iterable[LedgerEntry], also_gone: Iterable[Ref] = ()) -> tuple[Need, ...]:
    """Undo entries (`undo_step`): delete what we made and wait until it is gone, patch what we changed."""
    needs: list[Need] = []
    for entry in entries:
        needs += of_ref("get", entry.ref)
        if entry.ref.kind == kinds.INSTALL_PLAN:
            continue
        needs += of_ref("delete list watch" if entry.created else "patch", entry.ref)
    for ref in also_gone:
        needs += of_ref("get list watch", ref)
    return tuple(needs)
