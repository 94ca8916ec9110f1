"""A run's report: what it says, that hostile names stay names, and that a kept run is read back whole."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from support.verifying import verified

from railwright.core.errors import UsageError
from railwright.core.ids import NodeName
from railwright.core.verdicts import Verdict
from railwright.report.schemas import payload_schema
from railwright.report.verification.compare import diff_document
from railwright.report.verification.document import verify_document
from railwright.report.verification.html import to_html
from railwright.report.verification.html.element import data_block, el, write
from railwright.report.verification.html.style import STYLE
from railwright.report.verification.junit import to_junit
from railwright.report.verification.keep import RAW, RECORD, read_record, record_files
from railwright.verify.baseline import compared
from railwright.verify.model import Culprit, VerifyRecord
from railwright.verify.planned import Options

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<svg onload=alert(2)>"


@pytest.fixture(scope="module")
def healthy() -> VerifyRecord:
    import asyncio

    return asyncio.run(verified(2))


@pytest.fixture(scope="module")
def broken() -> VerifyRecord:
    import asyncio

    return asyncio.run(verified(4, "rail-drops"))


def renamed(record: VerifyRecord, name: str) -> VerifyRecord:
    """Give worker-1 another name, everywhere."""

    def node(one: NodeName) -> NodeName:
        return NodeName(name) if one == "worker-1" else one

    cells = tuple(
        replace(cell, source=node(cell.source), target=node(cell.target), reason=cell.reason + name)
        for cell in record.cells
    )
    witnesses = tuple(
        replace(
            item,
            way=replace(item.way, source=node(item.way.source), target=node(item.way.target)),
            text=item.text + name,
            lines=(*item.lines, name),
        )
        for item in record.witnesses
    )
    seats = tuple(replace(seat, node=node(seat.node), netdev=name, obstacles=(name,)) for seat in record.seats)
    culprits = tuple(replace(item, where=name, text=name) for item in record.culprits)
    summary = replace(record.summary, cluster=name, fabric=name, claim=name, notes=(name,), not_real=(name,))
    return replace(record, cells=cells, witnesses=witnesses, seats=seats, culprits=culprits, summary=summary)


class Seen(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.values: list[str] = []
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.values += [value or "" for _, value in attrs]
        self.scripts += tag == "script"


# --- text and JSON ---------------------------------------------------------------------------------------------------


def test_the_verdict_and_the_claim_come_first(broken) -> None:
    text = verify_document(broken).text
    assert text.startswith("FAIL  Simulated: no byte was moved")
    assert text.index("what fails, and where") < text.index("Gb/s on average") < text.index("coverage")


def test_the_read_that_was_refused_stands_in_text_data_and_page(healthy) -> None:
    document = verify_document(healthy)
    assert re.search(r"^ *3 +remote-rights-withheld +host +agrees 4$", document.text, re.MULTILINE)
    heard = [item for item in document.payload["witnesses"] if item["witness"] == "remote-rights-withheld"]
    assert {item["says"] for item in heard} == {"agrees"}
    assert "remote access error" in heard[0]["lines"][0]
    assert "the READ without remote rights" in to_html(healthy)


@pytest.mark.parametrize("trouble", ["", "rail-drops", "gpu-staged", "hung-peer"])
async def test_the_payload_keeps_its_published_shape(trouble) -> None:
    record = await verified(2, *([trouble] if trouble else []), options=Options(quick=True))
    jsonschema.validate(json.loads(json.dumps(verify_document(record).as_data())), payload_schema("verify"))


def test_paper_is_white_whatever_the_reader_has_chosen() -> None:
    """A page that was switched to dark printed dark: that choice counts for more than a plain rule for paper."""
    light = re.findall(r"--\w+(?=:)", STYLE.partition("@media")[0])
    paper = STYLE.partition("@media print")[2]
    assert ":root[data-theme=dark]" in paper
    assert set(re.findall(r"--\w+(?=:)", paper)) == set(light)


def test_long_lists_are_laid_out_when_they_are_seen_and_on_paper_at_once(healthy) -> None:
    """Of 11,200 cells that was two thirds of the work of opening the page."""
    (rule,) = re.findall(r"@media screen\{([^{]*)\{content-visibility:auto", STYLE)
    page = to_html(healthy)
    assert all(f'<section id="{name}"' in page for name in re.findall(r"#([\w-]+)", rule))
    assert "#matrix" not in rule


def test_junit_counts_unknown_as_an_error_and_names_every_cell(broken) -> None:
    unknown = replace(broken.cells[0], verdict=Verdict.UNKNOWN, reason="\x1b[31mcut\x00short")
    root = ET.fromstring(to_junit(replace(broken, cells=(unknown, *broken.cells[1:]))))
    assert int(root.get("tests", "0")) == len(broken.cells)
    assert root.get("errors") == "1"
    assert {suite.get("name", "").endswith(" [simulated]") for suite in root} == {broken.summary.simulated} == {True}
    assert len(root.findall(".//failure")) == sum(cell.verdict is Verdict.FAIL for cell in broken.cells[1:])
    assert (
        len({case.get("name", "") + case.get("classname", "") for case in root.iter("testcase")})
        > len(broken.cells) / 2
    )


def test_junit_fails_for_a_place_of_which_every_cell_was_left_out(healthy) -> None:
    left_out = replace(healthy.cells[0], verdict=Verdict.SKIP, reason="not in the partition")
    place = Culprit("port", "rail0 of worker-1", "rail0 of worker-1 is not in partition 0x0001", (left_out.id,))
    root = ET.fromstring(to_junit(replace(healthy, cells=(left_out, *healthy.cells[1:]), culprits=(place,))))
    (case,) = root.findall("./testsuite/testcase[@classname='railwright.verify.places']")
    assert case.get("name") == place.where
    assert [child.get("message") for child in case.findall("failure")] == [place.text]
    assert (root.get("failures"), root.get("tests")) == ("1", str(len(healthy.cells) + 1))


# --- kept and read back ----------------------------------------------------------------------------------------------


def test_a_kept_run_is_read_back_as_it_was(broken) -> None:
    files = {file.path: file.text for file in record_files(broken)}
    read = read_record(files[RECORD], files[RAW])
    assert replace(read, raw={}) == replace(broken, raw={})
    assert set(read.raw) == set(broken.raw)
    assert {"report.html", "report.txt", "junit.xml"} < set(files)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"schema": "railwright.dev/plan/v1alpha1"}', "nonsense", "[" * 100_000], ids=range(6)
)
def test_what_is_no_record_is_said_so(text) -> None:
    with pytest.raises(UsageError, match="not a record of verify"):
        read_record(text)


def test_secrets_in_tools_words_are_not_kept(healthy) -> None:
    reply = json.loads(next(iter(healthy.raw.values()))) | {
        "raw": "token: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"
    }
    record = replace(healthy, raw={"c00001.run.source": json.dumps(reply)})
    files = {file.path: file.text for file in record_files(record)}
    assert "eyJhbGciOiJSUzI1NiJ9.eyJzdWIi" not in files[RAW]


# --- two runs --------------------------------------------------------------------------------------------------------


def test_what_got_worse_between_two_runs_is_named_and_fails(healthy) -> None:
    worse = replace(healthy.cells[0], verdict=Verdict.FAIL, reason="no more")
    slower = replace(healthy.cells[1], average_gbps=(healthy.cells[1].average_gbps or 0) * 0.8)
    after = replace(healthy, cells=(worse, slower, *healthy.cells[3:]))
    document = diff_document(healthy, after)
    assert document.exit_code == 5
    jsonschema.validate(json.loads(json.dumps(document.as_data())), payload_schema("verify-diff"))
    assert [item["after"] for item in document.payload["worse"]] == ["FAIL"]
    assert [item["cell"] for item in document.payload["slower"]] == [slower.id]
    assert diff_document(healthy, healthy).exit_code == 0


def test_a_baseline_names_what_is_slower_and_what_is_no_longer_covered(healthy) -> None:
    slower = replace(healthy.cells[0], average_gbps=1.0)
    now = compared(replace(healthy, cells=(slower, *healthy.cells[2:])), healthy)
    assert [item.cell for item in now.regressions] == [slower.id]
    assert len(now.coverage.shrunk) == 1
    assert now.cells[0].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"p50": 2.0, "p99": 30.0}, ""),
        ({"p50": 2.5, "p99": 3.0}, ""),
        ({"p50": 3.0, "p99": 3.0}, "3.00 us (p50), was 2.00"),
        ({}, ""),
    ],
    ids=["the-tail-alone", "within", "slower", "not-measured"],
)
def test_a_baseline_names_latency_that_grew(healthy, now, said) -> None:
    def with_latency(latency_us):
        return replace(healthy, cells=(replace(healthy.cells[0], average_gbps=None, latency_us=latency_us),))

    before, after = with_latency({"p50": 2.0, "p99": 3.0}), with_latency(now)
    assert [item.change for item in compared(after, before).regressions] == ([said] if said else [])
    document = diff_document(before, after)
    assert (document.exit_code, said in document.text) == (5 if said else 0, True)
    jsonschema.validate(json.loads(json.dumps(document.as_data())), payload_schema("verify-diff"))


# --- HTML ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [HOSTILE, "javascript:alert(1)", "\u202eworker", "{{7*7}}", "a" * 300])
def test_hostile_names_stay_names(broken, name) -> None:
    clean, hostile = Seen(to_html(renamed(broken, "worker-1"))), Seen(to_html(renamed(broken, name)))
    assert hostile.tags == clean.tags
    assert hostile.attributes == clean.attributes
    assert hostile.scripts == clean.scripts
    assert not any(attribute.startswith("on") for attribute in hostile.attributes)


def test_a_page_asks_nothing_of_the_network_and_runs_only_its_own_script(healthy) -> None:
    page = to_html(healthy)
    seen = Seen(page)
    assert not seen.attributes & {"src", "srcset", "background", "action", "formaction"}
    assert all(value.startswith("#") for value in re.findall(r'href="([^"]*)"', page))
    assert any(value.startswith("default-src 'none'") for value in seen.values)
    assert "url(" not in page
    assert seen.scripts == 1


def test_data_for_the_script_cannot_end_it() -> None:
    text = write(data_block("maps", {"nodes": [HOSTILE]}))
    inside = text.removeprefix('<script type="application/json" id="maps">').removesuffix("</script>")
    assert "<" not in inside
    assert json.loads(inside) == {"nodes": [HOSTILE]}


def test_text_and_attributes_are_escaped_where_they_are_written() -> None:
    assert write(el("p", "<b>&", title='"<')) == '<p title="&quot;&lt;">&lt;b&gt;&amp;</p>'


def test_a_large_fabric_is_drawn_as_maps_and_told_by_node(healthy) -> None:
    cells = tuple(
        replace(healthy.cells[0], id=f"c{one}-{other}", source=NodeName(f"n{one}"), target=NodeName(f"n{other}"))
        for one in range(20)
        for other in range(20)
        if one != other
    )
    page = to_html(replace(healthy, cells=cells))
    assert page.count("<canvas") == 1
    assert "19/19" not in page
    assert "38/38" in page, "each port is part of 19 ways out and 19 in"


def test_a_page_of_nothing_is_a_page(healthy) -> None:
    empty = replace(healthy, cells=(), witnesses=(), seats=(), culprits=(), raw={})
    assert "No cell was run." in to_html(empty)


def test_what_is_simulated_says_so_on_the_page_and_interrupted_too(healthy) -> None:
    page = to_html(replace(healthy, summary=replace(healthy.summary, interrupted=True)))
    assert "SIMULATED: no byte was moved" in page
    assert "Interrupted" in page
