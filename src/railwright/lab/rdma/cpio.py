"""A newc cpio archive, which is what a kernel unpacks as its first file system; several may follow one another."""

import io
import os
import stat
from pathlib import Path

_FOLDER = 0o040755
_LINK = 0o120777
_CHARACTER_DEVICE = 0o020000


class Archive:
    """Collects files; folders are added where they are needed, and the first of two entries of one name wins."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._out = io.BytesIO()
        self._names: set[str] = set()

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        """Add a regular file."""
        self._entry(name, stat.S_IFREG | mode, data)

    def folder(self, name: str) -> None:
        """Add an empty folder."""
        self._entry(name, _FOLDER, b"")

    def link(self, name: str, target: str) -> None:
        """Add a symbolic link."""
        self._entry(name, _LINK, target.encode())

    def device(self, name: str, major: int, minor: int) -> None:
        """Add a character device, readable and writable by its owner."""
        self._entry(name, _CHARACTER_DEVICE | 0o600, b"", major, minor)

    def path(self, source: Path, name: str) -> None:
        """Add a file or link as it is on disk."""
        status = source.lstat()
        if stat.S_ISLNK(status.st_mode):
            self.link(name, str(source.readlink()))
        elif stat.S_ISREG(status.st_mode):
            self.file(name, source.read_bytes(), stat.S_IMODE(status.st_mode))

    def holds(self, name: str) -> bool:
        """Say whether there is an entry of that name."""
        return name in self._names

    def close(self) -> bytes:
        """End the archive and give it whole."""
        self._entry("TRAILER!!!", 0, b"")
        return self._out.getvalue()

    def _entry(self, name: str, mode: int, data: bytes, major: int = 0, minor: int = 0) -> None:
        name = name.lstrip("/")
        if name in self._names:
            return
        parent = os.path.dirname(name)  # noqa: PTH120 - a name inside the archive, no path of this machine
        if parent and parent not in self._names:
            self.folder(parent)
        self._names.add(name)
        ending = name.encode() + b"\0"
        numbers = (len(self._names), mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(ending), 0)
        self._out.write(b"070701" + "".join(f"{number:08x}" for number in numbers).encode() + ending)
        self._pad()
        self._out.write(data)
        self._pad()

    def _pad(self) -> None:
        self._out.write(b"\0" * (-self._out.tell() % 4))
