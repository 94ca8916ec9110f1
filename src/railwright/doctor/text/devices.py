"""What config daemons, firmware tools, device plugins and CNI plugins say of devices."""

from railwright.core.ids import RuleId
from railwright.core.risk import Risk
from railwright.doctor.model import Condition, Layer, RuleInfo, Severity
from railwright.doctor.text.errnos import EBUSY, ECONNREFUSED, EEXIST, EINVAL, ENODEV, ENOENT, ENOTSUP, EPERM
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.signals import says

_FIRMWARE_TOOLS = "mstconfig|mlxconfig|mstflint|~flint|mstfwreset|mlxfwreset|~mft~|/dev/mst|mellanox plugin|mellanox_plugin|nv config|nvconfig"
_NOT_OPENED = (
    "The tool could not open the device: lockdown, a function that does not answer (baseboard bridges and NVSwitch ports carry "
    "the NIC maker's id), or a card in recovery."
)
_LEAVE_OUT = (
    "Leave functions without a network device out of the operator's selectors; take an operator release that asks devlink where "
    "flint fails; under lockdown set the firmware by hand and disable the operator's plugin."
)

FIRMWARE_TOOL_REFUSED = TextRule(
    RuleInfo(
        name=RuleId("log-nic-firmware-not-set"),
        title="Firmware settings of a NIC cannot be read, written or put in force",
        layer=Layer.DEVICES,
        severity=Severity.ERROR,
        text="Virtual functions need firmware settings (SRIOV_EN, NUM_OF_VFS), which tools write through PCI config space. "
        "Kernel lockdown forbids it; baseboard functions do not answer; and a setting that needs a firmware reset or a cold "
        "start is not in force after a warm reboot, so that an operator reboots the node for ever.",
        source="openshift/sriov-network-operator release-4.22, Mellanox plugin; kernel_lockdown(7); mstflint 4.34 release "
        "notes; https://github.com/k8snetworkplumbingwg/sriov-network-operator/pull/1082 (2026-06)",
        covers=("B017", "B053", "B060", "B160", "B164", "B176"),
        leads_to=(Condition.VFS_MISSING,),
        shows=(Condition.POD_CRASHES,),
    ),
    cause="The firmware tool could not reach the NIC, or what it wrote is not in force.",
    remedy="Set SRIOV_EN=1 and NUM_OF_VFS by hand before Secure Boot is switched on, and keep the operator from firmware: "
    "SriovOperatorConfig spec.disablePlugins: [mellanox].",
    commands=(
        'oc -n openshift-sriov-network-operator patch sriovoperatorconfig default --type merge -p \'{"spec":{"disablePlugins":["mellanox"]}}\'',
    ),
    risk=Risk.REBOOT,
    disrupts="the node on which firmware settings are changed",
    signals=(
        says(
            "lockdown|kernel_lockdown",
            "restricted|pci access|mst|enabled|integrity|confidentiality|not permitted|blocks",
            unless="lockdown: none|[none]|unsigned module|modprobe|insmod",
            cause="The kernel is locked down (Secure Boot), so nothing may write PCI config space.",
        ),
        says(
            _FIRMWARE_TOOLS,
            f"failed to open|cannot open|can't open|failed to run|exit status|{EPERM}|{ENODEV}|{ENOTSUP}|failed to query|failed to get|-e-",
            unless="power cycle|power-cycle|lockdown",
            cause=_NOT_OPENED,
            remedy=_LEAVE_OUT,
        ),
        says(
            _FIRMWARE_TOOLS,
            "-e- failed|-e- cannot|-e- can't|-e- unsupported|-e- no such",
            unless="power cycle|power-cycle|lockdown",
            window=3,
            cause=_NOT_OPENED,
            remedy=_LEAVE_OUT,
        ),
        says(
            "power cycle|power-cycle|cold reboot|cold boot|firmware reset|fwreset|fw reset|pcie link toggle|mfrl",
            "load new configuration|new configurations|needed|required|please|fail|not supported|unsupported|pending|apply",
            unless="no firmware reset|not required|not needed",
            cause="The new setting needs a firmware reset or a cold start, and a warm reboot does not put it in force.",
            remedy="Power the node off and on once, or let the operator reset firmware (SriovOperatorConfig "
            "spec.featureGates.mellanoxFirmwareReset: true; FW_RESET_AFTER_CONFIG_UPDATE for the NIC Configuration "
            "Operator); newer firmware accepts the reset that mstflint 4.34 asks for.",
            commands=(
                'oc -n openshift-sriov-network-operator patch sriovoperatorconfig default --type merge -p \'{"spec":{"featureGates":{"mellanoxFirmwareReset":true}}}\'',
            ),
        ),
        says(
            "totalvfs|total_vfs|num_of_vfs|sriov_en|next boot|next-boot|nextboot",
            "needs reboot|need reboot|needreboot|require|changing|mismatch|differ|reboot",
            unless="needreboot false|no reboot",
            cause="Firmware asks for another number of virtual functions than is in force; after a reboot that changed nothing "
            "this is a loop.",
            remedy="Compare current and next boot with mstconfig -e -d PCI query; if they still differ after the reboot, power "
            "the node off and on.",
            commands=("oc debug node/NODE -- chroot /host mstconfig -e -d PCI query",),
        ),
        says(
            "firmware",
            "update|burn|upgrade|version",
            "mismatch|does not match|not recommended|recommended|loop|failed",
            "nicdevice|nic-configuration|nicfirmware|nic firmware|supported-nic-firmware|bfb",
            cause="The firmware that is wanted and the one that is installed are compared by unlike lists.",
            remedy="Align the ConfigMap nic-configuration-operator-supported-nic-firmware with the NicFirmwareSource.",
        ),
    ),
)

RDMA_MODE_REFUSED = TextRule(
    RuleInfo(
        name=RuleId("log-rdma-subsystem-refused"),
        title="The RDMA subsystem is missing, or in another namespace mode than the plugin wants",
        layer=Layer.DEVICES,
        severity=Severity.ERROR,
        text="The shared device plugin needs the mode shared, the RDMA CNI plugin the mode exclusive; the mode can only be "
        "changed while no other network namespace has RDMA devices, so in practice at boot. Without ib_core, or without "
        "the rdma program, nothing can even be asked.",
        source="rdma-system(8); Mellanox/k8s-rdma-shared-dev-plugin, start-up check; k8snetworkplumbingwg/rdma-cni README "
        "(2026-04)",
        covers=("B012", "B050", "B061", "B069"),
        leads_to=(Condition.RESOURCE_MISSING, Condition.NETWORK_MISSING),
        shows=(Condition.POD_CRASHES,),
    ),
    cause="A plugin met the RDMA subsystem in a mode that it cannot work with.",
    remedy="Keep one mode a pool of nodes: shared for the shared device plugin, exclusive for SR-IOV and host devices with "
    "the RDMA CNI plugin; set it at boot (SriovNetworkPoolConfig spec.rdmaMode, or options ib_core netns_mode) and "
    "reboot.",
    commands=("oc debug node/NODE -- chroot /host rdma system show",),
    risk=Risk.REBOOT,
    disrupts="the nodes whose mode is changed",
    signals=(
        says(
            "rdma",
            "namespace|netns|subsystem mode|~mode~|exclusive",
            "incorrect|mismatch|must be|should be|~not in~|~expected|unsupported|invalid|shared mode|exclusive mode|failed to set|cannot set"
            f"|set to exclusive|set to shared|is exclusive|{EBUSY}",
            unless="rdma_mode ok|mode: shared, exclusive or",
        ),
        says(
            "rdma subsystem|rdma system|discoverrdmasubsystem|rdma netlink|rdmalink|rdma link|namespace awareness",
            f"{ENOTSUP}|{ENOENT}|fail|cannot|can't|could not|error",
            unless="dranet|claim|cni|exclusive",
            cause="The RDMA subsystem does not answer: ib_core is not loaded on this node.",
            remedy="Load ib_core and mlx5_ib, or leave the node out of what needs RDMA.",
            commands=("oc debug node/NODE -- chroot /host modprobe -a ib_core mlx5_ib",),
        ),
        says(
            '"rdma"|rdma:|/rdma|`rdma`|rdma help|~rdma~',
            "executable file not found|command not found|not found in $path|object 'system'|object \"system\"|unknown object",
            cause="The rdma program is missing, or too old to know the subsystem's mode.",
            remedy="Install iproute and rdma-core of this system on the node.",
            commands=("oc debug node/NODE -- chroot /host rpm -q iproute rdma-core",),
        ),
    ),
)

VFS_NOT_SET_UP = TextRule(
    RuleInfo(
        name=RuleId("log-vfs-not-set-up"),
        title="Virtual functions are not made, or not given what they need",
        layer=Layer.DEVICES,
        severity=Severity.ERROR,
        text="InfiniBand VFs need a node and a port GUID before they are bound; VFs that others made do not get one. The "
        "description of 16 and more InfiniBand VFs does not fit into one netlink message on some kernels. VFs may be busy, "
        "or vanish while a plugin looks.",
        source="k8snetworkplumbingwg/ib-sriov-cni, GUID check; openshift/sriov-network-operator release-4.22, config "
        "daemon; https://github.com/k8snetworkplumbingwg/sriov-network-operator/pull/1021 (2026-02)",
        covers=("B049", "B054", "B057", "B107"),
        leads_to=(Condition.VFS_MISSING, Condition.RESOURCE_MISSING, Condition.NETWORK_MISSING),
    ),
    cause="The kernel or a plugin could not finish a virtual function.",
    remedy="Let the SR-IOV operator make the VFs itself (none beforehand, externallyManaged only where somebody else sets "
    "GUIDs and MACs), and restart its config daemon on the node.",
    commands=(
        "oc -n openshift-sriov-network-operator delete pod -l app=sriov-network-config-daemon --field-selector spec.nodeName=NODE",
    ),
    risk=Risk.DRAIN,
    disrupts="pods that use VFs of the node",
    signals=(
        says(
            "~guid~|~guids~|node_guid|port_guid|nodeguid|portguid|vf_guid",
            "not valid|invalid|all zero|is zero|all-zero|0000:0000:0000:0000|00:00:00:00:00:00:00:00|not set|unset|missing",
            unless="gid index|fe80",
            cause="A VF of an InfiniBand port has no GUID: it was made by somebody who does not set one.",
        ),
        says(
            "message too long|emsgsize|errno 90",
            "~vf|vfs|link|netlink|rtnl|ip:|~ib",
            cause="The port has so many InfiniBand VFs that the kernel cannot describe it in one netlink message.",
            remedy="Keep numVfs below 16 on each InfiniBand port, or take an operator release that reads sysfs instead.",
        ),
        says(
            "admin mac|vf mac|mac address|~vlan~",
            "~vf~|~vfs~|sriov|virtual function",
            ENOTSUP,
            "fail|cannot|error",
            unless="error adding container|failed (add)",
            cause="A port was told an Ethernet setting (a MAC, a VLAN) that it does not know: it is InfiniBand.",
            remedy="Set linkType: ib in the SriovNetworkNodePolicy, and use SriovIBNetwork.",
        ),
        says("rtnl_getlink|rtnl_fill_ifinfo|rtnl_fill_vf", "warn|cut here|call trace|warning"),
        says(
            "sriov_numvfs|numvfs|num_vfs|virtual function|~vfs~|~vf~|sriov|sr-iov|syncstatus|lastsyncerror",
            f"{EBUSY}|cannot allocate memory|not enough mmio|can't enable|cannot enable|enable failed|enable sriov failed|sriov failed|cannot create|failed to create|failed to set|failed to bind|failed to unbind|failed to configure|fail to configure|fail to config|fail to set|fail to create|unable to configure"
            "|write error|timed out waiting|out of range|numerical result",
            unless="ipam|whereabouts|error adding container|network-attachment|failed (add)|error adding pod",
        ),
        says(
            "error getting driver|get driver|driver info|readlink",
            "~vf|pci|0000:",
            "cannot|error|failed|" + ENOENT,
            "device plugin|sriovdp|netdevice|driver|plugin",
            cause="The device plugin looked at a VF while it was between two drivers, and left it out.",
            remedy="Restart the device plugin's pod on the node when all VFs are there.",
            commands=(
                "oc -n openshift-sriov-network-operator delete pod -l app=sriov-device-plugin --field-selector spec.nodeName=NODE",
            ),
        ),
    ),
)

PLUGIN_FINDS_NOTHING = TextRule(
    RuleInfo(
        name=RuleId("log-device-plugin-finds-nothing"),
        title="A device plugin finds no device for a resource, or cannot offer it",
        layer=Layer.DEVICES,
        severity=Severity.ERROR,
        text="The plugin lists devices by its selectors when it starts. Nothing fits when the names or ids differ, when the "
        "RDMA driver was not there yet, when VFs are bound to vfio-pci, or when /dev/infiniband lacks umad or rdma_cm. The "
        "line on a missing issm device is also printed for NICs that do not matter.",
        source="Mellanox/k8s-rdma-shared-dev-plugin 410b0f3, pkg/resources; k8snetworkplumbingwg/"
        "sriov-network-device-plugin 40b6f507, pkg/resources (2026-06)",
        covers=("B047", "B051", "B055", "B058"),
        leads_to=(Condition.RESOURCE_MISSING,),
    ),
    cause="No device fitted the plugin's selectors when it looked.",
    remedy="Compare the selectors with the node's ports (railwright discover), select by vendor and device id or by PCI "
    "address rather than by name, and restart the plugin's pod once the driver is ready.",
    commands=(
        "railwright discover --node NODE",
        "oc -n nvidia-network-operator delete pod -l app=rdma-shared-dp --field-selector spec.nodeName=NODE",
    ),
    signals=(
        says(
            'no devices in device pool|no rdma devices were found|no devices found|exposing "0" devices|empty resource server|no matching devices'
        ),
        says(
            "resource|pool|device plugin|rdma",
            "no devices|~0 devices|~zero devices",
            unless="non-zero|no devices in use|allocate failed|was rejected",
        ),
        says(
            "kubelet.sock|register device plugin|device plugin registration|register with kubelet|registering with kubelet"
            "|registration with kubelet",
            f"{ECONNREFUSED}|{ENOENT}|deadline exceeded|unavailable|failed|unable|cannot|timed out",
            unless="successful|restarting after kubelet|kubelet restart detected",
            cause="The plugin does not reach the kubelet, so the node offers nothing of it.",
            remedy="See that the kubelet runs and that the plugin mounts /var/lib/kubelet/device-plugins; then restart its pod.",
        ),
        says(
            "rdma device|char device|rdma device spec|rdma resources|rdma modules",
            "not found|missing|are rdma modules loaded",
            "umad|rdma_cm|uverbs|rdma device spec|rdma resources",
            unless='"issm"',
            cause="Character devices of the RDMA stack are missing: ib_umad, rdma_ucm or ib_uverbs is not loaded.",
            remedy="Load the modules (the DOCA driver does, in-box nodes need them in modules-load.d), then restart the plugin.",
            commands=("oc debug node/NODE -- chroot /host modprobe -a ib_umad rdma_ucm ib_uverbs",),
        ),
        says(
            "non-rdma device|non rdma device|not an rdma device|is not rdma|does not support rdma|rdma is not supported",
            unless="gpudirect|gpu direct",
            cause="The plugin looked before the RDMA driver was loaded, or at a NIC without RDMA.",
            remedy="Restart the plugin's pod after the driver pod is ready.",
        ),
        says(
            '"devices":[""]|"devices":[]|devices:[]} pools:[]|empty selector',
            "resourcename|selectors",
            '"vendors":[]|"devices":[""]',
            cause="The operator turned the policy's device id into an empty selector, which selects nothing.",
            remedy="Leave deviceID out of the policy's nicSelector, or name one that the operator supports.",
        ),
    ),
)

_PLUGIN_NAMES = "macvlan|ipoib|host-device|sriov|ib-sriov|rdma|whereabouts|nv-ipam|ipvlan|~sbr~|~tuning~"

NETWORK_NOT_ATTACHED = TextRule(
    RuleInfo(
        name=RuleId("log-pod-network-not-attached"),
        title="A pod's rail cannot be attached",
        layer=Layer.NETWORKS,
        severity=Severity.ERROR,
        text="Multus calls the plugin that the NetworkAttachmentDefinition names, on the node, with the device that kubelet "
        "chose. It fails when the definition is in another namespace, when the plugin is not on the node or is the wrong one "
        "for the fabric, when no device id is passed (resource names differ), when a device was left behind by a pod that was "
        "deleted by force, when addresses run out, and when Multus' own token has expired.",
        source="k8snetworkplumbingwg/multus-cni v4, delegates and resource injection; containernetworking/plugins v1.9, "
        "host-device; k8snetworkplumbingwg/sriov-cni v2.10 (2026-08). Measured: host-device with a device id that is no PCI "
        "address, in a virtual cluster, 2026-11-30",
        covers=("B065", "B071", "B074", "B076", "B079", "B084", "B087", "B168", "B170"),
        leads_to=(Condition.WORKLOAD_WAITS,),
        shows=(Condition.NETWORK_MISSING, Condition.RESOURCE_MISSING, Condition.VFS_MISSING),
    ),
    cause="The network plugin on the node refused.",
    remedy="Compare the pod's annotation, the NetworkAttachmentDefinition and its resourceName annotation with the pod's "
    "resources.",
    commands=("railwright workload  # a pod in which all of them fit",),
    signals=(
        says(
            'specify either "device"|specify either|pcibusid|pciaddr is required|pci addr is required|device id|deviceid|lstat /sys/bus/pci/devices',
            "required|specify|empty|missing|no such file|not found|invalid|hwaddr",
            unless="supported-nic-ids|vendor/device",
            cause="The plugin got no PCI address: the definition's resourceName is not the resource that the pod asks for, or "
            "the device that kubelet remembers is gone.",
            remedy="Make the device plugin's resource, the network's resourceName and the pod's resources the same, one unit a "
            "network; after VFs were made anew, restart the device plugin and the pod.",
        ),
        says(
            "lookup master|find master|master interface|parent interface|get master|lookup parent",
            f"link not found|not found|{ENODEV}|does not exist|no such network interface",
            cause="The interface that the network names as its master is not on this node.",
            remedy="Name rails by what is the same on every node (interface names by PCI path), or give each group of nodes its "
            "own network.",
            commands=("oc debug node/NODE -- chroot /host ip -br link",),
        ),
        says(
            "failed to set vf|set vf|configure vf|~vf~",
            "vlan|mac address|spoof|~trust|link state|tx_rate|tx rate",
            f"{ENOTSUP}|{EINVAL}|temporarily unavailable",
            "failed (add)|error adding|sriov-cni|cni",
            cause="The port refuses a VLAN, MAC or rate of this VF: it is InfiniBand and the plugin is the one for Ethernet, or its "
            "driver does not know the setting.",
            remedy="On InfiniBand use SriovIBNetwork; else leave vlan, vlanProto, spoofChk, trust and rates out of the SriovNetwork "
            "until a pod attaches.",
        ),
        says(
            "ipam node daemon|nv-ipam|whereabouts|ipam daemon",
            f"{ECONNREFUSED}|{ENOENT}|unavailable",
            "daemon.sock|node daemon|.sock|ip-control-loop",
            cause="The address manager's daemon does not run on this node.",
            remedy="See why its pod is not there; it tolerates and selects what the policy says.",
            commands=("oc get pods -A -o wide | grep -e nv-ipam-node -e whereabouts",),
        ),
        says(
            "~pool|ippool|cidrpool",
            "not found|does not exist|unknown pool|no such pool|is not allocated|has no allocation",
            "nv-ipam|pooltype|ippool|cidrpool|ipam|ip pool",
            unless="machineconfigpool",
            cause="The pool that the network takes addresses of does not exist, or has given this node no block.",
            remedy="Create it in the namespace that nv-ipam reads, with room for a block on every node.",
            commands=("oc get ippools.nv-ipam.nvidia.com,cidrpools.nv-ipam.nvidia.com -A -o wide",),
        ),
        says(
            "whereabouts|storage engine|overlappingrange|~ipam|nv-ipam",
            "time limit exceeded|waiting to become leader|rate limiter|context deadline exceeded|exceeded the max retry|too many retries",
            cause="The address manager does not get its turn: many pods ask for one range at once, or the API server is slow.",
            remedy="Start fewer pods at once, give each rail its own range, or take an address manager that hands each node a block "
            "(nv-ipam).",
        ),
        says(
            "failed to find plugin|failed to find cni plugin|cannot find plugin|plugin not found",
            unless="net/plugin|tuner|profiler",
            cause="The CNI plugin's program is not on the node.",
            remedy="Let the operator that brings it run on the node (secondaryNetwork.ipoib, the SR-IOV operator's config "
            "daemon), or copy it into the CNI folder.",
            commands=("oc debug node/NODE -- chroot /host ls /var/lib/cni/bin /opt/cni/bin",),
        ),
        says(
            "network-attachment-definition|networkattachmentdefinition|net-attach-def|getnetworkdelegates|~nad~",
            "cannot find|could not find|not found|no net-attach-def|no network-attachment|namespace isolation|namespaceisolation|not permitted|forbidden",
            cause="The pod names a network that is not in its namespace; others' are refused (namespace isolation).",
            remedy="Set networkNamespace of the network object to the namespace of the workload.",
        ),
        says(
            "multus|waiting for pod|getting pod|get pod",
            "unauthorized|provide credentials|x509: certificate has expired|token has expired|token is expired",
            cause="The token in Multus' kubeconfig on the node has expired and was not renewed.",
            remedy="Take --skip-config-watch from the arguments of the multus DaemonSet (or use the thick plugin), and restart "
            "its pods.",
            commands=("oc -n NAMESPACE rollout restart daemonset kube-multus-ds",),
        ),
        says(
            "host-device|sriov|sandbox|restore|releasedev|release|rename|cmddel|moving|~move",
            "~net1|~net2|temp_|original name|host device|~link",
            f"{EEXIST}|failed to find|failed to restore|failed to rename|failed to move|{EBUSY}",
            cause="A device came back from a pod under the wrong name, or is still held: the pod was deleted by force, or its "
            "network namespace went first.",
            remedy="Rename the device on the node after its PCI address (its old name is in ip -d link as alias), or reboot the "
            "node; do not delete such pods with --grace-period=0.",
            commands=("oc debug node/NODE -- chroot /host ip -d link",),
        ),
        says(
            "allocate ip|no ip addresses available|ip addresses available|ip pool|range is full|no free ip|~ipam|nv-ipam",
            "~full~|no ip|exhausted|exhaustion|could not allocate|no free|not available|failed to allocate|reserv",
            unless="allocated ip|successfully",
            cause="There is no free address left in the rail's range.",
            remedy="Free leaked reservations (restart the IPAM's reconciler), or give the rail a larger range.",
        ),
        says(
            "sriov|sriov-cni",
            "infiniband|ib link|link type|link_type|not an ethernet|unsupported link",
            "fail|wrong|unsupported|mismatch|invalid|~cannot~|~not~",
            cause="The plugin for Ethernet VFs was used for an InfiniBand VF.",
            remedy="Use SriovIBNetwork, which uses ib-sriov.",
        ),
        says(
            "failed to prepare|prepare dynamic resources|failedpreparedynamicresources|nodeprepareresources|prepareresource",
            "rdma|dranet|device|claim",
            cause="A DRA driver could not hand the device over: its RDMA or network device is in another namespace, or the "
            "driver was reloaded under it.",
            remedy="Restart the DRA driver's pod on the node and then the workload.",
        ),
        says(
            _PLUGIN_NAMES,
            "failed (add)|error adding container to network|failed to setup network|failedcreatepodsandbox|error adding pod",
        ),
        says("multus", "context deadline exceeded|timed out waiting|i/o timeout|connection refused"),
    ),
)

RULES: tuple[TextRule, ...] = (
    FIRMWARE_TOOL_REFUSED,
    RDMA_MODE_REFUSED,
    VFS_NOT_SET_UP,
    PLUGIN_FINDS_NOTHING,
    NETWORK_NOT_ATTACHED,
)
