"""What libraries, tools and the kernel say of memory: limits, registration, GPU memory, the path between GPU and NIC."""

from railwright.core.ids import RuleId
from railwright.core.risk import Risk
from railwright.doctor.model import Condition, Layer, RuleInfo, Severity
from railwright.doctor.text.errnos import EFAULT, ENOMEM, ENOSPC, ENOTSUP, EPERM
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.signals import says

_REGISTRATION = (
    "ibv_reg_mr|ibv_reg_dmabuf_mr|reg_mr|reg_dmabuf|allocate mr|allocating mr|memory region|memory registration"
    "|register memory|registermem|create mr|mr allocation|uct_md_mem_reg|uct_mem_reg|ucp_mem_map|registration"
)

_SHARED_MEMORY = "/dev/shm|shm_open|shmutils|ftruncate|posix_fallocate|shared memory"  # noqa: S108 - words to look for

LIMIT_REACHED = TextRule(
    RuleInfo(
        name=RuleId("log-container-limit-reached"),
        title="A limit of the container or of the NIC ends RDMA: locked memory, shared memory, queue pairs",
        layer=Layer.KERNEL,
        severity=Severity.ERROR,
        text="Registering memory locks it, and Kubernetes never sets the limit for that: it is what the container runtime runs "
        "with, often 64 KiB or 8 MiB. IPC_LOCK lifts it for root only. /dev/shm has 64 MiB unless a volume is mounted there, "
        "and keeps what crashed containers of the same pod left in it. A NIC has a limit of queue pairs.",
        source="capabilities(7), getrlimit(2); Kubernetes docs v1.33, emptyDir medium Memory; NCCL docs, troubleshooting, shared "
        "memory; https://github.com/kubernetes/kubernetes/issues/3595 (2026-08)",
        covers=("B095", "B096", "B100", "B154"),
        leads_to=(Condition.RDMA_FAILS,),
    ),
    cause="A limit was reached.",
    remedy="Raise the limit that the lines name.",
    signals=(
        says(
            f"{_REGISTRATION}|ibv_create_cq|ibv_create_qp|create_cq|create_qp|create qp|create cq|~mlock|ibv_alloc_pd|ibv_create_srq",
            ENOMEM,
            unless="cuda|gpu memory|limits exceeded|dmabuf",
            cause="Memory could not be locked: the container's limit of locked memory is too small for its user.",
            remedy="Run as root with IPC_LOCK, or raise the runtime's limit: default_ulimits memlock=-1:-1 in CRI-O (by a "
            "MachineConfig), LimitMEMLOCK=infinity for containerd.",
            commands=("oc exec POD -- sh -c 'ulimit -l; id -u; grep CapEff /proc/1/status'",),
        ),
        says(
            "max locked memory|locked memory|memlock|ulimit -l|rlimit_memlock",
            "unlimited|~limit|check ulimit|~low~|small|exceed|current|~set~|increase|kbytes",
            unless="max locked memory unlimited|limitmemlock=infinity|is unlimited|memlock unlimited|-l) unlimited|memory: unlimited|memlock: unlimited|memlock=unlimited|memlock=-1",
            cause="The limit of locked memory is too small.",
            remedy="Run as root with IPC_LOCK, or raise the runtime's limit: default_ulimits memlock=-1:-1 in CRI-O (by a "
            "MachineConfig), LimitMEMLOCK=infinity for containerd.",
            commands=("oc exec POD -- sh -c 'ulimit -l; id -u; grep CapEff /proc/1/status'",),
        ),
        says(
            _SHARED_MEMORY,
            f"{ENOSPC}|bus error|sigbus|extend|insufficient|too small|exhausted|error while|(size",
            unless="shared memory per block|shared memory size:|dynamic shared memory",
            cause="The shared memory is full (/dev/shm): 64 MiB without a volume of its own, or filled by what earlier runs of the container left.",
            remedy="Mount an emptyDir of medium Memory there, with a size limit; make the pod anew after crashes, or delete "
            "nccl-* in it at its start.",
            commands=("oc exec POD -- df -h /dev/shm",),
        ),
        says(
            "too many open files|~emfile~|~enfile~",
            cause="The process may open too few files: each connection, and each GPU buffer of a peer, takes some.",
            remedy="Raise the runtime's limit of open files (default_ulimits nofile in CRI-O), or let the program raise its own.",
            commands=("oc exec POD -- sh -c 'ulimit -Sn; ulimit -Hn'",),
        ),
        says(
            "create_qp|create qp|create_mkey|create_cq|create_tis|alloc_",
            "limits exceeded|bad resource|no resources|0x8",
            "mlx5|failed|syndrome",
            cause="The NIC's firmware has no more queue pairs or keys, whatever the container's limits are.",
            remedy="Use fewer: the DC transport (UCX), fewer channels or QPs a connection, fewer processes a NIC.",
            commands=("rdma resource show",),
        ),
        says(
            "couldn't allocate mr|could not allocate mr|failed to create mr|unable to create mr",
            unless="error=|errno|dma-buf|dmabuf|cumem",
            window=3,
            cause="Memory could not be registered, and the tool does not say why: the limit of locked memory, or GPU memory that the "
            "NIC cannot reach.",
            remedy="Try host memory first: where that fails too, raise the limit of locked memory; else mend the way to GPU memory.",
            commands=("oc exec POD -- sh -c 'ulimit -l; id -u; grep CapEff /proc/1/status'",),
        ),
    ),
)

GPU_MEMORY_NOT_REGISTERED = TextRule(
    RuleInfo(
        name=RuleId("log-gpu-memory-not-registered"),
        title="GPU memory cannot be given to the NIC",
        layer=Layer.DATA_PATH,
        severity=Severity.ERROR,
        text="A NIC reaches GPU memory by dma-buf (open GPU module, kernel and rdma-core that support it) or by nvidia_peermem "
        "(loaded, and found by the library). Tools use the one that they are told to: perftest needs --use_cuda_dmabuf without "
        "peermem. GeForce cards and vGPU slices have neither. NCCL up to 2.22 looks only for the older name of the module.",
        source="NVIDIA GPUDirect RDMA docs 13.0; perftest 25.01, src/cuda_memory.c; NCCL 2.22.3 and 2.23.4, gdrSupport; "
        "https://github.com/NVIDIA/nccl/issues/1676 (2025-04)",
        covers=("B130", "B139", "B140", "B141", "B151"),
        leads_to=(Condition.NOT_DIRECT, Condition.RDMA_FAILS),
        shows=(Condition.PEER_MEMORY_MISSING,),
    ),
    cause="Neither dma-buf nor nvidia_peermem could be used for the GPU's memory.",
    remedy="Use the open GPU kernel module with dma-buf, or load nvidia_peermem; see which of them the program asks for.",
    commands=(
        "oc debug node/NODE -- chroot /host sh -c 'cat /proc/driver/nvidia/version; lsmod | grep peermem'",
        "railwright verify --quick",
    ),
    signals=(
        says(
            f"error=14|error 14|{EFAULT}",
            f"{_REGISTRATION}|~mr~|allocate mr",
            cause="The NIC does not know GPU addresses: nvidia_peermem is not loaded, and dma-buf was not asked for.",
            remedy="Add --use_cuda_dmabuf (open module), or load nvidia_peermem.",
        ),
        says(
            f"error=93|error=95|error 93|error 95|error=-95|{ENOTSUP}",
            f"{_REGISTRATION}|dmabuf|dma-buf|dma_buf",
            unless="emulation",
            cause="The RDMA stack does not support dma-buf: an old NIC driver or kernel, the proprietary GPU module, a card "
            "that has no GPUDirect, or ACS settings that forbid it (Grace).",
            remedy="Use the open GPU module, kernel 5.12 or the DOCA driver, rdma-core 34 or newer; on Grace set the ACS bits that "
            "the platform needs (rdma_topo write-grub-acs).",
        ),
        says(
            "failed to register address|failed to register memory|registermem|register vram|register gpu memory|memory registration failed",
            "dmabuf_fd -1|(cuda)|cuda memory|~vram|gpu memory",
            "fail|error|unable|cannot|could not",
            unless="max locked memory",
            cause="The NIC was not given GPU memory: the driver exports no dma-buf for it, and nvidia_peermem is not loaded.",
        ),
        says(
            "dma-buf is not supported|dmabuf is not supported|dmabuf not supported|does not support dma-buf|dma_buf_supported 0|dma-buf not supported|cumemgethandleforaddressrange"
        ),
        says(
            "gpu direct rdma disabled|gpudirect rdma disabled|gdr disabled",
            "distance",
            cause="NCCL leaves GPUDirect RDMA out: GPU and NIC are farther apart than NCCL_NET_GDR_LEVEL allows.",
            remedy="Give the pod GPU and NIC of one switch (one resource a rail); raise NCCL_NET_GDR_LEVEL only after measuring.",
        ),
        says(
            "gpu direct rdma disabled|gpudirect rdma disabled|gdr disabled|gdrdma disabled|gpudirect rdma is not supported|gpu-direct rdma is disabled|gdr: disabled",
            unless="distance",
            cause="NCCL does not use GPUDirect RDMA on this NIC: no dma-buf, and no module that it recognises (2.22.3 and older "
            "know nv_peer_mem only).",
            remedy="Use NCCL 2.23 or newer, or the open GPU module with dma-buf; then look for GDRDMA in the lines on channels.",
        ),
        says(
            "nvidia_peermem|nv_peer_mem|nvidia-peermem|peermem",
            "not detected|not loaded|not found|missing|skipping|neither|unavailable|is not installed",
            # The driver's mark of a buffer that was freed first; harmless by its maker's word (nv_peer_memory issue 120).
            unless="skipping further processing",
        ),
        says(
            "dma-buf for gpu|dma-buf for cuda|dmabuf for gpu|using dma-buf|using dmabuf|reg_dmabuf_mr",
            "allocate mr|create mr|reg_dmabuf_mr|reg_mr|register mr",
            "couldn't|could not|cannot|unable|fail|error=",
            window=5,
            unless="dlvsym|dlsym|undefined symbol",
            cause="The NIC refused the GPU's memory, which was offered as dma-buf: by an old NIC driver or kernel, by the GPU's "
            "BAR1 being too small or full, or by an IOMMU or ACS setting between the two.",
            remedy="Try a small message (-s 65536) to tell a full BAR1 from a path that is refused; then look at BAR1 (nvidia-smi -q), "
            "the NIC driver's version, and what railwright doctor says of IOMMU and ACS.",
        ),
        says(
            "mlx5dv_devx_alloc_uar|devx_uar|map uar|allocate uar|devx_alloc_uar|ibgda|gdaki|gpu-initiated|nvshmem",
            f"cannot|null|fail|not supported|unsupported|unable|error|{EPERM}",
            unless="initialized|success|hca_list|no device|not found|poll cq|wr_id|vendor_err",
            cause="GPU-initiated communication needs more than RDMA: the GPU must map the NIC's doorbells (driver options "
            "NVreg_EnableStreamMemOPs=1 and PeerMappingOverride=1), peer memory, and a container that may map devices.",
            remedy="Set the options through the GPU Operator (driver.kernelModuleConfig), give the container /dev/gdrdrv, or let "
            "NVSHMEM use its CPU proxy (NVSHMEM_IBGDA_NIC_HANDLER=cpu, or IBRC).",
        ),
        says(
            "undefined symbol|symbol lookup error|undefined reference|version `ibverbs|version `mlx5",
            "mlx5dv|ibv_|libmlx5|libibverbs|mlx5_",
            unless="dlvsym failed|dlsym failed",
            cause="The image's rdma-core is older than the library expects.",
            remedy="Use an image with a newer rdma-core.",
        ),
        says(
            "dlvsym failed|dlsym failed",
            "mlx5dv|ibv_|libmlx5|libibverbs|mlx5_",
            severity=Severity.WARNING,
            cause="The image's rdma-core is older than the library expects. NCCL only probes versions with such lines; what is "
            "missing is then not used (Data Direct, dma-buf).",
            remedy="Use an image with a newer rdma-core; look for GDRDMA in NCCL's channel lines before believing it harmful.",
        ),
        says(
            "failed to load cuda|cuinit|libcuda.so|cuda error|initialize nvml|nvml|cudagetdevicecount|failed to init gpu|init gpu memory",
            "error 803|error 802|error 999|(803)|(802)|(999)|code=80|code=999|cannot open|not found|unsupported|not yet initialized|driver not loaded|driver/library version mismatch|version mismatch|failed to init|fabric manager|error 100|no cuda-capable",
            cause="CUDA itself does not start in the container, so there is no GPU memory to speak of.",
            remedy="Ask for a GPU (nvidia.com/gpu), and keep a forward-compatibility libcuda of the image from hiding the host's.",
        ),
        says(
            "fabricmanager|fabric manager|fabric-manager|system not yet initialized",
            "nothing to do|not running|not yet initialized|failed|mismatch|not started|could not|~error:|with error|returned error",
            unless="successfully|sxid",
            cause="On boards with NVSwitch CUDA begins only when the fabric manager of the same version has set the switches up.",
            remedy="See that nvidia-fabricmanager runs on the node, of the driver's very version; driver containers bring it along.",
            commands=("oc debug node/NODE -- chroot /host sh -c 'dmesg | grep -i nvswitch'",),
        ),
        says(
            "gpudirect rdma is disabled|gpudirect rdma is not detected|dmabuf is not supported",
            "cuda|dmabuf",
            even_debug=True,
            unless="rocm",
            cause="UCX found neither nvidia_peermem nor dma-buf on this NIC.",
        ),
        says("gdr_open|gdrcopy|gdrdrv", "fail|cannot|not found|missing|unable|not loaded", unless="unload|in use"),
    ),
)

PATH_BLOCKED = TextRule(
    RuleInfo(
        name=RuleId("log-gpu-nic-path-blocked"),
        title="PCIe, the IOMMU, or an error of a GPU or NVSwitch stands between GPU and NIC",
        layer=Layer.HARDWARE,
        severity=Severity.ERROR,
        text="Peer-to-peer traffic that an IOMMU translates or a switch sends up to the root complex (ACS) is slow, faults, or "
        "hangs; a link with fewer lanes or of a lower generation than both ends can do halves the rate. PCIe errors say that a "
        "link is bad.",
        source="NVIDIA NCCL docs 2.30, troubleshooting, PCI access control services; Linux drivers/iommu and drivers/pci/pcie/aer.c "
        "messages; pcie_print_link_status (2026-11)",
        covers=("B126", "B130", "B131", "B133", "B135"),
        leads_to=(Condition.RDMA_FAILS, Condition.RDMA_SLOW, Condition.NOT_DIRECT),
    ),
    cause="Traffic between GPU and NIC does not take the direct path.",
    remedy="On bare metal switch ACS redirect off on the bridges below the common switch, and run the IOMMU in passthrough mode "
    "(iommu=pt); in a virtual machine enable ATS.",
    commands=("railwright doctor --only pcie-acs-redirects-gpu-nic-path,iommu-translates-gpu-nic-traffic",),
    risk=Risk.REBOOT,
    disrupts="the node whose firmware or kernel arguments are changed",
    signals=(
        says(
            "dmar:|dmar fault|amd-vi:|arm-smmu|io_page_fault|iommu fault|iommu event|dma read|dma write",
            "~fault|io_page_fault|event logged|event 0x|translation|unhandled",
            unless="dmar: host address|drhd base|queued invalidation|enabled ir",
            cause="The IOMMU refused an access: it translates what should pass directly.",
        ),
        says(
            "~acs~|access control services|acsctl",
            "hint|redirect|enabled|reqredir+|srcvalid+|fail|disable|check",
            unless="pch root port acs|acs: disabled|reqredir- cmpltredir-|no bridges|no redirect|without redirect",
        ),
        says(
            "local protection error|local prot|status 4|status=4|failed status 4|wc_loc_prot_err|loc_prot",
            "completion|wr_id|opcode|vendor|failed status|syndrom|net/ib|protection|loc_prot|local prot",
            cause="The NIC was not allowed to touch the memory: with GPU memory this is the IOMMU or ACS.",
        ),
        says(
            "available pcie bandwidth|limited by|pcie bandwidth",
            "limited by",
            "gt/s|pcie x",
            cause="A PCIe link runs with fewer lanes or slower than the card can.",
            remedy="Reseat the card, look at riser and bifurcation in the BIOS, or move it to a full slot.",
        ),
        says(
            "aer:|pcie bus error|pcieport",
            "uncorrected|uncorrectable|fatal|corrected error received|severity|completion timeout|unsupported request",
            unless="enabled with irq|aer: enabled",
            cause="PCIe reports errors on this path.",
            remedy="Find the device that the line names; reseat or replace it, or its riser or retimer.",
        ),
        says(
            "nvrm: xid|xid (pci",
            "): 79|): 74|fallen off|): 62|): 48|): 119|): 120|): 145",
            cause="A GPU reported an error by which it, its NVLink or its memory is lost.",
            remedy="Drain the node and restart it; where it comes back, have the GPU looked at.",
            commands=("oc debug node/NODE -- chroot /host sh -c 'dmesg | grep -i xid'",),
        ),
        says(
            "sxid",
            "~fatal",
            unless="non-fatal|nonfatal|non fatal",
            cause="An NVSwitch reported a fatal error: NVLink between the GPUs of this server is lost or in doubt, and its jobs end.",
            remedy="Drain the node, reset its GPUs and NVSwitches together or restart it; where the error comes back, have the baseboard "
            "looked at.",
            commands=("oc debug node/NODE -- chroot /host sh -c 'dmesg | grep -i sxid'",),
        ),
        says(
            "rdma_topo",
            "fail|mismatch|incorrect|wrong",
            cause="The platform's ACS bits are not as its GPUs and NICs need them.",
            remedy="Set the kernel argument that rdma_topo write-grub-acs prints (pci=config_acs=...).",
        ),
    ),
)

RULES: tuple[TextRule, ...] = (LIMIT_REACHED, GPU_MEMORY_NOT_REGISTERED, PATH_BLOCKED)
