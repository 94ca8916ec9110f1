"""Write the generated pages of docs/: commands, errors, keys, schemas; with --check only compare."""

import contextlib
import io
import json
import sys
from pathlib import Path

from railwright.cli.app import COMMANDS, make_app
from railwright.intent.docs import keys_markdown
from railwright.intent.schema import json_schema
from railwright.report.errors import error_pages
from railwright.report.schemas import PAYLOADS, payload_schema

DOCS = Path(__file__).parent
KEYS_BEGIN, KEYS_END = "<!-- generated: keys -->", "<!-- end of generated -->"


def pages() -> dict[Path, str]:
    """Every generated file with its text."""
    found = {DOCS / "reference" / "commands.md": _commands()}
    for page in error_pages():
        found[DOCS / "reference" / "errors" / f"{page.code}.md"] = (
            f"# {page.code}\n\n{page.meaning}\n\nExit code {page.exit_code}; "
            f"{'may be retried' if page.transient else 'the same command again gives the same'}.\n\n{page.remedy}\n"
        )
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
    parts = ["# Commands\n\nGenerated from `railwright COMMAND --help`.\n"]
    for command in ("", *COMMANDS):
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            make_app()([*([command] if command else []), "--help"], exit_on_error=False)
        text = "\n".join(line.rstrip() for line in told.getvalue().strip().splitlines())
        parts.append(f"## railwright {command}".rstrip() + f"\n\n```\n{text}\n```\n")
    return "\n".join(parts)


def main() -> int:
    """Write, or compare."""
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"stale: {path.relative_to(DOCS.parent)}: run `make docs` and commit the result", file=sys.stderr)
        return 1 if stale else 0
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(f"{len(stale)} pages written")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
