"""
What versions, drivers and kernels cannot do, as far as the catalog and the nodes say: refused before anything is written.

Source: NVIDIA/cloud-native-docs 52dcb7b8, gpu-operator/gpu-operator-rdma.rst, Common Prerequisites;
NVIDIA/gpu-operator a22dbf67, api/nvidia/v1/clusterpolicy_types.go:574-585 (kernelModuleType, useNvidiaDriverCRD).
"""

from railwright.catalog.model import Catalog, DefaultEntry, GpuOperatorEntry
from railwright.core.errors import PermissionMissing
from railwright.core.ids import NodeName
from railwright.core.kinds import CLUSTER_POLICY, EVENT, NETWORK_ATTACHMENT_DEFINITION, PACKAGE_MANIFEST
from railwright.core.objects import Ref, dig, labels_of
from railwright.facts.model import ClusterFacts, NodeHardware, Platform
from railwright.intent.model import GpuDriver, GpuMemory
from railwright.plan.draft import FabricNodes
from railwright.plan.model import GpuPolicyShare, NetworkShare, OperatorShare, Share
from railwright.plan.notes import Notes
from railwright.plan.operands import GPU_PACKAGE
from railwright.plan.settings import Settings
from railwright.plan.version_numbers import version_numbers
from railwright.plan.versions import csv_version

NOT_READABLE = "facts-not-readable"
"""Code of the warning for what was not read of what a plan is made by: a command that writes stops there."""
_NOT_PLANNED_BY = (f"{EVENT} ", "older events", "log of ", "further logs ")
"""Read for who asks for them, and no reason for anything here."""
_64_KIB = 65536
_NETWORK_PACKAGE = "nvidia-network-operator"
_LEAST = {_NETWORK_PACKAGE: "gpudirect_min_network_operator", GPU_PACKAGE: "gpudirect_min_gpu_operator"}
_MADE_BY_NNO = "nvidia.network-operator.state"
"""Label of NADs that the Network Operator made. Measured: Network Operator 26.4.1 controllers, 2026-11."""


def check_nodes_limits(
    fabrics: tuple[FabricNodes, ...], operators: tuple[OperatorShare, ...], catalog: Catalog, notes: Notes
) -> None:
    """Refuse nodes on which the planned drivers cannot work."""
    entry = _gpu_operator(operators, catalog)
    for fabric in fabrics:
        for node, hardware in fabric.hardware.items():
            if fabric.settings.gpu_driver is GpuDriver.OPEN:
                _check_generation(node, hardware, catalog.default("open_module_min_gpu_id"), notes)
            if fabric.settings.memory is GpuMemory.DMA_BUF:
                _check_kernel(node, hardware, catalog.default("dma_buf_min_kernel"), notes)
            if entry is not None and not entry.takes_64k_pages and hardware.page_size_bytes == _64_KIB:
                notes.refuse(
                    "gpu-operator-without-64k-pages",
                    f"GPU Operator {entry.version} cannot name its driver's DaemonSet on {node}, whose kernel has 64 KiB pages",
                    expected="GPU Operator 25.3.0 or newer",
                    seen=entry.version,
                    hint=f"another channel in spec.operators.channels ({GPU_PACKAGE})",
                    node=node,
                )


def _check_generation(node: NodeName, hardware: NodeHardware, least: DefaultEntry, notes: Notes) -> None:
    """Refuse GPUs that the open modules do not drive; an id that is no number is not known to be one of them."""
    old = sorted({gpu.device_id for gpu in hardware.gpus if _is_below(gpu.device_id, str(least.value))})
    if old:
        notes.refuse(
            "gpu-without-open-module",
            f"GPU 10de:{', 10de:'.join(old)} of {node} is older than Turing, and the open kernel modules do not drive it",
            expected="GPUs of Turing or newer",
            seen=", ".join(old),
            hint="driver.gpu: proprietary with driver.memory: nvidia-peermem and driver.nic: doca",
            node=node,
        )


def _is_below(device_id: str, least: str) -> bool:
    try:
        return int(device_id, 16) < int(least, 16)
    except ValueError:
        return False


def _check_kernel(node: NodeName, hardware: NodeHardware, least: DefaultEntry, notes: Notes) -> None:
    have = version_numbers(hardware.kernel_version)[:2]
    if len(have) == 2 and have < version_numbers(str(least.value)):
        notes.refuse(
            "kernel-without-dma-buf",
            f"kernel {hardware.kernel_version} of {node} cannot register GPU memory as dma-buf",
            expected=f"{least.value} or newer",
            seen=hardware.kernel_version,
            hint="driver.memory: nvidia-peermem with driver.nic: doca, or a newer kernel",
            node=node,
        )


def check_limits(
    all_settings: tuple[Settings, ...],
    cluster: ClusterFacts,
    shares: tuple[Share, ...],
    catalog: Catalog,
    notes: Notes,
) -> None:
    """Refuse what the planned or adopted operators cannot do, and names that others have; warn of old operators."""
    operators = tuple(share for share in shares if isinstance(share, OperatorShare))
    entry = _gpu_operator(operators, catalog)
    for operator in operators:
        _check_least(operator, catalog, notes)
    for share in shares:
        if isinstance(share, GpuPolicyShare):
            _check_gpu_policy(share, entry, cluster, notes)
        elif isinstance(share, NetworkShare):
            _check_name(share, cluster, notes)
    for settings in all_settings:
        _check_gpu_driver(settings, cluster, catalog, notes)
    _name_unseen(cluster, notes)
    if cluster.platform is Platform.KUBERNETES and not cluster.serves(NETWORK_ATTACHMENT_DEFINITION):
        notes.refuse(
            "multus-missing",
            "no NetworkAttachmentDefinition is served: without Multus no pod gets a second interface",
            expected="Multus and the CNI plugins, installed with the Network Operator (secondaryNetwork) or by themselves",
            seen="k8s.cni.cncf.io/v1 is not served",
            hint="set secondaryNetwork.multus and cniPlugins in the Network Operator's Helm values",
        )


def _name_unseen(cluster: ClusterFacts, notes: Notes) -> None:
    """Say of everything that was not read why; a catalog that is out of service has a warning of its own."""
    for item in cluster.unseen:
        is_denied = item.why.startswith(PermissionMissing.code)
        has_its_own = item.what == str(PACKAGE_MANIFEST) and not is_denied
        if not has_its_own and not item.what.startswith(_NOT_PLANNED_BY):
            notes.warn(NOT_READABLE, item.why, item.what)


def _gpu_operator(operators: tuple[OperatorShare, ...], catalog: Catalog) -> GpuOperatorEntry | None:
    csv = next((item.csv for item in operators if item.package == GPU_PACKAGE), "")
    return catalog.gpu_operator(csv_version(csv)) if csv else None


def _check_least(operator: OperatorShare, catalog: Catalog, notes: Notes) -> None:
    name = _LEAST.get(operator.package)
    version = csv_version(operator.csv)
    if name is None or not version:
        return
    least = catalog.default(name)
    if version_numbers(version) < version_numbers(str(least.value)):
        notes.warn(
            "operator-older-than-supported",
            f"{operator.package} {version} is older than {least.value}: {least.reason} ({least.source})",
            operator.namespace,
        )


def _check_gpu_policy(
    share: GpuPolicyShare, entry: GpuOperatorEntry | None, cluster: ClusterFacts, notes: Notes
) -> None:
    if share.kernel_module_type and entry is not None and not entry.has_kernel_module_type:
        notes.refuse(
            "gpu-operator-without-module-type",
            f"GPU Operator {entry.version} has no driver.kernelModuleType, so the kind of module cannot be chosen",
            expected="GPU Operator 25.3.0 or newer",
            seen=entry.version,
            hint=f"another channel in spec.operators.channels ({GPU_PACKAGE}); an adopted operator is its owner's to update",
        )
    live = cluster.objects.get(Ref(CLUSTER_POLICY, "", share.name)) if share.adopted else None
    takes = share.kernel_module_type or share.rdma_taken
    if takes and dig(live, "spec", "driver", "useNvidiaDriverCRD") is True:
        notes.refuse(
            "gpu-driver-in-other-kind",
            "the ClusterPolicy that is there leaves the driver to NVIDIADriver objects and reads none of its own driver"
            " fields, of which we need some",
            where="ClusterPolicy spec.driver.useNvidiaDriverCRD",
            expected=f"NVIDIADriver objects with kernelModuleType {share.kernel_module_type or 'as it is'}",
            seen="true",
            hint="its owner sets kernelModuleType and rdma in the NVIDIADriver objects; or useNvidiaDriverCRD: false",
        )


def _check_gpu_driver(settings: Settings, cluster: ClusterFacts, catalog: Catalog, notes: Notes) -> None:
    """Refuse a GPU driver that is known to be older than dma-buf: the one asked for, or an adopted policy's."""
    adopted = next(
        (str(dig(item, "spec", "driver", "version", default="")) for item in cluster.of_kind(CLUSTER_POLICY)), ""
    )
    version = adopted or settings.intent.driver.gpu_version or ""
    least = catalog.default("dma_buf_min_driver")
    if (
        settings.memory is GpuMemory.DMA_BUF
        and version_numbers(version)
        and version_numbers(version) < version_numbers(str(least.value))
    ):
        notes.refuse(
            "gpu-driver-without-dma-buf",
            f"GPU driver {version} cannot export GPU memory as dma-buf: {least.reason} from {least.value} on",
            where=str(settings.intent.place("spec.driver.gpuVersion") or settings.name),
            expected=f"{least.value} or newer",
            seen=version,
            hint="leave spec.driver.gpuVersion out to take the operator's own",
        )


def _check_name(share: NetworkShare, cluster: ClusterFacts, notes: Notes) -> None:
    """Refuse a name that somebody's own NAD has: the operator would write over it without a word."""
    nad = cluster.objects.get(Ref(NETWORK_ATTACHMENT_DEFINITION, share.target_namespace, share.nad))
    if nad is None or share.kind not in {"MacvlanNetwork", "IPoIBNetwork", "HostDeviceNetwork"}:
        return
    owners = {dig(owner, "kind") for owner in dig(nad, "metadata", "ownerReferences", default=[])}
    if _MADE_BY_NNO not in labels_of(nad) and share.kind not in owners:
        notes.refuse(
            "network-name-taken",
            f"{share.target_namespace} has a NetworkAttachmentDefinition {share.nad} of others, which the Network Operator"
            " would write over",
            where=f"NetworkAttachmentDefinition {share.target_namespace}/{share.nad}",
            expected="names that nobody uses",
            seen=share.nad,
            hint="another spec.resourcePrefix, or delete it if nobody needs it",
        )
