"""What driver containers and the kernel say while drivers are built, loaded and swapped."""

from railwright.core.ids import RuleId
from railwright.core.risk import Risk
from railwright.doctor.model import Condition, Layer, RuleInfo, Severity
from railwright.doctor.text.errnos import EBUSY, EINVAL, EKEYREJECTED, ENOENT, ENOEXEC
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.signals import says
from railwright.facts.rdma_modules import STORAGE

_STORAGE_MODULES = "|".join((*sorted(STORAGE), "svcrdma", "storage modules", "rdma storage"))
_OTHER_RDMA_MODULES = "irdma|i40iw|bnxt_re|qedr|~efa~|~siw~|iw_cxgb4|hns_roce|third-party rdma|third party rdma"
_STACK_MODULES = "ib_core|ib_uverbs|ib_cm|rdma_cm|rdma_ucm|ib_umad|mlx5_core|mlx5_ib|mlx_compat|openibd"
_PEER_MODULES = "nvidia_peermem|nvidia-peermem|nv_peer_mem|peermem"
_ANY_STACK = f"{_STACK_MODULES}|{_STORAGE_MODULES}|{_PEER_MODULES}|nvidia|gdrdrv|nvme_core|lustre|ko2iblnd"

RDMA_STACK_IN_USE = TextRule(
    RuleInfo(
        name=RuleId("log-rdma-stack-in-use"),
        title="The NIC driver cannot be swapped because other modules hold the RDMA stack",
        layer=Layer.DRIVERS,
        severity=Severity.ERROR,
        text="To load another mlx5 driver the running one must be unloaded, with ib_core below it. Storage over RDMA "
        "(NVMe-oF, iSER, SRP, NFS), drivers of other makers' NICs (irdma, bnxt_re, qedr) and nvidia_peermem hold it. "
        "The driver container refuses rather than pull storage away.",
        source="Mellanox/doca-driver-build, entrypoint, unloading of storage and third-party modules; NVIDIA Network "
        "Operator docs v26.4, DOCA-OFED driver container, environment variables (2026-08-22)",
        covers=("B024", "B027", "B034", "B039", "B040"),
        leads_to=(Condition.NIC_DRIVER_NOT_READY,),
        shows=(Condition.POD_CRASHES,),
    ),
    cause="A module that depends on the RDMA stack is loaded, so the stack cannot be unloaded.",
    remedy="Stop what uses it, keep the module from loading, then let the driver pod start again.",
    commands=("oc debug node/NODE -- chroot /host sh -c 'lsmod | grep -E \"ib_core|rdma_cm|ib_uverbs\"'",),
    risk=Risk.DRIVER_RELOAD,
    disrupts="every ConnectX port of the node while the driver is swapped",
    signals=(
        says(
            "storage modules",
            "loaded",
            "driver reload|terminat|unload_storage_modules|refus|abort|exit",
            cause="Modules for storage over RDMA are loaded on the host, and the driver container will not unload them "
            "unless told to.",
            remedy="If nothing is mounted through them, set UNLOAD_STORAGE_MODULES=true in the NicClusterPolicy (never in "
            "the DaemonSet: the operator takes it back and drains nodes); never where the root disk is NVMe over RDMA.",
            commands=(
                'oc patch nicclusterpolicy nic-cluster-policy --type json -p \'[{"op":"add","path":"/spec/ofedDriver/env/-","value":{"name":"UNLOAD_STORAGE_MODULES","value":"true"}}]\'',
            ),
        ),
        says(
            "third-party rdma|third party rdma|unload_third_party_rdma_modules|thirdparty rdma",
            "loaded|refus|terminat|found|detected|present",
            unless="no third|not found|none",
            cause="RDMA modules of another maker's NIC are loaded. Some driver images of early 2026 also counted iw_cm, "
            "ib_srp and ib_iser as such.",
            remedy="Keep the module from loading where nothing uses it, or set UNLOAD_THIRD_PARTY_RDMA_MODULES=true; if "
            "only iw_cm is named, take a newer driver image.",
        ),
        says(
            _STACK_MODULES,
            "irdma|i40iw",
            f"{EBUSY}|used by|cannot unload|can't unload|failed to unload|unload",
            window=3,
            cause="The in-tree irdma of an Intel NIC holds ib_core.",
            remedy="Keep irdma from loading, by a MachineConfig where there are pools; the node reboots once.",
            commands=("railwright plan  # shows the MachineConfig that nodes-prepared would make",),
        ),
        says(
            "rmmod|modprobe|unload|openibd|remove module|unloading|can't remove|cannot remove",
            _STACK_MODULES,
            f"{EBUSY}|used by|in use|holders|refcount|still referenced",
            unless="successfully unloaded",
        ),
        says(
            "openibd|force-restart|mlnx-ofa|unload",
            "nvidia_peermem|nvidia-peermem|nv_peer_mem",
            f"{EBUSY}|depend|fail|used by|ib_uverbs|still loaded",
            window=5,
            unless="not loaded|could not insert",
            cause="nvidia_peermem was loaded again while the NIC driver was being swapped: the GPU Operator's sidecar puts "
            "it back.",
            remedy="Use dma-buf (driver.rdma.enabled=false with the open module), or stop the GPU operands of the node, "
            "swap the NIC driver, start them again; a newer driver image unloads it at the right moment.",
        ),
        says(
            f"{_STORAGE_MODULES}|{_OTHER_RDMA_MODULES}",
            "~busy~|references|refcnt|refcount|~in use~|used by|~holds~|cannot unload|failed to unload|could not unload|unable to unload",
            "module|unload|rdma|stack|ib_core|ib_uverbs|openibd",
            unless="unloaded successfully|unknown symbol|storage modules are|third-party|third party",
            cause="A module for storage over RDMA, or of another maker's NIC, is in use.",
        ),
        says(
            "tuned|ethtool|channels",
            "rdma is active|rdma active",
            cause="irdma is active on an Intel NIC, so its channels cannot be changed.",
            remedy="Keep irdma from loading on these nodes.",
        ),
    ),
)

GPU_DRIVER_IN_USE = TextRule(
    RuleInfo(
        name=RuleId("log-gpu-driver-in-use"),
        title="The GPU driver cannot be unloaded because something still uses it",
        layer=Layer.DRIVERS,
        severity=Severity.ERROR,
        text="A new GPU driver is loaded after the old one is unloaded. Pods without a GPU request, DaemonSets, host "
        "processes (monitoring, X, persistenced) and the modules gdrdrv, nvidia_fs and nvidia_peermem keep it in use; "
        "eviction only looks at pods that request GPUs.",
        source="NVIDIA/gpu-driver-container, _unload_driver; NVIDIA/k8s-driver-manager, eviction filters; "
        "https://github.com/NVIDIA/gpu-driver-container/pull/869 (2026-07)",
        covers=("B036", "B165", "B173"),
        leads_to=(Condition.GPU_DRIVER_NOT_READY, Condition.ROLLOUT_STUCK),
        shows=(Condition.POD_CRASHES,),
    ),
    cause="Processes or modules still hold the loaded GPU driver.",
    remedy="Find what holds it, end it, remove gdrdrv and nvidia_fs, and delete the driver pod; a reboot of the drained "
    "node does the same.",
    commands=(
        "oc debug node/NODE -- chroot /host sh -c 'lsmod | grep -E \"^nvidia|^gdrdrv\"; fuser -v /dev/nvidia*'",
        "oc debug node/NODE -- chroot /host rmmod gdrdrv",
    ),
    risk=Risk.DRAIN,
    disrupts="pods that use GPUs on the node",
    signals=(
        says(
            "nouveau",
            "~in use~|is loaded|conflict|must be disabled|must be unloaded|detected|~holds~",
            unless="not loaded|not detected|is not|unloaded|successfully|blacklisted",
            cause="The kernel's own GPU driver, nouveau, has the GPU.",
            remedy="Keep it from loading with the kernel arguments module_blacklist=nouveau and rd.driver.blacklist=nouveau (a "
            "MachineConfig), which takes a restart.",
            commands=("oc debug node/NODE -- chroot /host lsmod | grep nouveau",),
        ),
        says("nvidia", "driver is in use|driver in use|is currently in use|module nvidia is in use", unless="nouveau"),
        says(
            "unload|rmmod|unloading",
            "~nvidia~|nvidia driver|nvidia_uvm|nvidia_modeset|gpu driver",
            f"{EBUSY}|could not|failed",
        ),
        says(
            "failed to uninstall|failed to unload|unable to unload|unable to uninstall|cannot unload",
            "nvidia|gpu driver|gpu pods",
        ),
        says("gdrdrv|nvidia_fs|nvidia-fs", "~in use~|used by|refcount|~holds~|~busy~", unless="loaded successfully"),
        says(
            "upgrade-required|pod-deletion-required|drain-required|upgrade-failed",
            "gpu-driver-upgrade|driver upgrade|driver-upgrade",
            unless="upgrade-done",
            cause="The driver's upgrade waits: nodes could not be emptied of what uses GPUs.",
            remedy="Look at upgradePolicy (autoUpgrade, maxParallelUpgrades, drain, podDeletion) and at pods that use GPUs "
            "without asking for one; delete those, or reboot nodes one by one.",
            commands=("oc get nodes -L nvidia.com/gpu-driver-upgrade-state",),
        ),
    ),
)

MODULE_REFUSED = TextRule(
    RuleInfo(
        name=RuleId("log-module-does-not-fit"),
        title="The kernel refuses a module: it was built for another stack, another kernel, or is not signed",
        layer=Layer.DRIVERS,
        severity=Severity.ERROR,
        text="Modules carry checksums of the symbols that they use. After the NIC driver was replaced, a nvidia_peermem or "
        "nvme_rdma that was built before does not fit any more and is refused with EINVAL, or has unknown symbols. Without "
        "peer memory the GPU stays allocatable, and jobs copy through host memory.",
        source="Linux kernel/module/version.c, check_version; GPU Operator 26.7, nvidia-peermem sidecar; "
        "https://github.com/NVIDIA/gpu-operator/issues/2868 (2026-09)",
        covers=("B026", "B024"),
        leads_to=(Condition.PEER_MEMORY_MISSING, Condition.GPU_DRIVER_NOT_READY, Condition.NIC_DRIVER_NOT_READY),
        shows=(Condition.POD_CRASHES,),
    ),
    cause="A module and the running RDMA or GPU stack were not built for each other.",
    remedy="Let it be built again against what runs now: delete the driver pod of the node, NIC driver first, GPU driver "
    "after it.",
    commands=(
        "oc -n nvidia-gpu-operator delete pod -l app=nvidia-driver-daemonset --field-selector spec.nodeName=NODE",
    ),
    risk=Risk.DRAIN,
    disrupts="pods that use GPUs on the node",
    signals=(
        says(
            _PEER_MODULES,
            f"{EINVAL}|{ENOEXEC}|unknown symbol|disagrees about version|version magic|failed to insert",
            unless="memory lock",
            cause="nvidia_peermem was built against another RDMA stack than the one that runs: usually the NIC driver was "
            "swapped or upgraded after the GPU driver was built.",
            remedy="Drain the node's GPU pods and delete its GPU driver pod, so that the module is built against the NIC "
            "driver that runs now; upgrade in the order NIC driver, then GPU driver; or go over to dma-buf.",
        ),
        says(
            "disagrees about version of symbol|unknown symbol in module|: unknown symbol|unknown symbol",
            _ANY_STACK,
            unless=_PEER_MODULES,
        ),
        says(
            "insmod|modprobe|finit_module|could not insert|init_module|loading of|module verification|module",
            f"{EKEYREJECTED}|unsigned module loading is restricted",
            unless="tainting kernel",
            cause="The kernel takes signed modules only (Secure Boot), and this one is not signed with a key that it knows.",
            remedy="Use a signed (precompiled) driver whose key is enrolled, or switch Secure Boot off on these nodes.",
            commands=("oc debug node/NODE -- chroot /host mokutil --sb-state",),
        ),
        says("version magic", "should be|mismatch|~magic", cause="The module was built for another kernel."),
        says(
            "nvrm|nvidia.ko|nvidia kernel module|kernel module type|nvidia module",
            "not supported by|requires use of|required gpu system processor|requires the open|does not support this gpu|rminitadapter failed",
            unless="pageable",
            cause="This flavour of the GPU's kernel module, open or proprietary, does not drive this GPU: open modules need Turing or "
            "later, and Blackwell has open ones only.",
            remedy="Set driver.kernelModuleType of the ClusterPolicy to auto, or to the flavour that the GPU has.",
            commands=("oc get clusterpolicy -o jsonpath='{.items[*].spec.driver.kernelModuleType}'",),
        ),
        says(
            "not found in directory /lib/modules|module not found|modprobe: fatal",
            f"{_STACK_MODULES}|{_PEER_MODULES}|{_OTHER_RDMA_MODULES}|{_STORAGE_MODULES}|gdrdrv",
            "not found",
            unless="in use",
            cause="The module is not there for the running kernel: its driver was never built or installed for it.",
        ),
        says(
            "~failed loading|~loading",
            "hca driver|access layer|mlx5_core|mlx5_ib|ib_core|ib_uverbs|mlx_compat",
            "[failed|failed loading kernel module",
            cause="The new NIC driver was built and installed, and the kernel did not take one of its modules: another one of it is "
            "still loaded, or it was built for another kernel.",
            remedy="Read what the kernel says of that module (dmesg): a name in use is a module that was not unloaded, a symbol "
            "or version that does not fit is a build for another kernel.",
            commands=(
                "oc debug node/NODE -- chroot /host sh -c 'dmesg | grep -E \"mlx5|ib_core|mlx_compat\" | tail -20'",
            ),
        ),
        says(
            "modprobe|insmod|could not insert|finit_module",
            "mlx5|ib_core|nvidia|gdrdrv|ib_uverbs|nvme_rdma",
            f"{EINVAL}|{ENOEXEC}|version magic",
            unless=_PEER_MODULES,
        ),
    ),
)

DRIVER_NOT_BUILT = TextRule(
    RuleInfo(
        name=RuleId("log-driver-cannot-be-built"),
        title="The driver cannot be built: packages of this kernel are not to be had",
        layer=Layer.DRIVERS,
        severity=Severity.ERROR,
        text="A driver container builds modules for the running kernel and needs its headers: from the Driver Toolkit image "
        "on OpenShift, from package repositories elsewhere. Real-time kernels, kernels newer or older than the "
        "repositories, a toolkit of another compose, and repositories out of reach end it.",
        source="NVIDIA/gpu-driver-container, rhel and ubuntu entrypoints; Mellanox/doca-driver-build, entrypoint; OpenShift "
        "4.20 docs, Driver Toolkit (2026-08)",
        covers=("B010", "B031", "B041", "B045", "B046", "B162"),
        leads_to=(Condition.NIC_DRIVER_NOT_READY, Condition.GPU_DRIVER_NOT_READY),
        shows=(Condition.POD_CRASHES,),
    ),
    cause="Headers or build packages of the running kernel cannot be had.",
    remedy="Give repositories that hold this kernel's packages (repoConfig, proxy, entitlement), use a precompiled driver "
    "image, or run a kernel that the driver release supports.",
    commands=("oc get nodes -o custom-columns=NODE:.metadata.name,KERNEL:.status.nodeInfo.kernelVersion",),
    signals=(
        says(
            "kernel source|kernel header|kernel-header|compiler version check|dkms|could not resolve linux kernel",
            "unable|not found|mismatch|missing|bad exit status|failed|different|could not|no such|please install|please make sure|error",
            unless="installed successfully",
        ),
        says(
            "make[1]: ***|make[2]: ***|make: ***|failed to build|error: compilation",
            "driver|module|kernel|mlnx|doca|ofed|nvidia",
            unless="signal: killed|killed signal",
            cause="The build of the driver failed: compiler or sources do not fit this kernel.",
        ),
        says(
            "driver toolkit|driver-toolkit|~dtk~",
            "broken|mismatch|not found|does not match|no matching|different kernel|unable to find|fallback|falling back",
            cause="The Driver Toolkit image does not fit the kernel of the node.",
            remedy="Bring nodes and release to the same payload (a MachineConfigPool that is behind, a custom kernel), or "
            "use a precompiled driver image.",
            commands=("oc adm release info --image-for=driver-toolkit", "oc get mcp"),
        ),
        says(
            "no ofed driver found for kernel|no driver found for kernel|.rt7|.rt14|+rt|rt-amd64|kernel-rt",
            "kernel",
            "not found|no ofed driver|no matching|unable to find|no package|cannot find|failed|not supported|no driver found|no match",
            cause="There is no driver package for this kernel, which is a real-time or otherwise special one.",
            remedy="Run a standard kernel on these nodes (kernelType: default in the pool's MachineConfig), or take a driver "
            "release whose toolkit carries this kernel's headers.",
        ),
        says(
            "kernel-headers|kernel-devel|kernel-core|linux-headers|kernel-modules|kernel-64k|kernel package|kernel version|match: kernel-",
            "unable to find a match|unable to locate package|no match for argument|no matching package|not available|could not resolve"
            "|no package|not found|has no installation candidate|nothing provides|failed to download|could not find",
            unless="kernel-headers installed",
        ),
        says(
            "~dnf~|~yum~|apt-get|~apt~|repositor|~repo~|~repos~|mirror|zypper|archive.|inrelease|dists/|.rpm|.deb|ubuntu.com|debian.org|redhat.com",
            "could not resolve host|cannot download repomd|failed to download metadata|cannot prepare internal mirrorlist"
            "|failed to fetch|temporary failure resolving|all mirrors were tried|curl error|failed to synchronize cache|timeout was reached",
            cause="The package repositories cannot be reached from the driver container.",
            remedy="Give the container reachable repositories (repoConfig with a ConfigMap, certConfig, the cluster's proxy), "
            "or a precompiled driver image. Network Operator 24.1.0 dropped repoConfig, GPU Operator 26.3.3 did not mount it "
            "into the toolkit container: later releases do.",
        ),
        says(
            "entitlement|subscription-manager|elfutils",
            "improperly|not deployed|missing|failed|invalid|expired|no entitlement|require",
            cause="The build falls back to subscribed RHEL packages, for which the node has no entitlement.",
            remedy="Have the Driver Toolkit in place (OpenShift's Node Feature Discovery with OSTREE_VERSION labels, a cluster "
            "version that is completed), so that no entitlement is needed.",
        ),
        says(
            "unbound variable|command not found|syntax error|bad substitution|unrecognized option|unknown option",
            "nvidia-driver|entrypoint|ofed|doca|dkms|ocp_dtk|driver-manager",
            "line|error|: ",
            cause="The script of the driver's container ends with an error of its own: image and node, or image and operator, "
            "do not know each other.",
            remedy="Take the driver image that belongs to the operator's release and to the node's system (railwright images).",
            commands=("railwright images",),
        ),
        says(
            "inventory|mofed-container",
            "kernel|checksum|build",
            f"{ENOENT}|mismatch|not found|invalid|stale|does not match|failed|corrupt",
            cause="The driver container found a stored build that does not fit the running kernel (after an upgrade).",
            remedy="Delete the stored builds on the node and restart the driver pod.",
            commands=("oc debug node/NODE -- chroot /host rm -rf /var/opt/mofed-container/inventory",),
        ),
        says(
            "custom repo|repoconfig|repo config",
            "distribution not supported|not supported|failed to get destination",
            cause="This operator release does not take custom repositories for this distribution.",
            remedy="Upgrade the Network Operator, or mirror the packages into the default repositories.",
        ),
    ),
)

CONTAINER_KILLED = TextRule(
    RuleInfo(
        name=RuleId("log-driver-container-killed"),
        title="The driver container is killed before it is ready",
        layer=Layer.DRIVERS,
        severity=Severity.WARNING,
        text="Building a driver takes ten minutes and more, and gigabytes of memory. A startup probe that gives up earlier, or "
        "a memory limit that is too small, kills it half way, again and again. A failed probe alone is normal while it "
        "builds.",
        source="NVIDIA Network Operator v26.4, NicClusterPolicy ofedDriver.startupProbe and containerResources; "
        "https://github.com/Mellanox/network-operator/pull/318 (2026-05)",
        covers=("B009", "B035"),
        leads_to=(Condition.NIC_DRIVER_NOT_READY, Condition.POD_CRASHES),
    ),
    cause="The container was killed from outside while it was still at work.",
    remedy="Give it more time or memory in the policy, or use a precompiled driver.",
    signals=(
        says(
            "startup probe|liveness probe|startupprobe|livenessprobe",
            "mofed|doca|ofed|driver-ready|driver",
            "will be restarted|killing|restarted|backoff",
            window=5,
            cause="The startup or liveness probe gave up before the driver was built.",
            remedy="Raise ofedDriver.startupProbe (initialDelaySeconds, periodSeconds) above the time of a build, or use "
            "a precompiled driver.",
            commands=(
                'oc patch nicclusterpolicy nic-cluster-policy --type merge -p \'{"spec":{"ofedDriver":{"startupProbe":{"initialDelaySeconds":10,"periodSeconds":60}}}}\'',
            ),
        ),
        says(
            "startup probe failed",
            "driver-ready",
            ENOENT + "|cannot access",
            cause="The driver was not ready yet when it was asked. While it builds this is normal; with restarts beside it, "
            "the probe is too short.",
            remedy="Wait for twice the time of a build; raise ofedDriver.startupProbe if the container restarts.",
        ),
        says(
            "killed signal terminated|oomkilled|oom-kill|out of memory: killed process|memory cgroup out of memory|signal: killed|~killed~ (program|cannot fork",
            "mofed|doca|ofed|driver|cc1|~make~|dkms|gcc|ld.|container|process",
            window=7,  # a pod's description has a line a field
            cause="The container ran out of its memory limit.",
            remedy="Raise the memory limit of the container (ofedDriver.containerResources), or use a precompiled driver.",
        ),
    ),
)

RULES: tuple[TextRule, ...] = (
    RDMA_STACK_IN_USE,
    GPU_DRIVER_IN_USE,
    MODULE_REFUSED,
    DRIVER_NOT_BUILT,
    CONTAINER_KILLED,
)
