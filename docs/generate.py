"""Write the generated pages of docs/: commands, errors, keys, schemas; with --check only compare."""

import contextlib
import io
import json
import os
import sys
from pathlib import Path

import yaml

from railwright.cli.app import main as railwright
from railwright.cli.overview import COMMANDS
from railwright.doctor.registry import rule_infos
from railwright.intent.docs import keys_markdown
from railwright.intent.schema import json_schema
from railwright.report.codes import REFUSALS, WARNINGS
from railwright.report.doctor import coverage_page, rule_page, rules_index
from railwright.report.errors import error_pages
from railwright.report.schemas import PAYLOADS, payload_schema

DOCS = Path(__file__).parent
RULES = DOCS / "reference" / "rules"
LAB_CLUSTER = ("lab cluster", "lab cluster up", "lab cluster shell")
KEYS_BEGIN, KEYS_END = "<!-- generated: keys -->", "<!-- end of generated -->"


def pages() -> dict[Path, str]:
    """Every generated file with its text."""
    found = {DOCS / "reference" / "commands.md": _commands()}
    for page in error_pages():
        found[DOCS / "reference" / "errors" / f"{page.code}.md"] = (
            f"# {page.code}\n\n{page.meaning}\n\nExit code {page.exit_code}; "
            f"{'may be retried' if page.transient else 'the same command again gives the same'}.\n\n{page.remedy}\n"
        )
    found[RULES / "README.md"] = rules_index(rule_infos())
    found[DOCS / "reference" / "coverage.md"] = coverage_page(rule_infos())
    found |= {RULES / f"{info.name}.md": rule_page(info) for info in rule_infos()}
    found[DOCS / "reference" / "codes.md"] = _codes()
    found[DOCS / "reference" / "configurations.md"] = _configurations()
    found[DOCS / "reference" / "traps.md"] = _traps()
    found[DOCS / "reference" / "licences.md"] = _licences()
    schemas = DOCS / "reference" / "schemas"
    found[schemas / "rails.json"] = _json(json_schema())
    for name in PAYLOADS:
        found[schemas / f"{name}.json"] = _json(payload_schema(name))
    keys = DOCS / "rails-yaml.md"
    before, rest = keys.read_text().split(KEYS_BEGIN)
    found[keys] = f"{before}{KEYS_BEGIN}\n{keys_markdown().strip()}\n{KEYS_END}{rest.split(KEYS_END)[1]}"
    return found


def _json(schema: object) -> str:
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def _commands() -> str:
    os.environ |= {"COLUMNS": "100", "TERM": "dumb"}  # the page must not depend on the terminal that it is made in
    parts = ["# Commands\n\nGenerated from `railwright COMMAND --help`.\n"]
    for command in ("", *COMMANDS, *LAB_CLUSTER):
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            railwright([*command.split(), "--help"])
        text = "\n".join(line.rstrip() for line in told.getvalue().strip().splitlines())
        parts.append(f"## railwright {command}".rstrip() + f"\n\n```\n{text}\n```\n")
    return "\n".join(parts)


def _codes() -> str:
    parts = [
        "# Refusals and warnings\n\nGenerated. `railwright explain CODE` says the same; [traps.md](traps.md) says what they answer.\n"
    ]
    for title, codes in (("Refusals", REFUSALS), ("Warnings", WARNINGS)):
        rows = "".join(f"| `{code}` | {meaning} |\n" for code, meaning in sorted(codes.items()))
        parts.append(f"## {title}\n\n| code | meaning |\n|---|---|\n{rows}")
    return "\n".join(parts)


def _traps() -> str:
    lines = [
        "# Traps, and what is done about them",
        "",
        "Generated from docs/traps.yaml, which a test holds to the code: each row fires in the test that it names. A refusal",
        "stops the plan or keeps a node out, a warning is said beside it, a decision is how the plan does it, and a gate is",
        "what a stage waits for before the next one starts. Codes are in [codes.md](codes.md).",
    ]
    for area in yaml.safe_load((DOCS / "traps.yaml").read_text()):
        lines += ["", f"## {area['area']}", "", "| trap | answer | what | held by |", "|---|---|---|---|"]
        for trap, by, name, test in area["traps"]:
            held = f"tests/{test.partition('::')[0]}" if test else f"tests/cases/readiness/{name}.json"
            what = f"`{name}`" if by in {"refusal", "warning"} else name
            lines.append(f"| {trap} | {by} | {what} | {held} |")
    return "\n".join(lines) + "\n"


QUESTIONS = {
    "rendered": "rendered",
    "accepted": "accepted by a real API server",
    "applied": "applied and removed with stand-ins",
    "olm": "operators installed by real OLM",
    "operators": "with the real operators at work",
    "bytes": "bytes moved between pods",
    "gpu": "GPU memory on hardware",
}


def _configurations() -> str:
    evidence = yaml.safe_load((DOCS / "evidence.yaml").read_text())
    names = [f"{method}-{fabric}" for fabric in ("roce", "infiniband") for method in ("shared", "host-device", "sriov")]
    seen: dict[tuple[str, str], list[int]] = {}
    for number, row in enumerate(evidence, 1):
        for name in names if row["configurations"] == "all" else row["configurations"]:
            seen.setdefault((name, row["what"]), []).append(number)
    lines = [
        "# What was seen working, where and when",
        "",
        "Generated from docs/evidence.yaml. A number leads to the line below; what was never seen says never.",
        "",
        "| configuration | " + " | ".join(QUESTIONS.values()) + " |",
        "|---" * (len(QUESTIONS) + 1) + "|",
    ]
    for name in names:
        cells = [", ".join(f"[{n}]" for n in seen.get((name, what), [])) or "never" for what in QUESTIONS]
        lines.append(f"| [{name}](../configurations/{name}.md) | " + " | ".join(cells) + " |")
    lines += ["", *(f"{number}. {row['where']} ({row['date']})" for number, row in enumerate(evidence, 1))]
    return "\n".join(lines) + "\n"


LOCKED = {
    "railwright": "What railwright itself needs (requirements/run.txt).",
    "development": "What its tests and checks need besides (requirements/dev.txt).",
    "build": "What makes its wheel besides (requirements/build.txt).",
    "probe image": "What the image of images/probe brings from the Python package index (its requirements.txt).",
}


def _licences() -> str:
    lines = [
        "# Licences",
        "",
        "Generated from docs/licences.yaml, which a test holds to the lock files and to the metadata of what is installed.",
        "railwright is under Apache-2.0. Versions and hashes stand in the lock files.",
    ]
    for place, licences in yaml.safe_load((DOCS / "licences.yaml").read_text()).items():
        lines += ["", LOCKED[place], "", "| package | licence |", "|---|---|"]
        lines += [f"| {package} | {licence} |" for package, licence in licences.items()]
    lines += [
        "",
        "The packages that the image takes from Debian (perftest, the verbs libraries, Python) carry theirs in",
        "`/usr/share/doc/PACKAGE/copyright` of the image.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write, or compare."""
    made = pages()
    left_over = [path for path in RULES.glob("*.md") if path not in made]
    stale = [path for path, text in made.items() if not path.exists() or path.read_text() != text] + left_over
    if "--check" in sys.argv:
        for path in stale:
            print(f"stale: {path.relative_to(DOCS.parent)}: run `make docs` and commit the result", file=sys.stderr)
        return 1 if stale else 0
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in left_over:
        path.unlink()
    print(f"{len(stale)} pages written")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
