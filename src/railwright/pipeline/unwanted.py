"""
What earlier applies made and the plan no longer wants: rails that are gone from the file, another method's networks.

Only with a plan that leaves no node out: what a refused node still uses is missing from the plan as well, and must
not be taken from under it. Operators, namespaces and node labels stay in any case, until clean; node configuration
stays while any node is refused, admitted before or not: its removal reboots nodes, perhaps for nothing. A pool that is
waited for is nothing to remove.
"""

from railwright.apply.model import Ledger, LedgerEntry
from railwright.core import kinds
from railwright.core.risk import Risk
from railwright.pipeline.model import Prepared
from railwright.pipeline.runs import pods_on
from railwright.pipeline.undo_order import VF_KINDS
from railwright.pipeline.verifier_pods import is_of_a_run
from railwright.ports.approval import Question
from railwright.report.tables import count

_STAY = frozenset(
    {
        kinds.NAMESPACE,
        kinds.NODE,
        kinds.INSTALL_PLAN,
        kinds.SUBSCRIPTION,
        kinds.OPERATOR_GROUP,
        kinds.CLUSTER_SERVICE_VERSION,
        kinds.MACHINE_CONFIG_POOL,
    }
)
_REBOOT = frozenset({kinds.MACHINE_CONFIG, kinds.KUBELET_CONFIG})


def unwanted(ledger: Ledger, prepared: Prepared) -> tuple[LedgerEntry, ...]:
    """Find entries that no fabric wants any more."""
    if any(node.refused and node.was_admitted for node in prepared.plan.nodes):
        return ()
    wanted = {item.ref for item in prepared.manifests.items}
    stay = _STAY | _REBOOT if any(node.refused for node in prepared.plan.nodes) else _STAY
    return tuple(
        entry
        for ref, entry in ledger.entries.items()
        if ref not in wanted and ref.kind not in stay and not is_of_a_run(entry)
    )


def removal_question(entries: tuple[LedgerEntry, ...], prepared: Prepared) -> Question | None:
    """Ask before removing what may hurt; None when nothing of it does."""
    stages = {stage.name: stage for stage in prepared.plan.stages}
    touched = [stages[entry.stage] for entry in entries if entry.stage in stages and not _is_awaited(entry, prepared)]
    risk = max((stage.risk for stage in touched), key=lambda item: item.rank, default=Risk.NONE)
    if risk is Risk.NONE:
        return None
    nodes = prepared.plan.admitted
    return Question(
        risk=risk,
        what=f"removes what the plan no longer wants: {count(len(entries), 'object')}",
        nodes=nodes,
        expected_s=max(stage.expected_s for stage in touched),
        # One a line: all of them on one are too long to read.
        details=(*(str(entry.ref) for entry in entries), *pods_on(nodes, prepared)),
    )


def _is_awaited(entry: LedgerEntry, prepared: Prepared) -> bool:
    """Whether it is gone already, and only the VFs that it asked for are waited for still."""
    return entry.ref.kind in VF_KINDS and entry.ref not in prepared.snapshot.cluster.objects
