"""Read runs of verify back from the folders that they were kept in."""

from pathlib import Path

from railwright.core.errors import UsageError
from railwright.report.verification.keep import RAW, RECORD, read_record
from railwright.verify.model import VerifyRecord


def open_record(folder: Path) -> VerifyRecord:
    """
    Read a run.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    file = folder if folder.is_file() else folder / RECORD
    try:
        text = file.read_text(encoding="utf-8")
        raw = file.with_name(RAW)
        return _parsed(file, text, raw.read_text(encoding="utf-8") if raw.is_file() else "")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text"
        message = f"{folder} holds no run of verify: {file}: {why}"
        raise UsageError(message, hint="give a folder that verify --to wrote") from error


def _parsed(file: Path, text: str, raw: str) -> VerifyRecord:
    try:
        return read_record(text, raw)
    except UsageError as error:
        raise UsageError(f"{file}: {error.message}", hint="give a folder that verify --to wrote") from error
