"""
A zip file, member by member, in bounded memory; nothing is written to disk, nothing in it is followed.

The standard library's reader takes the whole directory into memory, so its size is looked at before. Links, encrypted
members and those of rare packings are named and passed over; paths that lead out of the archive too.

Source: PKWARE APPNOTE 6.3.10, 4.3.12 to 4.3.16 (directory and its end), 4.4.4 (flags), 4.4.5 (packings).
"""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from railwright.adapters.archive.limits import FREE_EXPANDED_BYTES, MAX_EXPANDED_BYTES, MAX_FILES, MAX_RATIO, too_much
from railwright.adapters.archive.tar_reader import Member, why_not_path
from railwright.core.errors import UsageError

MAGIC = b"PK\x03\x04"
MAX_DIRECTORY_BYTES = 32 << 20
"""Some 200,000 names."""
_CHUNK_BYTES = 256 << 10
_END, _END_BYTES = b"PK\x05\x06", 22
_LARGE_END_LOCATOR, _LARGE_END_LOCATOR_BYTES, _LARGE_END_RECORD_BYTES = b"PK\x06\x07", 20, 56
_LARGE_END_BYTES = _LARGE_END_LOCATOR_BYTES + _LARGE_END_RECORD_BYTES
_IN_LARGE_END = 0xFFFFFFFF
_MAX_COMMENT_BYTES = 65_535
_ENCRYPTED = 0x1
_PACKINGS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    struct.error,
    OSError,
    RuntimeError,
)
"""What the standard library raises for what is no zip file, or a damaged one."""


class ZipReader:
    """Members of one file, in their order; each is skipped or taken before the next."""

    def __init__(self, file: BinaryIO, where: str) -> None:
        """
        Read its directory.

        Args:
            where: the file's name, for messages.

        Raises:
            UsageError: it is no zip file, is damaged, or goes beyond a limit.
        """
        self._where = where
        self._file_bytes = file.seek(0, 2)
        self._out_bytes = 0
        self._member: zipfile.ZipExtFile | None = None
        if _directory_bytes(file, self._file_bytes) > MAX_DIRECTORY_BYTES:
            raise too_much(where, "its directory is too large")
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise self._damaged(error) from error

    def members(self) -> Iterator[Member]:
        """Give every member that is, or claims to be, a file. Raises UsageError for what is damaged or beyond a limit."""
        infos = self._zip.infolist()
        if len(infos) > MAX_FILES:
            raise too_much(self._where, f"it has more than {MAX_FILES:,} files")
        for info in infos:
            if info.filename[-1:] in {"", "/"}:  # ZipInfo.is_dir fails on a name that is empty
                continue
            left_aside = _why_not(info)
            try:
                self._member = None if left_aside else self._zip.open(info)  # type: ignore[assignment]  # IO[bytes] in typeshed
            except _DAMAGE as error:
                raise self._damaged(error) from error
            yield Member(info.filename, info.file_size, left_aside)

    def take(self, size_bytes: int) -> Iterator[bytes]:
        """Give the next bytes of the member that `members` is at."""
        while size_bytes:
            chunk = self._read(min(size_bytes, _CHUNK_BYTES))
            size_bytes -= len(chunk)
            yield chunk

    def pass_over(self, size_bytes: int) -> None:
        """Leave the next bytes of the member out."""
        for _ in self.take(size_bytes):
            pass

    def _read(self, size_bytes: int) -> bytes:
        assert self._member is not None
        try:
            chunk = self._member.read(size_bytes)
        except _DAMAGE as error:
            raise self._damaged(error) from error
        if not chunk:
            raise self._damaged("a file in it is cut short")
        self._out_bytes += len(chunk)
        is_bomb = self._out_bytes > FREE_EXPANDED_BYTES and self._out_bytes > MAX_RATIO * self._file_bytes
        if is_bomb or self._out_bytes > MAX_EXPANDED_BYTES:
            raise too_much(self._where, f"{self._file_bytes:,} bytes expand to more than {self._out_bytes:,}")
        return chunk

    def _damaged(self, what: object) -> UsageError:
        return UsageError(f"{self._where}: it is damaged ({what})", hint="get it again, and compare its checksum")


def _why_not(info: zipfile.ZipInfo) -> str:
    if stat.S_ISLNK(info.external_attr >> 16):
        return "symbolic link"
    if info.flag_bits & _ENCRYPTED:
        return "encrypted file"
    if info.compress_type not in _PACKINGS:
        return "file of a packing that is not understood"
    return why_not_path(info.filename)


def _directory_bytes(file: BinaryIO, file_bytes: int) -> int:
    """
    Read how large the directory says that it is; 0 where no end of it is found, which zipfile then refuses.

    The places are those that versions of zipfile look at: in the last bytes first, and right before the locator or where
    it points to. Where an end could be read in two ways, the larger counts.
    """
    file.seek(max(0, file_bytes - _END_BYTES - _MAX_COMMENT_BYTES - _LARGE_END_BYTES))
    tail = file.read()
    places = {len(tail) - _END_BYTES, tail.rfind(_END)}
    return max((_size_at(file, tail, place) for place in places if place >= 0), default=0)


def _size_at(file: BinaryIO, tail: bytes, place: int) -> int:
    """Read the size in the end record at a place, and in the large one before it; 0 where there is none."""
    if not tail.startswith(_END, place) or len(tail) < place + _END_BYTES:
        return 0
    size = int.from_bytes(tail[place + 12 : place + 16], "little")
    locator = place - _LARGE_END_LOCATOR_BYTES
    if locator < 0 or not tail.startswith(_LARGE_END_LOCATOR, locator):
        return size
    file.seek(min(int.from_bytes(tail[locator + 8 : locator + 16], "little"), file.seek(0, 2)))
    large = (tail[max(0, locator - _LARGE_END_RECORD_BYTES) : locator], file.read(_LARGE_END_RECORD_BYTES))
    return max(size if size != _IN_LARGE_END else 0, *(int.from_bytes(item[40:48], "little") for item in large))
