"""What is known to be wrong with the versions that are planned or adopted: said, for the choice is a person's."""

from railwright.catalog.model import Catalog, OperatorEntry
from railwright.facts.model import ClusterFacts, Platform
from railwright.intent.model import NicDriver
from railwright.plan.model import OperatorShare
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings
from railwright.plan.version_numbers import version_numbers
from railwright.plan.versions import csv_version

_ENDED = "end of support"


def check_versions_known(
    all_settings: tuple[Settings, ...],
    cluster: ClusterFacts,
    operators: tuple[OperatorShare, ...],
    catalog: Catalog,
    notes: Notes,
) -> None:
    """Warn of versions whose support has ended, that are not for this OpenShift, or that have a defect met here."""
    for operator in operators:
        entry, version = catalog.operator_of_package(operator.package), csv_version(operator.csv)
        if entry is None or not version:
            continue
        _check_support(entry, version, catalog, notes)
        _check_range(entry, version, cluster, catalog, notes)
        _check_defects(entry, version, _marks(all_settings, cluster), catalog, notes)


def _check_support(entry: OperatorEntry, version: str, catalog: Catalog, notes: Notes) -> None:
    known = catalog.network_operator(version) if entry.key == "nvidia-network" else None
    if known is not None and known.support == _ENDED:
        notes.warn(
            "operator-out-of-support",
            f"the vendor's support of {entry.package} {version} has ended ({known.date}): another channel in"
            " spec.operators.channels, or its owner's update where it is adopted",
            entry.package,
        )


def _check_range(entry: OperatorEntry, version: str, cluster: ClusterFacts, catalog: Catalog, notes: Notes) -> None:
    known = catalog.gpu_operator(version) if entry.key == "nvidia-gpu" else None
    here = version_numbers(cluster.openshift_version)[:2]
    if known is None or not here:
        return
    if not version_numbers(known.openshift_from) <= here <= version_numbers(known.openshift_to):
        notes.warn(
            "operator-outside-its-range",
            f"{entry.package} {version} is for OpenShift {known.openshift_from} to {known.openshift_to}, and this is"
            f" {cluster.openshift_version}",
            entry.package,
        )


def _check_defects(entry: OperatorEntry, version: str, marks: frozenset[str], catalog: Catalog, notes: Notes) -> None:
    for defect in catalog.defects:
        begun = not defect.from_version or version_numbers(defect.from_version) <= version_numbers(version)
        ended = bool(defect.fixed_in) and version_numbers(defect.fixed_in) <= version_numbers(version)
        if defect.component == entry.key and begun and not ended and marks.issuperset(defect.when):
            notes.warn("known-defect", f"{entry.package} {version}: {defect.what}. {defect.remedy}", defect.code)


def _marks(all_settings: tuple[Settings, ...], cluster: ClusterFacts) -> frozenset[str]:
    """Name what a plan alone says of the cluster; defects that need more are the doctor's to see."""
    found = {"openshift"} if cluster.platform is Platform.OPENSHIFT else set()
    if any(item.nic_driver is NicDriver.DOCA for item in all_settings):
        found.add("nic-driver")
    return frozenset(found)
