"""What NCCL, UCX, NIXL and NVSHMEM say of the devices and transports that they chose."""

from railwright.core.ids import RuleId
from railwright.doctor.model import Condition, Layer, RuleInfo, Severity
from railwright.doctor.text.errnos import ECONNREFUSED, EHOSTUNREACH, ETIMEDOUT
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.signals import says

FELL_BACK_TO_TCP = TextRule(
    RuleInfo(
        name=RuleId("log-rdma-not-used"),
        title="A library or tool does not use RDMA: it finds no device, or goes over TCP",
        layer=Layer.WORKLOADS,
        severity=Severity.ERROR,
        text="Libraries do not fail without RDMA: they go on over sockets, ten to a hundred times slower. Causes: no RDMA resource "
        "in the pod, an image without verbs, settings that name only TCP (UCX_TLS, NCCL_IB_DISABLE, NCCL_NET), often put there "
        "by a webhook or a platform's defaults.",
        source="NCCL 2.30.7, src/transport/net.cc and net_ib/init.cc; UCX v1.20 docs, UCX_TLS; "
        "https://github.com/ai-dynamo/dynamo/pull/1314 (2025). Measured: NIXL over UCX with and without zero-copy lanes, 2 x H200, "
        "2026-11-30",
        covers=("B136", "B146"),
        leads_to=(Condition.RDMA_SLOW, Condition.NOT_DIRECT),
        shows=(Condition.RDMA_FAILS,),
    ),
    cause="The library found no RDMA device that it may use, or was told not to use one.",
    remedy="Ask for the rail's resource, see that ibv_devices shows it in the pod, and take UCX_TLS, UCX_NET_DEVICES, NCCL_NET and "
    "NCCL_IB_DISABLE out of the environment that really runs (oc get pod -o yaml, not the Deployment).",
    commands=("oc exec POD -- sh -c 'ls /dev/infiniband; ibv_devices; env | grep -E \"UCX|NCCL\"'",),
    signals=(
        says(
            "via net/socket|using network socket|net/socket : using|selected network: socket|using non-device net plugin version 0 socket"
        ),
        says(
            "net/ib",
            "no device found|no devices found|no ib devices",
            cause="NCCL sees no RDMA device: none is in the pod, or the filter NCCL_IB_HCA leaves none.",
        ),
        says(
            "ibv_get_device_list returned 0|device list is empty|~0 ib devices|no ib devices|did not detect devices|unable to find the infiniband|no rdma devices found|no rdma device found"
            "|failed to get ib devices|no hca found|no infiniband device|no ibv device|no verbs device",
            unless="resource|pool",
            cause="There is no RDMA device in this container: no rail was asked for, or its device files are missing.",
            remedy="Ask for the rail's resource; see that /dev/infiniband and /sys/class/infiniband show the same devices.",
        ),
        says(
            "libibverbs: warning|libibverbs warning",
            "kernel abi|no userspace|device-specific driver|config directory|couldn't load driver|could not load driver",
            cause="The image's rdma-core has no driver for this NIC, or one that does not fit the kernel's.",
            remedy="Use an image whose rdma-core has the provider for this NIC, as new as the kernel's driver.",
        ),
        says(
            "falling back to|fall back to|fallback to|fell back to|switching to",
            "~tcp|socket",
            unless="~dns|resolver|truncated|nameserver",
            cause="The library says that it goes on over TCP.",
        ),
        says(
            "no eligible providers|ofi-nccl initialization failed|failed to initialize net plugin|initialized net plugin socket"
            "|failed to initialize any net plugin",
            cause="The network plugin of the collective library did not come up, so sockets are used.",
            remedy="Set NCCL_NET=IB where InfiniBand or RoCE verbs are meant, and see that no plugin of another cloud is in the image.",
        ),
        says(
            "failed to open libibverbs|libibverbs.so",
            "fail|cannot open|not found|no such",
            cause="The image has no libibverbs.",
            remedy="Use an image with rdma-core.",
        ),
        says(
            "nccl_ib_disable=1|nccl_ib_disable = 1|nccl_ib_disable set by environment to 1|nccl_ib_disable: 1",
            cause="NCCL_IB_DISABLE is set: RDMA is switched off by the environment.",
        ),
        says(
            "ucx_tls|ucx_net_devices",
            "=tcp|= tcp|tcp,cuda|cuda_copy,cuda_ipc,tcp|eth0|tcp,self|self,tcp|sm,tcp|=^ib|=lo~",
            unless="=rc|rc,|rc_x|,rc|dc,|ib,|mlx5|=all",
            cause="The environment allows UCX only TCP.",
            remedy="Let UCX choose, or name rc and cuda_copy too (UCX_TLS=rc,cuda_copy,cuda_ipc).",
        ),
        says(
            "tcp/eth|tcp/net|tcp/ens|tcp/enp|tcp/bond|(tcp)|tcp/",
            "zero-copy|bcopy|eager|rendezvous|copy-in|copy-out|~put~|~get~|am(|rma(|~lane|~multi",
            unless="rc_mlx5|dc_mlx5|cuda_ipc/",
            cause="UCX's own table shows data lanes over TCP.",
        ),
        says(
            "transport|transports",
            "not available|is not available|are not available|no usable|unavailable",
            "~rc~|~rc_|~ib~|~dc~|~dc_|~ud~|~ud_|mlx5|rdma|ucx|verbs",
            cause="UCX was built without verbs, or has no RDMA device in this pod.",
            remedy="Use a UCX built with verbs and mlx5, and ask for the rail's resource.",
        ),
        says(
            "no zero-copy protocol found|no usable transports|no remote registered memory access|no active messages transport|no supported transports|no transport available|no available transports"
        ),
    ),
)

WRONG_DEVICES = TextRule(
    RuleInfo(
        name=RuleId("log-wrong-devices-chosen"),
        title="A library chose NICs or interfaces that it should not use",
        layer=Layer.WORKLOADS,
        severity=Severity.ERROR,
        text="Libraries take every active port unless told otherwise: management and storage NICs, BlueField ports, PF and VF of one "
        "card, InfiniBand and Ethernet together. Names differ between pods. The filters have unlike grammars: '=' and '^' mean "
        "something only in NCCL_IB_HCA. The interface for the bootstrap is chosen apart from them.",
        source="NCCL 2.30.7 docs, NCCL_IB_HCA, NCCL_SOCKET_IFNAME, NCCL_IB_MERGE_NICS; UCX v1.20 docs, UCX_NET_DEVICES; NVSHMEM 3.4 "
        "docs, NVSHMEM_HCA_LIST (2026-11)",
        covers=("B102", "B142", "B145", "B147", "B153", "B156", "B158"),
        leads_to=(Condition.RDMA_FAILS, Condition.RDMA_SLOW),
    ),
    cause="The devices that the library uses are not the rails of this pod.",
    remedy="Name the rails: NCCL_IB_HCA with '=' and exact names, UCX_NET_DEVICES and NVSHMEM_HCA_LIST without; railwright workload "
    "writes them as they fit the plan.",
    commands=("railwright workload",),
    signals=(
        says(
            "net/ib : using|net/ib: using|using [0]",
            ":1/roce|:2/roce",
            ":1/ib|:2/ib",
            "[0]",
            unless="ib_|/roce only",
            cause="NCCL uses InfiniBand and Ethernet ports in one job; they cannot talk to each other.",
            remedy="Set NCCL_IB_HCA to the rails of one fabric.",
        ),
        says(
            "bootstrap|nccl_socket_ifname|socket interface|socket_ifname",
            f"no socket interface|not found|no interface|invalid|no ip interface|cannot find|{ECONNREFUSED}|{EHOSTUNREACH}|{ETIMEDOUT}|failed",
            unless="bootstrap : using",
            cause="The bootstrap connection, which comes before RDMA, found no interface or no way: the name in NCCL_SOCKET_IFNAME is "
            "not in this pod, or a firewall, network policy or service mesh is in between.",
            remedy="Set NCCL_SOCKET_IFNAME=eth0 (the pod's own network), leave the job's namespace out of the mesh "
            "(sidecar.istio.io/inject: false), and let the pods reach each other on all ports.",
        ),
        says(
            "ifname|network interface|interface name|net_if|interface for|find interface",
            "not found|does not exist|no such interface|cannot find|unable to find|could not find|unknown interface|invalid",
            "gloo|nccl|rccl|~mpi|openmpi|nvshmem|ucx|socket|~connect|bootstrap",
            cause="The interface that the library was told to use is not in this pod.",
            remedy="Name an interface that every pod has (eth0), or leave the setting out.",
        ),
        says(
            "socketstartconnect|socketpollconnect|socketprogress|nccl_net_socket|ncclsocket",
            f"fail|connection closed|connection reset|software caused|{ECONNREFUSED}|{EHOSTUNREACH}|{ETIMEDOUT}",
            unless="retrying succeeded|closed by remote peer|closed by peer",
            cause="Ranks cannot reach each other over TCP, before RDMA is even tried.",
            remedy="Check NCCL_SOCKET_IFNAME, network policies, service mesh sidecars and host firewalls.",
        ),
        says(
            "istio-proxy|envoy|linkerd-proxy",
            "nccl|~mpi|~ranks|bootstrap|connection",
            "fail|reset|refused|closed|timeout|timed out|hang|stuck|error",
        ),
        says(
            "network device|device|hca|nic",
            "is not available, please use|not available, please use one or more|does not exist|not found in|no such hca|could not find|cannot find|unknown device|no matching hca|not found",
            "ucx warn|bnxt_re|~ib0|mlx5_|ucx_net_devices|nccl_ib_hca|nvshmem_hca|ib device|hca_list",
            unless="guid|firmware|peermem|net-attach",
            cause="A name in the filter is not in this pod: names differ between pods, or the filter's grammar is another library's.",
        ),
        says(
            "nixl_err_backend|nixl_err_not_found|failed to create backend|backend ucx|nixlbackenderror",
            "fail|error|nixl_err|could not|cannot",
            unless="was instantiated|ibv_reg|registermem|bad address",
            cause="NIXL's UCX backend did not come up, usually because UCX took a NIC that is no rail.",
            remedy="Set UCX_NET_DEVICES to the rails beside the GPUs of this pod.",
        ),
        says(
            "virtual device|~merge|~fused|vnic|made virtual",
            "fail|mismatch|peer|error|different|cannot|could not",
            "net/ib|nccl|ibdev|~nic~|mlx5_",
            unless="merged successfully",
            cause="NCCL made one NIC of two that belong to different things (a PF and its VF, two ports).",
            remedy="Set NCCL_IB_MERGE_NICS=0, or show the pod only one of them.",
        ),
        says(
            "nvshmem|deepep|ibrc|ibgda",
            "~hang|timeout|no devices|no device|not found|~hca~|failed",
            "transport|~init|hca_list|device|~nic",
            unless="initialized successfully",
            cause="NVSHMEM took devices that are not this pod's (hostNetwork with VFs shows every one).",
            remedy="Limit NVSHMEM_HCA_LIST to the devices that the pod was given, without hostNetwork.",
        ),
    ),
)

RULES: tuple[TextRule, ...] = (FELL_BACK_TO_TCP, WRONG_DEVICES)
