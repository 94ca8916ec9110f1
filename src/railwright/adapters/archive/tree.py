"""
Files of an archive by their path, wherever they lie: a folder, a tar or zip file, a compressed one, or a single file.

Nothing is unpacked: of a compressed archive the files that may matter are kept in one temporary file that has no name
and goes with the process. Links are not followed, and nothing but regular files is opened.
"""

import os
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from railwright.adapters.archive.compressed import expanded
from railwright.adapters.archive.limits import LOG_BYTES, MAX_DEPTH, MAX_FILES, MAX_KEPT_BYTES, too_much
from railwright.adapters.archive.tar_reader import TarReader
from railwright.adapters.archive.zip_reader import MAGIC as ZIP_MAGIC
from railwright.adapters.archive.zip_reader import ZipReader
from railwright.core.errors import UsageError

_CHUNK_BYTES = 256 << 10

Share = Callable[[str, int], int]
"""How many bytes of the end of a file (path, size) are worth keeping; 0 for a file that is not looked at."""


class Tree(Protocol):
    """Files by path."""

    @property
    def where(self) -> str:
        """The archive, for messages."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """What there is of each file."""

    @property
    def cut(self) -> frozenset[str]:
        """Files of which only the end is there."""

    @property
    def left_aside(self) -> Mapping[str, int]:
        """What was passed over: how often, by reason."""

    def chunks(self, path: str, skip_bytes: int = 0) -> Iterator[bytes]:
        """Give the bytes of a file from `skip_bytes` on, some at a time."""

    def close(self) -> None:
        """Let go of everything."""


def read_whole(tree: Tree, path: str, limit_bytes: int) -> bytes:
    """Read a whole file. Raises UsageError for one above the limit."""
    if tree.sizes[path] > limit_bytes:
        raise too_much(f"{tree.where}: {path}", f"it has {tree.sizes[path]:,} bytes")
    return b"".join(tree.chunks(path))


def read_end(tree: Tree, path: str, size_bytes: int) -> bytes:
    """Read the end of a file; the first line is left out where it would begin in its middle."""
    skip_bytes = max(0, tree.sizes[path] - size_bytes)
    data = b"".join(tree.chunks(path, skip_bytes))
    return data.partition(b"\n")[2] if skip_bytes or path in tree.cut else data


def read_log(tree: Tree, path: str) -> str:
    """Read the end of a log, as much as is kept of one."""
    return read_end(tree, path, LOG_BYTES).decode(errors="replace")


def open_tree(path: Path, share: Share) -> Tree:
    """
    Open whatever lies at a path.

    Raises:
        UsageError: nothing is there, it may not be read, or it is damaged or beyond a limit.
    """
    try:
        return _open(path, share)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise UsageError(message, hint="bundle:PATH takes a railwright archive, a must-gather, a sosreport") from error


def _open(path: Path, share: Share) -> Tree:
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        return _Folder(path, share)
    if not stat.S_ISREG(mode):
        message = f"{path} is neither a file nor a folder"
        raise UsageError(message, hint="give an archive, or a folder")
    return _open_file(path, share)


def _open_file(path: Path, share: Share) -> Tree:
    file = path.open("rb")
    try:
        stream = expanded(file, str(path))
        if stream is not file:
            return _spool(TarReader(stream, str(path)), file, path, share)
        head = file.read(512)
        file.seek(0)
        if head.startswith(ZIP_MAGIC):
            return _spool(ZipReader(file, str(path)), file, path, share)
        if head[257:262] == b"ustar":
            return _index(file, path, share)
        return _Slices(str(path), file, {path.name: (0, path.stat().st_size)})
    except BaseException:
        file.close()
        raise


@dataclass
class _Slices:
    """Files that are parts of one file."""

    where: str
    file: BinaryIO
    parts: Mapping[str, tuple[int, int]]
    cut: frozenset[str] = frozenset()
    left_aside: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.sizes = {path: part[1] for path, part in self.parts.items()}

    def chunks(self, path: str, skip_bytes: int = 0) -> Iterator[bytes]:
        offset, size_bytes = self.parts[path]
        position, end = offset + skip_bytes, offset + size_bytes
        while position < end:
            self.file.seek(position)
            chunk = self.file.read(min(_CHUNK_BYTES, end - position))
            if not chunk:
                message = f"{self.where}: {path} is cut short"
                raise UsageError(message, hint="get it again, and compare its checksum")
            position += len(chunk)
            yield chunk

    def close(self) -> None:
        self.file.close()


def _index(file: BinaryIO, path: Path, share: Share) -> Tree:
    """Find the files of a plain tar file where they lie."""
    parts: dict[str, tuple[int, int]] = {}
    left_aside: Counter[str] = Counter()
    for member in TarReader(file, str(path)).members():
        if member.left_aside:
            left_aside[member.left_aside] += 1
        elif share(member.path, member.size_bytes) or not member.size_bytes:
            parts[_clean(member.path)] = (file.tell(), member.size_bytes)
    return _Slices(str(path), file, parts, left_aside=left_aside)


def _spool(reader: TarReader | ZipReader, file: BinaryIO, path: Path, share: Share) -> Tree:
    """Keep the files of a compressed archive that may matter."""
    parts: dict[str, tuple[int, int]] = {}
    left_aside: Counter[str] = Counter()
    cut: set[str] = set()
    kept = tempfile.TemporaryFile(prefix="railwright-")  # noqa: SIM115 - open as long as the tree is
    try:
        position = 0
        for member in reader.members():
            if member.left_aside:
                left_aside[member.left_aside] += 1
                continue
            wanted = min(share(member.path, member.size_bytes), member.size_bytes)
            if not wanted and member.size_bytes:
                continue
            _check_room(position + wanted, path)
            name = _clean(member.path)
            if wanted < member.size_bytes:
                reader.pass_over(member.size_bytes - wanted)
                cut.add(name)
            for chunk in reader.take(wanted):
                kept.write(chunk)
            parts[name] = (position, wanted)
            position += wanted
        file.close()
        return _Slices(str(path), kept, parts, frozenset(cut), left_aside)
    except BaseException:
        kept.close()
        raise


def _check_room(size_bytes: int, path: Path) -> None:
    if size_bytes > MAX_KEPT_BYTES:
        raise too_much(str(path), f"what matters of it is more than {MAX_KEPT_BYTES:,} bytes")


class _Folder:
    """Files in a folder of the disk."""

    cut: frozenset[str] = frozenset()

    def __init__(self, root: Path, share: Share) -> None:
        self.where = str(root)
        self._root = root
        self.sizes: dict[str, int] = {}
        self.left_aside: Counter[str] = Counter()
        self._walk("", share, 0, 0)

    def _walk(self, inside: str, share: Share, count: int, depth: int) -> int:
        if depth > MAX_DEPTH:
            raise too_much(f"{self.where}/{inside}", f"folders lie more than {MAX_DEPTH} deep in it")
        with os.scandir(self._root / inside) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            count += 1
            if count > MAX_FILES:
                raise too_much(self.where, f"it has more than {MAX_FILES:,} files")
            path = f"{inside}/{entry.name}" if inside else entry.name
            if entry.is_dir(follow_symlinks=False):
                count = self._walk(path, share, count, depth + 1)
            elif not entry.is_file(follow_symlinks=False):
                self.left_aside["symbolic link" if entry.is_symlink() else "device or FIFO"] += 1
            elif share(path, size_bytes := entry.stat(follow_symlinks=False).st_size) or not size_bytes:
                self.sizes[path] = size_bytes
        return count

    def chunks(self, path: str, skip_bytes: int = 0) -> Iterator[bytes]:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            handle = os.open(self._root / path, flags)
            with os.fdopen(handle, "rb") as file:
                file.seek(skip_bytes)
                left = self.sizes[path] - skip_bytes
                while left > 0 and (chunk := file.read(min(_CHUNK_BYTES, left))):
                    left -= len(chunk)
                    yield chunk
        except OSError as error:
            message = f"{self.where}/{path} cannot be read: {error.strerror or error}"
            raise UsageError(message, hint="check the folder's permissions") from error

    def close(self) -> None:
        """Nothing is open."""


def _clean(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in {"", "."})
