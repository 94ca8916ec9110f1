"""Which of the four operators are on the cluster, where, and in which version. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from railwright.catalog.model import Catalog, OperatorEntry
from railwright.core import kinds
from railwright.core.objects import KubeObject, dig, labels_of
from railwright.facts.model import ClusterFacts

NFD, SRIOV, NETWORK, GPU = "nfd", "sriov", "nvidia-network", "nvidia-gpu"
"""Keys of the catalog's operators."""

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")

Version = tuple[int, int, int]


@dataclass(frozen=True)
class Installed:
    """
    One operator that is there.

    Attributes:
        version: as its CSV or image says: "26.4.1"; empty when neither does.
        subscription: None when it did not come through OLM.
    """

    key: str
    package: str
    namespace: str
    version: str
    csv: str = ""
    subscription: KubeObject | None = None
    deployment: KubeObject | None = None

    @property
    def thing(self) -> str:
        """How findings are linked by it."""
        return f"operator:{self.key}"

    @property
    def number(self) -> Version | None:
        """The version to compare with; None when it is not known."""
        return version_number(self.version)


def version_number(text: str) -> Version | None:
    """Read "26.4.1", "v26.4" or "nvidia-network-operator.v26.4.1" as three numbers; None for anything else."""
    match = _VERSION.search(text)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None


def find_operators(cluster: ClusterFacts, catalog: Catalog) -> Mapping[str, tuple[Installed, ...]]:
    """Find operators by Subscription, else by their controllers' Deployments; one can be there more than once."""
    found: dict[str, list[Installed]] = {}
    subscribed: set[tuple[str, str]] = set()
    deployments = cluster.of_kind(kinds.DEPLOYMENT)
    for subscription in cluster.of_kind(kinds.SUBSCRIPTION):
        entry = catalog.operator_of_package(str(dig(subscription, "spec", "name", default="")))
        if entry is None:
            continue
        namespace = str(dig(subscription, "metadata", "namespace", default=""))
        csv = str(dig(subscription, "status", "installedCSV", default=""))
        version = csv.removeprefix(entry.csv_prefix) if csv.startswith(entry.csv_prefix) else ""
        deployment = _deployment(deployments, entry, namespace)
        subscribed.add((entry.key, namespace))
        item = Installed(entry.key, entry.package, namespace, version, csv, subscription, deployment)
        found.setdefault(entry.key, []).append(item)
    for deployment in deployments:
        entry = catalog.operator_of_controller(str(dig(deployment, "metadata", "name", default="")))
        namespace = str(dig(deployment, "metadata", "namespace", default=""))
        if entry is None or (entry.key, namespace) in subscribed:
            continue
        item = Installed(entry.key, entry.package, namespace, _chart_version(deployment), deployment=deployment)
        found.setdefault(entry.key, []).append(item)
    return {key: tuple(items) for key, items in found.items()}


def _deployment(deployments: tuple[KubeObject, ...], entry: OperatorEntry, namespace: str) -> KubeObject | None:
    for deployment in deployments:
        metadata = deployment["metadata"]
        if metadata.get("namespace") == namespace and metadata.get("name") in entry.deployments:
            return deployment
    return None


def _chart_version(deployment: KubeObject) -> str:
    """Read the version of an operator that came with a chart: its label, else its image's tag."""
    labels = labels_of(deployment)
    label = labels.get("app.kubernetes.io/version") or labels.get("helm.sh/chart", "").rpartition("-")[2]
    image = str(dig(deployment, "spec", "template", "spec", "containers", 0, "image", default=""))
    tag = image.partition("@")[0].rpartition(":")[2] if "@" not in image else ""
    for text in (label, tag):
        number = version_number(text or "")
        if number is not None:
            return ".".join(map(str, number))
    return ""
