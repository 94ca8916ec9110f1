"""Which version of each operator: what the live catalog offers, checked against what the catalog knows."""

import re
from dataclasses import dataclass, replace

from railwright.catalog.model import Catalog, NetworkOperatorEntry, OperatorEntry
from railwright.core.kinds import OPERATOR_GROUP, SUBSCRIPTION
from railwright.core.marks import is_ours
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import PackageFacts, Platform, Snapshot
from railwright.plan.installed import check_group, check_installed, installed_csv
from railwright.plan.model import OperatorShare
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings
from railwright.plan.unsubscribed import check_unsubscribed
from railwright.plan.version_numbers import version_numbers

OPERATORS = ("nfd", "sriov", "nvidia-network", "nvidia-gpu")


@dataclass(frozen=True)
class _Chosen:
    channel: str
    csv: str
    catalog: str
    catalog_namespace: str


def operator_shares(
    settings: tuple[Settings, ...], snapshot: Snapshot, catalog: Catalog, notes: Notes
) -> tuple[OperatorShare, ...]:
    """Plan the four operators; on plain Kubernetes none goes through OLM."""
    if snapshot.cluster.platform is not Platform.OPENSHIFT:
        return ()
    return tuple(
        share for key in OPERATORS if (share := _operator(catalog.operator(key), settings, snapshot, notes)) is not None
    )


def _operator(
    entry: OperatorEntry, settings: tuple[Settings, ...], snapshot: Snapshot, notes: Notes
) -> OperatorShare | None:
    cluster = snapshot.cluster
    found = [item for item in cluster.of_kind(SUBSCRIPTION) if dig(item, "spec", "name") == entry.package]
    if len(found) > 1:
        places = ", ".join(f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in found)
        notes.refuse(
            "operator-subscribed-twice",
            f"package {entry.package} has {len(found)} Subscriptions ({places}): OLM resolves neither",
            hint="delete all but one",
        )
        return None
    if not check_unsubscribed(entry, str(found[0]["metadata"]["namespace"]) if found else "", cluster, notes):
        return None
    namespace = str(found[0]["metadata"]["namespace"]) if found else entry.namespace
    groups = cluster.of_kind(OPERATOR_GROUP, namespace)
    if len(groups) > 1:
        names = ", ".join(str(item["metadata"]["name"]) for item in groups)
        notes.refuse(
            "operator-groups-collide",
            f"namespace {namespace} has {len(groups)} OperatorGroups ({names}): OLM installs nothing there",
            hint="delete all but one",
        )
        return None
    if found and not is_ours(found[0]):
        if not groups:
            notes.refuse(
                "operator-group-missing",
                f"namespace {namespace} has a Subscription for {entry.package} and no OperatorGroup: OLM installs "
                "nothing there, and writes nothing about it",
                hint=f"make an OperatorGroup with spec.targetNamespaces [{namespace}], or delete the Subscription",
            )
            return None
        csv = installed_csv(found[0], namespace, cluster)
        if not check_group(entry, groups[0], namespace, csv, notes):
            return None
        check_installed(found[0], namespace, cluster, notes)
        return _adopted(entry, found[0], namespace, notes)
    if groups and not check_group(entry, groups[0], namespace, None, notes):
        return None
    chosen = (
        _installed(entry, settings, found[0], snapshot, notes) if found else _channel(entry, settings, snapshot, notes)
    )
    return None if chosen is None else _share(entry, settings, namespace, chosen, has_group=bool(groups))


def _adopted(entry: OperatorEntry, subscription: KubeObject, namespace: str, notes: Notes) -> OperatorShare:
    csv = str(dig(subscription, "status", "installedCSV", default=""))
    notes.decide(
        f"operator {entry.package}",
        csv or "not installed yet",
        "cluster",
        "it is subscribed to already, and an existing installation is adopted, never fought",
    )
    return OperatorShare(
        package=entry.package,
        namespace=namespace,
        operator_group=entry.operator_group,
        target_namespaces=(namespace,),
        subscription=str(dig(subscription, "metadata", "name")),
        channel=str(dig(subscription, "spec", "channel", default="")),
        csv=csv,
        catalog=str(dig(subscription, "spec", "source", default="")),
        catalog_namespace=str(dig(subscription, "spec", "sourceNamespace", default="")),
        approval=str(dig(subscription, "spec", "installPlanApproval", default="Automatic")),
        adopted=True,
        deployments=entry.deployments,
        has_operator_group=True,
    )


def _share(
    entry: OperatorEntry, settings: tuple[Settings, ...], namespace: str, chosen: _Chosen, *, has_group: bool
) -> OperatorShare:
    return OperatorShare(
        package=entry.package,
        namespace=namespace,
        operator_group=entry.operator_group,
        target_namespaces=(namespace,),
        subscription=entry.package,
        channel=chosen.channel,
        csv=chosen.csv,
        catalog=chosen.catalog,
        catalog_namespace=chosen.catalog_namespace,
        approval=settings[0].approval,
        adopted=False,
        deployments=entry.deployments,
        namespace_labels=entry.namespace_labels,
        namespace_annotations=entry.namespace_annotations,
        has_operator_group=has_group,
    )


def _installed(
    entry: OperatorEntry, settings: tuple[Settings, ...], subscription: KubeObject, snapshot: Snapshot, notes: Notes
) -> _Chosen | None:
    """Keep what we subscribed to before, or move on where the file says so: applying again upgrades nothing by itself."""
    channel, csv, source, namespace = (
        str(dig(subscription, "spec", key, default=""))
        for key in ("channel", "startingCSV", "source", "sourceNamespace")
    )
    # Files that were rendered without a catalog name none.
    csv = csv or str(dig(subscription, "status", "installedCSV", default=""))
    kept = _Chosen(channel, csv, source, namespace)
    _name_foreign_upgrade(entry, subscription, kept, notes)
    wanted = next((c for item in settings if (c := item.intent.operators.channels.get(entry.package))), "")
    moves_on = any(item.intent.operators.upgrade for item in settings)
    if snapshot.cluster.packages_problem:
        offered = None
        if wanted not in {"", kept.channel} or moves_on:
            notes.warn("catalog-not-read", f"{entry.package} stays: {snapshot.cluster.packages_problem}")
    elif wanted not in {"", kept.channel}:
        return _moved(entry, kept, _channel(entry, settings, snapshot, notes), notes)
    else:
        offered = _newest_in(kept, entry, snapshot)
    if offered is not None and is_newer_csv(offered.csv, kept.csv):
        if moves_on:
            notes.decide(f"operator {entry.package}", f"{offered.csv} (channel {kept.channel})", "file", _ASKED)
            return offered
        notes.warn(
            "operator-upgrade-offered",
            f"{entry.package} stays at {kept.csv}: channel {kept.channel} offers {offered.csv}, which spec.operators.upgrade:"
            " true moves it to",
        )
    value = f"{kept.csv} (channel {kept.channel})"
    notes.decide(f"operator {entry.package}", value, "cluster", "what we installed; it stays")
    return kept


_ASKED = "asked for; it moves on from what we installed"


def _newest_in(kept: _Chosen, entry: OperatorEntry, snapshot: Snapshot) -> _Chosen | None:
    """Find what a Subscription's own catalog and channel offer now."""
    channels = (
        channel
        for item in snapshot.cluster.packages
        if item.package == entry.package and item.catalog == kept.catalog
        for channel in item.channels
        if channel.name == kept.channel
    )
    return next((replace(kept, csv=channel.head_csv) for channel in channels), None)


def _moved(entry: OperatorEntry, kept: _Chosen, chosen: _Chosen | None, notes: Notes) -> _Chosen | None:
    """Go to another channel; OLM never goes back to an older version."""
    if chosen is None or not is_newer_csv(kept.csv, chosen.csv):
        return chosen
    notes.refuse(
        "operator-downgrade",
        f"{entry.package} {kept.csv} is installed, and channel {chosen.channel} offers {chosen.csv}: OLM never goes back",
        expected=f"a channel that offers {kept.csv} or newer",
        seen=f"channel {chosen.channel} with {chosen.csv}",
        hint="leave the channel as it is; to go back, railwright clean removes all, and apply installs the older one",
    )
    return None


def _name_foreign_upgrade(entry: OperatorEntry, subscription: KubeObject, kept: _Chosen, notes: Notes) -> None:
    """Say that somebody else approved another version than the one that we installed."""
    installed = str(dig(subscription, "status", "installedCSV", default=""))
    if installed and is_newer_csv(installed, kept.csv):
        notes.warn(
            "operator-upgraded-by-others",
            f"{entry.package} is {installed}, and we installed {kept.csv}: what it runs on nodes keeps the versions of before"
            " until spec.operators.upgrade: true",
        )


def is_newer_csv(csv: str, other: str) -> bool:
    """Compare the versions of two CSVs of one package: "nfd.v4.20.0-202511191710" is newer than "nfd.v4.20.0-202510"."""
    return _precedence(csv_version(csv)) > _precedence(csv_version(other))


def _precedence(version: str) -> tuple[tuple[int, ...], bool, tuple[int, ...]]:
    """
    Order versions; what follows the hyphen is a candidate, older than its release, where it has a word, else a build.

    Source: Semantic Versioning 2.0.0, section 11, for candidates; builds are dates in names like
    "nfd.v4.20.0-202511191710".
    """
    release, _, rest = version.partition("-")
    numbers, later = (tuple(int(part) for part in re.findall(r"\d+", item)) for item in (release, rest))
    return numbers, re.search(r"[A-Za-z]", rest) is None, later


def _channel(entry: OperatorEntry, settings: tuple[Settings, ...], snapshot: Snapshot, notes: Notes) -> _Chosen | None:
    cluster, intents = snapshot.cluster, tuple(item.intent for item in settings)
    key = f"operator {entry.package}"
    wanted = next((c for item in intents if (c := item.operators.channels.get(entry.package))), "")
    source = next((c for item in intents if (c := item.operators.catalogs.get(entry.package))), "")
    if cluster.packages_problem:
        channel = wanted or next(iter(entry.preferred_channels), "stable")
        notes.decide(
            key,
            f"channel {channel}",
            "file" if wanted else "catalog",
            "the live catalog could not be read",
            f"{entry.source} ({entry.date})",
        )
        notes.warn("catalog-not-read", f"{entry.package}: {cluster.packages_problem}; its newest version is not known")
        return _Chosen(channel, "", source or entry.catalog, entry.catalog_namespace)
    offers = [item for item in cluster.packages if item.package == entry.package and source in {"", item.catalog}]
    offers.sort(key=lambda item: (item.catalog != entry.catalog, item.catalog))
    if not offers:
        notes.refuse(
            "package-not-offered",
            f"no catalog of this cluster offers the package {entry.package}",
            expected=f"{entry.package} in {source or entry.catalog}",
            seen="not there",
            hint="check the CatalogSources (oc get packagemanifests); a mirrored one is named in spec.operators.catalogs",
        )
        return None
    return _head(entry, offers[0], wanted, notes)


def _head(entry: OperatorEntry, offer: PackageFacts, wanted: str, notes: Notes) -> _Chosen | None:
    names = [channel.name for channel in offer.channels]
    preferred = next((name for name in entry.preferred_channels if name in names), offer.default_channel)
    name = wanted or preferred
    channel = next((item for item in offer.channels if item.name == name), None)
    if channel is None:
        notes.refuse(
            "channel-not-offered",
            f"package {entry.package} has no channel {name}",
            expected=f"one of {', '.join(sorted(names))}",
            seen=name,
            hint="leave spec.operators.channels out to take the catalog's own",
        )
        return None
    origin, why = (
        ("file", "asked for") if wanted else ("cluster", f"what catalog {offer.catalog} offers in channel {name}")
    )
    source, value = f"{entry.source} ({entry.date})", f"{channel.head_csv} (channel {name})"
    notes.decide(f"operator {entry.package}", value, origin, why, source)
    return _Chosen(channel.name, channel.head_csv, offer.catalog, offer.catalog_namespace)


def csv_version(csv: str) -> str:
    """Cut the version out of a CSV's name: "nvidia-network-operator.v26.4.1" -> "26.4.1"."""
    return csv.partition(".v")[2]


def network_operator(
    operators: tuple[OperatorShare, ...], catalog: Catalog, notes: Notes
) -> NetworkOperatorEntry | None:
    """
    Look up what is known of the planned Network Operator.

    Of a version that the catalog does not know the newest known one stands in for image tags, with a warning.
    """
    csv = next((item.csv for item in operators if item.package == "nvidia-network-operator"), "")
    version = csv_version(csv)
    entry = catalog.network_operator(version) if version else None
    if entry is not None:
        return entry
    newest = [item for item in catalog.network_operators if item.component_tag and "candidate" not in item.support]
    if not newest:
        return None
    fallback = catalog.network_operator(max((item.version for item in newest), key=version_numbers))
    if fallback is not None:
        notes.warn(
            "network-operator-version-unknown",
            f"Network Operator {version or 'of unknown version'} is not in the catalog: images of {fallback.version} are"
            " named; no key states the operator's version, and spec.driver.nicVersion names another DOCA driver",
        )
    return fallback
