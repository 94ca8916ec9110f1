"""A log that somebody gives, from a file or stdin -> its text; what is no text is refused, with the way to make it one."""

import codecs
import re
import shlex
import sys
from pathlib import Path
from typing import BinaryIO

from railwright import api

LIMIT_BYTES = 64 * 1024 * 1024 + 1
"""One more than the doctor reads, so that it sees, and says, that the beginning is not there."""
MOST_UNREADABLE = 0.1
"""Of all characters. Logs hold some; of random or compressed bytes it is more than half."""
_CHUNK_BYTES = 8 * 1024 * 1024
_HEAD_BYTES = 512
_GIVE_A_LOG = "--log FILE, or --log - for stdin"
_PACKED = (
    (0, b"\x1f\x8b", "gzip", "gzip -dc"),
    (0, b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (0, b"\xfd7zXZ\x00", "xz", "xz -dc"),
    (0, b"BZh", "bzip2", "bzip2 -dc"),
    (0, b"PK\x03\x04", "zip", "unzip -p"),
    (257, b"ustar", "tar", "tar -xOf"),
)
"""Where a file says what it is. Source: file-format specifications RFC 1952, RFC 8878, xz 1.2.1, POSIX pax."""
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_NEVER_WRITTEN = bytes({*range(0x20), 0x7F} - set(b"\x07\x08\t\n\x0b\x0c\r\x1b")).decode()
"""Control characters that no program writes into a log; bells, progress bars and colours are left out."""
_HOLE = re.compile("\0{64,}")
"""A file that was emptied while its writer went on, or a machine that stopped, leaves NULs where text was."""


def read_log(log: Path) -> str:
    """
    Read the end of a log; "-" is stdin.

    Raises:
        UsageError: it cannot be read, or is no text.
    """
    if str(log) == "-":
        return _text_of(*_ends_of(sys.stdin.buffer), None)
    if log.is_char_device() or log.is_block_device():
        raise api.UsageError(f"{log} is a device, not a file with a log", hint=_GIVE_A_LOG)
    try:
        with log.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            size_bytes = file.seek(0, 2)
            file.seek(max(0, size_bytes - LIMIT_BYTES) // 2 * 2)
            return _text_of(head, _ends_of(file)[1], log)
    except OSError as error:
        raise api.UsageError(f"cannot read {log}: {error.strerror}", hint=_GIVE_A_LOG) from error


def _ends_of(stream: BinaryIO) -> tuple[bytes, bytes]:
    """Keep the beginning and the end of a stream, however long it is; what is left out before the end is an even number of bytes."""
    head = kept = b""
    while chunk := stream.read(_CHUNK_BYTES):
        kept += chunk
        head = head or kept[:_HEAD_BYTES]
        kept = kept[max(0, len(kept) - LIMIT_BYTES) // 2 * 2 :]
    return head, kept


def _text_of(head: bytes, content: bytes, log: Path | None) -> str:
    """Decode; `content` may begin later than `head`. Raises UsageError for what is no text."""
    name, place = (str(log), shlex.quote(str(log))) if log else ("stdin", "FILE")
    for offset, magic, what, command in _PACKED:
        if head.startswith(magic, offset):
            hint = f"{command} {place} | railwright doctor --log -"
            raise api.UsageError(
                f"{name} is {what}, not text", hint=f"{hint}; an archive of a cluster: --cluster bundle:FILE"
            )
    text = content.decode(_UTF_16.get(head[:2], "utf-8"), errors="replace").removeprefix("\ufeff")
    read = _HOLE.sub("", text)
    unreadable = sum(map(read.count, _NEVER_WRITTEN)) + read.count("\ufffd")
    if unreadable > MOST_UNREADABLE * len(read):
        share = f"{round(100 * unreadable / len(read))} % of it are control characters or no characters of UTF-8"
        begins = f"it begins with the bytes {head[:8].hex(' ')}"
        hint = "give the log as text; text of another encoding: iconv -t utf-8"
        raise api.UsageError(f"{name} is no text: {share}; {begins}", hint=hint)
    return text
