"""How a Snapshot reads: what is there, node by node, and what could not be seen."""

from textwrap import wrap
from typing import Any

from railwright.core.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION
from railwright.core.objects import dig, kind_of
from railwright.facts.crosscheck import Difference
from railwright.facts.model import NicPort, NodeFacts, NodeHardware, Snapshot, Unseen
from railwright.facts.pci import distance
from railwright.report.model import Document
from railwright.report.plain import plain, reference
from railwright.report.tables import count, one_line, table

_TOGETHER_FROM = 3


def snapshot_document(snapshot: Snapshot, differences: tuple[Difference, ...] = ()) -> Document:
    """Show facts; raw node records, logs and whole objects stay out, references to them stay in."""
    cluster = snapshot.cluster
    facts = plain(cluster)
    facts["objects"] = [reference(ref) for ref in sorted(cluster.objects)]
    facts["logs"] = [plain(ref) for ref in sorted(cluster.logs)]
    facts["served_kinds"] = len(cluster.served_kinds)
    payload = {
        "taken_at": snapshot.taken_at,
        "facts": facts,
        "operators": _operators(snapshot),
        "nodes": [plain(node) | {"distances": _distances(node.hardware)} for node in snapshot.nodes],
        "differences": plain(differences),
    }
    unseen = bool(cluster.unseen) or any(node.hardware is None or node.hardware.unseen for node in snapshot.nodes)
    return Document(
        "snapshot/v1alpha1",
        cluster.name,
        cluster.simulated,
        payload,
        _text(snapshot) + _difference_text(differences),
        exit_code=6 if unseen else 0,
    )


def hardware_document(hardware: NodeHardware, differences: tuple[Difference, ...] = ()) -> Document:
    """Show this machine."""
    payload = {
        "hardware": plain(hardware),
        "distances": _distances(hardware),
        "differences": plain(differences),
    }
    return Document(
        "hardware/v1alpha1",
        "local",
        simulated=False,
        payload=payload,
        text="\n".join(["this machine", *_hardware_lines(hardware)]) + _difference_text(differences),
        exit_code=6 if hardware.unseen or not hardware.uplinks_known else 0,
    )


def _difference_text(differences: tuple[Difference, ...]) -> str:
    if not differences:
        return ""
    rows = [(item.what, item.ours, item.theirs) for item in differences]
    return "\n\nother tools see it otherwise\n" + table(("what", "railwright", "the other tool"), rows)


def _operators(snapshot: Snapshot) -> list[dict[str, Any]]:
    found = []
    for subscription in snapshot.cluster.of_kind(SUBSCRIPTION):
        namespace = str(dig(subscription, "metadata", "namespace", default=""))
        installed = dig(subscription, "status", "installedCSV", default="")
        csv = next(
            (
                item
                for item in snapshot.cluster.of_kind(CLUSTER_SERVICE_VERSION, namespace)
                if dig(item, "metadata", "name") == installed
            ),
            None,
        )
        found.append(
            {
                "package": dig(subscription, "spec", "name"),
                "namespace": namespace,
                "channel": dig(subscription, "spec", "channel"),
                "csv": installed or None,
                "phase": dig(csv, "status", "phase"),
            }
        )
    return found


def _distances(hardware: NodeHardware | None) -> list[dict[str, str]]:
    if hardware is None:
        return []
    return [
        {"gpu": gpu.pci, "nic": port.pci, "distance": distance(gpu, port).value}
        for gpu in hardware.gpus
        for port in hardware.ports
        if port.parent is None
    ]


def _text(snapshot: Snapshot) -> str:
    cluster = snapshot.cluster
    version = (
        f"OpenShift {cluster.openshift_version} (Kubernetes {cluster.kubernetes_version or 'version not known'})"
        if cluster.openshift_version
        else f"Kubernetes {cluster.kubernetes_version or 'of unknown version'}"
    )
    parts = [f"{cluster.name}: {version}, {cluster.topology.value} control plane, {count(len(snapshot.nodes), 'node')}"]
    operators = [
        (str(item["package"]), str(item["csv"] or "not installed yet"), str(item["phase"] or "-"), item["namespace"])
        for item in _operators(snapshot)
    ]
    parts.append(
        "operators\n"
        + (table(("package", "version", "phase", "namespace"), operators) or f"  {_no_operator(snapshot)}")
    )
    custom = sorted(
        {
            str(kind_of(obj))
            for obj in cluster.objects.values()
            if "nvidia" in str(kind_of(obj)) or "mellanox" in str(kind_of(obj))
        }
    )
    if custom:
        parts.append("custom resources\n" + "\n".join(f"  {kind}" for kind in custom))
    parts.extend(_node_text(node) for node in snapshot.nodes if node.hardware is None or node.hardware.gpus)
    plain_nodes = [node.name for node in snapshot.nodes if node.hardware is not None and not node.hardware.gpus]
    if plain_nodes:
        parts.append(f"without a GPU: {', '.join(plain_nodes)}")
    if cluster.unseen:
        parts.append("could not be seen\n" + "\n".join(_unseen(cluster.unseen)))
    return "\n\n".join(parts)


def _no_operator(snapshot: Snapshot) -> str:
    if any(item.what in {str(SUBSCRIPTION), "served kinds"} for item in snapshot.cluster.unseen):
        return "not known: Subscriptions could not be seen"
    return "none of the four is installed"


def _unseen(items: tuple[Unseen, ...]) -> list[str]:
    """One line a thing; things that could not be seen for one reason, from three on, share their lines."""
    by_reason: dict[str, list[str]] = {}
    for item in items:
        by_reason.setdefault(one_line(item.why), []).append(one_line(item.what))
    lines: list[str] = []
    for why, names in by_reason.items():
        if len(names) < _TOGETHER_FROM:
            lines += [f"  {name}: {why}" for name in names]
        else:
            lines += [f"  {why}:", *_listed(names)]
    return lines


def _listed(names: list[str]) -> list[str]:
    indent = "    "
    return wrap(", ".join(names), 110, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _node_text(node: NodeFacts) -> str:
    kernel = f"kernel {node.kernel_version}" if node.kernel_version else ""
    known = one_line(", ".join(filter(None, (node.os_image, kernel, node.architecture))))
    head = (
        f"node {node.name}{f': {known}' if known else ''}{f'; read through {node.read_via}' if node.read_via else ''}"
    )
    hardware = node.hardware
    if hardware is None:
        return f"{head}\n  its inside could not be read: {one_line(node.hardware_problem)}"
    return "\n".join([head, *_hardware_lines(hardware)])


def _link(port: NicPort) -> str:
    """Say how a port is connected, and what it could be where that is more."""
    if port.link_speed_gts is None or port.link_width_lanes is None:
        return "-"
    now = f"{port.link_speed_gts:g} GT/s x{port.link_width_lanes}"
    best = f"{port.max_link_speed_gts or 0:g} GT/s x{port.max_link_width_lanes or 0}"
    is_less = (port.max_link_speed_gts or 0, port.max_link_width_lanes or 0) > (
        port.link_speed_gts,
        port.link_width_lanes,
    )
    return f"{now} of {best}" if is_less else now


def _settings(hardware: NodeHardware) -> list[str]:
    """Say what of the node's setup decides how memory moves; what is not known is left out here, and listed below."""
    found: list[str] = []
    if hardware.iommu.present is not None:
        found.append(f"IOMMU {hardware.iommu.default_type or 'on' if hardware.iommu.present else 'off'}")
    services = [bridge.config.acs for bridge in hardware.bridges if bridge.config and bridge.config.acs]
    if services:
        redirecting = sum(1 for acs in services if acs.request_redirect or acs.completion_redirect)
        found.append(f"ACS redirects on {redirecting} of {count(len(services), 'bridge')}")
    if hardware.memlock_limit:
        size = hardware.memlock_limit
        found.append(f"memlock of containers {size if size == 'unlimited' else f'{size} KiB'}")
    if hardware.rdma_netns_mode:
        found.append(f"RDMA namespaces {hardware.rdma_netns_mode}")
    if hardware.secure_boot is not None:
        found.append(f"Secure Boot {'on' if hardware.secure_boot else 'off'}")
    return found


def _hardware_lines(hardware: NodeHardware) -> list[str]:
    rows = []
    for port in hardware.ports:
        if port.parent is not None:
            continue
        near = min(
            ((distance(gpu, port), gpu) for gpu in hardware.gpus),
            key=lambda pair: (pair[0].rank, pair[1].pci),
            default=None,
        )
        rows.append(
            (
                port.pci,
                port.netdev or "-",
                port.rdma or "-",
                port.link_layer.value,
                port.state or "-",
                f"{port.rate_gbps:g}" if port.rate_gbps else "-",
                _link(port),
                f"{near[1].pci} {near[0].value}" if near else "-",
            )
        )
    lines = [f"  {count(len(hardware.gpus), 'GPU')}, driver: {hardware.nvidia_driver or 'none loaded'}"]
    if settings := _settings(hardware):
        lines.append(f"  {'; '.join(settings)}")
    lines.append(table(("NIC", "netdev", "RDMA", "link", "state", "Gb/s", "PCIe", "nearest GPU"), rows) or "  no NIC")
    lines.extend(f"  Data Direct function {item.pci} beside its NIC" for item in hardware.data_direct)
    if hardware.uplinks_known:
        lines.extend(f"  {item.what}: {' > '.join(item.path)}" for item in hardware.carried)
    else:
        lines.append(f"  what carries the node's own traffic is not known: {hardware.uplinks_problem}")
    lines.extend(f"  not seen: {item.what}: {item.why}" for item in hardware.unseen)
    return lines
