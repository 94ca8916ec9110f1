"""What nodes need of their own system: everything of ours for one pool in one MachineConfig, so in one roll-out."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass

from railwright.core.ids import FabricName, NodeName
from railwright.core.kinds import KUBELET_CONFIG, MACHINE_CONFIG, NODE_NETWORK_CONFIGURATION_POLICY
from railwright.core.marks import is_ours
from railwright.core.objects import KubeObject, Ref, dig
from railwright.facts.model import ClusterFacts, NodeHardware, Platform, PoolFacts
from railwright.facts.nodes import selects
from railwright.intent.model import Method, NicDriver
from railwright.plan.draft import FabricNodes
from railwright.plan.model import (
    ADMITTED,
    HostNetworkShare,
    KubeletShare,
    MachineFile,
    MachineShare,
    Share,
    fabric_label,
    group_label,
)
from railwright.plan.notes import Notes

_IRDMA = "irdma"
_READABLE = 0o644
_NAME = "99-railwright"
_KUBELET_NAME = "railwright"
POOL_LABEL = "pools.operator.machineconfiguration.openshift.io/"
"""Every MachineConfigPool carries this with its own name; what selects pools usually selects it."""
_SHOWN = 2
_MEMLOCK_PATH = "/etc/crio/crio.conf.d/10-railwright-memlock.conf"


@dataclass(frozen=True)
class _Part:
    reason: str
    source: str
    argument: str = ""
    file: MachineFile | None = None


def machine_shares(
    fabrics: Iterable[FabricNodes], cluster: ClusterFacts, notes: Notes
) -> tuple[MachineShare | KubeletShare | HostNetworkShare, ...]:
    """Plan node preparation, by pool; on plain Kubernetes, where nobody rolls it out, only what NMState does."""
    fabrics = tuple(fabrics)
    shares: list[MachineShare | KubeletShare | HostNetworkShare] = []
    by_nmstate = cluster.serves(NODE_NETWORK_CONFIGURATION_POLICY)
    if by_nmstate:
        shares.extend(share for fabric in fabrics for share in _host_networks(fabric, cluster))
    if cluster.platform is not Platform.OPENSHIFT:
        return tuple(shares)
    for pool in sorted(cluster.pools, key=lambda item: item.name):
        inside = tuple(fabric for fabric in fabrics if set(fabric.hardware) & set(pool.nodes))
        if not inside:
            continue
        live = cluster.objects.get(Ref(MACHINE_CONFIG, "", f"{_NAME}-{pool.name}"))
        parts = _all_parts(pool, inside, live, with_mtu=not by_nmstate)
        config = _machine(pool, inside, parts)
        if config is not None:
            if not _is_there(config, live):
                _check_pool(pool, notes)
            shares.append(config)
            for reason, source in {part.reason: part.source for part in parts}.items():
                held = _held_for(reason, parts)
                notes.decide(f"MachineConfig {config.name}", held, "hardware", reason, source)
        if any(fabric.settings.intent.numa_aligned for fabric in inside):
            kubelet = KubeletShare(f"{_KUBELET_NAME}-{pool.name}", pool.name, "single-numa-node")
            _check_kubelet(kubelet, pool, cluster, notes)
            shares.append(kubelet)
    return tuple(shares)


def _all_parts(
    pool: PoolFacts, fabrics: tuple[FabricNodes, ...], live: KubeObject | None, *, with_mtu: bool
) -> tuple[_Part, ...]:
    parts: list[_Part] = []
    for fabric in fabrics:
        inside = {node: hardware for node, hardware in fabric.hardware.items() if node in pool.nodes}
        parts.extend(_parts(fabric, inside, live, with_mtu=with_mtu))
    parts.extend(_memlock(fabrics, pool, live))
    return tuple(parts)


def _machine(pool: PoolFacts, fabrics: tuple[FabricNodes, ...], parts: tuple[_Part, ...]) -> MachineShare | None:
    if not parts:
        return None
    files = {part.file.path: part.file for part in parts if part.file is not None}
    return MachineShare(
        name=f"{_NAME}-{pool.name}",
        pool=pool.name,
        kernel_arguments=tuple(sorted({part.argument for part in parts if part.argument})),
        files=tuple(files[path] for path in sorted(files)),
        reasons=tuple(dict.fromkeys(part.reason for part in parts)),
        fabrics=tuple(FabricName(fabric.settings.name) for fabric in fabrics),
    )


def _held_for(reason: str, parts: tuple[_Part, ...]) -> str:
    """Name the kernel arguments and files that a MachineConfig holds for one reason."""
    mine = (part for part in parts if part.reason == reason)
    names = dict.fromkeys(part.argument or (part.file.path if part.file else "") for part in mine)
    shown = list(names)[:_SHOWN]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")


def _memlock(fabrics: tuple[FabricNodes, ...], pool: PoolFacts, live: KubeObject | None) -> Iterable[_Part]:
    """Lift the limit of locked memory where it is known to be finite: without it only IPC_LOCK lets RDMA register memory."""
    limits = {
        hardware.memlock_limit
        for fabric in fabrics
        for node, hardware in fabric.hardware.items()
        if node in pool.nodes and hardware.memlock_limit not in {None, "unlimited"}
    }
    # Once it is in force the limit is gone; leaving it out then would bring it back, with one more reboot.
    if limits or _holds(live, _MEMLOCK_PATH):
        seen = f"only {', '.join(sorted(str(limit) for limit in limits))} KiB" if limits else "all they want since this"
        content = '[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n'
        yield _Part(
            f"containers may lock {seen}, and RDMA locks all it registers",
            "OpenShift 4.22 docs, Hardware accelerators 5.8 (2026-09-05)",
            file=MachineFile(_MEMLOCK_PATH, _READABLE, content),
        )


def _parts(
    fabric: FabricNodes, inside: dict[NodeName, NodeHardware], live: KubeObject | None, *, with_mtu: bool
) -> Iterable[_Part]:
    settings = fabric.settings
    doca = settings.nic_driver is NicDriver.DOCA
    loaded = sorted(node for node, hardware in inside.items() if _IRDMA in hardware.modules)
    blacklisted = any(f"module_blacklist={_IRDMA}" in hardware.kernel_arguments for hardware in inside.values())
    if doca and (loaded or blacklisted):
        where = f"loaded on {', '.join(loaded[:3])}" if loaded else "kept away already"
        yield _Part(
            f"irdma holds ib_core, so the DOCA driver could not replace it ({where})",
            "OpenShift 4.22 docs, Hardware accelerators 5.2 (2026-09-05)",
            f"module_blacklist={_IRDMA}",
        )
    if not doca and settings.intent.method is Method.SHARED:
        content = "# railwright: the shared device plugin needs their character devices\nib_umad\nrdma_ucm\n"
        yield _Part(
            "the shared device plugin needs ib_umad and rdma_ucm, which only DOCA loads by itself",
            "Mellanox/k8s-rdma-shared-dev-plugin 410b0f3, pkg/resources/pci_net_device.go:74 (2026-04-07)",
            file=MachineFile("/etc/modules-load.d/railwright-rdma.conf", _READABLE, content),
        )
    path = f"/etc/udev/rules.d/71-railwright-mtu-{settings.name}.rules"
    # Once it is in force the ports are wide enough; leaving it out then would undo it.
    if with_mtu and (needs_mtu(fabric) or _holds(live, path)):
        rules = "".join(
            f'SUBSYSTEM=="net", ACTION=="add", KERNELS=="{pci}", ATTR{{mtu}}="{settings.mtu_bytes}"\n'
            for pci in sorted({port.pci for rail in fabric.rails for port in rail.ports if port.node in inside})
        )
        yield _Part(
            f"pods want an MTU of {settings.mtu_bytes}, and a pod's interface takes none above its port's",
            "Linux, drivers/net/macvlan.c, macvlan_change_mtu (read 2026-11-30)",
            file=MachineFile(path, _READABLE, rules),
        )


def largest_roll_out(shares: Iterable[Share], cluster: ClusterFacts) -> int:
    """Count the nodes of the largest pool that gets something of ours; 1 where none does."""
    pools = {share.pool for share in shares if isinstance(share, MachineShare | KubeletShare)}
    return max((len(pool.nodes) for pool in cluster.pools if pool.name in pools), default=1)


def made_lockable(
    shares: Iterable[Share], fabrics: Iterable[FabricNodes], cluster: ClusterFacts
) -> tuple[NodeName, ...]:
    """List the nodes of fabrics whose containers get the right to lock all their memory."""
    lifting = {
        share.pool
        for share in shares
        if isinstance(share, MachineShare) and any(file.path == _MEMLOCK_PATH for file in share.files)
    }
    inside = {node for fabric in fabrics for node in fabric.hardware}
    return tuple(sorted({node for pool in cluster.pools if pool.name in lifting for node in pool.nodes} & inside))


def pool_of(ref: Ref) -> str:
    """Name the pool that a MachineConfig or KubeletConfig of ours is for; "" for any other object."""
    prefix = {MACHINE_CONFIG: _NAME, KUBELET_CONFIG: _KUBELET_NAME}.get(ref.kind, "")
    return ref.name.removeprefix(f"{prefix}-") if prefix and ref.name.startswith(f"{prefix}-") else ""


def _is_there(share: MachineShare, live: KubeObject | None) -> bool:
    """Whether the pool has exactly this already: writing it starts no roll-out."""
    found = dig(live, "spec", "config", "storage", "files", default=[])
    files = {str(file.get("path")): str(dig(file, "contents", "source", default="")) for file in found}
    return (
        live is not None
        and sorted(dig(live, "spec", "kernelArguments", default=[])) == sorted(share.kernel_arguments)
        and files == {file.path: data_url(file) for file in share.files}
    )


def data_url(file: MachineFile) -> str:
    """Spell a file's content as Ignition takes it."""
    return f"data:text/plain;charset=utf-8;base64,{base64.b64encode(file.content.encode()).decode()}"


def _holds(live: KubeObject | None, path: str) -> bool:
    files = dig(live, "spec", "config", "storage", "files", default=[])
    return any(file.get("path") == path for file in files)


def needs_mtu(fabric: FabricNodes) -> bool:
    """Whether some rail's port has a smaller MTU than pods want; the SR-IOV operator sets it by its policy instead."""
    settings = fabric.settings
    if settings.mtu_bytes is None or settings.is_infiniband or settings.intent.method is Method.SRIOV:
        return False
    mtus = {port.pci: port.mtu_bytes for hardware in fabric.hardware.values() for port in hardware.ports}
    return any((mtus.get(port.pci) or 0) < settings.mtu_bytes for rail in fabric.rails for port in rail.ports)


def _host_networks(fabric: FabricNodes, cluster: ClusterFacts) -> list[HostNetworkShare]:
    """
    Plan the ports' MTU through NMState, a policy a group: a node fails one that names an interface which it lacks.

    Once one of ours is there the ports are wide enough; leaving it out then would undo it.
    """
    settings, name = fabric.settings, FabricName(fabric.settings.name)
    if settings.mtu_bytes is None or settings.is_infiniband or settings.intent.method is Method.SRIOV:
        return []
    shares = []
    for group in fabric.groups:
        several = len(fabric.groups) > 1
        labels = {fabric_label(name): ADMITTED} | ({group_label(name): group.name} if several else {})
        netdevs = {port.netdev for rail in fabric.rails for port in rail.ports if port.node in group.nodes}
        mtus = {str(netdev): settings.mtu_bytes for netdev in sorted(netdevs)}
        shares.append(
            HostNetworkShare(f"railwright-{name}" + (f"-{group.name}" if several else ""), labels, mtus, name)
        )
    ours = any(is_ours(cluster.objects.get(Ref(NODE_NETWORK_CONFIGURATION_POLICY, "", share.name))) for share in shares)
    return shares if ours or needs_mtu(fabric) else []


def _check_pool(pool: PoolFacts, notes: Notes) -> None:
    state = "paused" if pool.paused else "degraded" if pool.degraded else "" if pool.updated else "not updated"
    if state:
        notes.refuse(
            "pool-not-ready",
            f"MachineConfigPool {pool.name} is {state}; a MachineConfig put there now would wait, or roll out on top of another",
            where=f"MachineConfigPool {pool.name}",
            expected="Updated, not paused, not degraded",
            seen=f"{state} {pool.message}".strip(),
            hint=f"oc get mcp {pool.name}; go on when it is Updated"
            + (" and spec.paused is false" if pool.paused else ""),
        )


def _check_kubelet(share: KubeletShare, pool: PoolFacts, cluster: ClusterFacts, notes: Notes) -> None:
    """Refuse a second KubeletConfig of a pool: of two the later one's kubelet.conf is in force, whole."""
    found = cluster.of_kind(KUBELET_CONFIG)
    if not any(is_ours(item) and item["metadata"]["name"] == share.name for item in found):
        _check_pool(pool, notes)
    for item in found:
        name = str(item["metadata"]["name"])
        selector = dig(item, "spec", "machineConfigPoolSelector", default={})
        if not is_ours(item) and selects(selector, {**pool.labels, POOL_LABEL + pool.name: ""}):
            notes.refuse(
                "kubelet-config-is-there",
                f"KubeletConfig {name} is for pool {pool.name} already, and a pool takes one: ours would replace its settings",
                where=f"KubeletConfig {name}",
                expected=f"no other KubeletConfig for pool {pool.name}",
                seen=name,
                hint=f"set topologyManagerPolicy: {share.topology_policy} in {name}, and leave spec.numaAligned out",
            )
