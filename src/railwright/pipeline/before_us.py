"""
The world as plan has to see it, so that planning again gives the same plan: without us, but with what was chosen. Pure.

What we made is left out, and what we changed of others' objects is shown as it was: a driver that we added to
somebody's policy is still ours to want, not theirs to keep. What was chosen for a fabric when nothing was asked for
stays chosen, whatever other fabrics come and go.
"""

from dataclasses import replace

from railwright.apply.model import Ledger
from railwright.apply.ours import known_refs
from railwright.changes.invert import invert
from railwright.changes.tree import patched
from railwright.core import kinds
from railwright.core.ids import FabricName
from railwright.core.marks import MANAGED_BY, MANAGED_BY_LABEL, is_ours
from railwright.core.objects import KubeObject, Ref, labels_of
from railwright.facts.model import NodeFacts, Snapshot
from railwright.intent.model import Intent
from railwright.pipeline.undo_order import NETWORK_KINDS, nad_of
from railwright.plan.model import Decision, Plan
from railwright.plan.turns import OPERANDS

SEEN_AGAIN = frozenset(
    {
        kinds.SUBSCRIPTION,
        kinds.MACHINE_CONFIG,
        kinds.KUBELET_CONFIG,
        kinds.NODE_NETWORK_CONFIGURATION_POLICY,
        kinds.NV_IPAM_IP_POOL,
        kinds.NV_IPAM_CIDR_POOL,
        kinds.NODE_FEATURE_RULE,
        kinds.NODE_FEATURE_RULE_UPSTREAM,
    }
)
"""Kinds of ours that plan must see: the version that is installed, and what nodes and pods were given already."""


def before_us(snapshot: Snapshot, ledger: Ledger) -> Snapshot:
    """
    Leave out what we made, and take what we changed back to what it was.

    A field that somebody has changed after us is shown as it is.
    """
    objects = dict(snapshot.cluster.objects)
    for ref in sorted(known_refs(ledger, objects)):
        if ledger.entries[ref].created and ref.kind in SEEN_AGAIN:
            objects[ref] = _as_ours(objects[ref])
        elif ledger.entries[ref].created:
            network = objects.pop(ref)
            if ref.kind in NETWORK_KINDS:
                # What an operator made of a network of ours is nobody else's, whatever method made it.
                objects.pop(nad_of(ref, network), None)
        elif ledger.entries[ref].fields and not ledger.entries[ref].created:
            objects[ref] = _restored(ref, objects[ref], ledger)
    nodes = tuple(_without_hold(node, ledger) for node in snapshot.nodes)
    return replace(snapshot, cluster=replace(snapshot.cluster, objects=objects), nodes=nodes)


def _without_hold(node: NodeFacts, ledger: Ledger) -> NodeFacts:
    """Leave out the label by which we keep the GPU Operator off a node: what is left is somebody else's."""
    entry = ledger.entries.get(Ref(kinds.NODE, "", node.name))
    held = entry is not None and any(
        item.path[-1] == OPERANDS and item.ours == node.labels.get(OPERANDS) for item in entry.fields
    )
    if not held:
        return node
    return replace(node, labels={key: value for key, value in node.labels.items() if key != OPERANDS})


def _as_ours(obj: KubeObject) -> KubeObject:
    """Show an object that we made with its label, whoever took that off: who made it is the ledger's to say."""
    if is_ours(obj):
        return obj
    metadata = obj["metadata"]
    return {**obj, "metadata": {**metadata, "labels": {**labels_of(obj), MANAGED_BY_LABEL: MANAGED_BY}}}


def _restored(ref: Ref, live: KubeObject, ledger: Ledger) -> KubeObject:
    entry = ledger.entries[ref]
    change = invert(ref, created=False, uid=entry.uid, taken=entry.fields, embedded=entry.embedded, live=live)
    return patched(live, change.desired) if change is not None and change.desired else live


def in_order(intents: tuple[Intent, ...], ledger: Ledger) -> tuple[Intent, ...]:
    """Put fabrics that were applied already first: a new one takes what they leave."""
    applied = sorted((intent for intent in intents if intent.name in ledger.fabrics), key=lambda item: item.name)
    return (*applied, *(intent for intent in intents if intent.name not in ledger.fabrics))


def with_kept_choices(intents: tuple[Intent, ...], ledger: Ledger) -> tuple[Intent, ...]:
    """Give each applied fabric that asks for no subnets those that it got the first time."""
    return tuple(_with_kept_choices(intent, ledger) for intent in intents)


def _with_kept_choices(intent: Intent, ledger: Ledger) -> Intent:
    kept = _kept_subnets(intent, ledger)
    return replace(intent, network=replace(intent.network, subnets=kept)) if kept else intent


def _kept_subnets(intent: Intent, ledger: Ledger) -> tuple[str, ...]:
    note = ledger.fabrics.get(FabricName(intent.name))
    return note.subnets if note is not None and not _asks_for_subnets(intent) else ()


def _asks_for_subnets(intent: Intent) -> bool:
    return intent.network.subnets is not None or any(rail.subnet for rail in intent.rails or ())


def kept_decisions(intents: tuple[Intent, ...], ledger: Ledger) -> tuple[Decision, ...]:
    """Say of each kept choice where it comes from."""
    reason = "chosen when the fabric was applied for the first time; pods have addresses of it"
    return tuple(
        Decision(_subnets_key(intent), ", ".join(kept), "cluster", reason)
        for intent in intents
        if (kept := _kept_subnets(intent, ledger))
    )


def _subnets_key(intent: Intent) -> str:
    return f"{intent.name}: spec.network.subnets"


def choices_to_keep(intent: Intent, plan: Plan, ledger: Ledger) -> tuple[str, ...]:
    """Name the subnets that were chosen for a fabric which asks for none."""
    if _asks_for_subnets(intent):
        return ()
    kept = _kept_subnets(intent, ledger)
    return kept or tuple(item.value for item in plan.decisions if item.key == _subnets_key(intent))
