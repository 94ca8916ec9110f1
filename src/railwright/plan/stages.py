"""The stage table: what each stage's gate is, what it may do to nodes, how long it takes, how it is undone."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from railwright.catalog.model import Catalog
from railwright.core.ids import StageName
from railwright.core.risk import Risk
from railwright.plan import model as m
from railwright.plan.expectations import Expected


@dataclass(frozen=True)
class Row:
    """One stage. `applies` gives the reason to skip it, "" when it applies; `risk` is what it may do then."""

    name: StageName
    gate: str
    undo: str
    per_batch: bool
    applies: Callable[[Expected], str]
    risk: Callable[[Expected], Risk]
    expectations: Callable[[Expected], Iterable[m.Expectation]]


def _always(_: Expected) -> str:
    return ""


def _no_risk(_: Expected) -> Risk:
    return Risk.NONE


def _nothing_prepared(expected: Expected) -> str:
    looked_at = any(fabric.hardware for fabric in expected.fabrics) or not expected.fabrics
    return (
        "the nodes need nothing" if looked_at else "what nodes need is planned from what they have, and none is known"
    )


TABLE = (
    Row(
        m.NODES_PREPARED,
        "every pool that got a MachineConfig is Updated, its nodes rebooted at most once; containers may lock memory",
        "the MachineConfigs are deleted; the pool rolls out and reboots once more",
        per_batch=False,
        applies=lambda e: "" if e.prepares_nodes else _nothing_prepared(e),
        risk=lambda e: Risk.REBOOT if e.reboots else Risk.NONE,
        expectations=lambda e: e.pools_updated(),
    ),
    Row(
        m.OPERATORS_INSTALLED,
        "each operator's planned CSV is Succeeded and its controller available",
        "Subscriptions and CSVs that we made are deleted; definitions stay",
        per_batch=False,
        applies=lambda e: e.operators_there,
        risk=_no_risk,
        expectations=lambda _: (),
    ),
    Row(
        m.HARDWARE_LABELLED,
        "NFD has labelled ConnectX, GPU and node system on every admitted node",
        "the NodeFeatureDiscovery that we made is deleted, or our entries taken out",
        per_batch=False,
        applies=_always,
        risk=_no_risk,
        expectations=lambda e: e.labelled(),
    ),
    Row(
        m.NIC_DRIVER_READY,
        "the wanted mlx5 driver is loaded, and every rail has its link again",
        "our sections of the NicClusterPolicy are taken out, then the admission labels",
        per_batch=True,
        applies=_always,
        risk=lambda e: Risk.DRIVER_RELOAD if e.loads_doca else Risk.NONE,
        expectations=lambda e: e.nic_drivers(),
    ),
    Row(
        m.VFS_READY,
        "each node's state is Succeeded with the planned number of VFs on every rail; none of them waits for a LID",
        "the policies are deleted and the VFs go; firmware settings stay",
        per_batch=True,
        applies=lambda e: "" if e.makes_vfs else "only method sriov makes virtual functions",
        risk=lambda e: Risk.REBOOT if e.makes_vfs else Risk.NONE,
        expectations=lambda e: e.vfs(),
    ),
    Row(
        m.GPU_DRIVER_READY,
        "the GPU driver of the wanted kind is loaded, and the ClusterPolicy reconciled with drivers",
        "the ClusterPolicy that we made is deleted, or its fields put back",
        per_batch=True,
        applies=_always,
        risk=lambda _: Risk.DRIVER_RELOAD,
        expectations=lambda e: e.gpu_drivers(),
    ),
    Row(
        m.DEVICES_ALLOCATABLE,
        "every admitted node offers exactly the planned number of each rail's resource, and GPUs",
        "goes with the drivers and policies",
        per_batch=True,
        applies=_always,
        risk=_no_risk,
        expectations=lambda e: e.allocatable(),
    ),
    Row(
        m.NETWORKS_ATTACHED,
        "every rail has its NAD in every workload namespace, with the right type and resource",
        "networks, then address pools, then access are deleted",
        per_batch=True,
        applies=lambda e: "" if e.has_networks else "no workload namespace is named in spec.workloadNamespaces",
        risk=_no_risk,
        expectations=lambda e: e.nads(),
    ),
    Row(
        m.VERIFIED,
        "bytes really move between GPU memories on every rail",
        "nothing to undo",
        per_batch=False,
        applies=lambda e: "" if e.has_networks else "no workload namespace is named in spec.workloadNamespaces",
        risk=_no_risk,
        expectations=lambda _: (),
    ),
)


def stages(expected: Expected, catalog: Catalog) -> tuple[m.StagePlan, ...]:
    """Fill in the table for one plan."""
    found = []
    for row in TABLE:
        timing = catalog.stage(row.name)
        skip = row.applies(expected)
        turns = (expected.batch_nodes if row.per_batch else expected.pool_nodes) if timing.one_node_at_a_time else 1
        found.append(
            m.StagePlan(
                name=row.name,
                gate=row.gate,
                risk=Risk.NONE if skip else row.risk(expected),
                expected_s=timing.expected_s * turns,
                limit_s=timing.limit_s * turns,
                hold_s=timing.hold_s,
                undo=row.undo,
                per_batch=row.per_batch,
                applies=not skip,
                skip_reason=skip,
                expectations=() if skip else tuple(row.expectations(expected)),
            )
        )
    return tuple(found)
