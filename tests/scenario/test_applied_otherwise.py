"""A rails.yaml that is not what was applied: status and apply say so, and nothing of the old passes for the new."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.scenarios import SIX, Heard, Yes, applied, intents_for, open_for, rails

from railwright import api
from railwright.cli.app import main
from railwright.core.errors import Refused
from railwright.core.ids import FabricName
from railwright.ports.progress import Note

NAME = FabricName("east-west")
WAS = ("sriov", "infiniband")
WAS_TEXT = "east-west was applied as sriov/infiniband"


def wanted(method: str, fabric: str, more: str = "") -> tuple[api.Intent, ...]:
    return api.parse_intents(rails(method, fabric, more=more), "rails.yaml")


@pytest.fixture
async def world():
    async with await open_for("infiniband") as opened:
        assert (await applied(opened, intents_for(*WAS))).exit_code == 0
        yield opened


@pytest.mark.parametrize(("method", "fabric"), [each for each in SIX if each != WAS])
async def test_status_passes_nothing_that_was_measured_for_another_method_or_link_type(world, method, fabric):
    record = await api.status(world, wanted(method, fabric))
    (line,) = record.changed
    assert line.startswith(f"{WAS_TEXT}; ./rails.yaml says {method}/{fabric}")
    stages = {stage.name: stage for stage in record.stages}
    assert stages["verified"].verdict is api.Verdict.UNKNOWN
    assert WAS_TEXT in stages["verified"].reason
    if method != "sriov":
        assert stages["vfs-ready"].verdict is api.Verdict.UNKNOWN
        assert WAS_TEXT in stages["vfs-ready"].reason
    assert record.exit_code in {4, 6}
    head, _, said, *_ = api.status_document(record).text.splitlines()
    assert "./rails.yaml" in head
    assert said == line


async def test_status_of_what_was_applied_has_nothing_to_say(world):
    for intents in (None, wanted(*WAS)):
        record = await api.status(world, intents)
        assert (record.changed, record.exit_code) == ((), 0)
    assert "rails.yaml" in api.status_document(record).text.splitlines()[0]


async def test_status_names_a_file_that_changed_within_its_method(world):
    record = await api.status(world, wanted(*WAS, more="  network: {mtu: 2044}\n"))
    (line,) = record.changed
    assert line.startswith("east-west: ./rails.yaml is not what was applied")
    assert next(stage for stage in record.stages if stage.name == "verified").verdict is api.Verdict.PASS


async def test_what_was_measured_is_unknown_while_the_plan_is_refused(world):
    nowhere = wanted(*WAS, more="  nodes: {names: [worker-9]}\n")
    record = await api.status(world, nowhere)
    assert record.refusals
    verified = next(stage for stage in record.stages if stage.name == "verified")
    assert verified.verdict is api.Verdict.UNKNOWN
    assert "measured last: PASS" in verified.reason


async def test_apply_says_what_it_replaces(world):
    heard = Heard()
    record = await api.apply(world, wanted("shared", "infiniband"), approval=Yes(), verify=False, progress=heard)
    line = f"{WAS_TEXT}; ./rails.yaml says shared/infiniband"
    assert Note(line) in heard.events
    assert line in record.notes
    assert "./rails.yaml" in api.apply_document(record).text.splitlines()[0]


async def test_an_apply_that_is_refused_begins_with_what_was_applied(world):
    with pytest.raises(Refused) as refused:
        await api.apply(world, wanted("host-device", "roce"), approval=Yes())
    assert refused.value.message.splitlines()[0] == f"{WAS_TEXT}; ./rails.yaml says host-device/roce"


async def test_a_flag_that_says_otherwise_is_named(world):
    (intent,) = wanted(*WAS)
    (line,) = (await api.status(world, (api.with_flags(intent, method=api.Method.SHARED),))).changed
    assert "; command line says shared/infiniband" in line


async def test_a_record_that_this_version_cannot_read_says_nothing_of_what_was_applied(world):
    from railwright.pipeline.as_applied import applied_otherwise

    ledger = (await api.plan(world, wanted("shared", "roce"))).ledger
    assert applied_otherwise(wanted("shared", "roce"), ledger)
    note = replace(ledger.fabrics[NAME], document="kind: Pod")
    assert applied_otherwise(wanted("shared", "roce"), replace(ledger, fabrics={NAME: note})) == ()


@pytest.mark.parametrize("command", ["workload", "images"])
def test_what_the_plan_refuses_is_not_printed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rails.yaml").write_text(rails("host-device", "roce"))
    assert main([command, "--cluster", "sim:h200-ib", "--quiet"]) == 7
    told = capsys.readouterr()
    assert told.out == ""
    for part in ("no-node-admitted", "no-rail: worker-0 has no ConnectX port", "way out", "next  railwright plan"):
        assert part in told.err
