"""Write an archive of ours: a gzipped tar file that appears whole or not at all, readable by its owner only."""

import io
import os
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from railwright.core.archive import TOP
from railwright.core.errors import UsageError

_LEVEL = 6


class ArchiveWriter:
    """Files go in one after the other; there is no way back."""

    def __init__(self, tar: tarfile.TarFile, made_at: datetime) -> None:
        """Write into this open tar file."""
        self._tar = tar
        self._made_at = made_at

    def add(self, path: str, data: bytes) -> None:
        """Add a file, by its path below the archive's one folder."""
        info = tarfile.TarInfo(f"{TOP}/{path}")
        info.size, info.mode, info.mtime = len(data), 0o600, int(self._made_at.timestamp())
        self._tar.addfile(info, io.BytesIO(data))


@contextmanager
def archive_file(path: Path, made_at: datetime) -> Iterator[ArchiveWriter]:
    """
    Write beside the file and move it into place at the end; whatever goes wrong leaves nothing behind.

    Raises:
        UsageError: something is there already, or it cannot be written.
    """
    if os.path.lexists(path):
        message = f"{path} exists already; nothing is overwritten"
        raise UsageError(message, hint="give another name with --to, or remove it first")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                with tarfile.open(fileobj=file, mode="w:gz", compresslevel=_LEVEL, format=tarfile.PAX_FORMAT) as tar:
                    yield ArchiveWriter(tar, made_at)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        raise UsageError(message, hint="give a file in a folder that is there and has room") from error
