"""
One row of documentation for every key of rails.yaml.

`explain`, the JSON Schema's descriptions, docs/rails-yaml.md and the "expected" of mistakes all come from here.
"""

import re
from dataclasses import dataclass

API_VERSION = "railwright.dev/v1alpha1"
KIND = "RailFabric"

PACKAGES = ("nfd", "sriov-network-operator", "nvidia-network-operator", "gpu-operator-certified")
"""OLM packages of the four operators; the same as in the catalog, which a test holds it to."""

MAX_NAME = 40
"""Of a fabric and of resourcePrefix: with the longest rail name it still fits a resource name (63 characters)."""
MAX_RAIL_NAME = 20
MTU_RANGE = (576, 9216)
MAX_MTU_INFINIBAND = 4092
MAX_VFS = 128
MAX_VFS_INFINIBAND = 16
MAX_PODS = 1000
PATH_MTUS = (256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class KeyDoc:
    """
    What one key means.

    Attributes:
        path: "spec.network.mtu"; "[]" stands for any index: "spec.rails[].name".
        type: in words: "integer", "string", "list of strings".
        allowed: what it may hold: "576 to 9216", "shared, host-device or sriov"; empty for anything of the type.
        choices: the words to choose from, where there are such.
        unit: empty where the value has none.
        default: the value when the key is left out; empty for keys that must be written.
        why: the reason of that default.
        example: as it stands in a file.
        required: must be written wherever its parent is.
    """

    path: str
    type: str
    meaning: str
    allowed: str = ""
    choices: tuple[str, ...] = ()
    unit: str = ""
    default: str = ""
    why: str = ""
    example: str = ""
    required: bool = False

    @property
    def expected(self) -> str:
        """What a mistake says that was expected."""
        return self.allowed or self.type


def _choice(path: str, choices: tuple[str, ...], meaning: str, **rest: str) -> KeyDoc:
    allowed = f"{', '.join(choices[:-1])} or {choices[-1]}" if len(choices) > 1 else choices[0]
    return KeyDoc(path, "string", meaning, allowed, choices, **rest)  # type: ignore[arg-type]  # the rest are strings


def _must(key: KeyDoc) -> KeyDoc:
    return KeyDoc(**{**key.__dict__, "required": True})


_NAME = f"lower-case letters, digits and '-', at most {MAX_NAME} characters, a letter or digit at both ends"

_FABRIC_KEYS = (
    _must(
        _choice("apiVersion", (API_VERSION,), "Version of this document's form.", example=f"apiVersion: {API_VERSION}")
    ),
    _must(_choice("kind", (KIND,), "What the document describes.", example=f"kind: {KIND}")),
    KeyDoc("metadata", "mapping", "What the fabric is called.", required=True, example="metadata: {name: east-west}"),
    KeyDoc(
        "metadata.name",
        "string",
        "Name of the fabric; node labels, resources and networks are named after it.",
        _NAME,
        required=True,
        example="name: east-west",
    ),
    KeyDoc("spec", "mapping", "What is wanted.", required=True, example="spec: {method: sriov, fabric: roce}"),
    _must(
        _choice(
            "spec.method",
            ("shared", "host-device", "sriov"),
            "How a pod gets its RDMA device: the port's device together with other pods, the whole port, or a virtual function of it.",
            example="method: sriov",
        )
    ),
    _must(_choice("spec.fabric", ("roce", "infiniband"), "The link type of the rails.", example="fabric: roce")),
    KeyDoc(
        "spec.workloadNamespaces",
        "list of strings",
        "Namespaces whose pods may use the rails: each gets its networks, a service account and its permissions.",
        "names of namespaces, each once",
        default="none",
        why="networks are made only where somebody asked for them",
        example="workloadNamespaces: [training]",
    ),
    KeyDoc(
        "spec.vfsPerRail",
        "integer",
        "How many virtual functions each rail's port is cut into; only for method sriov.",
        f"1 to {MAX_VFS}, on InfiniBand 1 to {MAX_VFS_INFINIBAND}",
        unit="virtual functions",
        default="8",
        why="the documented procedure makes 8; with more than 16 on InfiniBand the kernel's answers are too long to read",
        example="vfsPerRail: 8",
    ),
    KeyDoc(
        "spec.podsPerRail",
        "integer",
        "How many pods may share one port at a time; only for method shared.",
        f"1 to {MAX_PODS}",
        unit="pods",
        default="63",
        why="the documented procedure shares a port among 63",
        example="podsPerRail: 63",
    ),
    KeyDoc(
        "spec.rdmaIsolation",
        "boolean",
        "Whether a pod sees only its own RDMA devices (RDMA namespace mode exclusive); only for method sriov, and costs a reboot.",
        "true or false",
        default="false",
        why="the nodes' own mode is shared, and changing it reboots every node",
        example="rdmaIsolation: true",
    ),
    KeyDoc(
        "spec.trafficClass",
        "integer",
        "Traffic class of RDMA packets (DSCP in the upper six bits), as the switches expect it; handed to NCCL and UCX.",
        "0 to 255",
        default="left to the driver",
        why="which class is lossless is decided by the switches",
        example="trafficClass: 106",
    ),
    KeyDoc(
        "spec.pathMtu",
        "integer",
        "RDMA's own packet size; it must fit into the MTU.",
        "256, 512, 1024, 2048 or 4096",
        unit="bytes",
        default="the largest that the MTU carries",
        why="larger packets cost fewer headers",
        example="pathMtu: 4096",
    ),
    KeyDoc(
        "spec.resourcePrefix",
        "string",
        "Name stem of resources and networks, in place of the fabric's name ('-' becomes '_' in resources).",
        _NAME,
        default="the fabric's name",
        why="two fabrics must not share resources by accident",
        example="resourcePrefix: gpu-net",
    ),
    KeyDoc(
        "spec.pullSecret",
        "string",
        "Name of a pull secret that is in the operators' namespaces already, for images behind a login.",
        "name of a Secret",
        default="none",
        why="the vendor's images need no login",
        example="pullSecret: mirror-login",
    ),
    KeyDoc(
        "spec.imageRegistry",
        "string",
        "Mirror that takes the place of the vendor's registry in image names.",
        "HOST[:PORT][/PATH], without https:// and without a slash at the end",
        default="the vendor's registry",
        why="OpenShift redirects images by its own mirror sets; this is for clusters without them",
        example="imageRegistry: mirror.example.com:5000/nvidia",
    ),
    KeyDoc(
        "spec.numaAligned",
        "boolean",
        "Whether kubelets place a pod's processors, GPUs and rails on one NUMA node (a KubeletConfig; costs a reboot).",
        "true or false",
        default="false",
        why="it restarts every kubelet of the pool, and pods that fit no single NUMA node are turned away",
        example="numaAligned: true",
    ),
)

_NODE_KEYS = (
    KeyDoc(
        "spec.nodes",
        "mapping",
        "Which nodes: by name or by label, not both.",
        "names or labels",
        default="worker nodes with an NVIDIA GPU and a ConnectX port in their PCI tree",
        why="labels that say so do not exist yet on a bare cluster",
        example="nodes: {names: [worker-1, worker-2]}",
    ),
    KeyDoc(
        "spec.nodes.names",
        "list of strings",
        "Nodes by name.",
        "names of nodes, each once",
        example="names: [worker-1]",
    ),
    KeyDoc(
        "spec.nodes.labels",
        "mapping of strings",
        "Nodes that carry all of these labels.",
        "label: value",
        example='labels: {example.com/rack: "7"}',
    ),
    KeyDoc(
        "spec.tolerations",
        "list of mappings",
        "Taints that drivers and device plugins put up with, so that they run on the GPU nodes.",
        "as in a pod",
        default="none",
        why="a taint is somebody's wish to keep others out",
        example="tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]",
    ),
    KeyDoc(
        "spec.tolerations[].key",
        "string",
        "Key of the taint; left out with operator Exists: every taint.",
        "a label's key",
    ),
    _choice(
        "spec.tolerations[].operator",
        ("Exists", "Equal"),
        "Whether the value counts.",
        default="Equal",
        why="as in a pod",
    ),
    KeyDoc("spec.tolerations[].value", "string", "Value of the taint, with operator Equal.", "a label's value"),
    _choice(
        "spec.tolerations[].effect",
        ("NoSchedule", "PreferNoSchedule", "NoExecute"),
        "Effect of the taint.",
        default="every effect",
        why="as in a pod",
    ),
)


def _rail_keys(parent: str, *, where: str) -> tuple[KeyDoc, ...]:
    item = f"{parent}[]"
    return (
        KeyDoc(
            f"{item}.name",
            "string",
            f"Name of the rail{where}.",
            f"lower-case letters, digits and '-', at most {MAX_RAIL_NAME} characters, each once",
            required=True,
            example="name: rail0",
        ),
        KeyDoc(
            f"{item}.pciAddress",
            "string",
            "The port, by PCI address; one of pciAddress, netdev and deviceId is needed.",
            "DDDD:BB:DD.F in hexadecimal",
            example='pciAddress: "0000:1b:00.0"',
        ),
        KeyDoc(
            f"{item}.netdev",
            "string",
            "The port, by the name of its network device.",
            "at most 15 letters, digits, '.', '_' and '-'",
            example="netdev: ens1f0np0",
        ),
        KeyDoc(
            f"{item}.deviceId",
            "string",
            "The port, by PCI device id, on nodes that have one port with that id.",
            "four hexadecimal digits",
            example='deviceId: "1021"',
        ),
        KeyDoc(
            f"{item}.gpu",
            "string or integer",
            "The GPU that belongs to the rail: PCI address, or number in the order of PCI addresses.",
            "a PCI address, or 0 to 63",
            default="the nearest",
            why="the distance is read from the PCI tree",
            example="gpu: 0",
        ),
        KeyDoc(
            f"{item}.subnet",
            "string",
            "Subnet of this rail; then every rail of the list has one and spec.network.subnets is left out.",
            "an IPv4 or IPv6 prefix",
            default="a share of spec.network.subnets",
            why="one place is enough for most",
            example="subnet: 192.168.16.0/24",
        ),
    )


_RAIL_KEYS = (
    KeyDoc(
        "spec.rails",
        "auto, or list of mappings",
        "The rails: one NIC port each, the same on every node.",
        "auto, or a list of rails",
        default="auto",
        why="every port of the fabric's link type that is near a GPU and carries nothing of the node's own",
        example="rails: auto",
    ),
    *_rail_keys("spec.rails", where=""),
    KeyDoc(
        "spec.groups",
        "list of mappings",
        "Rails of nodes that are wired unlike the others.",
        "a list of nodes with their rails",
        default="none",
        why="nodes are grouped by their hardware where rails is auto",
        example="groups: [{nodes: {names: [worker-9]}, rails: [{name: rail0, netdev: ens9np0}]}]",
    ),
    KeyDoc("spec.groups[].nodes", "mapping", "The nodes of this group.", "names or labels", required=True),
    KeyDoc("spec.groups[].nodes.names", "list of strings", "Nodes by name.", "names of nodes, each once"),
    KeyDoc("spec.groups[].nodes.labels", "mapping of strings", "Nodes that carry all of these labels.", "label: value"),
    KeyDoc("spec.groups[].rails", "list of mappings", "The rails on these nodes.", "a list of rails", required=True),
    *_rail_keys("spec.groups[].rails", where=" that this port belongs to"),
)

_NETWORK_KEYS = (
    KeyDoc(
        "spec.network",
        "mapping",
        "The networks that pods get on the rails.",
        default="{}",
        why="every key of it has a default",
        example="network: {subnets: 192.168.0.0/16, mtu: 9000}",
    ),
    KeyDoc(
        "spec.network.subnets",
        "string or list of strings",
        "One prefix, cut into equal subnets, one a rail; or one a rail. With both families: the same for each family.",
        "IPv4 or IPv6 prefixes that do not overlap",
        default="chosen by plan, outside the cluster's own networks",
        why="the cluster's networks are only known when it is read",
        example="subnets: 192.168.0.0/16",
    ),
    KeyDoc(
        "spec.network.mtu",
        "integer",
        "MTU of ports and pods; on InfiniBand leave it out.",
        f"{MTU_RANGE[0]} to {MTU_RANGE[1]}, on InfiniBand at most {MAX_MTU_INFINIBAND}",
        unit="bytes",
        default="9000 on RoCE; the partition's on InfiniBand",
        why="RDMA packets of 4096 bytes need more than 4200",
        example="mtu: 9000",
    ),
    _choice(
        "spec.network.ipam",
        ("nv-ipam", "whereabouts", "static"),
        "Who gives pods their addresses.",
        default="nv-ipam",
        why="whereabouts leaks addresses where its reconciler is not deployed",
        example="ipam: nv-ipam",
    ),
    KeyDoc(
        "spec.network.gateway",
        "boolean",
        "Whether the first address of each subnet is a router (rails that are routed).",
        "true or false",
        default="false",
        why="rails are usually one broadcast domain each",
        example="gateway: true",
    ),
    KeyDoc(
        "spec.network.routes",
        "list of mappings",
        "Routes that pods get on their rails.",
        "a list of destinations",
        default="none",
        why="each rail reaches its own subnet without one",
        example="routes: [{destination: 192.168.0.0/16}]",
    ),
    KeyDoc(
        "spec.network.routes[].destination", "string", "Where the route goes.", "an IPv4 or IPv6 prefix", required=True
    ),
    KeyDoc(
        "spec.network.routes[].gateway",
        "string",
        "The router; needed unless network.gateway is true.",
        "an address of the destination's family",
        default="the subnet's first address",
        why="with network.gateway true that is the router",
    ),
    KeyDoc(
        "spec.network.pkey",
        "string",
        "InfiniBand partition of the pods; not for host-device, whose port keeps the subnet manager's.",
        '"0x0001" to "0xffff", in quotes',
        default="the port's own partition",
        why="which partitions exist is decided by the subnet manager",
        example='pkey: "0x8001"',
    ),
    _choice(
        "spec.network.guid",
        ("auto", "pool"),
        "GUIDs of InfiniBand virtual functions: made by the SR-IOV operator, or by ib-kubernetes out of a pool (sriov only).",
        default="auto",
        why="a pool needs a subnet manager that takes part",
        example="guid: auto",
    ),
    KeyDoc(
        "spec.network.vlan",
        "integer",
        "VLAN of the pods; RoCE only, and not for host-device.",
        "1 to 4094",
        default="none",
        why="rails are usually untagged",
        example="vlan: 120",
    ),
    KeyDoc(
        "spec.network.exclude",
        "list of strings",
        "Addresses that pods never get.",
        "addresses or prefixes inside the subnets",
        default="none",
        why="routers and nodes are left out by themselves",
        example="exclude: [192.168.0.1, 192.168.0.128/26]",
    ),
)

_DRIVER_KEYS = (
    KeyDoc("spec.driver", "mapping", "Drivers and modules.", default="{}", why="every key of it has a default"),
    _choice(
        "spec.driver.nic",
        ("doca", "in-box"),
        "The NIC's driver: the DOCA driver container, or the kernel's own.",
        default="doca",
        why="the driver that the vendor tests with; in-box is the way out where a restart would cut a node off",
        example="nic: doca",
    ),
    KeyDoc(
        "spec.driver.nicVersion",
        "string",
        "Version of the DOCA driver.",
        'a version such as "doca3.4.1-26.04-1.1.0.0-1", in quotes, or sha256:DIGEST',
        default="the one that the operator was released with",
        why="others were not tested together",
        example='nicVersion: "doca3.4.1-26.04-1.1.0.0-1"',
    ),
    _choice(
        "spec.driver.gpu",
        ("open", "proprietary"),
        "Kind of the GPU driver's kernel modules.",
        default="open",
        why="dma-buf needs the open ones",
        example="gpu: open",
    ),
    KeyDoc(
        "spec.driver.gpuVersion",
        "string",
        "Version of the GPU driver.",
        'a version such as "580.95.05", in quotes',
        default="the operator's own",
        why="others were not tested together",
        example='gpuVersion: "580.95.05"',
    ),
    _choice(
        "spec.driver.memory",
        ("dma-buf", "nvidia-peermem"),
        "How a NIC reaches GPU memory.",
        default="dma-buf",
        why="recommended by the vendor; works with either NIC driver and survives a restart of it",
        example="memory: dma-buf",
    ),
    KeyDoc(
        "spec.driver.gdrcopy",
        "boolean",
        "Whether the gdrcopy module is loaded.",
        "true or false",
        default="false",
        why="it only helps small messages",
        example="gdrcopy: true",
    ),
    KeyDoc(
        "spec.driver.gds",
        "boolean",
        "Whether GPUDirect Storage is set up; needs the open GPU modules.",
        "true or false",
        default="false",
        why="RDMA between GPUs does not need it",
        example="gds: true",
    ),
)

_OPERATOR_KEYS = (
    KeyDoc(
        "spec.operators",
        "mapping",
        "How the four operators are installed.",
        default="{}",
        why="every key of it has a default",
    ),
    _choice(
        "spec.operators.approval",
        ("Manual", "Automatic"),
        "Who approves operator upgrades.",
        default="Manual",
        why="exactly the planned version is installed, and no upgrade reloads drivers by surprise",
        example="approval: Manual",
    ),
    KeyDoc(
        "spec.operators.channels",
        "mapping of strings",
        "Channel, by package.",
        f"package: channel, packages being {', '.join(PACKAGES)}",
        default="what the live catalog offers, newest that is known to fit",
        why="the catalog has the last word on what can be installed",
        example="channels: {nvidia-network-operator: v26.4}",
    ),
    KeyDoc(
        "spec.operators.catalogs",
        "mapping of strings",
        "CatalogSource, by package, for mirrored catalogs.",
        f"package: catalog, packages being {', '.join(PACKAGES)}",
        default="redhat-operators and certified-operators",
        why="the catalogs that OpenShift comes with",
        example="catalogs: {nvidia-network-operator: cs-mirror}",
    ),
    KeyDoc(
        "spec.upgrade",
        "mapping",
        "How driver roll-outs go over the nodes.",
        default="{}",
        why="every key of it has a default",
    ),
    KeyDoc(
        "spec.upgrade.auto",
        "boolean",
        "Whether the operators replace driver pods by themselves, node after node.",
        "true or false",
        default="true",
        why="otherwise a changed driver waits until somebody deletes its pods",
        example="auto: true",
    ),
    KeyDoc(
        "spec.upgrade.maxParallel",
        "integer",
        "How many nodes at a time.",
        "1 to 1000",
        unit="nodes",
        default="1",
        why="a failing driver then takes one node, not all",
        example="maxParallel: 1",
    ),
    KeyDoc(
        "spec.upgrade.drainTimeoutSeconds",
        "integer",
        "How long a node's pods may take to leave.",
        "0 to 86400; 0 waits without end",
        unit="seconds",
        default="300",
        why="the documented procedure's",
        example="drainTimeoutSeconds: 300",
    ),
)

KEYS: tuple[KeyDoc, ...] = (*_FABRIC_KEYS, *_NODE_KEYS, *_RAIL_KEYS, *_NETWORK_KEYS, *_DRIVER_KEYS, *_OPERATOR_KEYS)

_BY_PATH = {key.path: key for key in KEYS}
_MAPS = ("spec.nodes.labels", "spec.groups[].nodes.labels", "spec.operators.channels", "spec.operators.catalogs")


def find_key(path: str) -> KeyDoc | None:
    """
    Find the row of a key path; with or without "spec.", with or without indices ("rails[2].name").

    A key inside a map (a label, a package) has the map's row. None when there is no such key.
    """
    plain = re.sub(r"\[\d*\]", "[]", path.strip())
    for candidate in (plain, f"spec.{plain}", plain.removesuffix("[]"), f"spec.{plain.removesuffix('[]')}"):
        if candidate in _BY_PATH:
            return _BY_PATH[candidate]
        parent = next((each for each in _MAPS if candidate.startswith(f"{each}.")), None)
        if parent is not None:
            return _BY_PATH[parent]
    return None


def children(path: str) -> tuple[str, ...]:
    """Names of the keys directly below a path ("" for the document, "spec.rails[]" for a rail)."""
    start = f"{path}." if path else ""
    names = (key.path[len(start) :] for key in KEYS if key.path.startswith(start))
    return tuple(name for name in names if re.fullmatch(r"\w+", name))


def parents_of(name: str) -> tuple[str, ...]:
    """Paths that end in this key, wherever it stands: for a key that was written at the wrong place."""
    return tuple(key.path for key in KEYS if key.path.rpartition(".")[2] == name)
