"""The GPU driver inside nodes: its way to the NIC, and what keeps it from being replaced."""

from collections.abc import Iterable, Iterator

from railwright.core import kinds
from railwright.core.ids import NodeName, RuleId
from railwright.core.objects import Ref, dig
from railwright.core.risk import Risk
from railwright.doctor.commands import oc_patch
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
from railwright.doctor.needs import BY_OPERATORS, INSIDE, WHO_WANTS_RDMA, objects, reads, reads_rails
from railwright.doctor.operators import GPU
from railwright.doctor.seen import Seen
from railwright.doctor.showing import capped, on_host, on_node
from railwright.doctor.subjects import GPUS, RAILS
from railwright.doctor.wanted import rdma_wanted
from railwright.facts.model import NodeHardware, PodFacts

_PEER = frozenset({"nvidia_peermem", "nv_peer_mem"})

MEMORY_OUT_OF_REACH = RuleInfo(
    name=RuleId("gpu-memory-out-of-nic-reach"),
    title="The NIC has no way to GPU memory: neither dma-buf nor nvidia_peermem",
    layer=Layer.DRIVERS,
    severity=Severity.ERROR,
    text="dma-buf needs the open GPU kernel module and a kernel of 5.12 or newer with peer-to-peer support; nvidia_peermem needs an RDMA "
    "stack with the peer memory interface, which the kernel's own lacks, and must have been built against the stack that runs: "
    "after a NIC driver upgrade the old one is refused. Jobs then copy through host memory, and nothing says so.",
    source="NVIDIA/cloud-native-docs 52dcb7b8, gpu-operator/gpu-operator-rdma.rst; NVIDIA GPUDirect RDMA docs 13.0; "
    "https://github.com/NVIDIA/gpu-operator/issues/2868 (2026-09)",
    needs=(
        INSIDE,
        reads_rails("nvidia-version", "kernel-config", relies_on=("modules", "values")),
        objects(kinds.CLUSTER_POLICY),
    ),
    uses=(WHO_WANTS_RDMA, BY_OPERATORS),
    covers=("B026", "B140", "B141"),
    leads_to=(Condition.PEER_MEMORY_MISSING, Condition.NOT_DIRECT),
    shows=(Condition.PEER_MEMORY_MISSING,),
    subject=RAILS,
)


def judge_memory(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look at driver, dma-buf and peermem on nodes with rails and a loaded GPU driver."""
    policy = next((item for item in seen.of_kind(kinds.CLUSTER_POLICY) if dig(item, "status", "state")), None)
    wants_peermem = bool(dig(policy, "spec", "driver", "rdma", "enabled", default=False))
    unreachable: list[Evidence] = []
    without: list[Evidence] = []
    unread: list[NodeName] = []
    for name in seen.rails:
        hardware = seen.inside[name]
        if not hardware.nvidia_driver or set(hardware.modules) & _PEER:
            continue
        exports = hardware.system.dma_buf
        if exports is None:
            unread.append(name)
        elif not exports:
            unreachable += _about_memory(name, hardware)
        elif wants_peermem:
            without += _about_memory(name, hardware)
    if unreachable:
        yield _no_way(unreachable, seen, wants_peermem=wants_peermem)
    if without:
        yield conclude(
            MEMORY_OUT_OF_REACH,
            "nvidia_peermem is wanted and not loaded; programs that use dma-buf still reach GPU memory, others copy.",
            evidence=capped(without),
            remedy=_reload(seen, without),
            nodes=(item.node for item in without if item.node),
        )
    if unread:
        yield Unknown(
            MEMORY_OUT_OF_REACH.name,
            "whether GPU memory can be exported as dma-buf",
            "kernel options or driver kind could not be read",
            "read the node as root, with the kernel's config in /boot or /proc/config.gz",
            tuple(unread),
        )


def _about_memory(name: NodeName, hardware: NodeHardware) -> Iterator[Evidence]:
    yield on_node(name, "GPU driver", hardware.nvidia_driver)
    yield on_node(name, "modules", "nvidia_peermem is not loaded")
    yield on_node(name, "mlx5_core", hardware.mlx5_driver or "the kernel's own")
    if hardware.system.dma_buf is False:
        yield on_node(name, "dma-buf export", "not possible")


def _no_way(evidence: list[Evidence], seen: Seen, *, wants_peermem: bool) -> Finding:
    names = [item.node for item in evidence if item.node]
    in_box = any(not seen.inside[name].mlx5_driver for name in names)
    why = "The proprietary GPU module, or a kernel without peer-to-peer support, cannot export dma-buf, and nvidia_peermem is not loaded"
    if wants_peermem and in_box:
        why += ": the kernel's own RDMA stack has no peer memory interface for it"
    elif wants_peermem:
        why += ": it does not load against the RDMA stack that runs, usually because that one was swapped after the GPU driver was built"
    return conclude(
        MEMORY_OUT_OF_REACH,
        f"{why}.",
        evidence=capped(evidence),
        remedy=_reload(seen, evidence),
        nodes=names,
        severity=Severity.ERROR if rdma_wanted(seen) & set(names) else Severity.WARNING,
    )


def _reload(seen: Seen, evidence: Iterable[Evidence]) -> Remedy:
    node = next((item.node for item in evidence if item.node), "NODE")
    operator = seen.operator(GPU)
    namespace = operator.namespace if operator is not None else "nvidia-gpu-operator"
    policy = next(iter(seen.of_kind(kinds.CLUSTER_POLICY)), None)
    name = str(dig(policy, "metadata", "name", default="gpu-cluster-policy"))
    return Remedy(
        "Use the open kernel module, which exports dma-buf (kernelModuleType: open, rdma.enabled: false); or keep peermem and have it "
        "built again: NIC driver first, then delete the GPU driver pod of the drained node.",
        (
            oc_patch(
                Ref(kinds.CLUSTER_POLICY, "", name),
                spec={"driver": {"kernelModuleType": "open", "rdma": {"enabled": False}}},
            ),
            f"oc -n {namespace} delete pod -l app=nvidia-driver-daemonset --field-selector spec.nodeName={node}",
        ),
        risk=Risk.DRAIN,
        disrupts="pods that use GPUs on these nodes",
    )


GPU_DRIVER_HELD = RuleInfo(
    name=RuleId("gpu-driver-held-in-use"),
    title="The GPU driver is due for a change and is held in use",
    layer=Layer.DRIVERS,
    severity=Severity.WARNING,
    text="The driver pod unloads the old driver before it loads the new one. gdrdrv and nvidia_fs count as users of it, and so do pods "
    "that use GPUs without asking for them (runtime class nvidia, DaemonSets): no drain moves those. Judged where a driver pod is "
    "not ready, or a node waits for its upgrade.",
    source="NVIDIA/gpu-driver-container, _unload_driver; NVIDIA/k8s-driver-manager, eviction filters; "
    "https://github.com/NVIDIA/gpu-operator/issues/2570 (2026-06)",
    needs=(INSIDE, reads("modules"), objects(kinds.POD)),
    covers=("B036", "B165", "B173"),
    leads_to=(Condition.GPU_DRIVER_NOT_READY, Condition.ROLLOUT_STUCK),
    subject=GPUS,
)
_UPGRADE = "nvidia.com/gpu-driver-upgrade-state"
_SETTLED = frozenset({"", "upgrade-done", "unknown"})
_RIDERS = ("gdrdrv", "nvidia_fs")


def judge_gpu_driver(seen: Seen) -> Iterator[Finding]:
    """Look for modules and pods that hold a driver which is on its way out."""
    evidence: list[Evidence] = []
    waiting: list[Evidence] = []
    for name, hardware in seen.inside.items():
        if "nvidia" not in hardware.modules:
            continue
        state = seen.node_by_name[name].labels.get(_UPGRADE, "")
        pods = seen.pods_by_node.get(name, ())
        drivers = [pod for pod in pods if pod.owner.startswith("DaemonSet/nvidia-driver-daemonset")]
        if state in _SETTLED and all(pod.is_ready for pod in drivers):
            continue
        holders = [module for module in _RIDERS if module in hardware.modules]
        riders = [pod for pod in pods if _rides(pod)]
        evidence += (on_node(name, f"module {module}", "loaded, uses nvidia") for module in holders)
        evidence += (
            Evidence(f"pod {pod.namespace}/{pod.name}", "uses GPUs", "without asking for one", name) for pod in riders
        )
        if (holders or riders) and state not in _SETTLED:
            waiting.append(on_node(name, f"label {_UPGRADE}", state))
    if evidence:
        first = next(item.node for item in evidence if item.node)
        yield conclude(
            GPU_DRIVER_HELD,
            "Modules or pods keep the loaded GPU driver in use, and eviction does not see them.",
            evidence=capped((*waiting, *evidence)),
            remedy=Remedy(
                "Remove gdrdrv and nvidia_fs, delete the pods that use GPUs without asking, then the driver pod; or reboot the drained "
                "nodes one by one.",
                (on_host(first, "rmmod gdrdrv nvidia_fs"), f"oc get nodes -L {_UPGRADE}"),
                risk=Risk.DRAIN,
                disrupts="pods that use GPUs on these nodes",
            ),
            nodes=(item.node for item in evidence if item.node),
        )


def _rides(pod: PodFacts) -> bool:
    asks = any(name.startswith("nvidia.com/") for name in pod.requests)
    is_operand = pod.owner.startswith(("DaemonSet/nvidia-", "DaemonSet/gpu-feature-discovery"))
    return pod.runtime_class == "nvidia" and not asks and not is_operand and pod.phase == "Running"


RULES = (
    Rule(MEMORY_OUT_OF_REACH, judge_memory),
    Rule(GPU_DRIVER_HELD, judge_gpu_driver),
)
