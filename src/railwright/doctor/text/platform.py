"""What registries, admission, kubelet, scheduler and operators say."""

from railwright.core.ids import RuleId
from railwright.core.risk import Risk
from railwright.doctor.model import Condition, Layer, RuleInfo, Severity
from railwright.doctor.text.errnos import ENOENT
from railwright.doctor.text.model import TextRule
from railwright.doctor.text.signals import says

IMAGE_NOT_HAD = TextRule(
    RuleInfo(
        name=RuleId("log-image-not-to-be-had"),
        title="An image cannot be pulled",
        layer=Layer.CLUSTER,
        severity=Severity.ERROR,
        text="The tag of a driver image is made of driver version, node system and, for precompiled ones, kernel. Where no such "
        "image was published the registry knows no manifest; elsewhere the registry refuses, is not trusted, or is out of "
        "reach. A wrong tag will not come by waiting.",
        source="Mellanox/doca-driver-build 445df1e, image tags; NVIDIA/gpu-operator a22dbf67, driver image names "
        "(2026-08-21)",
        covers=("B006",),
        leads_to=(Condition.POD_NOT_STARTED,),
        shows=(Condition.POD_NOT_STARTED,),
    ),
    cause="The registry did not give the image.",
    remedy="See whether that very tag exists and whether nodes may pull it (pull secret, mirror, proxy, certificate).",
    commands=("railwright images", "oc get events -A --field-selector reason=Failed"),
    signals=(
        says(
            "manifest unknown|manifest for|not found|name unknown|no such manifest|does not exist",
            "failed to pull|pulling image|imagepullbackoff|errimagepull|pull access|back-off pulling|reading manifest|image pull",
            cause="There is no image with this tag: it is made of the driver version and the node's system or kernel, and that "
            "pair was not published.",
            remedy="Take a driver version that is published for this system (railwright images lists them), set usePrecompiled "
            "to false, or use a supported system; a kernel newer than the precompiled images has to wait for one.",
        ),
        says(
            "failed to pull|pulling image|imagepullbackoff|errimagepull|pull access|back-off pulling|image pull",
            "unauthorized|authentication required|denied|forbidden|authorization required|no basic auth",
            cause="The registry refuses: the pull secret is missing or wrong.",
        ),
        says(
            "failed to pull|pulling image|imagepullbackoff|errimagepull|back-off pulling|pinging container registry",
            "x509|certificate|timeout|timed out|no such host|connection refused|i/o timeout|no route to host|unreachable|toomanyrequests|rate limit",
            cause="The registry cannot be reached, or is not trusted.",
        ),
        says("imagepullbackoff|errimagepull|back-off pulling image|failed to pull image"),
    ),
)

OBJECT_REFUSED = TextRule(
    RuleInfo(
        name=RuleId("log-object-refused"),
        title="The API server or an admission webhook refuses an object",
        layer=Layer.CLUSTER,
        severity=Severity.ERROR,
        text="Webhooks of the SR-IOV operator know NICs by a list of ids, and check names, namespaces and ranges. OpenShift "
        "refuses pods that ask for IPC_LOCK without a security context constraint that allows it, Pod Security likewise.",
        source="openshift/sriov-network-operator 44199ad5, pkg/webhook and supported-nic-ids; OpenShift 4.20 docs, managing "
        "security context constraints (2026-07)",
        covers=("B004",),
        leads_to=(Condition.VFS_MISSING, Condition.WORKLOAD_WAITS),
    ),
    cause="The object breaks a rule of the webhook that refused it; its message names the field.",
    remedy="Change the field that the message names.",
    signals=(
        says(
            "vendor/device|is not supported|not supported|unsupported",
            "~sriov|policy|webhook|supported-nic-ids|device",
            "vendor|0x|8086|15b3|14e4|nic",
            "denied|admission|refused|not supported",
            unless="operation not supported|dma-buf|rdma is not supported",
            cause="This release of the SR-IOV operator does not list the NIC's id as supported.",
            remedy="Use a release that lists it, or add the id to the ConfigMap unsupported-nic-ids (your own risk).",
            commands=("oc -n openshift-sriov-network-operator get configmap supported-nic-ids -o yaml",),
        ),
        says(
            "security context constraint|podsecurity|pod security|violates podsecurity",
            "ipc_lock|unable to validate|forbidden|capabilities|privileged",
            cause="The pod's service account may not use a security context constraint that allows IPC_LOCK.",
            remedy="Give the service account one that does (railwright workload makes an SCC, Role and binding for it).",
            commands=("oc auth can-i use scc/NAME --as system:serviceaccount:NAMESPACE:ACCOUNT",),
        ),
        says(
            "exceeded quota|exceeds quota|quota exceeded|maximum cpu usage|must specify limits|limitrange|limit range",
            "exceed|maximum|must specify",
            cause="A quota or limit range of the namespace leaves no room for it.",
            remedy="Raise the quota for the resource that the message names, or free what holds it.",
            commands=("oc -n NAMESPACE describe resourcequota,limitrange",),
        ),
        says(
            "failed calling webhook|failed to call webhook",
            "no endpoints|connection refused|timeout|timed out|deadline exceeded|x509|not found|no such host|unreachable|eof|fail",
            cause="The webhook that has to agree does not answer: its pod is not there, or its certificate is not trusted, so every "
            "such object is refused.",
            remedy="Bring the webhook's pods back; where its operator is gone, delete the webhook's configuration too.",
            commands=("oc get validatingwebhookconfigurations,mutatingwebhookconfigurations",),
        ),
        says("admission webhook", "denied the request|denied"),
        says(
            "is invalid:|strict decoding error|error validating data|failed validation",
            "invalid value|unsupported value|required value|unknown field|should match|must be|too long|too many|forbidden:",
            "error from server|error when|admission|apply|create|patch|update",
            unless="daemonset|metadata.name",
            cause="The API server refuses the object: a field has a value that its definition (CRD) does not allow, or that it does "
            "not know.",
            remedy="Compare the field that the message names with the definition that is installed; an operator of another release "
            "has other fields.",
            commands=("oc explain KIND.FIELD",),
        ),
        says(
            "is forbidden",
            "user |cannot create|cannot patch|cannot get|cannot list|cannot watch|cannot delete|cannot update",
            "cannot",
            cause="The user or service account that asks has no right to it.",
            remedy="Bind a role with that right; railwright prints the ones that it needs itself.",
            commands=("railwright explain --rbac doctor", "oc auth can-i --list"),
        ),
    ),
)

POD_NOT_ADMITTED = TextRule(
    RuleInfo(
        name=RuleId("log-pod-not-admitted"),
        title="Scheduler or kubelet find no place for a pod with these devices",
        layer=Layer.DEVICES,
        severity=Severity.ERROR,
        text="A resource is short when no plugin offers it, when it is held, or when a pod asks for more than a node has (a "
        "template for eight NICs on a node with four). With a strict NUMA policy GPUs and NICs of both sockets do not fit "
        "into one pod. After a reboot kubelet takes pods back before the plugins have registered.",
        source="Kubernetes docs v1.33, Topology Manager policies, Device Plugins; "
        "https://github.com/kubernetes/kubernetes/issues/67107 (2026-08)",
        covers=("B098", "B099", "B168"),
        leads_to=(Condition.WORKLOAD_WAITS,),
        shows=(Condition.RESOURCE_MISSING,),
    ),
    cause="The resource that the pod asks for is not free on any node.",
    remedy="Compare what nodes offer with what the pod asks for, and with who holds it.",
    commands=("oc describe node NODE | sed -n '/Allocatable/,/System Info/p'",),
    signals=(
        says(
            "topologyaffinityerror|topology locality|topology manager|topology affinity|numa",
            "cannot be allocated|rejected|not admitted|admission|error",
            "resource|pod|topology",
            unless="numa node 0 has|numa nodes:",
            cause="The kubelet's NUMA policy wants all devices of the pod from one NUMA node, and they are on two.",
            remedy="Ask for the devices of one socket a pod, set excludeTopology on the NIC's policy, or use the policy "
            "restricted or best-effort for pods that take the whole node.",
        ),
        says("insufficient rdma/|insufficient nvidia.com/|insufficient openshift.io/|insufficient mellanox.com/"),
        says(
            "unexpectedadmissionerror|allocate failed due to|devices unavailable|number of devices unavailable|no healthy devices",
            cause="The kubelet took the pod before the device plugin offered its devices, usually after a reboot or a restart of "
            "the plugin.",
            remedy="Delete the pod, so that it is scheduled again, when the plugin has registered.",
        ),
    ),
)

OPERATOR_STUCK = TextRule(
    RuleInfo(
        name=RuleId("log-operator-waits"),
        title="An operator or its pod waits for something that does not come",
        layer=Layer.OPERATORS,
        severity=Severity.ERROR,
        text="Operators do nothing without their own object (SriovOperatorConfig default, NodeFeatureDiscovery, "
        "NicClusterPolicy), without the labels that select nodes, and without the driver of the other operator. Two "
        "installations of the same thing fight over a port or over labels.",
        source="openshift/sriov-network-operator 44199ad5, controllers; NVIDIA/gpu-operator a22dbf67, k8s-driver-manager and "
        "mofed-validation; node-feature-discovery v0.18 (2026-08)",
        covers=("B002", "B011", "B013", "B015", "B025"),
        leads_to=(Condition.POD_NOT_STARTED, Condition.NIC_DRIVER_NOT_READY, Condition.LABELS_MISSING),
        shows=(Condition.NIC_DRIVER_NOT_READY,),
    ),
    cause="It waits for an object, a label or another operator's driver.",
    remedy="Make what it waits for.",
    signals=(
        says(
            "sriovoperatorconfig",
            "not found|cannot find|does not exist|missing",
            cause="There is no SriovOperatorConfig named default, without which the operator runs no daemons.",
            remedy="Create it in the operator's namespace.",
            commands=("railwright apply --until operators-installed",),
        ),
        says(
            "could not get any nodes to match|no nodes match|nfd label missing|required nfd label|nfdlabelsmissing|no gpu node|nogpunodes"
            "|no nfd labels|failed to find label|label is missing",
            cause="Node Feature Discovery has not labelled the hardware, so no node is selected.",
            remedy="Create a NodeFeatureDiscovery whose worker labels PCI classes 02 and 03 by vendor; on OpenShift use its own "
            "NFD, which alone writes OSTREE_VERSION.",
            commands=(
                "oc get nodes -L feature.node.kubernetes.io/pci-15b3.present,feature.node.kubernetes.io/pci-10de.present",
            ),
        ),
        says(
            "address already in use|bind: address",
            "listen|nfd|8080|8081|8082|metrics|:80",
            cause="Two programs on the host's network want the same port: usually two installations of Node Feature Discovery.",
            remedy="Keep one: nfd.enabled=false in the operators' own charts where the cluster has its own.",
            commands=("oc get daemonsets -A | grep -i -E 'nfd|node-feature'",),
        ),
        says(
            ".driver-ready|mofed-validation|mofed validation|waiting for mofed|waiting for mellanox|mofed driver|mofed-ready",
            f"wait|{ENOENT}|not ready|cannot access|no such|retry|sleep",
            unless="startup probe|killing|liveness",
            cause="The GPU driver waits for the DOCA driver's container (driver.rdma.enabled without useHostMofed), which is "
            "not there.",
            remedy="Create a NicClusterPolicy with ofedDriver; or driver.rdma.useHostMofed: true where the node's own driver is "
            "meant; or driver.rdma.enabled: false with dma-buf.",
            commands=(
                "oc get nicclusterpolicy",
                'oc patch clusterpolicy gpu-cluster-policy --type merge -p \'{"spec":{"driver":{"rdma":{"useHostMofed":true}}}}\'',
            ),
        ),
        says(
            "daemonset|metadata.name",
            "invalid value|rfc 1123|must consist of lower case",
            "64k|+64k|kernel|driver",
            cause="The name of a DaemonSet was made from the kernel's version with its '+' (64 KiB pages), which is no name.",
            remedy="Upgrade the GPU Operator to 25.3 or newer.",
        ),
        says(
            "not satisfiable|constraintsnotsatisfiable|resolutionfailed|no operators found|bundle unpack|catalog source|catalogsource|installplan",
            "not satisfiable|no operators found|failed|deadline|unhealthy|missing|not found|exceeded|transient_failure|conflict|error",
            unless="installplan complete|successfully|object has been modified",
            cause="OLM cannot bring the operator: the channel or catalog that the Subscription names does not have it, two of them "
            "exclude each other, or the bundle's image was not unpacked in time.",
            remedy="Compare package, channel and catalog of the Subscription with what the catalog has; pull and unpacking are told in "
            "the catalog's pods and in the Job of openshift-marketplace.",
            commands=("oc get packagemanifests", "oc -n openshift-marketplace get pods,jobs"),
        ),
        says(
            "no matches for kind|could not find the requested resource|no kind is registered|failed to get restmapping",
            "machineconfigpool|machineconfig|nicclusterpolicy|sriovnetwork|clusterpolicy|nodefeature|networkattachmentdefinition",
            cause="The API server does not serve a kind that the operator needs (hosted control planes have no "
            "MachineConfigPools).",
            remedy="Install the operator that brings the kind, or take a release that does without.",
        ),
    ),
)


def _degraded(status: str) -> str:
    """Spell the status of a condition Degraded (or NodeDegraded, RenderDegraded) as tools print it: by name, as JSON."""
    joints = ("=", ": ", " ", '="', '":', '": ', '":"', '": "', " is ", " status ", '","status":"', '", "status": "')
    sorted_json = (f'"status":"{status}","type":"{kind}degraded' for kind in ("", "node", "render"))
    return "|".join((*(f"degraded{joint}{status}" for joint in joints), *sorted_json))


DRAIN_STUCK = TextRule(
    RuleInfo(
        name=RuleId("log-drain-does-not-end"),
        title="A node cannot be drained, so a roll-out stands still",
        layer=Layer.UPGRADES,
        severity=Severity.WARNING,
        text="Operators drain a node before they touch its devices. PodDisruptionBudgets without room, pods without an owner, "
        "and pods with emptyDir volumes hold the drain; a paused MachineConfigPool does the same.",
        source="Kubernetes docs v1.33, disruptions; kubectl drain; openshift/sriov-network-operator 44199ad5, drain "
        "controller (2026-07)",
        covers=("B161", "B166", "B174"),
        leads_to=(Condition.ROLLOUT_STUCK,),
        shows=(Condition.ROLLOUT_STUCK,),
    ),
    cause="Something on the node may not be evicted.",
    remedy="Find the budget or pod that the message names: give the budget room, delete unmanaged pods, allow emptyDir and force "
    "in the operator's drain settings; on a single node switch its drain off.",
    commands=("oc get pdb -A", "oc adm drain NODE --dry-run=server --ignore-daemonsets"),
    risk=Risk.DRAIN,
    disrupts="the pods that hold the drain",
    signals=(
        says(
            "disruption budget|poddisruptionbudget",
            "violate|cannot evict|would|too many requests|disruptionsallowed: 0|disruptionsallowed=0|unable",
            cause="A PodDisruptionBudget leaves no pod to be evicted.",
        ),
        says(
            "cannot delete|cannot evict|unable to drain|not managed by|unmanaged|use --delete-emptydir-data",
            "declare no controller|local storage|emptydir|--force|delete-emptydir-data|replicationcontroller",
            cause="Pods without an owner or with emptyDir volumes hold the drain.",
            remedy="Allow it in the drain settings (force, deleteEmptyDir), or delete these pods.",
        ),
        says(
            "drain",
            "failed|timed out|~timeout~|error when|not finished|global timeout",
            unless='drain_timeout=|drain timeout=|drain timeout:|--timeout=|successfully drained|failed":0|failed": 0',
        ),
        says(
            "machineconfigdaemon|machine-config-daemon|machineconfigpool|machine-config-controller|marking degraded|marking node|~mco~"
            "|machine config pool|~mcp~",
            "degraded|unreconcilable|unexpected on-disk state|failed to render|content mismatch|cannot apply",
            unless=f"{_degraded('false')}|no longer degraded|not degraded",
            cause="A node or its MachineConfigPool is degraded: nothing rolls out until what the message names is mended.",
            remedy="Mend what the message names (a file that was changed by hand, a configuration that cannot be rendered).",
            commands=("oc get mcp", "oc describe mcp worker"),
        ),
        says(
            "machineconfigpool|machine config pool|~mcp~",
            _degraded("true"),
            cause="A node or its MachineConfigPool is degraded: nothing rolls out until what the message names is mended.",
            remedy="Mend what the message names (a file that was changed by hand, a configuration that cannot be rendered).",
            commands=("oc get mcp", "oc describe mcp worker"),
        ),
        says(
            "draining_mcp_paused|mcp_paused|machineconfigpool|machine config pool|~mcp~",
            "pause|waiting|not ready",
            unless='is unpaused now|has been unpaused|paused=false|paused: false|paused":false',
            cause="A MachineConfigPool is paused or not done, and the SR-IOV daemon waits for it.",
            remedy="Unpause the pool once no node carries Draining_MCP_Paused.",
            commands=("oc get mcp", 'oc patch mcp worker --type merge -p \'{"spec":{"paused":false}}\''),
        ),
    ),
)

RULES: tuple[TextRule, ...] = (IMAGE_NOT_HAD, OBJECT_REFUSED, POD_NOT_ADMITTED, OPERATOR_STUCK, DRAIN_STUCK)
