"""The page: verdict and claim, what fails and where, the matrix, speed, places, witnesses, coverage, every cell."""

from base64 import b64encode
from collections import Counter
from hashlib import sha256

from railwright.core.marks import VIRTUAL, is_virtual
from railwright.core.verdicts import Verdict
from railwright.core.version import __version__
from railwright.report.tables import count, duration
from railwright.report.verification.html.curves import curves
from railwright.report.verification.html.details import cells, raw_replies, witnesses
from railwright.report.verification.html.element import Element, Node, Verbatim, el, group, write
from railwright.report.verification.html.matrix import matrix
from railwright.report.verification.html.script import SCRIPT
from railwright.report.verification.html.shades import CODES, SIGNS, badge
from railwright.report.verification.html.style import STYLE
from railwright.report.verification.html.topology import topologies
from railwright.verify.model import VerifyRecord

_DIRECT = "Did the NIC reach memory by itself, without host memory or the kernel in the way?"
_FAST = "Is every way as fast as its hardware must be?"
_REASONS_SHOWN = 30


def to_html(record: VerifyRecord) -> str:
    """Write the whole page."""
    summary = record.summary
    title = f"railwright verify: {summary.verdict.value}: {summary.fabric} on {summary.cluster}"
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", http_equiv="Content-Security-Policy", content=_policy()),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("style", Verbatim(STYLE)),
    )
    body = el("body", *_header(record), el("main", *_sections(record)), el("script", Verbatim(SCRIPT)))
    return "<!doctype html>\n" + write(el("html", head, body, lang="en")) + "\n"


def _policy() -> str:
    """Nothing is loaded, and no script runs but this page's own."""
    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _header(record: VerifyRecord) -> tuple[Node, ...]:
    summary = record.summary
    banner = (
        el("p", "SIMULATED: no byte was moved, and nothing of this is proof.", class_="banner")
        if summary.simulated
        else None
    )
    virtual = el("p", VIRTUAL, class_="banner") if is_virtual(summary.cluster) else None
    interrupted = (
        el("p", "Interrupted: what was not reached is UNKNOWN.", class_="banner") if summary.interrupted else None
    )
    code = CODES[summary.verdict]
    verdict = el(
        "div",
        el("div", f"{SIGNS[summary.verdict]} {summary.verdict.value}", class_="word"),
        el("div", el("p", summary.claim), el("p", _meta(record), class_="soft")),
        class_=f"verdict {code}",
    )
    links = [("what fails", "culprits")] if record.culprits else []
    links += [(name, name) for name in ("matrix", "speed", "places", "witnesses", "coverage", "all-cells", "raw")]
    theme = el("button", "light / dark", id="theme", type="button")
    nav = el("nav", *(el("a", text, href=f"#{target}") for text, target in links), theme, aria_label="sections")
    return group(
        (
            banner,
            virtual,
            interrupted,
            el("h1", f"{summary.fabric}: {summary.method} on {summary.cluster}"),
            verdict,
            nav,
        )
    )


def _meta(record: VerifyRecord) -> str:
    summary = record.summary
    return (
        f"{summary.started_at}, {duration(summary.elapsed_s)}, by {summary.bed}, railwright {__version__},"
        f" exit code {summary.exit_code}"
    )


def _sections(record: VerifyRecord) -> tuple[Node, ...]:
    drawn = curves(record.cells)
    places = topologies(record.seats)
    return group(
        (
            _answers(record),
            _culprits(record),
            el("section", el("h2", "Rails and pairs"), matrix(record), id="matrix"),
            el(
                "section",
                el("h2", "Bandwidth by message size"),
                el("div", *drawn, class_="figures")
                if drawn
                else el("p", "Only one message size was measured.", class_="soft"),
                _regressions(record),
                id="speed",
            ),
            el(
                "section",
                el("h2", "GPUs and NICs"),
                el("div", *places, class_="figures") if places else el("p", "Nothing is known of them.", class_="soft"),
                id="places",
            ),
            el("section", el("h2", "Witnesses"), *witnesses(record), id="witnesses"),
            _coverage(record),
            el("section", el("h2", "Every cell"), *cells(record), id="all-cells"),
            el("section", el("h2", "Raw replies"), *raw_replies(record), id="raw"),
        )
    )


def _answers(record: VerifyRecord) -> Element:
    summary, coverage = record.summary, record.coverage
    verdicts = ", ".join(f"{number} {verdict.value}" for verdict, number in sorted(coverage.by_verdict.items()))
    looked = f"{coverage.ways} of {coverage.ways_possible} ways, {coverage.nodes} of {count(coverage.nodes_possible, 'node')}"
    cards = (
        el("div", el("h3", "Direct? ", badge(summary.direct)), el("p", _DIRECT, class_="soft"), class_="card"),
        el("div", el("h3", "Fast? ", badge(summary.fast)), el("p", _FAST, class_="soft"), class_="card"),
        el("div", el("h3", "Looked at"), el("p", looked), el("p", verdicts, class_="soft"), class_="card"),
    )
    return el("div", *cards, class_="cards")


def _culprits(record: VerifyRecord) -> Element | None:
    if not record.culprits:
        return None
    items = [
        el(
            "li",
            el("strong", item.where),
            ": ",
            item.text,
            el("span", f" ({count(len(item.cells), 'cell')})", class_="soft"),
        )
        for item in record.culprits
    ]
    return el("section", el("h2", "What fails, and where"), el("ul", *items, class_="culprits"), id="culprits")


def _regressions(record: VerifyRecord) -> Element | None:
    if not record.regressions:
        return None
    items = [el("li", f"{item.what}: {item.change}") for item in record.regressions[:200]]
    return el("div", el("h3", "Slower than before"), el("ul", *items))


def _coverage(record: VerifyRecord) -> Element:
    coverage, summary, schedule = record.coverage, record.summary, record.schedule
    skipped = Counter(
        (cell.verdict, cell.reason) for cell in record.cells if cell.verdict in {Verdict.SKIP, Verdict.UNKNOWN}
    )
    lines = [
        f"{schedule.rounds} of {count(schedule.rounds_possible, 'round')} of disjoint pairs, {count(schedule.pairs, 'pair')}"
    ]
    lines += [
        f"left out: {item.reason}: {count(item.cells, 'cell')}; such as {', '.join(item.examples)}"
        for item in coverage.left_out
    ]
    lines += [f"covered before, and not now: {text}" for text in coverage.shrunk]
    lines += [
        f"{verdict.value}: {reason or 'no reason given'}: {count(number, 'cell')}"
        for (verdict, reason), number in skipped.most_common(_REASONS_SHOWN)
    ]
    lines += list(summary.notes)
    not_real = (
        el("div", el("h3", "What this bed leaves out"), el("ul", *(el("li", text) for text in summary.not_real)))
        if summary.not_real
        else None
    )
    return el(
        "section",
        *group((el("h2", "Coverage"), el("ul", *(el("li", line) for line in lines)), not_real)),
        id="coverage",
    )
