"""
A tar file, header by header, in bounded memory; nothing is written to disk, nothing in it is followed.

The standard library's reader takes an extended header into memory whatever its size says, so it is not used.
Links, devices, FIFOs and sparse files are named and passed over; paths that lead out of the archive too.

Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Extended Header"; GNU tar manual, "Basic Tar Format".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from railwright.adapters.archive.limits import MAX_DEPTH, MAX_FILES, MAX_HEADER_BYTES, MAX_PATH_BYTES, too_much
from railwright.core.errors import UsageError

BLOCK_BYTES = 512
_CHUNK_BYTES = 1 << 20
_REGULAR = frozenset({b"0", b"\0", b"7"})
_FOLDER = b"5"
_EXTENDED = {b"x", b"g", b"L", b"K"}
_ODD = {
    b"1": "hard link",
    b"2": "symbolic link",
    b"3": "device",
    b"4": "device",
    b"6": "FIFO",
    b"S": "sparse file",
}


@dataclass(frozen=True)
class Member:
    """One regular file; its bytes come next in the stream. `left_aside` says why it is not to be looked at."""

    path: str
    size_bytes: int
    left_aside: str = ""


@dataclass
class _Extended:
    """What extended headers say of the next member."""

    path: str | None = None
    size_bytes: int | None = None
    sparse: bool = False


class TarReader:
    """Members of one stream, in their order; each is skipped or taken before the next."""

    def __init__(self, stream: BinaryIO, where: str) -> None:
        """
        Read from here.

        Args:
            where: the file's name, for messages.
        """
        self._stream = stream
        self._where = where
        self._left_bytes = 0
        self._end = stream.seek(0, 2) if stream.seekable() else None
        if self._end is not None:
            stream.seek(0)

    def members(self) -> Iterator[Member]:
        """
        Give every member that is, or claims to be, a file.

        Raises:
            UsageError: it is no tar file, is damaged or cut short, or goes beyond a limit.
        """
        extended, count = _Extended(), 0
        while (header := self._header()) is not None:
            count += 1
            if count > MAX_FILES:
                raise too_much(self._where, f"it has more than {MAX_FILES:,} files")
            kind, size_bytes = header[156:157], self._number(header[124:136])
            if kind in _EXTENDED:
                self._extend(extended, kind, self._small(size_bytes))
                continue
            size_bytes = size_bytes if extended.size_bytes is None else extended.size_bytes
            path = _path_of(header) if extended.path is None else extended.path
            self._left_bytes = size_bytes + -size_bytes % BLOCK_BYTES if kind in _REGULAR or kind == b"S" else 0
            if kind != _FOLDER:
                yield Member(path, size_bytes, _why_not(path, kind, sparse=extended.sparse))
            self._skip()
            extended = _Extended()

    def take(self, size_bytes: int) -> Iterator[bytes]:
        """Give the next bytes of the member that `members` is at."""
        while size_bytes:
            chunk = self._read(min(size_bytes, _CHUNK_BYTES))
            size_bytes -= len(chunk)
            self._left_bytes -= len(chunk)
            yield chunk

    def pass_over(self, size_bytes: int) -> None:
        """Leave the next bytes of the member out."""
        self._left_bytes -= size_bytes
        self._forward(size_bytes)

    def _header(self) -> bytes | None:
        """Read the next header; None at the end: a block of zeros, or the end of the stream."""
        block = self._stream.read(BLOCK_BYTES)
        if not block.strip(b"\0"):
            return None
        if len(block) < BLOCK_BYTES:
            raise self._damaged("it is cut short")
        wanted, own = self._number(block[148:156]), sum(block[148:156]) - 8 * ord(" ")
        # Old programs added the bytes up as signed ones.
        if wanted != sum(block) - own and wanted != sum(block) - own - 256 * sum(byte > 127 for byte in block):
            raise self._damaged("it is no tar file, or it is damaged")
        return block

    def _number(self, field: bytes) -> int:
        """Read a number: octal text, or base 256 where the first bit is set."""
        if field[:1] >= b"\x80":
            value = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
        else:
            text = field.strip(b" \0")
            if text.strip(b"01234567"):
                raise self._damaged("it is no tar file, or it is damaged")
            value = int(text or b"0", 8)
        if value >= 1 << 62:
            raise self._damaged("a file in it claims an impossible size")
        return value

    def _small(self, size_bytes: int) -> bytes:
        if size_bytes > MAX_HEADER_BYTES:
            raise too_much(self._where, f"an extended header has {size_bytes:,} bytes")
        padded = size_bytes + -size_bytes % BLOCK_BYTES
        return b"".join(self._chunks(padded))[:size_bytes]

    def _chunks(self, size_bytes: int) -> Iterator[bytes]:
        while size_bytes:
            chunk = self._read(size_bytes)
            size_bytes -= len(chunk)
            yield chunk

    def _extend(self, extended: _Extended, kind: bytes, data: bytes) -> None:
        if kind == b"L":
            extended.path = _text(data.rstrip(b"\0"))
        elif kind == b"x":
            for key, value in _records(data):
                if key == b"path":
                    extended.path = _text(value)
                elif key == b"size" and value.isdigit() and len(value) < 19:
                    extended.size_bytes = int(value)
                elif key.startswith(b"GNU.sparse"):
                    extended.sparse = True

    def _skip(self) -> None:
        left, self._left_bytes = self._left_bytes, 0
        self._forward(left)

    def _forward(self, size_bytes: int) -> None:
        if self._end is not None:
            if self._stream.seek(size_bytes, 1) > self._end:
                raise self._damaged("it is cut short")
            return
        for _ in self._chunks(size_bytes):
            pass

    def _read(self, size_bytes: int) -> bytes:
        chunk = self._stream.read(min(size_bytes, _CHUNK_BYTES))
        if not chunk:
            raise self._damaged("it is cut short")
        return chunk

    def _damaged(self, what: str) -> UsageError:
        return UsageError(f"{self._where}: {what}", hint="get it again, and compare its checksum")


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    r"""Read pax records, as b"20 path=a/long/name\n"; ends at what is none."""
    while data:
        length, space, _ = data.partition(b" ")
        if not space or not length.isdigit() or len(length) > 6 or not len(length) + 1 < int(length) <= len(data):
            return
        record, data = data[len(length) + 1 : int(length)], data[int(length) :]
        key, _, value = record.removesuffix(b"\n").partition(b"=")
        yield key, value


def _path_of(header: bytes) -> str:
    name = header[:100].split(b"\0", 1)[0]
    if header[257:263] == b"ustar\0":
        prefix = header[345:500].split(b"\0", 1)[0]
        name = prefix + b"/" + name if prefix else name
    return _text(name)


def _text(name: bytes) -> str:
    """Read a name; what is no UTF-8 is written out, so that it stays a name and nothing else."""
    return name[: MAX_PATH_BYTES + 1].decode("utf-8", errors="backslashreplace")


def _why_not(path: str, kind: bytes, *, sparse: bool) -> str:
    if sparse or kind not in _REGULAR:
        return _ODD.get(b"S" if sparse else kind, "file of an unknown kind")
    return why_not_path(path)


def why_not_path(path: str) -> str:
    """Say why a path is not looked at; "" for one that stays inside."""
    parts = path.split("/")
    if path.startswith("/") or ".." in parts or "\0" in path:
        return "path that leads out of the archive"
    if len(path) > MAX_PATH_BYTES or len(parts) > MAX_DEPTH:
        return "path that is too long"
    return ""
