"""Every form of the ledger that was ever written is read; a later one is refused in words that say so."""

import json
from pathlib import Path

import pytest

from railwright.apply.ledger_text import FORMAT, data_to_note, entry_to_text, note_to_data, text_to_entry
from railwright.changes.model import MISSING
from railwright.core.errors import ClusterError
from railwright.intent.parse import parse_intents

CASES = sorted((Path(__file__).parents[2] / "cases" / "ledger").glob("form-*.json"))


def case(path):
    return json.loads(path.read_text())


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_an_earlier_form_is_read_whole_and_written_as_the_newest(path):
    entry, note = text_to_entry(case(path)["entry"], "here"), data_to_note(case(path)["note"], "here")
    assert (entry.ref.name, entry.order, entry.fields[0].previous, entry.fields[0].ours) == (
        "worker-1",
        17,
        MISSING,
        "admitted",
    )
    assert [(item.stage, item.verdict.value) for item in note.stages] == [("nic-driver-ready", "PASS")]
    assert [intent.name for intent in parse_intents(note.document, "ledger")] == ["east-west"]
    assert json.loads(entry_to_text(entry))["format"] == FORMAT
    assert text_to_entry(entry_to_text(entry), "here") == entry
    assert data_to_note(note_to_data(note), "here") == note


def test_there_is_a_sample_of_every_form():
    assert [path.stem for path in CASES] == [f"form-{number}" for number in range(1, FORMAT + 1)]


def test_a_form_of_a_newer_railwright_is_refused_and_named():
    sample = case(CASES[-1])
    entry = json.dumps({**json.loads(sample["entry"]), "format": FORMAT + 1, "fields": "of another kind by then"})
    for read in (
        lambda: text_to_entry(entry, "shard key k"),
        lambda: data_to_note({**sample["note"], "format": str(FORMAT + 1)}, "fabric map"),
    ):
        with pytest.raises(
            ClusterError, match=f"written by a newer railwright: .* has ledger format {FORMAT + 1}"
        ) as seen:
            read()
        assert "changes nothing" in str(seen.value.hint)


def test_a_form_that_is_no_number_is_damage():
    sample = json.loads(case(CASES[-1])["entry"])
    with pytest.raises(ClusterError, match="cannot be read"):
        text_to_entry(json.dumps({**sample, "format": "latest"}), "shard key k")
