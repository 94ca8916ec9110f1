"""Rendered files -> a folder, without ever touching what render did not write."""

from pathlib import Path

from railwright import api

_MARK = ".railwright-render"


def write_files(folder: Path, files: tuple[api.File, ...]) -> None:
    """
    Write files into a folder that is new, empty, or was written by render before; files of an earlier run go.

    Raises:
        UsageError: the folder holds something else, or cannot be written.
    """
    mark = folder / _MARK
    try:
        if folder.exists() and any(folder.iterdir()) and not mark.is_file():
            message = f"{folder} is not empty and was not written by render"
            raise api.UsageError(message, hint="give a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        for old in mark.read_text().splitlines() if mark.is_file() else ():
            (folder / old).unlink(missing_ok=True)
        mark.write_text("".join(f"{file.path}\n" for file in files))
        for file in files:
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(file.text)
    except OSError as error:
        message = f"cannot write {folder}: {error.strerror}"
        raise api.UsageError(message) from error
