"""A run's files -> a folder."""

from pathlib import Path

from railwright import api

_RUN = "record.json"


def check_folder(folder: Path | None) -> None:
    """
    Make sure, before a run takes its time, that it can be kept.

    Raises:
        UsageError: the folder holds something else, or cannot be made.
    """
    if folder is None:
        return
    try:
        if folder.exists() and any(folder.iterdir()) and not (folder / _RUN).is_file():
            raise api.UsageError(f"{folder} is not empty and holds no run of verify", hint="give a new folder")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(folder, error) from error


def check_no_run(folder: Path | None) -> None:
    """Make sure that a new run does not take the place of an earlier one. Raises UsageError where it would."""
    if folder is not None and (folder / _RUN).is_file():
        raise api.UsageError(f"{folder} holds an earlier run, which stays", hint="give a new folder")


def keep_run(folder: Path, record: api.VerifyRecord) -> None:
    """Write a run's files. Raises UsageError where they cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in api.record_files(record):
            (folder / file.path).write_text(file.text, encoding="utf-8")
    except OSError as error:
        raise _cannot_write(folder, error) from error


def kept_in(folder: Path) -> str:
    """Say where a run was kept, and what to open."""
    return f"kept in {folder}: open {folder / 'report.html'}\n"


def _cannot_write(folder: Path, error: OSError) -> api.UsageError:
    return api.UsageError(f"cannot write to {folder}: {error.strerror}", hint="give a folder that can be written")
