"""The four operators' own resources: new ones, or the ones that are there already, of which only what we need is taken."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from railwright.catalog.model import Catalog, GpuOperatorEntry, NetworkOperatorEntry
from railwright.core.ids import FabricName
from railwright.core.kinds import CLUSTER_POLICY, NIC_CLUSTER_POLICY, SRIOV_OPERATOR_CONFIG
from railwright.core.objects import KubeObject, dig
from railwright.facts.model import ClusterFacts, NodeFacts, Platform
from railwright.intent.model import GpuMemory, Intent, Ipam, Method, NicDriver
from railwright.plan.adopted import (
    kept_sections,
    module_type_taken,
    rdma_taken,
    tolerations_beside,
    warn_of_old_pods,
)
from railwright.plan.defaults import number
from railwright.plan.model import (
    ADMITTED,
    NIC_DRIVER_READY,
    DevicePool,
    DriverShare,
    GpuPolicyShare,
    NicPolicyShare,
    OperatorShare,
    SriovConfigShare,
    fabric_label,
)
from railwright.plan.names import mirrored
from railwright.plan.notes import Notes
from railwright.plan.settings import Settings

PACKAGES = ("nfd", "sriov-network-operator", "nvidia-network-operator", "gpu-operator-certified")
NIC_POLICY_NAME = "nic-cluster-policy"
"""Any other is ignored. Source: Mellanox/network-operator b06827e0, controllers/nicclusterpolicy_controller.go:161."""
GPU_PACKAGE = "gpu-operator-certified"
_GPU_POLICY_NAME = "gpu-cluster-policy"
_FIRMWARE_RESET = "mellanoxFirmwareReset"
_MOFED_WAIT = "network.nvidia.com/operator.mofed.wait"
_SRIOV_CAPABLE = "feature.node.kubernetes.io/pci-15b3.sriov.capable"


def namespace_of(package: str, operators: tuple[OperatorShare, ...], catalog: Catalog) -> str:
    """Namespace in which an operator runs, or will."""
    for share in operators:
        if share.package == package:
            return share.namespace
    entry = catalog.operator_of_package(package)
    return entry.namespace if entry else ""


@dataclass(frozen=True)
class NicNeeds:
    """What fabrics want of the one NicClusterPolicy, put together."""

    settings: tuple[Settings, ...]
    shared_pools: tuple[DevicePool, ...]
    host_pools: tuple[DevicePool, ...]


def nic_share(
    needs: NicNeeds, cluster: ClusterFacts, entry: NetworkOperatorEntry | None, catalog: Catalog, notes: Notes
) -> NicPolicyShare | None:
    """Plan the NicClusterPolicy that all fabrics share."""
    live = nic_policy(cluster)
    _note_policies(cluster, live, notes)
    if entry is None:
        notes.refuse(
            "no-network-operator-version",
            "no version of the NVIDIA Network Operator is known, so no image can be named",
            hint="spec.operators.channels names a channel with a known version",
        )
        return None
    all_settings = needs.settings
    wants_driver = any(item.nic_driver is NicDriver.DOCA for item in all_settings)
    has_driver = dig(live, "spec", "ofedDriver") is not None
    if live is not None and has_driver and not wants_driver:
        notes.warn(
            "driver-is-there",
            "the NicClusterPolicy that is there runs the DOCA driver; driver.nic: in-box does not remove it",
            NIC_POLICY_NAME,
        )
    driver = _driver(all_settings, entry, catalog, notes) if wants_driver and not has_driver else None
    if has_driver and wants_driver:
        notes.decide(
            "doca driver",
            dig(live, "spec", "ofedDriver", "version"),
            "cluster",
            "the driver that is there stays as it is",
        )
    intents = tuple(item.intent for item in all_settings)
    return NicPolicyShare(
        fabrics=tuple(FabricName(item.name) for item in all_settings),
        driver=driver,
        shared_pools=needs.shared_pools,
        host_pools=needs.host_pools,
        ipoib=any(item.intent.method is Method.SHARED and item.is_infiniband for item in all_settings),
        nv_ipam=any(item.ipam in {Ipam.NV_IPAM, Ipam.NV_IPAM_CIDR} for item in all_settings),
        ib_kubernetes={} if any(item.intent.network.guid == "pool" for item in all_settings) else None,
        component_repository=_mirrored(entry.component_repository, intents),
        component_version=entry.component_tag,
        node_labels=()
        if live is not None
        else tuple((fabric_label(FabricName(item.name)), ADMITTED) for item in all_settings),
        tolerations=tolerations_beside(live, tolerations_of(intents), "tolerations"),
        adopted=live is not None,
        pull_secrets=_pull_secrets(intents),
        kept=kept_sections(live),
    )


def nic_policy(cluster: ClusterFacts) -> KubeObject | None:
    """Find the NicClusterPolicy that is there, made by others."""
    found = cluster.of_kind(NIC_CLUSTER_POLICY)
    return next((item for item in found if item["metadata"]["name"] == NIC_POLICY_NAME), None)


def _note_policies(cluster: ClusterFacts, live: KubeObject | None, notes: Notes) -> None:
    for item in cluster.of_kind(NIC_CLUSTER_POLICY):
        name = str(item["metadata"]["name"])
        if name != NIC_POLICY_NAME:
            notes.refuse(
                "nic-policy-misnamed",
                f"there is a NicClusterPolicy {name}; the operator ignores it, and deleting it beside a good one makes "
                "mofed.wait flip every 5 s until the operator restarts",
                expected=NIC_POLICY_NAME,
                seen=name,
                hint="delete it now, before there is another, and restart the operator's pod",
            )
    if live is not None:
        notes.decide(
            "NicClusterPolicy",
            NIC_POLICY_NAME,
            "cluster",
            "it is there already: our sections and pools are added, everything else stays",
        )


def _driver(
    all_settings: tuple[Settings, ...], entry: NetworkOperatorEntry, catalog: Catalog, notes: Notes
) -> DriverShare:
    first = next(item for item in all_settings if item.nic_driver is NicDriver.DOCA)
    asked = first.intent.driver.nic_version
    version = asked or entry.doca_version
    if asked:
        notes.decide("doca driver", version, "file", "asked for")
    else:
        released = f"what Network Operator {entry.version} was released with"
        notes.decide("doca driver", version, "catalog", released, f"{entry.source} ({entry.date})")
    if version.startswith("sha256:"):
        notes.warn(
            "driver-by-digest",
            "a driver given by digest loses the toolkit container that builds it on OpenShift: give a tag",
        )
    environment = {
        # Names stay when the driver is loaded, else ens1f0np0 and ens1f0 trade places (OpenShift 4.22 docs, 5.3).
        "CREATE_IFNAMES_UDEV": "true",
        "RESTORE_DRIVER_ON_POD_TERMINATION": "true",
        "UNLOAD_STORAGE_MODULES": "true",
        **first.intent.proxy.environment(),
    }
    return DriverShare(
        repository=_mirrored(entry.driver_repository, tuple(item.intent for item in all_settings)),
        image=entry.driver_image,
        version=version,
        environment=environment,
        auto_upgrade=first.auto_upgrade,
        max_parallel=first.max_parallel,
        drain_timeout_s=first.drain_timeout_s,
        startup_initial_delay_s=number(catalog, "startup_initial_delay_s"),
        pull_secrets=_pull_secrets(tuple(item.intent for item in all_settings)),
    )


def gpu_share(
    all_settings: tuple[Settings, ...],
    cluster: ClusterFacts,
    operators: tuple[OperatorShare, ...],
    catalog: Catalog,
    notes: Notes,
) -> GpuPolicyShare | None:
    """Plan the ClusterPolicy; only the oldest of several is in force."""
    found = cluster.of_kind(CLUSTER_POLICY)
    if len(found) > 1:
        names = ", ".join(str(item["metadata"]["name"]) for item in found)
        notes.refuse(
            "second-cluster-policy",
            f"there are {len(found)} ClusterPolicies ({names}); only one is in force, and the others never get a status",
            hint="delete all but the one in use",
        )
        return None
    if found:
        notes.decide(
            "ClusterPolicy",
            found[0]["metadata"]["name"],
            "cluster",
            "it is there already: only the fields that RDMA needs are taken",
        )
    first = all_settings[0]
    live = found[0] if found else None
    module_type, rdma = module_type_taken(live, first, notes), rdma_taken(live, first)
    if live is not None and (module_type or rdma):
        warn_of_old_pods(live, notes)
    peermem = first.memory is GpuMemory.PEERMEM
    intents = tuple(item.intent for item in all_settings)
    gds = any(item.gds for item in all_settings)
    csv = next((item.csv for item in operators if item.package == GPU_PACKAGE), "")
    entry = catalog.gpu_operator(csv.partition(".v")[2]) if csv else None
    registry = "" if live is not None else next((mirror for intent in intents if (mirror := intent.image_registry)), "")
    gds_version = entry.gds_version if entry is not None else ""
    if gds and not gds_version and dig(live, "spec", "gds", "version") is None:
        _warn_of_unknown_gds(csv, first, notes)
    return GpuPolicyShare(
        name=str(found[0]["metadata"]["name"]) if found else _GPU_POLICY_NAME,
        kernel_module_type=module_type,
        peermem=peermem,
        use_host_mofed=False,
        gdrcopy=any(item.gdrcopy for item in all_settings),
        gds=gds,
        gds_version="" if live is not None and dig(live, "spec", "gds", "version") else gds_version,
        on_openshift=cluster.platform is Platform.OPENSHIFT,
        driver_version=_gpu_driver_version(first, registry, entry, notes),
        auto_upgrade=first.auto_upgrade,
        max_parallel=first.max_parallel,
        drain_timeout_s=first.drain_timeout_s,
        tolerations=tolerations_beside(live, tolerations_of(intents), "daemonsets", "tolerations"),
        registry=registry,
        pull_secrets=_pull_secrets(intents),
        adopted=live is not None,
        rdma_taken=rdma,
        environment=first.intent.proxy.environment(),
    )


def _warn_of_unknown_gds(csv: str, settings: Settings, notes: Notes) -> None:
    notes.warn(
        "gds-version-unknown",
        f"which nvidia-fs goes with {csv or 'this GPU Operator'} is not known, and its bundle names none: set"
        " spec.gds of the ClusterPolicy to repository, image and version by hand",
        settings.name,
    )


def built_against(gpu: GpuPolicyShare, nic: NicPolicyShare | None) -> GpuPolicyShare:
    """
    Name the NIC's driver in the GPU driver's pods where nvidia-peermem is wanted.

    The module is built against the NIC driver's symbols, and one that was built against an earlier version does not
    load; another version here makes another form of the pods, so that they follow it.

    Source: NVIDIA/gpu-operator #2868; the variable is ours, and nothing in the container reads it.
    """
    if not gpu.peermem or gpu.adopted or nic is None or nic.driver is None:
        return gpu
    return replace(gpu, environment={**gpu.environment, "RAILWRIGHT_BUILT_AGAINST": nic.driver.version})


def _gpu_driver_version(settings: Settings, registry: str, entry: GpuOperatorEntry | None, notes: Notes) -> str:
    """
    Choose the driver that is written out; "" leaves it to the operator.

    A mirror takes the place of the vendor's registry only in an image that is named whole.
    """
    asked = settings.intent.driver.gpu_version or ""
    if asked or not registry:
        return asked
    known = entry.driver_version if entry is not None else ""
    if not known:
        notes.warn(
            "gpu-driver-not-mirrored",
            "which GPU driver the operator installs by itself is not known, so its image cannot be named at the mirror:"
            " name one in spec.driver.gpuVersion, or redirect it by a mirror set (railwright images)",
            str(settings.intent.place("spec.imageRegistry") or settings.name),
        )
    return known


def feature_gates(nodes: tuple[NodeFacts, ...], catalog: Catalog, notes: Notes) -> Mapping[str, bool]:
    """Choose the SR-IOV operator's feature gates that the nodes' GPUs ask for."""
    gpus = {gpu.device_id for node in nodes if node.hardware for gpu in node.hardware.gpus}
    asking = [entry for entry in catalog.gpus if entry.device_id in gpus and entry.needs_firmware_reset]
    for entry in asking:
        why = f"{entry.name} nodes need it before firmware values count"
        notes.decide(
            f"SriovOperatorConfig {_FIRMWARE_RESET}", "true", "hardware", why, f"{entry.source} ({entry.date})"
        )
    return {_FIRMWARE_RESET: True} if asking else {}


def sriov_config_share(
    all_settings: tuple[Settings, ...],
    cluster: ClusterFacts,
    namespace: str,
    gates: Mapping[str, bool],
    notes: Notes,
) -> SriovConfigShare | None:
    """
    Plan SriovOperatorConfig `default`, only where a fabric uses SR-IOV: without it no daemon runs on any node.

    Its daemon waits for the DOCA driver, so that VFs are not made on the driver that is about to be replaced.
    """
    users = [item for item in all_settings if item.intent.method is Method.SRIOV]
    if not users:
        return None
    live = next(
        (item for item in cluster.of_kind(SRIOV_OPERATOR_CONFIG, namespace) if item["metadata"]["name"] == "default"),
        None,
    )
    selector: Mapping[str, str] = {}
    if live is None:
        selector = {_SRIOV_CAPABLE: "true", "node-role.kubernetes.io/worker": ""}
        if len(users) == 1:
            selector = {**selector, fabric_label(FabricName(users[0].name)): ADMITTED}
        if any(item.nic_driver is NicDriver.DOCA for item in users):
            selector = {**selector, _MOFED_WAIT: "false"}
    else:
        notes.decide("SriovOperatorConfig", "default", "cluster", "it is there already and stays as it is")
        if _MOFED_WAIT not in dig(live, "spec", "configDaemonNodeSelector", default={}):
            notes.warn(
                "sriov-daemon-does-not-wait",
                "the SR-IOV config daemon does not wait for the DOCA driver: VFs may be made before its restart takes them away",
                "SriovOperatorConfig default",
            )
    return SriovConfigShare(
        namespace=namespace,
        daemon_node_selector=selector,
        injector=True,
        feature_gates={name: on for name, on in gates.items() if dig(live, "spec", "featureGates", name) is not on},
        webhook=True,
        adopted=live is not None,
        stage=NIC_DRIVER_READY,
    )


def tolerations_of(intents: tuple[Intent, ...]) -> tuple[Mapping[str, str], ...]:
    """Put the tolerations of all fabrics together, each once."""
    found: list[Mapping[str, str]] = []
    for intent in intents:
        found.extend(item for item in intent.tolerations if item not in found)
    return tuple(found)


def _pull_secrets(intents: tuple[Intent, ...]) -> tuple[str, ...]:
    return tuple(sorted({intent.pull_secret for intent in intents if intent.pull_secret}))


def _mirrored(repository: str, intents: tuple[Intent, ...]) -> str:
    """Name a repository by the mirror that fabrics agree on (compose.py saw to that)."""
    return mirrored(repository, next((intent.image_registry for intent in intents if intent.image_registry), None))
