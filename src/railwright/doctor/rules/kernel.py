"""Kernel modules, limits and packages of a node: what the RDMA stack needs there, and what is in its way."""

from collections.abc import Iterable, Iterator
from enum import Enum

from railwright.core import kinds
from railwright.core.foreign_text import whole_number
from railwright.core.ids import NodeName, RuleId
from railwright.core.risk import Risk
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
from railwright.doctor.nic_policy import NAME
from railwright.doctor.operators import GPU
from railwright.doctor.rdma_stack import OTHER_MAKERS, PEER, holders
from railwright.doctor.seen import Seen
from railwright.doctor.showing import capped, on_host, on_node, one_a_node
from railwright.doctor.subjects import DRIVER_CONTAINERS, NIC_DRIVER_CONTAINERS, WANTED_RAILS
from railwright.doctor.wanted import (
    driver_environment,
    driver_policy,
    nic_driver_wanted,
    promised_resources,
    rdma_wanted,
    uses_rails,
)
from railwright.facts.model import NodeHardware, PodFacts
from railwright.facts.rdma_modules import STORAGE

STACK_HELD = RuleInfo(
    name=RuleId("rdma-stack-held-by-modules"),
    title="Modules hold the RDMA stack, so the NIC driver cannot be swapped",
    layer=Layer.KERNEL,
    severity=Severity.ERROR,
    text="The driver container unloads the running RDMA stack before it loads its own. Drivers of other makers' RDMA NICs (irdma, "
    "bnxt_re, qedr), storage over RDMA (NVMe-oF, iSER, SRP, NFS, Lustre), any other module that the kernel lists as a user, and a "
    "nvidia_peermem that is loaded already depend on it and keep it in place. Silent on nodes that run the container's driver already, and for modules without users that the policy has unloaded.",
    source="Mellanox/doca-driver-build 445df1e, entrypoint (storage and third-party modules); NVIDIA Network Operator docs 26.4, DOCA "
    "driver container, environment variables (2026-07)",
    needs=(INSIDE, reads("modules", relies_on=("values",)), objects(kinds.NIC_CLUSTER_POLICY)),
    uses=(objects(kinds.POD),),
    covers=("B024", "B027", "B034", "B038", "B040"),
    leads_to=(Condition.NIC_DRIVER_NOT_READY, Condition.POD_CRASHES),
    subject=NIC_DRIVER_CONTAINERS,
)


def judge_stack(seen: Seen) -> Iterator[Finding]:
    """Look for such modules on nodes that are to get the container's driver and do not run it yet."""
    unload = {
        key for key, value in driver_environment(driver_policy(seen)).items() if value.lower() in {"true", "1", "yes"}
    }
    held: dict[str, list[NodeName]] = {}
    for name, by in nic_driver_wanted(seen).items():
        hardware = seen.inside.get(name)
        if hardware is None or hardware.mlx5_driver:
            continue
        # The plan keeps irdma away by itself, before the driver comes.
        for module in sorted(holders(hardware, unload) - ({"irdma"} if by == "plan" else set())):
            held.setdefault(module, []).append(name)
    yield from _host_drivers(seen)
    if not held:
        return
    nodes = sorted({name for names in held.values() for name in names})
    yield conclude(
        STACK_HELD,
        f"{', '.join(sorted(held))} {'is' if len(held) == 1 else 'are'} loaded and depend on the RDMA stack that is to be replaced.",
        evidence=capped(
            on_node(name, f"module {module}", f"loaded, {seen.inside[name].modules[module]} users")
            for module, names in sorted(held.items())
            for name in names
        ),
        remedy=_free_stack(frozenset(held), nodes[0], unload),
        nodes=nodes,
        severity=Severity.ERROR if driver_policy(seen) is not None else Severity.WARNING,
    )


def _host_drivers(seen: Seen) -> Iterator[Finding]:
    """An out-of-tree driver that runs on a node without a container of it that is ready: the host brought it."""
    evidence = [
        on_node(name, "mlx5_core", f"{hardware.mlx5_driver}, and no driver container is ready")
        for name, by in nic_driver_wanted(seen).items()
        if by != "plan" and (hardware := seen.inside.get(name)) is not None and hardware.mlx5_driver
        if seen.is_whole(kinds.POD)
        and not any(pod.is_ready and pod.name.startswith("mofed-") for pod in seen.pods_by_node.get(name, ()))
    ]
    if evidence:
        yield conclude(
            STACK_HELD,
            "A driver that the host brought along (OFED of a DGX or of an image) runs where the container is to bring its own.",
            evidence=capped(evidence),
            remedy=Remedy(
                "Leave ofedDriver out for these nodes and set driver.rdma.useHostMofed in the ClusterPolicy, or take the host's driver away.",
                ("oc get pods -A -o wide | grep mofed",),
            ),
            nodes=(item.node for item in evidence if item.node),
            severity=Severity.WARNING,
        )


def _free_stack(modules: frozenset[str], node: NodeName, unload: set[str]) -> Remedy:
    steps: list[str] = []
    if modules & OTHER_MAKERS:
        names = ",".join(sorted(modules & OTHER_MAKERS))
        steps.append(
            f"Keep {names} from loading with the kernel argument module_blacklist={names} in a MachineConfig (one reboot)."
        )
    if modules & STORAGE and "UNLOAD_STORAGE_MODULES" in unload:
        steps.append(
            "The policy has storage modules unloaded, but they are in use: unmount what goes over RDMA first (nvme list, mount)."
        )
    elif modules & STORAGE:
        steps.append(
            "Where nothing is mounted over RDMA, set UNLOAD_STORAGE_MODULES=true in the NicClusterPolicy, never in the DaemonSet."
        )
    if modules & PEER:
        steps.append(
            "Take nvidia_peermem out of the way: driver.rdma.enabled=false with dma-buf, or stop the GPU operands of the node first."
        )
    others = modules - STORAGE - OTHER_MAKERS - PEER
    if others:
        steps.append(
            f"Stop what uses {', '.join(sorted(others))}, unload it, and keep it from loading before the driver's container."
        )
    variable = "UNLOAD_STORAGE_MODULES" if modules & STORAGE else "UNLOAD_THIRD_PARTY_RDMA_MODULES"
    patch = f"""oc patch nicclusterpolicy.mellanox.com {NAME} --type json -p '[{{"op":"add","path":"/spec/ofedDriver/env/-","value":{{"name":"{variable}","value":"true"}}}}]'"""
    return Remedy(
        " ".join(steps),
        (
            on_host(node, 'lsmod | grep -E "ib_core|rdma_cm|ib_uverbs"'),
            *((patch,) if modules & (STORAGE | OTHER_MAKERS) and variable not in unload else ()),
        ),
        risk=Risk.REBOOT if modules & OTHER_MAKERS else Risk.DRIVER_RELOAD,
        disrupts="every ConnectX port of the node, and storage that is mounted through these modules",
    )


KERNEL_WITHOUT_PACKAGES = RuleInfo(
    name=RuleId("kernel-has-no-driver"),
    title="Driver containers have nothing for the kernel that a node runs",
    layer=Layer.KERNEL,
    severity=Severity.WARNING,
    text="Drivers are built for, or published for, ordinary kernels. Real-time kernels lack headers in the toolkit; the GPU Operator "
    "before 25.3 makes an impossible name from a kernel with 64 KiB pages; after an upgrade a stored build of another kernel is "
    "taken for the present one. Judged where a driver container is wanted and not running.",
    source="https://github.com/Mellanox/network-operator/issues/720; https://github.com/NVIDIA/gpu-operator/issues/1207; "
    "Mellanox/network-operator-docs 0c0ecad, release notes, known limitations of 25.7 (2026-05-21)",
    needs=(
        INSIDE,
        reads("meta", "mofed", "pci", relies_on=("values", "nvidia-version")),
        objects(kinds.NIC_CLUSTER_POLICY, kinds.CLUSTER_POLICY),
    ),
    uses=(BY_OPERATORS, objects(kinds.MACHINE_CONFIG_POOL, kinds.POD)),
    covers=("B011", "B031", "B045", "B162"),
    leads_to=(Condition.NIC_DRIVER_NOT_READY, Condition.GPU_DRIVER_NOT_READY),
    subject=DRIVER_CONTAINERS,
)


class _Misfit(Enum):
    """Why there is no driver for a kernel, as the cause says it."""

    REAL_TIME = "a real-time kernel, for which drivers have no packages"
    LARGE_PAGES = "a kernel with 64 KiB pages, whose name this GPU Operator cannot use"
    OLD_BUILD = "another kernel than the driver builds that they keep"


_FIXED_64K = (25, 3, 0)


def judge_kernel(seen: Seen) -> Iterator[Finding]:
    """Compare each node's kernel with what drivers are wanted for it."""
    wanted = nic_driver_wanted(seen)
    gpu_operator = seen.operator(GPU)
    is_old = gpu_operator is not None and gpu_operator.number is not None and gpu_operator.number < _FIXED_64K
    problems: dict[_Misfit, list[Evidence]] = {}
    for name, hardware in seen.inside.items():
        kernel = hardware.kernel_version
        lacks_nic = name in wanted and not hardware.mlx5_driver
        lacks_gpu = bool(hardware.gpus) and not hardware.nvidia_driver and bool(seen.of_kind(kinds.CLUSTER_POLICY))
        if (lacks_nic or lacks_gpu) and _is_realtime(kernel):
            problems.setdefault(_Misfit.REAL_TIME, []).append(on_node(name, "kernel", kernel))
        if lacks_gpu and is_old and kernel.endswith("+64k"):
            problems.setdefault(_Misfit.LARGE_PAGES, []).append(on_node(name, "kernel", kernel))
        kept = hardware.system.mofed_inventories
        if lacks_nic and kept and not any(kernel in item for item in kept):
            problems.setdefault(_Misfit.OLD_BUILD, []).append(
                on_node(name, "stored builds", f"{', '.join(kept)}; running {kernel}")
            )
    for misfit, evidence in problems.items():
        yield conclude(
            KERNEL_WITHOUT_PACKAGES,
            f"These nodes run {misfit.value}.",
            evidence=capped(evidence),
            remedy=_for_kernel(misfit, [item.node for item in evidence if item.node], seen),
            nodes=(item.node for item in evidence if item.node),
        )


def _is_realtime(kernel: str) -> bool:
    return ".rt" in kernel or kernel.endswith(("+rt", "-rt", "-realtime"))


def _for_kernel(misfit: _Misfit, nodes: list[NodeName], seen: Seen) -> Remedy:
    if misfit is _Misfit.OLD_BUILD:
        delete = one_a_node([(node, on_host(node, "rm -rf /var/opt/mofed-container/inventory")) for node in nodes])
        pods = [
            (node, f"oc -n {pod.namespace} delete pod {pod.name}")
            for node in nodes
            for pod in seen.pods_by_node.get(node, ())
            if pod.name.startswith("mofed-")
        ]
        then = "then delete the driver's pods, which start again" if pods else "before the driver's pods come"
        return Remedy(
            f"Delete the stored builds, {then}; a newer Network Operator does it by itself.",
            (*delete, *one_a_node(pods)),
            risk=Risk.DRIVER_RELOAD,
            disrupts="every ConnectX port of the node while the driver is loaded",
        )
    if misfit is _Misfit.LARGE_PAGES:
        return Remedy("Upgrade the GPU Operator to 25.3 or newer.")
    return Remedy(
        "Set kernelType: default in the MachineConfig of these nodes' pool, or take a driver release that carries this kernel's headers.",
        ("oc get machineconfigs -o custom-columns=NAME:.metadata.name,KERNEL:.spec.kernelType",),
        risk=Risk.REBOOT,
        disrupts="each node of the pool, one after the other",
    )


RDMA_DEVICES_MISSING = RuleInfo(
    name=RuleId("rdma-devices-missing"),
    title="A ConnectX port has no RDMA device, or its device files are missing",
    layer=Layer.KERNEL,
    severity=Severity.ERROR,
    text="RDMA needs ib_core, mlx5_ib and ib_uverbs, and the shared device plugin also ib_umad and rdma_ucm with their files in "
    "/dev/infiniband. A missing issm file is no fault: only functions that may run a subnet manager have one. Judged on nodes where "
    "RDMA is wanted.",
    source="Mellanox/k8s-rdma-shared-dev-plugin 410b0f3, required character devices; rdma-core v57, kernel-boot modules "
    "(2026-04-07)",
    needs=(INSIDE, reads_rails("devices", relies_on=("modules", "infiniband")), WHO_WANTS_RDMA),
    uses=(BY_OPERATORS,),
    covers=("B047", "B069"),
    leads_to=(Condition.RESOURCE_MISSING, Condition.RDMA_FAILS),
    subject=WANTED_RAILS,
)
_MODULES = ("ib_core", "mlx5_ib", "ib_uverbs")


def judge_devices(seen: Seen) -> Iterator[Finding | Unknown]:
    """Look for modules, RDMA devices and device files of the rails."""
    wanted = rdma_wanted(seen)
    evidence: list[Evidence] = []
    unread: list[NodeName] = []
    for name, rails in seen.rails.items():
        if name not in wanted:
            continue
        hardware = seen.inside[name]
        missing = [module for module in _MODULES if module not in hardware.modules]
        evidence += (on_node(name, f"module {module}", "not loaded") for module in missing)
        # A port that a pod holds has neither network nor RDMA device in the host's view.
        lost = [rail for rail in rails if rail.port.rdma is None and rail.port.netdev is not None]
        evidence += (on_node(name, f"{rail.where} RDMA device", "none") for rail in lost)
        files = hardware.system.rdma_char_devices
        if files is None:
            unread.append(name)
        elif not missing:
            evidence += (on_node(name, "/dev/infiniband", f"no {what}") for what in _absent(files, hardware))
    if evidence:
        first = next(item.node for item in evidence if item.node)
        yield conclude(
            RDMA_DEVICES_MISSING,
            "The RDMA modules of the kernel are not loaded, or not all of them.",
            evidence=capped(evidence),
            remedy=Remedy(
                "Load the modules now, and at each boot with a file in /etc/modules-load.d (a MachineConfig); then restart the device "
                "plugin's pod on the node.",
                (on_host(first, "modprobe -a ib_core mlx5_ib ib_uverbs ib_umad rdma_ucm"),),
            ),
            nodes=(item.node for item in evidence if item.node),
        )
    if unread:
        how = "read the node as root"
        yield Unknown(RDMA_DEVICES_MISSING.name, "/dev/infiniband", "could not be looked at", how, tuple(unread))


def _absent(files: tuple[str, ...], hardware: NodeHardware) -> Iterator[str]:
    has_rdma = any(port.rdma is not None for port in hardware.ports)
    if has_rdma and not any(name.startswith("uverbs") for name in files):
        yield "uverbs files"
    if has_rdma and "rdma_cm" not in files:
        yield "rdma_cm"


MEMLOCK_LIMITED = RuleInfo(
    name=RuleId("container-memlock-limited"),
    title="Containers may lock too little memory for RDMA",
    layer=Layer.KERNEL,
    severity=Severity.WARNING,
    text="Registering a buffer locks it in memory. Kubernetes never sets this limit; containers get the runtime's, often 64 KiB or 8 "
    "MiB. The capability IPC_LOCK lifts it, but only for processes of root: others lose added capabilities. Small tests pass, and "
    "larger ones fail with ENOMEM, or fall back to TCP. An error where a pod that asks for rails is caught by it.",
    source="capabilities(7), CAP_IPC_LOCK; OpenShift 4.20 docs, ContainerRuntimeConfig and CRI-O default_ulimits; "
    "https://github.com/kubernetes/kubernetes/issues/3595 (2026-08)",
    needs=(INSIDE, reads_rails("runtime"), WHO_WANTS_RDMA),
    uses=(BY_OPERATORS,),
    covers=("B095",),
    leads_to=(Condition.RDMA_FAILS,),
    subject=WANTED_RAILS,
)
_ENOUGH_KIB = 16 * 1024 * 1024
"""16 GiB: below it a job with a few large buffers fails. An estimate; unlimited is what every guide asks for."""


def judge_memlock(seen: Seen) -> Iterator[Finding | Unknown]:
    """Compare the runtime's limit with who runs there, on nodes where RDMA is wanted."""
    evidence: list[Evidence] = []
    caught: list[Evidence] = []
    unread: list[NodeName] = []
    promised = promised_resources(seen)
    for name in sorted(rdma_wanted(seen) & set(seen.rails)):
        hardware = seen.inside[name]
        limit = hardware.runtime.memlock or hardware.memlock_limit or ""
        if not limit:
            unread.append(name)
        elif (size_kib := whole_number(limit)) is not None and size_kib < _ENOUGH_KIB:
            origin = f" ({hardware.runtime.memlock_origin})" if hardware.runtime.memlock_origin else ""
            evidence.append(on_node(name, "locked memory of a new container", f"{limit} KiB{origin}"))
            caught += _caught(seen.pods_by_node.get(name, ()), promised)
    if evidence:
        yield conclude(
            MEMLOCK_LIMITED,
            "The container runtime passes a small limit of locked memory on to every container.",
            evidence=capped((*caught, *evidence)),
            remedy=Remedy(
                "Set the limit to unlimited in the runtime (default_ulimits memlock=-1:-1 for CRI-O, by a MachineConfig; "
                "LimitMEMLOCK=infinity in containerd's unit), or run the pods as root with IPC_LOCK.",
                ("railwright apply --until nodes-prepared",),
                risk=Risk.REBOOT,
                disrupts="each node of the pool, one after the other",
            ),
            nodes=(item.node for item in evidence if item.node),
            severity=Severity.ERROR if caught else None,
        )
    if unread:
        yield Unknown(
            MEMLOCK_LIMITED.name,
            "locked memory limit of containers",
            "neither the runtime's settings nor its own limits could be read",
            "read the node as root in the host's process namespace",
            tuple(unread),
        )


def _caught(pods: Iterable[PodFacts], promised: frozenset[str]) -> Iterator[Evidence]:
    for pod in pods:
        if not uses_rails(pod, promised):
            continue
        for container in pod.containers:
            user = container.run_as_user if container.run_as_user is not None else pod.run_as_user
            is_root = user in {None, 0} and not container.run_as_non_root
            if (
                container.requests
                and not container.privileged
                and not (is_root and "IPC_LOCK" in container.capabilities)
            ):
                who = f"user {user}" if user else "IPC_LOCK is not added" if is_root else "not root"
                yield Evidence(f"pod {pod.namespace}/{pod.name}", f"container {container.name}", who, pod.node)


RULES = (
    Rule(STACK_HELD, judge_stack),
    Rule(KERNEL_WITHOUT_PACKAGES, judge_kernel),
    Rule(RDMA_DEVICES_MISSING, judge_devices),
    Rule(MEMLOCK_LIMITED, judge_memlock),
)
