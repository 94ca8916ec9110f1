"""Results of the virtual cluster say so wherever they are shown, and those of other clusters do not."""

import asyncio
from dataclasses import replace

import pytest
from support.verifying import verified

from railwright import api
from railwright.core.marks import VIRTUAL, VIRTUAL_CLUSTER, VIRTUAL_NOT_REAL
from railwright.report.formats import to_text
from railwright.report.model import Document
from railwright.report.verification.html import to_html
from railwright.report.verification.junit import to_junit
from railwright.verify.layout import layout_of_plan
from railwright.verify.model import VerifyRecord


@pytest.fixture(scope="module")
def record() -> VerifyRecord:
    made = asyncio.run(verified(2))
    return replace(made, summary=replace(made.summary, simulated=False))


def on(cluster: str, record: VerifyRecord) -> VerifyRecord:
    return replace(record, summary=replace(record.summary, cluster=cluster))


@pytest.mark.parametrize(("cluster", "says"), [(VIRTUAL_CLUSTER, True), ("production", False)])
def test_text_page_and_junit_say_it_of_a_virtual_cluster_only(cluster: str, says: bool, record: VerifyRecord) -> None:
    text = to_text(Document("plan/v1alpha1", cluster, simulated=False, payload={}, text="result"))
    assert text.startswith(f"[{VIRTUAL}]\n") == says
    assert ("VIRTUAL CLUSTER" in to_html(on(cluster, record))) == says
    assert ("[virtual cluster]" in to_junit(on(cluster, record))) == says


def test_what_people_pipe_on_says_it_in_a_comment() -> None:
    made = Document("workload/v1alpha1", VIRTUAL_CLUSTER, simulated=False, payload={}, text="kind: Pod", is_yaml=True)
    assert to_text(made).splitlines() == [f"# [{VIRTUAL}]", "kind: Pod"]


async def test_a_verify_on_it_asks_no_gpu_for_memory_and_names_what_is_not_real() -> None:
    intents = api.parse_intents(
        "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: a}\n"
        "spec: {method: shared, fabric: roce, workloadNamespaces: [b]}\n"
    )
    async with await api.open_cluster("sim:h200-roce") as world:
        prepared = await api.plan(world, intents)
    fabric, snapshot = prepared.plan.fabrics[0], prepared.snapshot
    nodes = tuple(sorted({port.node for rail in fabric.rails for port in rail.ports}))
    virtual = replace(snapshot, cluster=replace(snapshot.cluster, name=VIRTUAL_CLUSTER))
    there, elsewhere = (layout_of_plan(fabric, each, nodes=nodes, bed="") for each in (virtual, snapshot))
    assert (there.gpus_per_node, there.has_floors, there.not_real) == (0, False, VIRTUAL_NOT_REAL)
    assert (elsewhere.gpus_per_node, elsewhere.has_floors, elsewhere.not_real) == (8, True, ())
    assert there.patience_s > 10 * elsewhere.patience_s
    assert (there.timeout_exponent, elsewhere.timeout_exponent) == (20, None)
