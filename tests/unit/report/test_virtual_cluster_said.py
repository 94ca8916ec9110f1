"""Results of the virtual cluster say so wherever they are shown, and those of other clusters do not."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.verifying import layout, verified

from railwright import api
from railwright.core.marks import VIRTUAL, VIRTUAL_CLUSTER, VIRTUAL_NOT_REAL
from railwright.core.node_record import HEADER
from railwright.lab.cluster.openshift import OS_RELEASE
from railwright.pipeline.diagnose import diagnosis_document
from railwright.pipeline.documents import status_document
from railwright.ports.world import World
from railwright.report.collect import collect_document
from railwright.report.formats import to_json, to_text
from railwright.report.model import Document
from railwright.report.verification.html import to_html
from railwright.report.verification.junit import to_junit
from railwright.verify.layout import EMULATED_EFFORT, layout_of_plan
from railwright.verify.model import VerifyRecord
from railwright.verify.planned import FULL, QUICK, Options, plan_run
from railwright.verify.task import Effort


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


class Named:
    """A cluster that is called otherwise, and real."""

    simulated = False

    def __init__(self, inner, name):
        self._inner, self.name = inner, name

    def __getattr__(self, name):
        return getattr(self._inner, name)


class Playing:
    """Nodes with another os-release."""

    def __init__(self, inner, os_release):
        self._inner, self._os_release = inner, os_release

    async def read(self, node, script, *, timeout_s):
        answer = await self._inner.read(node, script, timeout_s=timeout_s)
        head, _, rest = answer.text.partition(f"{HEADER}os-release\n")
        rest = rest[rest.index(HEADER) :]
        return replace(answer, text=f"{head}{HEADER}os-release\n{self._os_release}{rest}")


@pytest.mark.parametrize("redact", [True, False], ids=["redacted", "as-it-is"])
@pytest.mark.parametrize(
    ("name", "os_release", "says"),
    [
        (VIRTUAL_CLUSTER, 'ID="rhel"\n', True),
        ("mine", OS_RELEASE, True),
        ("mine", 'ID="rhel"\n', False),
    ],
    ids=["by its name", "by its nodes, under another name", "another cluster"],
)
async def test_what_is_read_from_an_archive_of_it_says_so(
    name: str, os_release: str, says: bool, redact: bool, tmp_path: Path
) -> None:
    file = tmp_path / "a.tgz"
    async with await api.open_cluster("sim:vanilla") as world:
        played = World(Named(world.cluster, name), Playing(world.node, os_release), world.clock)
        manifest = await api.collect(played, file, redact=redact)
    assert collect_document(manifest, str(file), 1).virtual == (name == VIRTUAL_CLUSTER)
    async with await api.open_cluster(f"bundle:{file}") as archive:
        documents = (status_document(await api.status(archive)), diagnosis_document(await api.diagnose(archive)))
    for document in documents:
        assert to_text(document).startswith(f"[{VIRTUAL}]\n") == says
        data = json.loads(to_json(document))
        assert (data["virtual"], data["simulated"]) == (says, False)
        assert data["cluster"].startswith(f"bundle:{file}")


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


@pytest.mark.parametrize("chosen", [None, FULL])
async def test_emulated_processors_are_given_little_unless_somebody_chose_how_much(chosen: Effort | None) -> None:
    usual = layout(2)
    wanted = Options(quick=True, effort=chosen)
    emulated = plan_run(replace(usual, is_emulated=True), wanted)
    there, elsewhere = emulated.options, plan_run(usual, wanted).options
    assert (emulated.schedule.expected_s > 300) == (chosen is None)
    assert there.measured_with == (chosen or EMULATED_EFFORT)
    assert (elsewhere.measured_with, elsewhere.peer_share) == (chosen or QUICK, 0.5)
    assert there.peer_share == (0.5 if chosen else 0.2)
