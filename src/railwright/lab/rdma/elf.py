"""Which shared libraries a program of 64-bit Linux wants, read from the file itself."""

import struct
from pathlib import Path

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB = 1, 5


def needed_libraries(file: Path) -> tuple[str, ...]:
    """Give the names in the NEEDED entries of a little-endian ELF file; empty for anything else."""
    data = file.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return ()
    (table,) = struct.unpack_from("<Q", data, 32)
    entry_bytes, entries = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQQ", data, table + index * entry_bytes) for index in range(entries)]
    dynamic = next((segment for segment in segments if segment[0] == _PT_DYNAMIC), None)
    if dynamic is None:
        return ()
    _, _, offset, _, _, size, _ = dynamic
    tags = [struct.unpack_from("<QQ", data, offset + step) for step in range(0, size, 16)]
    names_at = _file_offset(segments, next(value for tag, value in tags if tag == _DT_STRTAB))
    return tuple(_text(data, names_at + value) for tag, value in tags if tag == _DT_NEEDED)


def _file_offset(segments: list[tuple[int, ...]], address: int) -> int:
    for kind, _, offset, start, _, size, _ in segments:
        if kind == _PT_LOAD and start <= address < start + size:
            return offset + address - start
    raise ValueError(f"address {address:#x} is in no segment of the file")


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()
