"""
Compressed files, expanded while they are read, in bounded memory; a bomb is noticed by how much comes out of it.

gzip, xz and bzip2 are understood; zstd is named, with the way to unpack it.
"""

import bz2
import io
import lzma
import zlib
from typing import BinaryIO, Protocol, cast

from railwright.adapters.archive.limits import FREE_EXPANDED_BYTES, MAX_EXPANDED_BYTES, MAX_RATIO, too_much
from railwright.core.errors import UsageError

_CHUNK_BYTES = 256 << 10
_XZ_MEMORY_BYTES = 128 << 20
"""xz -9 needs 65 MiB. Source: xz(1), -9."""
_NOT_HERE = {b"\x28\xb5\x2f\xfd": ("zstd", "zstd -d")}


class _Decompressor(Protocol):
    """What bz2 and lzma have in common."""

    @property
    def eof(self) -> bool:
        """Whether this stream is at its end."""

    @property
    def unused_data(self) -> bytes:
        """What comes after the end."""

    @property
    def needs_input(self) -> bool:
        """Whether everything that was given is used up."""

    def decompress(self, data: bytes, max_length: int = ..., /) -> bytes:
        """Expand some bytes."""


class _Gzip:
    """One gzip member, with the interface of the others."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


def _make(magic: bytes) -> _Decompressor | None:
    if magic.startswith(b"\x1f\x8b"):
        return _Gzip()
    if magic.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)
    if magic.startswith(b"BZh"):
        return bz2.BZ2Decompressor()
    return None


def expanded(file: BinaryIO, where: str) -> BinaryIO:
    """
    Give a stream of what a compressed file holds; the file itself when it is not compressed.

    Raises:
        UsageError: compressed in a way that is not understood here.
    """
    magic = file.read(6)
    file.seek(0)
    for start, (name, program) in _NOT_HERE.items():
        if magic.startswith(start):
            message = f"{where} is compressed with {name}, which is not understood"
            raise UsageError(message, hint=f"unpack it first: {program} {where}")
    if _make(magic) is None:
        return file
    return cast("BinaryIO", io.BufferedReader(_Expanded(file, magic, where), _CHUNK_BYTES))


class _Expanded(io.RawIOBase):
    """The bytes that come out; several compressed streams in one file follow each other."""

    def __init__(self, file: BinaryIO, magic: bytes, where: str) -> None:
        self._file, self._magic, self._where = file, magic, where
        self._inner = _make(magic)
        self._pending = b""
        self._in_bytes = self._out_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # BufferedReader hands a memoryview
        while self._inner is not None:
            data = self._expand(len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
        return 0

    def _expand(self, size_bytes: int) -> bytes:
        inner = self._inner
        assert inner is not None
        if inner.eof:
            self._next_stream(inner.unused_data)
            return b""
        if inner.needs_input and not self._pending:
            self._pending = self._file.read(_CHUNK_BYTES)
            self._in_bytes += len(self._pending)
        is_last = inner.needs_input and not self._pending
        data, self._pending = self._pending, b""
        try:
            out = inner.decompress(data, size_bytes)
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
            raise self._damaged(f"it is damaged ({error})") from error
        if is_last and not out and not inner.eof:
            raise self._damaged("it is cut short")
        self._check(len(out))
        return out

    def _next_stream(self, rest: bytes) -> None:
        rest = rest or self._file.read(_CHUNK_BYTES)
        more = _make(rest[:6]) if rest.strip(b"\0") else None
        self._inner, self._pending = more, rest if more is not None else b""

    def _check(self, out_bytes: int) -> None:
        self._out_bytes += out_bytes
        is_bomb = self._out_bytes > FREE_EXPANDED_BYTES and self._out_bytes > MAX_RATIO * self._in_bytes
        if is_bomb or self._out_bytes > MAX_EXPANDED_BYTES:
            raise too_much(self._where, f"{self._in_bytes:,} bytes expand to more than {self._out_bytes:,}")

    def _damaged(self, what: str) -> UsageError:
        return UsageError(f"{self._where}: {what}", hint="get it again, and compare its checksum")
