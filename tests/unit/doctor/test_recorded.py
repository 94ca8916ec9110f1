"""Objects as the real operators left them when all was well: no rule finds an error in them, and no plan is refused by them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.doctoring import CATALOG, snapshot_of

from railwright import api
from railwright.core.objects import ref_of
from railwright.doctor.diagnose import diagnose
from railwright.doctor.everything import Everything
from railwright.doctor.model import Severity
from railwright.doctor.promises import promises
from railwright.doctor.registry import RULES
from railwright.doctor.seen import Seen
from railwright.facts.model import NodeFacts, Snapshot
from railwright.plan.plan import plan

CASES = sorted((Path(__file__).parents[2] / "cases" / "doctor" / "recorded").glob("*.json"))
_NFD = "feature.node.kubernetes.io/"


def labelled(node: NodeFacts, system: str) -> NodeFacts:
    """Label a node as NFD and both operators did; its inside was played, and is left out."""
    os_id, version = ("ubuntu", "24.04") if system == "ubuntu" else ("rhel", "9.6")
    labels = {
        f"{_NFD}pci-15b3.present": "true",
        f"{_NFD}pci-10de.present": "true",
        f"{_NFD}system-os_release.ID": os_id,
        f"{_NFD}system-os_release.VERSION_ID": version,
        f"{_NFD}system-os_release.OSTREE_VERSION": "9.6.20251106-0",
        f"{_NFD}kernel-version.full": node.kernel_version,
        "network.nvidia.com/operator.mofed.wait": "false",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.deploy.driver": "true",
        "nvidia.com/gpu.deploy.device-plugin": "true",
    }
    return replace(node, labels={**node.labels, **labels}, hardware=None, hardware_problem="played")


def everything(snapshot: Snapshot) -> Seen:
    """Look at whatever some rule looks at."""
    kinds = frozenset(kind for rule in RULES for need in (*rule.info.needs, *rule.info.uses) for kind in need.kinds)
    return Seen(Everything(snapshot, CATALOG, None), kinds, may_enter=True)


def recorded(path: Path) -> Snapshot:
    """Put a recording's objects into a cluster whose nodes offer what its policies promise."""
    world, system = ("vanilla", "ubuntu") if "k8s" in path.name else ("h200-roce", "rhel")
    bare = snapshot_of(world)
    objects = {ref_of(item): item for item in json.loads(path.read_text())["objects"]}
    nodes = tuple(labelled(node, system) if node.name.startswith("worker") else node for node in bare.nodes)
    cluster = replace(bare.cluster, objects={**bare.cluster.objects, **objects})
    snapshot = replace(bare, cluster=cluster, nodes=nodes)
    offered = {item.resource: 8 for item in promises(everything(snapshot))}
    kept = tuple(
        replace(node, allocatable={**node.allocatable, **offered}) if node.name.startswith("worker") else node
        for node in nodes
    )
    return replace(snapshot, nodes=kept)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_no_rule_finds_an_error_in_what_worked(path: Path) -> None:
    found = diagnose(recorded(path), CATALOG, None).findings
    assert [f"{item.rule}: {item.cause}" for item in found if item.severity is Severity.ERROR] == []


def wanted_beside(path: Path) -> tuple[str, str]:
    """Give a world as the recording was made for, and a wanted state of the recording's own method and fabric."""
    world = "vanilla" if "k8s" in path.name else "h200-ib" if "-ib" in path.name else "h200-roce"
    method = "host-device" if "hostdev" in path.name else "shared"
    network = "fabric: infiniband" if world == "h200-ib" else "fabric: roce, network: {mtu: 1500}"
    head = "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: east-west}\n"
    return world, f"{head}spec: {{method: {method}, {network}, workloadNamespaces: [training]}}\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_no_plan_is_refused_by_what_worked(path: Path) -> None:
    world, wanted = wanted_beside(path)
    bare = snapshot_of(world)
    objects = {ref_of(item): item for item in json.loads(path.read_text())["objects"]}
    system = "ubuntu" if world == "vanilla" else "rhel"
    nodes = tuple(
        replace(labelled(node, system), hardware=node.hardware, hardware_problem="")
        if node.name.startswith("worker")
        else node
        for node in bare.nodes
    )
    cluster = replace(bare.cluster, objects={**bare.cluster.objects, **objects})
    decided = plan(api.parse_intents(wanted), replace(bare, cluster=cluster, nodes=nodes), CATALOG)
    reasons = [reason for item in decided.refusals for reason in (item.code, item.message)]
    if "hostdev" in path.name:  # another resource gives out the very ports: two plugins would hand them out twice
        assert [item.code for item in decided.refusals] == ["no-node-admitted"]
        assert "port-used-by-others" in reasons[1]
    else:
        assert (reasons, len(decided.admitted)) == ([], 2)


def test_the_recordings_are_there() -> None:
    assert len(CASES) >= 7
