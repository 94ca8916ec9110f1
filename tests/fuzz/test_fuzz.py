"""Every reader of foreign text against inputs that once ended badly, and against some new ones: the same in every run."""

import pytest
from fuzz import loop
from fuzz.loop import defect_of, fuzz, kept
from fuzz.model import KEPT, Form, Target
from fuzz.targets.node_records import SECTIONS_BY_PARSER
from fuzz.targets.table import TARGETS

from railwright.facts.node_record import DEPTH_SECTIONS, OPTIONAL_SECTIONS, SECTIONS

SEED = 5
MOST = 30
"""Texts of a corpus that are read unchanged in every run; make fuzz begins with any of them."""
CORPUS = [(name, file) for name, target in TARGETS.items() for file in kept(target)]


@pytest.mark.parametrize("name", TARGETS)
def test_what_a_target_reads_today_is_read(name):
    target = TARGETS[name]
    corpus = target.corpus()
    assert corpus
    some = corpus[:: 1 + len(corpus) // MOST]
    assert [defect.told for data in some if (defect := defect_of(target, data))] == []


@pytest.mark.parametrize(("name", "file"), CORPUS)
def test_what_once_ended_badly_is_read_or_refused(name, file):
    defect = defect_of(TARGETS[name], kept(TARGETS[name])[file])
    assert defect is None, defect.told


@pytest.mark.parametrize("name", TARGETS)
def test_no_mutation_ends_but_as_an_error_of_ours(name):
    target = TARGETS[name]
    found = fuzz(target, SEED, target.short).defects
    assert [told for _, told in found.values()] == [], f"make fuzz keeps them: {list(found)}"


def test_every_kept_input_has_a_target_that_replays_it():
    files = {str(path.relative_to(KEPT)) for path in KEPT.rglob("*") if path.is_file()}
    assert files == {f"{name}/{file}" for name, file in CORPUS}


def test_every_section_of_a_node_record_has_a_parser_that_is_fuzzed():
    covered = {section for _, sections in SECTIONS_BY_PARSER.values() for section in sections or DEPTH_SECTIONS}
    assert {*SECTIONS, *DEPTH_SECTIONS, *OPTIONAL_SECTIONS} - {"problems"} <= covered


def test_an_input_that_swallows_its_end_is_ended_again(monkeypatch):
    monkeypatch.setattr(loop, "CPU_LIMIT_S", 0.05)
    swallowed = []

    def read(_: bytes) -> None:
        try:
            while True:
                pass
        except loop.Hung:
            swallowed.append(True)
        while True:
            pass

    defect = defect_of(Target("never", Form.TEXT, lambda: (b"",), read), b"")
    assert (defect and defect.key, swallowed) == ("hang", [True])
