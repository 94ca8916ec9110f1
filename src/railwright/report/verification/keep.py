"""What a run leaves in a folder: everything that is needed to judge it again elsewhere, and to read it without us."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from railwright.core.errors import UsageError
from railwright.manifests.model import File
from railwright.report.formats import to_json, to_text
from railwright.report.verification.document import verify_document
from railwright.report.verification.html import to_html
from railwright.report.verification.junit import to_junit
from railwright.report.verification.raw import redacted_reply
from railwright.verify.model import VerifyRecord

RECORD, RAW = "record.json", "raw.jsonl"
SCHEMA = "railwright.dev/verify/v1alpha1"


def record_files(record: VerifyRecord) -> tuple[File, ...]:
    """Write the files of one run."""
    document = verify_document(record)
    raw = "".join(
        json.dumps({"name": name, "reply": redacted_reply(text)}, ensure_ascii=False) + "\n"
        for name, text in record.raw.items()
    )
    return (
        File(RECORD, to_json(document)),
        File("report.html", to_html(record)),
        File("report.txt", to_text(document)),
        File("junit.xml", to_junit(record)),
        File(RAW, raw),
    )


def read_record(record: str, raw: str = "") -> VerifyRecord:
    """
    Read a run back.

    Args:
        record, raw: text of the files of that name; `raw` may be missing.

    Raises:
        UsageError: not a record, or one of another version.
    """
    try:
        data: Mapping[str, Any] = json.loads(record)
        if data.get("schema") != SCHEMA:
            raise UsageError(f"not a record of verify: schema is {data.get('schema')!r}, expected {SCHEMA!r}")
        read = msgspec.convert(data, VerifyRecord)
        replies = [json.loads(line) for line in raw.splitlines() if line.strip()]
        return replace(read, raw={str(item["name"]): json.dumps(item["reply"]) for item in replies})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"not a record of verify: {error}", hint="give a folder that verify --to wrote") from error
