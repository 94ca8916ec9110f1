"""
The Catalog, frozen: typed look-ups over what is known of hardware, versions and expectations.

Every entry says where it comes from (`source`, a document with its section) and how old that knowledge is (`date`).
A look-up of something that is not listed answers None: not known, which is neither yes nor no.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar


@dataclass(frozen=True)
class OperatorEntry:
    """
    One of the four operators, as OLM installs it.

    Attributes:
        key: our short name: "nfd", "sriov", "nvidia-network", "nvidia-gpu".
        preferred_channels: the first that the live catalog offers is taken; empty means the catalog's own default.
        namespace_labels, namespace_annotations: what the namespace needs when we make it.
        deployments: controllers that must be available in `namespace`.
        chart_deployments: what charts call them, where that is another name.
        subchart: the one of its controllers that charts of others bring along, with their release's name before it.
        resource: name of its custom resource, as "Kind/name".
    """

    key: str
    package: str
    catalog: str
    catalog_namespace: str
    namespace: str
    operator_group: str
    install_modes: tuple[str, ...]
    csv_prefix: str
    deployments: tuple[str, ...]
    preferred_channels: tuple[str, ...]
    resource: str
    source: str
    date: str
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    namespace_annotations: Mapping[str, str] = field(default_factory=dict)
    chart_deployments: tuple[str, ...] = ()
    subchart: str = ""

    def has_controller(self, name: str) -> bool:
        """Whether a Deployment of this name is its controller, whatever brought it."""
        in_chart = bool(self.subchart) and name.endswith(f"-{self.subchart}")
        return in_chart or name in {*self.deployments, *self.chart_deployments}


@dataclass(frozen=True)
class NetworkOperatorEntry:
    """
    One version of the NVIDIA Network Operator, and the DOCA driver that it was released with.

    Attributes:
        version: "26.4.1", or "26.1" for all patches of a minor; a look-up puts the version asked for in its place.
        doca_version: as `ofedDriver.version` wants it.
        os_tags: node systems with a driver image: "rhcos4.18", "rhel9.6".
        absent_os_tags: node systems known to have none.
        component_repository: of every component but the driver; empty where it is not known.
        component_tag: tag of those images; empty where it is not known.
        rolls_plugins: whether a changed device plugin configuration restarts the plugin's pods.
    """

    version: str
    doca_version: str
    driver_repository: str
    driver_image: str
    os_tags: tuple[str, ...]
    absent_os_tags: tuple[str, ...]
    component_repository: str
    component_tag: str
    catalog_head_for: tuple[str, ...]
    """OpenShift minors whose certified catalog has this version as its newest."""
    rolls_plugins: bool
    support: str
    """What the vendor says of it: "supported", "deprecated", "end of support", "release candidate"; "" if nothing."""
    source: str
    date: str


@dataclass(frozen=True)
class GpuOperatorEntry:
    """
    One version of the NVIDIA GPU Operator.

    Attributes:
        version: "26.7.0", or "25.3" for all patches of a minor; a look-up puts the version asked for in its place.
        openshift_from, openshift_to: OpenShift minors that its bundle names.
        driver_version: GPU driver that it installs by itself; empty where it is not known.
        driver_versions: all that it was released with.
        gds_version: of nvidia-fs, for which its bundle has no default; empty where it is not known.
        has_kernel_module_type: knows `driver.kernelModuleType`.
        takes_64k_pages: can name its driver DaemonSet on nodes with 64 KiB pages.
    """

    version: str
    openshift_from: str
    openshift_to: str
    driver_version: str
    driver_versions: tuple[str, ...]
    has_kernel_module_type: bool
    takes_64k_pages: bool
    source: str
    date: str
    gds_version: str = ""


@dataclass(frozen=True)
class OpenshiftEntry:
    """
    One OpenShift minor: "4.20".

    `os_id` and `os_version` are os-release's ID and VERSION_ID of its nodes; `os_version` is empty where several
    were seen.
    """

    minor: str
    kubernetes: str
    os_id: str
    os_version: str
    kernel: str
    has_rdma_mode: bool
    """Whether SriovNetworkPoolConfig has `rdmaMode`."""
    dra: str
    """"", "technology-preview" or "general"."""
    source: str
    date: str


@dataclass(frozen=True)
class NicEntry:
    """
    One PCI device id of a NIC, physical functions only.

    Attributes:
        max_rate_gbps: fastest port, 10**9 bit/s; None where no source says.
        ethernet, infiniband: whether the vendor lists it for that fabric; None where no source says.
        sriov_operator: whether the SR-IOV operator supports it.
        vf_device_id: PCI device id of its virtual functions.
    """

    vendor_id: str
    device_id: str
    name: str
    ethernet: bool | None
    infiniband: bool | None
    max_rate_gbps: float | None
    sriov_operator: bool
    vf_device_id: str
    bluefield: bool
    source: str
    date: str


@dataclass(frozen=True)
class GpuEntry:
    """
    One PCI device id of a GPU.

    Attributes:
        needs_firmware_reset: NICs of its machines take firmware values only with the SR-IOV operator's gate for it.
    """

    vendor_id: str
    device_id: str
    name: str
    source: str
    date: str
    needs_firmware_reset: bool = False


@dataclass(frozen=True)
class DriverCombination:
    """
    One combination of settings and whether it can work.

    `when` holds the settings that make the combination, by name: nic_driver (doca, in-box), gpu_driver (open,
    proprietary), memory (dma-buf, nvidia-peermem), secure_boot, page_size_bytes, gds, gdrcopy, method, fabric.
    """

    code: str
    when: Mapping[str, str]
    supported: bool
    reason: str
    hint: str
    source: str
    date: str

    def matches(self, settings: Mapping[str, str]) -> bool:
        """Whether every setting named in `when` is there with that value."""
        return all(settings.get(name) == value for name, value in self.when.items())


@dataclass(frozen=True)
class ImageEntry:
    """
    One image that a plan may need.

    Attributes:
        key: our name for it: "doca-driver".
        repository: without the image's name: "nvcr.io/nvidia/mellanox".
        tag_rule: how the tag is made: "{doca_version}-{os_tag}-{arch}", a fixed tag, or "" when the operator's CSV
            brings the image by digest.
    """

    key: str
    repository: str
    name: str
    tag_rule: str
    source: str
    date: str

    def reference(self, **parts: str) -> str:
        """
        Write the image with its tag; `parts` are the names in braces of `tag_rule`.

        Raises:
            KeyError: the rule needs a part that was not given (a bug of ours).
        """
        tag = self.tag_rule.format_map(parts)
        return f"{self.repository}/{self.name}:{tag}" if tag else f"{self.repository}/{self.name}"


@dataclass(frozen=True)
class StageTiming:
    """
    How long a stage takes.

    Attributes:
        expected_s: usual time of one run of it (for the middle stages: one batch).
        limit_s: when it is given up.
        hold_s: for how long the gate's answer must stay the same.
        one_node_at_a_time: both times are for one node, and nodes go one after the other.
        loaded_s: usual time of one run that writes something while each node keeps the driver that it has; None where no
            driver is waited for.
    """

    stage: str
    expected_s: float
    limit_s: float
    hold_s: float
    source: str
    date: str
    one_node_at_a_time: bool = False
    loaded_s: float | None = None


@dataclass(frozen=True)
class DefaultEntry:
    """A value that is in force when nothing else says otherwise."""

    name: str
    value: int | float | bool | str | tuple[str, ...]
    reason: str
    source: str
    date: str


@dataclass(frozen=True)
class RateEntry:
    """An average bandwidth that real systems reached, as a share of the link rate."""

    memory: str
    """"host" or "gpu"."""
    fabric: str
    link_rate_gbps: float
    average_gbps: float
    source: str
    date: str


@dataclass(frozen=True)
class DefectEntry:
    """
    A defect that versions in use are known to have.

    Attributes:
        component: an operator's key, "openshift", or a section of NicClusterPolicy ("secondaryNetwork.ipoib").
        from_version, fixed_in: first version with it and first without it; empty: every older one, none yet.
        when: marks of the cluster that must all be there for it to matter.
        severity: "info", "warning" or "error".
        what: what goes wrong, in the present tense; `remedy` what to do.
        covers: ids of field reports.
    """

    code: str
    component: str
    from_version: str
    fixed_in: str
    when: tuple[str, ...]
    severity: str
    what: str
    remedy: str
    covers: tuple[str, ...]
    source: str
    date: str


@dataclass(frozen=True)
class FloorEntry:
    """
    What share of its slowest link one kind of machine must reach, where the usual share is wrong for it.

    Attributes:
        nic, gpu: PCI ids as "15b3:1021"; an empty `gpu` stands for every GPU.
        memory: "host" or "gpu".
        share: of the slower of port rate and PCIe link, on average.
    """

    nic: str
    gpu: str
    memory: str
    share: float
    source: str
    date: str


Entry = TypeVar("Entry")
Versioned = TypeVar("Versioned", NetworkOperatorEntry, GpuOperatorEntry)


@dataclass(frozen=True)
class Catalog:
    """Everything that is known beforehand; a value, passed to whoever needs it."""

    operators: tuple[OperatorEntry, ...]
    network_operators: tuple[NetworkOperatorEntry, ...]
    gpu_operators: tuple[GpuOperatorEntry, ...]
    openshift_minors: tuple[OpenshiftEntry, ...]
    nics: tuple[NicEntry, ...]
    gpus: tuple[GpuEntry, ...]
    combinations: tuple[DriverCombination, ...]
    images: tuple[ImageEntry, ...]
    stages: tuple[StageTiming, ...]
    defaults: tuple[DefaultEntry, ...]
    rates: tuple[RateEntry, ...]
    defects: tuple[DefectEntry, ...] = ()
    floors: tuple[FloorEntry, ...] = ()

    def operator(self, key: str) -> OperatorEntry:
        """Find an operator by its key. Raises KeyError for one that is not listed (a bug of ours)."""
        return _only(self.operators, "key", key)

    def operator_of_package(self, package: str) -> OperatorEntry | None:
        """Find an operator by its OLM package."""
        return next((entry for entry in self.operators if entry.package == package), None)

    def operator_of_controller(self, deployment: str) -> OperatorEntry | None:
        """Find an operator by the name of its controller's Deployment."""
        return next((entry for entry in self.operators if entry.has_controller(deployment)), None)

    def network_operator(self, version: str) -> NetworkOperatorEntry | None:
        """Find a Network Operator version ("26.4.1", with or without a "v"); None: not known."""
        entry = _of_version(self.network_operators, version)
        if entry is None:
            return None
        plain = version.removeprefix("v")
        return replace(entry, version=plain, component_tag=entry.component_tag.format(version=plain))

    def gpu_operator(self, version: str) -> GpuOperatorEntry | None:
        """Find a GPU Operator version ("26.7.0", with or without a "v"); None: not known."""
        entry = _of_version(self.gpu_operators, version)
        return None if entry is None else replace(entry, version=version.removeprefix("v"))

    def openshift(self, minor: str) -> OpenshiftEntry | None:
        """Find an OpenShift release by "4.20" or "4.20.4"; None: not known."""
        wanted = minor_of(minor)
        return next((entry for entry in self.openshift_minors if entry.minor == wanted), None)

    def nic(self, device_id: str, vendor_id: str = "15b3") -> NicEntry | None:
        """Find a NIC by its PCI ids, four hex digits each; None: not known."""
        wanted = (vendor_id.lower(), device_id.lower())
        return next((entry for entry in self.nics if (entry.vendor_id, entry.device_id) == wanted), None)

    def gpu(self, device_id: str, vendor_id: str = "10de") -> GpuEntry | None:
        """Find a GPU by its PCI ids, four hex digits each; None: not known."""
        wanted = (vendor_id.lower(), device_id.lower())
        return next((entry for entry in self.gpus if (entry.vendor_id, entry.device_id) == wanted), None)

    def doca_image_exists(self, doca_version: str, os_tag: str) -> bool | None:
        """Say whether a DOCA driver image is published for a node system ("rhel9.6"); None: not known."""
        entries = [entry for entry in self.network_operators if entry.doca_version == doca_version]
        if any(os_tag in entry.os_tags for entry in entries):
            return True
        if any(os_tag in entry.absent_os_tags for entry in entries):
            return False
        return None

    def unsupported(self, settings: Mapping[str, str]) -> tuple[DriverCombination, ...]:
        """List the combinations within `settings` that cannot work; see DriverCombination for the names."""
        return tuple(entry for entry in self.combinations if not entry.supported and entry.matches(settings))

    def image(self, key: str) -> ImageEntry:
        """Find an image by its key. Raises KeyError for one that is not listed (a bug of ours)."""
        return _only(self.images, "key", key)

    def stage(self, name: str) -> StageTiming:
        """Find a stage's timing. Raises KeyError for one that is not listed (a bug of ours)."""
        return _only(self.stages, "stage", name)

    def floor_share(self, nic: str, gpu: str, memory: str) -> tuple[float, str]:
        """
        Say what share of its slowest link a machine must reach, and where that comes from.

        Args:
            nic, gpu: PCI ids as "15b3:1021"; empty where they are not known.
        """
        for entry in self.floors:
            if (entry.nic, entry.memory) == (nic, memory) and entry.gpu in {"", gpu}:
                return entry.share, entry.source
        usual = self.default("bandwidth_floor_fraction")
        return float(usual.value), usual.source  # type: ignore[arg-type]  # a number in the catalog

    def default(self, name: str) -> DefaultEntry:
        """Find a default by its name. Raises KeyError for one that is not listed (a bug of ours)."""
        return _only(self.defaults, "name", name)


def minor_of(version: str) -> str:
    """Cut a version to its first two numbers: "4.20.4" -> "4.20"."""
    return ".".join(version.removeprefix("v").split(".")[:2])


def driver_os_tag(os_id: str, version_id: str, openshift_version: str) -> str:
    """
    Write the node system as tags of driver images name it.

    Nodes up to OpenShift 4.18 call themselves rhcos 4.X; from 4.19 on they say rhel 9.6, and so do the tags.

    Args:
        os_id, version_id: ID and VERSION_ID of os-release.
        openshift_version: "4.18.3"; stands in for an rhcos VERSION_ID that is missing; empty on plain Kubernetes.

    Returns:
        "rhcos4.18", "rhel9.6", "ubuntu24.04"; empty when the system is not known.

    Source: Mellanox/doca-driver-build 445df1e, host_test.go and release_manifests (2026-07-22).
    """
    system = os_id.strip().strip('"').lower()
    version = version_id.strip().strip('"')
    if system == "rhcos":
        version = minor_of(version or openshift_version)
    return f"{system}{version}" if system and version else ""


def gpu_os_tag(os_tag: str) -> str:
    """
    Write a node system as tags of the GPU Operator's images name it: "rhel9.6" -> "rhel9"; others stay.

    Measured: GPU Operator 26.7.0 controllers against kube-apiserver 1.36.3, 2026-11 (-rhel9 on 4.20, -rhcos4.18 on 4.18).
    """
    return os_tag.partition(".")[0] if os_tag.startswith("rhel") else os_tag


def _of_version(entries: tuple[Versioned, ...], version: str) -> Versioned | None:
    """Find the entry of exactly this version, else the one that stands for its minor."""
    plain = version.removeprefix("v")
    for wanted in (plain, minor_of(plain)):
        for entry in entries:
            if entry.version == wanted:
                return entry
    return None


def _only(entries: tuple[Entry, ...], attribute: str, wanted: str) -> Entry:
    """Find the entry with this value. Raises KeyError."""
    for entry in entries:
        if getattr(entry, attribute) == wanted:
            return entry
    raise KeyError(wanted)
