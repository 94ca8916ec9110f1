"""Rendered files -> a folder, without ever touching what render did not write."""

from contextlib import suppress
from pathlib import Path, PurePosixPath

from railwright import api

_MARK = ".railwright-render"
"""Lists the files of the last run. A folder may come from somewhere else, so this list is not believed blindly."""


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
        for old in _listed(mark) if mark.is_file() else ():
            _remove(folder, old)
        mark.write_text("".join(f"{file.path}\n" for file in files))
        for file in files:
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(file.text)
    except OSError as error:
        message = f"cannot write {error.filename or folder}: {error.strerror}"
        raise api.UsageError(message, hint="give a folder that can be written") from error


def _listed(mark: Path) -> list[str]:
    """
    Read which files an earlier run wrote.

    Raises:
        UsageError: one lies outside the folder: render never wrote that.
    """
    listed = mark.read_text(errors="replace").splitlines()
    for line in listed:
        path = PurePosixPath(line)
        if (
            path.is_absolute()
            or ".." in path.parts
            or (mark.parent / path).parent.resolve() != (mark.parent.resolve() / path.parent)
        ):
            message = f"{mark} lists {line!r}, which lies outside the folder: nothing was written or removed"
            raise api.UsageError(message, hint="give a new folder")
    return listed


def _remove(folder: Path, path: str) -> None:
    """Remove a file, and the folders that are empty without it."""
    target = folder / path
    target.unlink(missing_ok=True)
    with suppress(OSError):
        for parent in target.parents:
            if parent == folder:
                return
            parent.rmdir()
