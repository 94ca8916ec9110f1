"""
What one RailFabric must keep across its keys, as far as the file alone shows.

A rule yields a Broken for each fault; positions are added by parse. Subnets have their own file, subnets.py.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from railwright.core.ids import parse_pci_address
from railwright.intent.key_doc import MAX_MTU_INFINIBAND, MAX_VFS_INFINIBAND, PACKAGES
from railwright.intent.mistakes import did_you_mean
from railwright.intent.shape import DriverShape, GroupRailShape, GroupShape, NodesShape, SpecShape, TolerationShape
from railwright.intent.tree import KeyPath

SPEC: KeyPath = ("spec",)


@dataclass(frozen=True)
class Broken:
    """A rule that does not hold; `at_key` points at the key, else at its value."""

    path: KeyPath
    problem: str
    expected: str = ""
    seen: str = ""
    hint: str = ""
    at_key: bool = False


def check_rules(spec: SpecShape) -> Iterator[Broken]:
    """Check everything but subnets."""
    yield from _method_rules(spec)
    yield from _link_rules(spec)
    yield from _partition_rules(spec)
    yield from _driver_rules(spec.driver or DriverShape())
    yield from _node_rules(spec.nodes, (*SPEC, "nodes"))
    yield from _rail_rules(spec.rails or [], (*SPEC, "rails"))
    yield from _group_rules(spec.groups or [])
    yield from _toleration_rules(spec.tolerations or [])
    yield from _package_rules(spec)
    yield from _twice(spec.workload_namespaces or [], (*SPEC, "workloadNamespaces"), "namespace")


def _method_rules(spec: SpecShape) -> Iterator[Broken]:
    method = spec.method
    if method is None:
        return
    if spec.vfs_per_rail is not None and method != "sriov":
        yield _only_for("vfsPerRail", "method sriov", f"method {method}")
    if spec.pods_per_rail is not None and method != "shared":
        yield _only_for("podsPerRail", "method shared", f"method {method}")
    if spec.rdma_isolation and method != "sriov":
        yield _only_for("rdmaIsolation", "method sriov", f"method {method}")


def _link_rules(spec: SpecShape) -> Iterator[Broken]:
    if spec.fabric == "infiniband":
        yield from _infiniband_rules(spec)
    network = spec.network
    if network is None:
        return
    if spec.fabric == "roce":
        for name, value in (("pkey", network.pkey), ("guid", network.guid)):
            if value is not None:
                yield _only_for(f"network.{name}", "fabric infiniband", "fabric roce")
    if network.vlan is not None and spec.fabric != "infiniband" and spec.method in {"host-device", "shared"}:
        hint = "a macvlan's or a moved port's VLAN is the port's own: tag it at the switch, or method sriov"
        yield _only_for("network.vlan", "method sriov", f"method {spec.method}", hint)
    mtu = network.mtu
    if spec.path_mtu is not None and mtu is not None and spec.path_mtu >= mtu and spec.fabric == "roce":
        hint = "RDMA packets need room for their headers"
        yield Broken((*SPEC, "pathMtu"), "does not fit into network.mtu", f"less than {mtu}", str(spec.path_mtu), hint)


def _infiniband_rules(spec: SpecShape) -> Iterator[Broken]:
    if spec.vfs_per_rail is not None and spec.vfs_per_rail > MAX_VFS_INFINIBAND:
        allowed = f"1 to {MAX_VFS_INFINIBAND} on InfiniBand"
        yield Broken((*SPEC, "vfsPerRail"), "too many virtual functions", allowed, str(spec.vfs_per_rail))
    if spec.traffic_class is not None:
        hint = "InfiniBand's service levels are the subnet manager's: a traffic class is for RoCE"
        yield _only_for("trafficClass", "fabric roce", "fabric infiniband", hint)
    mtu = spec.network.mtu if spec.network else None
    if mtu is not None and spec.method in {"shared", "host-device"}:
        hint = "leave mtu out: the partition decides it, and a pod's interface has its port's"
        yield _only_for("network.mtu", "fabric roce, or method sriov", f"method {spec.method} on InfiniBand", hint)
    elif mtu is not None and mtu > MAX_MTU_INFINIBAND:
        hint = "leave mtu out on InfiniBand: the partition decides it"
        allowed = f"at most {MAX_MTU_INFINIBAND} on InfiniBand"
        yield Broken((*SPEC, "network", "mtu"), "too large", allowed, str(mtu), hint)
    if spec.network and spec.network.vlan is not None:
        hint = "on InfiniBand partitions do this: network.pkey"
        yield _only_for("network.vlan", "fabric roce", "fabric infiniband", hint)


def _partition_rules(spec: SpecShape) -> Iterator[Broken]:
    network = spec.network
    if network is None or spec.fabric == "roce":
        return
    if network.pkey is not None:
        path = (*SPEC, "network", "pkey")
        if int(network.pkey, 16) & 0x7FFF == 0:
            yield Broken(
                path, "not a partition", '"0x0001" to "0xffff", whose lower 15 bits are not all 0', network.pkey
            )
        if spec.method in {"shared", "host-device"}:
            hint = "pods have the port's own partition there, which the subnet manager sets"
            yield _only_for("network.pkey", "method sriov", f"method {spec.method}", hint)
    if network.guid is not None and spec.method not in {None, "sriov"}:
        yield _only_for("network.guid", "method sriov", f"method {spec.method}", "a port's GUID is fixed in hardware")


def _driver_rules(driver: DriverShape) -> Iterator[Broken]:
    path = (*SPEC, "driver")
    if driver.memory == "nvidia-peermem" and driver.nic == "in-box":
        hint = "use memory: dma-buf, or nic: doca"
        problem = "nvidia-peermem needs the DOCA driver: the kernel's own has no peer-memory interface"
        yield Broken((*path, "memory"), problem, "dma-buf", "nvidia-peermem with nic: in-box", hint)
    if driver.memory == "dma-buf" and driver.gpu == "proprietary":
        hint = "use gpu: open, or memory: nvidia-peermem with nic: doca"
        yield Broken((*path, "memory"), "dma-buf needs the open GPU modules", "gpu: open", "gpu: proprietary", hint)
    if driver.gpu == "proprietary" and driver.nic == "in-box" and driver.memory is None:
        hint = "use gpu: open, or nic: doca with memory: nvidia-peermem"
        problem = "no NIC can reach GPU memory: dma-buf needs the open GPU modules, nvidia-peermem the DOCA driver"
        yield Broken((*path, "gpu"), problem, "open", "proprietary with nic: in-box", hint)
    if driver.gds and driver.gpu == "proprietary":
        yield Broken((*path, "gds"), "GPUDirect Storage needs the open GPU modules", "gpu: open", "gpu: proprietary")
    if driver.nic == "in-box" and driver.nic_version is not None:
        yield _only_for("driver.nicVersion", "nic doca", "nic in-box", "the kernel's own driver comes with the node")


def _node_rules(nodes: NodesShape | None, path: KeyPath) -> Iterator[Broken]:
    if nodes is None:
        return
    if nodes.names is not None and nodes.labels is not None:
        yield Broken(path, "names and labels together", "names or labels", "both")
    if nodes.names is None and nodes.labels is None:
        yield Broken(path, "selects nothing", "names or labels", "neither", "leave nodes out for the default")
    yield from _twice(nodes.names or [], (*path, "names"), "node")


def _rail_rules(rails: Sequence[GroupRailShape], path: KeyPath) -> Iterator[Broken]:
    for index, rail in enumerate(rails):
        selectors = {"pciAddress": rail.pci_address, "netdev": rail.netdev, "deviceId": rail.device_id}
        chosen = [name for name, value in selectors.items() if value is not None]
        if len(chosen) != 1:
            seen = " and ".join(chosen) or "none"
            yield Broken(
                (*path, index), "selects no single port", "exactly one of pciAddress, netdev and deviceId", seen
            )
    yield from _same(path, "name", [rail.name for rail in rails])
    yield from _same(path, "pciAddress", [_address(rail.pci_address) for rail in rails])
    yield from _same(path, "netdev", [rail.netdev for rail in rails])
    yield from _same(path, "deviceId", [rail.device_id.lower() if rail.device_id else None for rail in rails])


def _group_rules(groups: list[GroupShape]) -> Iterator[Broken]:
    seen: dict[str, int] = {}
    for index, group in enumerate(groups):
        path = (*SPEC, "groups", index)
        yield from _node_rules(group.nodes, (*path, "nodes"))
        yield from _rail_rules(group.rails or [], (*path, "rails"))
        for position, name in enumerate((group.nodes.names if group.nodes else None) or []):
            if seen.setdefault(name, index) != index:
                where = (*path, "nodes", "names", position)
                yield Broken(where, "is in two groups", seen=f'"{name}", in groups[{seen[name]}] too')


def _toleration_rules(tolerations: list[TolerationShape]) -> Iterator[Broken]:
    for index, toleration in enumerate(tolerations):
        path = (*SPEC, "tolerations", index)
        if toleration.operator == "Exists" and toleration.value is not None:
            yield Broken((*path, "value"), "a value with operator Exists", "operator Equal, or no value")
        if toleration.key is None and toleration.operator != "Exists":
            yield Broken(path, "no key", "key, or operator: Exists for every taint")


def _package_rules(spec: SpecShape) -> Iterator[Broken]:
    operators = spec.operators
    if operators is None:
        return
    for name, mapping in (("channels", operators.channels), ("catalogs", operators.catalogs)):
        for package in mapping or {}:
            if package not in PACKAGES:
                expected = f"one of {', '.join(PACKAGES)}"
                hint = did_you_mean(package, PACKAGES)
                yield Broken((*SPEC, "operators", name, package), "unknown package", expected, hint=hint, at_key=True)


def _address(text: str | None) -> str | None:
    return parse_pci_address(text) if text is not None else None


def _twice(names: Iterable[str], path: KeyPath, what: str) -> Iterator[Broken]:
    """Find names that a list has more than once."""
    listed = list(names)
    counts = Counter(listed)
    for index, name in enumerate(listed):
        if counts[name] > 1 and listed.index(name) != index:
            yield Broken((*path, index), f"the same {what} twice", "each once", f'"{name}"')


def _same(path: KeyPath, key: str, values: list[str | None]) -> Iterator[Broken]:
    """Find items of a list of mappings that share what must be their own."""
    first: dict[str, int] = {}
    for index, value in enumerate(values):
        if value is not None and first.setdefault(value, index) != index:
            yield Broken((*path, index, key), f"the same {key} as rails[{first[value]}]", "each once", f'"{value}"')


def _only_for(key: str, expected: str, seen: str, hint: str = "") -> Broken:
    return Broken((*SPEC, *key.split(".")), "does not apply", f"only with {expected}", seen, hint, at_key=True)
