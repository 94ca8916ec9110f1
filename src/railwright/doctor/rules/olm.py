"""OLM: whether operators get installed at all, and run."""

from collections.abc import Iterator

from railwright.core import kinds
from railwright.core.ids import RuleId
from railwright.core.objects import KubeObject, dig, ref_of
from railwright.doctor.commands import oc, oc_patch, patch_of
from railwright.doctor.model import (
    Condition,
    Evidence,
    Finding,
    Layer,
    Remedy,
    Rule,
    RuleInfo,
    Severity,
    Unknown,
    conclude,
)
from railwright.doctor.needs import objects
from railwright.doctor.operators import Installed
from railwright.doctor.pace import is_new, seconds_since
from railwright.doctor.pods import USUAL_LIMIT_S
from railwright.doctor.seen import Seen
from railwright.doctor.subjects import OPERATORS, SUBSCRIPTIONS
from railwright.readiness.answers import condition, holds, message_of
from railwright.readiness.kinds.olm import judge_subscription
from railwright.readiness.model import Companions, Readiness

_OLM_KINDS = (
    kinds.SUBSCRIPTION,
    kinds.OPERATOR_GROUP,
    kinds.CLUSTER_SERVICE_VERSION,
    kinds.INSTALL_PLAN,
    kinds.CATALOG_SOURCE,
)

OPERATOR_NOT_INSTALLED = RuleInfo(
    name=RuleId("operator-not-installed"),
    title="OLM does not bring an operator to the end of its installation",
    layer=Layer.OPERATORS,
    severity=Severity.ERROR,
    text="A Subscription is there and its operator is not. OLM installs only where the namespace has exactly one "
    "OperatorGroup, and only if the operator supports the namespaces which that group names: with none or several it does "
    "nothing, and writes nothing about it. Else the catalog cannot be reached or lacks package, channel or version; two "
    "Subscriptions ask for one package; the InstallPlan waits for approval, or failed; the CSV misses requirements or "
    "failed. An upgrade that waits for approval beside a running operator is no finding; an installation that gets on is a "
    "warning for its first 15 minutes.",
    source="Measured: OLM 0.46.0 with the published bundles of the four operators against kube-apiserver 1.36.3, "
    "2026-11-30",
    needs=(objects(*_OLM_KINDS),),
    uses=(objects(kinds.DEPLOYMENT),),
    leads_to=(Condition.OPERATOR_MISSING,),
    shows=(Condition.OPERATOR_MISSING, Condition.POD_NOT_STARTED, Condition.POD_CRASHES),
    subject=SUBSCRIPTIONS,
)


def judge_installation(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look at each Subscription's OperatorGroup first: without the right one nothing else counts."""
    yield from _groups(seen)
    yield from _subscriptions(seen)


def _groups(seen: Seen) -> Iterator[Finding | Unknown]:
    """Count the OperatorGroups of each namespace that an operator is subscribed in, and read what they select."""
    for operator in _subscribed(seen):
        groups = seen.of_kind(kinds.OPERATOR_GROUP, operator.namespace)
        if len(groups) == 1:
            yield from _wrong_targets(seen, operator, groups[0])
            continue
        if not groups and not seen.is_whole(kinds.OPERATOR_GROUP, operator.namespace):
            continue
        names = ", ".join(str(group["metadata"]["name"]) for group in groups) or "none"
        cause = (
            f"Namespace {operator.namespace} has {len(groups)} OperatorGroups ({names}): OLM installs "
            f"{operator.package} only with exactly one, and says nothing about it."
        )
        command = (
            f"oc -n {operator.namespace} delete operatorgroup NAME"
            if groups
            else f"railwright apply --until operators-installed   # or: oc -n {operator.namespace} create -f OPERATORGROUP"
        )
        yield conclude(
            OPERATOR_NOT_INSTALLED,
            cause,
            evidence=(Evidence(f"namespace {operator.namespace}", "OperatorGroups", names),),
            remedy=Remedy(
                "Leave exactly one, with targetNamespaces of this namespace; keep the one whose maker still wants it.",
                (f"oc -n {operator.namespace} get operatorgroup -o yaml", command),
            ),
            about=(operator.thing,),
        )


def _wrong_targets(seen: Seen, operator: Installed, group: KubeObject) -> Iterator[Finding]:
    csv = seen.get(kinds.CLUSTER_SERVICE_VERSION, operator.csv, operator.namespace) if operator.csv else None
    candidates = [csv] if csv else list(seen.of_kind(kinds.CLUSTER_SERVICE_VERSION, operator.namespace))
    bad = next((item for item in candidates if dig(item, "status", "reason") == "UnsupportedOperatorGroup"), None)
    if bad is None:
        return
    targets = dig(group, "spec", "targetNamespaces", default=None)
    wanted = {"targetNamespaces": [operator.namespace]}
    yield conclude(
        OPERATOR_NOT_INSTALLED,
        f"{ref_of(group)} is for {targets or 'all namespaces'}, which {operator.package} does not support.",
        evidence=(
            Evidence(str(ref_of(group)), "spec.targetNamespaces", str(targets or "not set: all namespaces")),
            Evidence(str(ref_of(bad)), "status.reason", message_of(bad.get("status"))),
        ),
        remedy=Remedy(
            f"Let the group select only {operator.namespace}.",
            (oc_patch(ref_of(group), spec=wanted),),
            patch=patch_of(ref_of(group), spec=wanted),
        ),
        about=(operator.thing,),
    )


def _subscriptions(seen: Seen) -> Iterator[Finding | Unknown]:
    """Judge each Subscription as the gates of apply do, and say what stands in its way."""
    if not all(map(seen.is_whole, _OLM_KINDS)):
        return
    companions = seen.companions
    for operator in _subscribed(seen):
        if operator.subscription is None or len(seen.of_kind(kinds.OPERATOR_GROUP, operator.namespace)) != 1:
            continue
        answer = judge_subscription(operator.subscription, companions, None, seen.now)
        if answer.readiness is Readiness.READY or "UnsupportedOperatorGroup" in answer.reason:
            continue
        if answer.readiness is Readiness.UNKNOWN:
            yield Unknown(OPERATOR_NOT_INSTALLED.name, str(ref_of(operator.subscription)), answer.reason, "look at it")
            continue
        plan = _waiting_plan(seen, operator)
        begins = answer.readiness is Readiness.PROGRESSING and _has_begun(seen, operator)
        state = "is being installed" if begins else "is subscribed and not there"
        yield conclude(
            OPERATOR_NOT_INSTALLED,
            f"{operator.package} {state}: {answer.waiting_for or answer.reason}",
            evidence=tuple(_olm_evidence(seen, operator)),
            remedy=_olm_remedy(operator, plan, companions),
            about=(operator.thing,),
            severity=Severity.WARNING if begins else None,
        )


def _has_begun(seen: Seen, operator: Installed) -> bool:
    """Whether OLM is at it: Subscription, InstallPlan or CSV were made a short time ago."""
    name = str(dig(operator.subscription, "status", "installPlanRef", "name", default=""))
    current = str(dig(operator.subscription, "status", "currentCSV", default=""))
    steps = (
        operator.subscription,
        seen.get(kinds.INSTALL_PLAN, name, operator.namespace),
        seen.get(kinds.CLUSTER_SERVICE_VERSION, current, operator.namespace),
    )
    return any(is_new(seen, step) for step in steps)


def _waiting_plan(seen: Seen, operator: Installed) -> KubeObject | None:
    name = str(dig(operator.subscription, "status", "installPlanRef", "name", default=""))
    plan = seen.get(kinds.INSTALL_PLAN, name, operator.namespace) if name else None
    return plan if plan is not None and not dig(plan, "spec", "approved", default=False) else None


def _olm_evidence(seen: Seen, operator: Installed) -> Iterator[Evidence]:
    subscription = operator.subscription or {}
    thing = str(ref_of(subscription))
    for name in ("ResolutionFailed", "CatalogSourcesUnhealthy", "BundleUnpackFailed", "InstallPlanFailed"):
        if holds(subscription, name):
            yield Evidence(thing, f"condition {name}", message_of(condition(subscription, name)))
    yield Evidence(thing, "status.state", str(dig(subscription, "status", "state", default="not written")))
    source, place = dig(subscription, "spec", "source", default=""), dig(subscription, "spec", "sourceNamespace")
    catalog = seen.get(kinds.CATALOG_SOURCE, str(source), str(place or ""))
    if catalog is None:
        yield Evidence(thing, "spec.source", f"{source}: there is no such CatalogSource in {place}")
    else:
        state = str(dig(catalog, "status", "connectionState", "lastObservedState", default=""))
        if state and state != "READY":
            yield Evidence(str(ref_of(catalog)), "connectionState", state)
    for csv in seen.of_kind(kinds.CLUSTER_SERVICE_VERSION, operator.namespace):
        if str(csv["metadata"]["name"]).startswith(f"{operator.package}.") and not _has_succeeded(csv):
            phase = str(dig(csv, "status", "phase", default=""))
            yield Evidence(str(ref_of(csv)), f"phase {phase}", message_of(csv.get("status")))


def _has_succeeded(csv: KubeObject) -> bool:
    return bool(dig(csv, "status", "phase") == "Succeeded")


def _olm_remedy(operator: Installed, plan: KubeObject | None, companions: Companions) -> Remedy:
    namespace = operator.namespace
    if plan is not None:
        name = plan["metadata"]["name"]
        wanted = ", ".join(dig(plan, "spec", "clusterServiceVersionNames", default=[]))
        return Remedy(
            f"InstallPlan {name} for {wanted} waits for approval: approve it once that is the version you want.",
            (
                f'oc -n {namespace} patch installplan {name} --type merge -p \'{{"spec":{{"approved":true}}}}\'',
                "railwright apply --until operators-installed   # approves exactly the planned version",
            ),
        )
    twins = [
        item
        for item in companions.of_kind(kinds.SUBSCRIPTION, namespace)
        if dig(item, "spec", "name") == operator.package
    ]
    if len(twins) > 1:
        names = " ".join(str(item["metadata"]["name"]) for item in twins)
        return Remedy(
            f"Delete all but one of the Subscriptions for {operator.package}: {names}.",
            (f"oc -n {namespace} delete subscriptions.operators.coreos.com NAME",),
        )
    return Remedy(
        "Mend what the evidence names (catalog, channel, mirrored packages, requirements), then let OLM try again.",
        (
            f"oc -n {namespace} describe subscriptions.operators.coreos.com,csv,installplan",
            f"oc get packagemanifests {operator.package} -o yaml | grep -A3 'channels\\|catalogSource'",
        ),
    )


CONTROLLER_DOWN = RuleInfo(
    name=RuleId("operator-controller-down"),
    title="An operator's controller is installed and does not run",
    layer=Layer.OPERATORS,
    severity=Severity.ERROR,
    text="A controller that is not available changes nothing and writes no status, so what its resources say is old; "
    "while a webhook that it serves is down, the API server refuses changes of those resources altogether. A warning for "
    "the first 15 minutes.",
    source="Measured: Network Operator 26.4.1, GPU Operator 26.7.0 and SR-IOV network operator 1.6.0 against "
    "kube-apiserver 1.36.3, 2026-11",
    needs=(objects(kinds.DEPLOYMENT, kinds.SUBSCRIPTION),),
    leads_to=(Condition.OPERATOR_MISSING,),
    shows=(Condition.POD_CRASHES, Condition.POD_NOT_STARTED),
    subject=OPERATORS,
)


def judge_controllers(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look at the Deployment of every operator that is there; those that are down for one reason are one finding."""
    down: dict[bool, list[tuple[Installed, KubeObject]]] = {}
    for operator in (item for items in seen.operators.values() for item in items):
        if operator.deployment is not None and not _is_available(operator.deployment):
            is_scaled_down = int(dig(operator.deployment, "spec", "replicas", default=1)) == 0
            down.setdefault(is_scaled_down, []).append((operator, operator.deployment))
    for is_scaled_down, found in down.items():
        yield _down(found, is_scaled_down=is_scaled_down, begins=all(_begins(seen, item) for _, item in found))


def _begins(seen: Seen, deployment: KubeObject) -> bool:
    """Whether it is made, or has lost its pods, a short time ago: it starts, or its node restarts."""
    since = seconds_since((condition(deployment, "Available") or {}).get("lastTransitionTime"), seen.now)
    return is_new(seen, deployment) or (since is not None and since < USUAL_LIMIT_S)


def _down(found: list[tuple[Installed, KubeObject]], *, is_scaled_down: bool, begins: bool) -> Finding:
    names = ", ".join(operator.package for operator, _ in found)
    operator, deployment = found[0]
    name = deployment["metadata"]["name"]
    if is_scaled_down:
        cause = f"The controllers of {names} are scaled to 0: nobody runs them."
        remedy = Remedy("Scale them up again.", tuple(oc(ref_of(item), "scale", "--replicas 1") for _, item in found))
    else:
        cause = f"No pod of the controllers of {names} is available, so they do nothing."
        remedy = Remedy(
            "See why their pods do not run; other findings name the pod where its state tells.",
            (
                f"oc -n {operator.namespace} describe pods",
                f"oc -n {operator.namespace} logs deployment/{name} --all-containers --tail 60",
            ),
        )
    return conclude(
        CONTROLLER_DOWN,
        cause,
        evidence=[
            Evidence(str(ref_of(item)), "condition Available", message_of(condition(item, "Available")) or "not True")
            for _, item in found
        ],
        remedy=remedy,
        about=(item.thing for item, _ in found),
        severity=Severity.WARNING if begins and not is_scaled_down else None,
    )


def _is_available(deployment: KubeObject) -> bool:
    if int(dig(deployment, "spec", "replicas", default=1)) == 0:
        return False
    status = dig(deployment, "status", default={})
    if "conditions" not in status:
        return True
    return holds(deployment, "Available") or int(status.get("availableReplicas") or 0) > 0


def _subscribed(seen: Seen) -> tuple[Installed, ...]:
    return tuple(item for items in seen.operators.values() for item in items if item.subscription is not None)


RULES = (
    Rule(OPERATOR_NOT_INSTALLED, judge_installation),
    Rule(CONTROLLER_DOWN, judge_controllers),
)
