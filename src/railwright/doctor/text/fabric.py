"""What libraries, tools and the kernel say of ports, addresses and peers on the fabric."""

from railwright.core.ids import RuleId
from railwright.doctor.model import Condition, Layer, RuleInfo, Severity
from railwright.doctor.text.errnos import EINVAL, ENODEV, ETIMEDOUT
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.signals import says

_UNREACHABLE = "destination is unreachable|unreachable destination|is unreachable|no route to peer|host unreachable"
_NO_ROUTE = "UCX finds no route from this rail's address to the peer's."
_ROUTES = (
    "Give the rail's network a route to the others' subnets (routes or gateway in its IPAM), or set "
    "UCX_IB_ROCE_REACHABILITY_MODE=all where the fabric routes between rails by itself."
)

GID_NOT_USABLE = TextRule(
    RuleInfo(
        name=RuleId("log-gid-not-usable"),
        title="The address (GID) that was chosen cannot be used",
        layer=Layer.NETWORKS,
        severity=Severity.ERROR,
        text="A RoCE address belongs to a network device in the pod's own network namespace. Without a secondary network there "
        "is none, and the GID is all zero. With macvlan children the index of the right entry differs from pod to pod, so that a "
        "fixed index (NCCL_IB_GID_INDEX, -x) points at an empty entry, at RoCE v1, or at a link-local address.",
        source="Linux drivers/infiniband/core/cache.c, GID table and netdev; NCCL 2.30.7 docs, NCCL_IB_GID_INDEX; perftest 25.01 "
        "ib_write_bw -x. Measured: perftest over soft-RoCE with an empty GID index and with unlike GID types, 2026-11-29",
        covers=("B070", "B086", "B106"),
        leads_to=(Condition.RDMA_FAILS,),
    ),
    cause="The connection was set up with a GID that is empty, of another type, or not in this network namespace.",
    remedy="Attach the rail's network to the pod, leave NCCL_IB_GID_INDEX unset with NCCL 2.21 and newer (it chooses RoCE v2 by "
    "itself), or compute the index in the pod from gid_attrs.",
    commands=(
        "oc exec POD -- sh -c 'grep -H . /sys/class/infiniband/*/ports/1/gid_attrs/types/* 2>/dev/null | grep v2'",
    ),
    signals=(
        says(
            "gid: 00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00|n_gids_found=0|gid 0000:0000:0000:0000:0000:0000:0000:0000|gid ::~|localgid ::~|no gid found|gid table is empty",
            cause="The GID is all zero: the pod has no network device of its own on the RoCE port.",
            remedy="Add the rail's network to the pod's annotation k8s.v1.cni.cncf.io/networks; the shared device alone has no "
            "address.",
        ),
        says(
            "ibv_modify_qp|modify qp|modify_qp|ibv_create_ah|create_ah",
            f"{ENODEV}|{EINVAL}|failed|unable|error",
            unless="timed out|connection timed out|out of memory|cannot allocate",
        ),
        says(
            "gid type|gid types|gid_index|gid index|gidindex",
            "incompatib|not valid|invalid|mismatch|wrong|out of range|not found|cannot|could not|error|failed|unusable|empty|exceed"
            "|larger than|beyond",
        ),
        says(
            "rdma_cm_event_addr_error|rdma_resolve_addr|rdma_resolve_route|rdma_bind_addr|rdma_cm_event_route_error|addr_error",
            f"-19|error|{ENODEV}|fail",
            unless=f"-110|{ETIMEDOUT}",
            cause="rdma_cm finds no RDMA device for this address: the address is not on the rail, the VF has no GUID, or in the "
            "namespace mode shared the library sees devices that the pod may not open.",
            remedy="Give an address of the rail (--source_ip, --bind_source_ip), use rdma-core 37 or newer, or the namespace mode "
            "exclusive with the RDMA CNI plugin.",
        ),
        says(
            "no ip address|no ipv4|no ipv6|no address|could not find ip|failed to get gid|failed to query gid|no valid gid|no suitable gid",
            "gid|roce|mlx5|rdma|ibv|device",
        ),
    ),
)

PEER_NOT_REACHED = TextRule(
    RuleInfo(
        name=RuleId("log-peer-not-reached"),
        title="The other side does not answer on this path",
        layer=Layer.LINK,
        severity=Severity.ERROR,
        text="Retries ran out: packets or their acknowledgements are lost. On RoCE the usual causes are rails that cannot reach "
        "each other (cross-rail, across leaf switches), all rails in one subnet so that answers leave by the wrong port, an MTU "
        "that a switch does not pass, priorities without flow control under load, and two NICs of one host talking through the "
        "fabric. On InfiniBand: partition, routing, a link that went down.",
        source="InfiniBand Architecture 1.7, transport retry counter; NCCL 2.30.7, src/transport/net_ib; UCX v1.20, FAQ and "
        "UCX_IB_ROCE_REACHABILITY_MODE. Measured: dropped UDP 4791 and an MTU black hole over soft-RoCE, perftest 25.01, "
        "2026-11-29",
        covers=("B108", "B111", "B112", "B116", "B121"),
        leads_to=(Condition.RDMA_FAILS,),
        shows=(Condition.RDMA_FAILS,),
    ),
    cause="The NIC sent, and nothing came back until its retries ran out.",
    remedy="Prove the pair alone (railwright verify), with a small message size and MTU first. Then: a route for each rail, one "
    "subnet a rail, the same MTU on every hop, priority flow control and ECN from end to end; NCCL_CROSS_NIC=0 where rails are "
    "not joined.",
    commands=("railwright verify --quick", "ip route get PEER from OWN"),
    signals=(
        says(
            "vendor err 129|vendor err 0x81|vend 0x81|vendor_err 129|vendor error 129|syndrom 0x81|vend_err 81|vendor_err 0x81|vendor syndrome 0x81"
        ),
        says(
            "retry count exceeded|retry exceeded|transport retry counter|retry counter exceeded|wc_retry_exc_err|wc_rnr_retry_exc|rnr_retry_exc_err"
        ),
        says(
            "status=12|status 12|error 12|failed status 12|status = 12",
            "completion|wr_id|opcode|wc|vendor|net/ib|failed status",
        ),
        says(
            "rdma_resolve_addr|rdma_resolve_route|rdma_cm_event_addr_error|rdma_cm_event_route_error",
            f"-110|{ETIMEDOUT}",
            cause="Nobody answered for this address: the peer has no such address on this rail, or the network between is cut.",
        ),
        says(
            "async event|async error event|asynchronous event",
            "work queue|~qp~|~cq error|srq catastrophic",
            unless="last wqe|established",
            cause="The NIC ended one connection by itself: what it was told to read or write was not its own, or the queue overran.",
            remedy="Read the lines before it: which memory was registered, and which rank ended first.",
        ),
        says(
            "socketprogress|socket progress",
            "closed by remote peer|closed by peer",
            cause="The other rank ended, or cut the connection; what happened is in its own log, which ended first.",
            remedy="Read the log of the rank that is named, and that of the rank which ended first.",
        ),
        says(
            "vendor err 249|vendor err 0xf9",
            cause="The peer's port is not there any more, or the two NICs are of one host.",
            remedy="Set NCCL_NET_DISABLE_INTRA=1 or NCCL_CROSS_NIC=0, and give each rail its own subnet.",
        ),
        says(
            _UNREACHABLE,
            "rc_|~dc|roce|mlx5|rdma",
            cause=_NO_ROUTE,
            remedy=_ROUTES,
        ),
        says(
            _UNREACHABLE,
            "ucx|ucp|uct|endpoint",
            # It lists what it tried: of transports inside a node alone, "unreachable" says nothing about the fabric.
            unless="rc_|~dc|roce|mlx5|rdma|posix/memory|sysv/memory",
            cause=_NO_ROUTE,
            remedy=_ROUTES,
        ),
        says(
            "rdma_cm_event_unreachable|rdma_cm_event_rejected|rdma_cm_event_connect_error|rdma_cm_event_route_error|unexpected cm event"
        ),
        says(
            "ibv_modify_qp|modify qp|modify_qp",
            ETIMEDOUT,
            cause="The neighbour's hardware address was not found: nobody answers ARP for the peer on this rail.",
        ),
        says(
            "completion with error|completion error|wc error|got bad completion|poll_cq|got completion",
            "status|syndrom|failed|error",
            unless="status 0|status=0|failed status 4|status=4|failed status 12|local prot|loc_prot|cannot allocate",
            window=3,
            cause="A transfer ended with an error: the other side went away, refused, or could not be reached.",
        ),
        says(
            "remote_disconnect|connection reset by remote|endpoint error|endpoint timeout|remote side closed|peer failure",
            "ucx|nixl|ucp|rdma|endpoint|mlx5",
            unless="closed by user",
            cause="The other side's end of the connection is gone: its process ended, or its port did.",
            remedy="Look first at what the other side wrote last.",
        ),
        says(
            "remote access|remote operation|remote invalid request|remote aborted|rem_access_err|rem_op_err|rem_inv_req",
            "ucx error|completion|synd|wr_id|status|net/ib|mlx5_|vendor|vend",
            cause="The other side refused: its memory is not registered any more (its process ended), or its GPU memory cannot be "
            "reached by the NIC.",
            remedy="Look first at what the other side wrote last; then at its way to GPU memory (dma-buf or nvidia_peermem).",
        ),
        says("ethernet_read_keys|couldn't read remote address", "couldn't|failed|unable"),
        says(
            "watchdog caught collective|collective operation timeout|watchdog timeout|collective timed out|heartbeat of the nccl",
            "timeout|timed out|ran for",
            cause="A collective did not end in time: some rank is stuck or has died, or RDMA stalls between two of them.",
            remedy="Look for the rank that stopped first, and for what it said; prove the rails by themselves (railwright verify).",
        ),
        says(
            "couldn't connect to|failed to connect|connect to",
            ":18515|rdma|~rail|perftest|~ib_",
            "couldn't|refused|timed out|unreachable|no route",
            unless="socketstartconnect|bootstrap|kube|https://",
            cause="The test's own control connection does not reach the other side.",
            remedy="Start the server first, on an address that the client can reach; let port 18515 through network policies.",
        ),
    ),
)

PORT_LOST = TextRule(
    RuleInfo(
        name=RuleId("log-port-lost"),
        title="A port went down, or was never up",
        layer=Layer.LINK,
        severity=Severity.ERROR,
        text="A port that goes down for a moment ends every connection on it; when somebody looks, it is ACTIVE again. On "
        "InfiniBand a port without a LID has no subnet manager that cares for it; VFs need one that supports virtualization, and "
        "two masters undo each other.",
        source="Linux drivers/net/ethernet/mellanox/mlx5/core, port events; NCCL 2.30.7, async events; OpenSM docs, virt_enabled "
        "(2026-11)",
        covers=("B083", "B109", "B113", "B114", "B122"),
        leads_to=(Condition.PORT_DOWN, Condition.RDMA_FAILS),
    ),
    cause="The port was not up when it was needed.",
    remedy="Look at link_downed and symbol_error of the port over time; clean or replace cable and transceiver.",
    commands=("railwright discover --node NODE -o json",),
    signals=(
        says(
            "async event|async error event|asynchronous event|~port_err|_port_err|~port error|lid_change|device_fatal|catastrophic",
            "~port error|~port_err|_port_err|~port down|fatal|catastrophic|error event|lid_change|port_active|async",
            unless="libfabric debug|port_active|port active|gid table change|~qp~|work queue|~cq error|srq |communication "
            "established|path migrat|reregist|~sm change|p_key table|last wqe|send queue drained",
            cause="The NIC reported a port error to the job: the link went down for a moment.",
        ),
        says(
            "mlx5_core|bnxt_en|~ice~|~ena~|~ib0|mlx5e",
            "link down|lost carrier|link is down",
            unless="link down policy|administratively",
        ),
        says(
            "~cable|transceiver|module event|high temperature|port module event",
            "error|high temp|~bad~|unsupported|not supported|power budget exceeded|~fault",
            unless="module event: module 0, cable plugged|nvidia|peermem|verification",
            cause="The port's cable or transceiver reports an error.",
            remedy="Reseat or replace it; see that the switch and the NIC know this kind of cable and can feed it.",
        ),
        says(
            "state down physical_state",
            severity=Severity.WARNING,
            cause="An RDMA port is down, which is as it should be where nobody uses it.",
            remedy="Where the port is a rail's, look at its cable and at the port of the switch.",
        ),
        says(
            "link detected: no~",
            severity=Severity.WARNING,
            cause="ethtool sees no link on a port, which is as it should be where nobody uses it.",
            remedy="Where the port is a rail's, look at its cable and at the port of the switch.",
        ),
        says(
            "~cable|module event",
            "unplugged",
            severity=Severity.WARNING,
            cause="There is no cable in the port, which is as it should be where nobody uses it.",
            remedy="Plug the cable in where the port is a rail's.",
        ),
        says(
            "port number|port state|state:|state is|port_state|physical state|phys state",
            "is down|: down|port_down|initializing|port_init|: init|polling",
            "~port|port_|physical state|phys state|base lid|~lid|~rate:|link_layer|link layer|mlx5|~ib~|roce",
            window=9,
            unless="phys_state: 5|carrier down time|polling for|polling every",
            remedy="Look at link_downed and symbol_error of the port over time; clean or replace cable and transceiver. On InfiniBand "
            "see that one subnet manager is master and, for VFs, that it has virtualization enabled (sminfo names the master).",
        ),
        says(
            "lid: 65535|lid 65535|base lid: 65535|port_lid: 65535|lid=0xffff|lid 0xffff|lid: 0xffff|sm lid: 0|sm_lid: 0",
            window=15,
            unless="link layer: ethernet|link_layer: ethernet|ethernet",
            cause="The port has no LID: the subnet manager does not know it. For a VF it must support virtualization.",
            remedy="Set virt_enabled 2 in OpenSM (or use UFM), give the VF a GUID, and set linkState enable in the SriovIBNetwork.",
            commands=("railwright discover --node NODE -o json", "sminfo"),
        ),
        says(
            "opensm|subnet manager|~sm~|sminfo",
            "standby|another sm|other sm|entering standby|not master|discovered another|higher priority|no sm|not found|failed to bind",
            cause="Another subnet manager is master, and its settings are in force, not yours.",
            remedy="Keep one master: switch off the switch's subnet manager, or configure partitions and virtualization there.",
            commands=("sminfo",),
        ),
        says(
            "lowerlayerdown|multicast join failed|multicast group|ipoib|~pkey|_pkey|~p_key",
            "status -22|status -11|lowerlayerdown|not found|join failed|invalid pkey|pkey not|no pkey|failed",
            "~ib|ipoib|~pkey|_pkey|~p_key|lowerlayerdown",
            unless="failed to create ipoib|adding container|failed to find plugin|plugin not found|failed (add)|network-attachment",
            cause="The IPoIB device is in a partition that the port is no member of, or its MTU does not fit the group's.",
            remedy="Make the port a full member of the partition in the subnet manager; take an ipoib plugin that takes over its "
            "parent's partition.",
        ),
        says(
            "umad port|mad_rpc_open_port|umad_open_port|umad_get_port",
            "can't open|cannot open|failed|error",
            cause="The management interface of the port cannot be opened: no such RDMA port, or no access to its umad file.",
        ),
        says(
            "mlx5_health|health compromised|fatal error on fw|fw fatal|firmware fatal|device's health|poll_health|health poll failed"
            "|health_check|fatal health|print_health_info|firmware internal error|firmware assert|assert_var",
            "mlx|firmware|~fw~|~nic~|device's health",
            unless="healthy|health report",
            cause="The NIC's firmware, or the slot that it is in, failed.",
            remedy="Restart the node; where it comes back, update the firmware or replace the card.",
        ),
        says(
            "mlx5_core|mlx5_cmd|mlx5_function_setup|mlx4_core|wait_func",
            "no done completion|leak of a command resource|pre-initializing|initializing state|cmd exec timeout|command timeout"
            "|command interface|enable_hca|init_hca|device not responding|probe of",
            "timeout|timed out|no done completion|over |aborting|fail|error|not responding",
            unless="successfully",
            cause="The NIC's firmware does not answer its driver.",
            remedy="Reset or power-cycle the card; where it comes back, update its firmware or replace it.",
            commands=("oc debug node/NODE -- chroot /host sh -c 'dmesg | grep mlx5_core'",),
        ),
        says(
            "insufficient power|power budget exceeded",
            "mlx5|pcie|slot|nic|module",
            cause="The slot or cage does not feed the card as much power as it needs: ports stay down or throttle.",
            remedy="Move the card to a slot with enough power, or connect its power cable; see the BIOS's slot power limit.",
        ),
    ),
)

RULES: tuple[TextRule, ...] = (GID_NOT_USABLE, PEER_NOT_REACHED, PORT_LOST)
