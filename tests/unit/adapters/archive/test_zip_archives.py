"""Zip files: what is in them is read as from a tar file, and what is wrong with one is refused or has no effect."""

import io
import random
import stat
import struct
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from railwright.adapters.archive import zip_reader
from railwright.adapters.archive.open import open_archive
from railwright.core.errors import UsageError
from railwright.core.kinds import NODE
from railwright.ports.cluster import Selection

NODE_YAML = b"apiVersion: v1\nkind: Node\nmetadata:\n  name: worker-0\n"
IMAGE = "must-gather/image/cluster-scoped-resources/core/nodes"


def a_zip(path: Path, *more: tuple[str, bytes, int], packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as made:
        for name, data, mode in ((f"{IMAGE}/worker-0.yaml", NODE_YAML, stat.S_IFREG), *more):
            info = zipfile.ZipInfo(name)
            info.external_attr = (mode | 0o644) << 16
            info.compress_type = packing
            made.writestr(info, data)
    return path


async def nodes_of(path: Path) -> list[str]:
    async with open_archive(path) as world:
        return [item["metadata"]["name"] async for item in world.cluster.list(Selection(NODE))]


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
async def test_what_is_in_a_zip_file_is_read(tmp_path: Path, packing: int) -> None:
    assert await nodes_of(a_zip(tmp_path / "a.zip", packing=packing)) == ["worker-0"]


async def test_links_rare_packings_and_paths_that_lead_out_have_no_effect(tmp_path: Path) -> None:
    path = a_zip(
        tmp_path / "a",
        (f"{IMAGE}/link.yaml", b"/etc/passwd", stat.S_IFLNK),
        ("../../cluster-scoped-resources/core/nodes/evil.yaml", NODE_YAML, stat.S_IFREG),
        ("/etc/cluster-scoped-resources/core/nodes/evil.yaml", NODE_YAML, stat.S_IFREG),
    )
    with zipfile.ZipFile(path, "a", zipfile.ZIP_LZMA) as made:
        made.writestr(f"{IMAGE}/rare.yaml", NODE_YAML)
    async with open_archive(path) as world:
        told = world.notes[-1]
    assert "2 with a path that leads out of the archive" in told
    assert "symbolic link" in told
    assert "packing that is not understood" in told
    assert await nodes_of(path) == ["worker-0"]


async def test_an_encrypted_member_is_named_and_not_opened(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a", (f"{IMAGE}/secret.yaml", NODE_YAML, stat.S_IFREG))
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    data[place + 8] |= 1
    path.write_bytes(data)
    async with open_archive(path) as world:
        assert "encrypted file" in world.notes[-1]


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_reader, "FREE_EXPANDED_BYTES", 1 << 20)
    zeros = ("must-gather/image/namespaces/a/core/pods.yaml", bytes(4 << 20), stat.S_IFREG)
    with pytest.raises(UsageError, match="expand to more than"):
        open_archive(a_zip(tmp_path / "a", zeros))


LARGE = 64 << 20


def _end(size: int) -> bytes:
    return struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, size, 0, 0)


def _large_end(size: int) -> bytes:
    return struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, size, 0)


def _locator(offset: int) -> bytes:
    return struct.pack("<4sLQL", b"PK\x06\x07", 0, offset, 1)


ENDS = {
    "a size that reads as an end": _end(0x06054B50),
    "a locator that points to a small one": _large_end(8) + _large_end(LARGE) + _locator(4) + _end(0xFFFFFFFF),
    "a locator that points nowhere": _large_end(LARGE) + _locator(1 << 63) + _end(0xFFFFFFFF),
    "a locator behind a comment": _large_end(LARGE) + _locator(0) + _end(0xFFFFFFFF)[:-2] + b"\x04\x00note",
}


@pytest.mark.parametrize("end", ENDS)
def test_no_way_of_ending_a_zip_file_hides_how_large_its_directory_is(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zip_reader.MAGIC + ENDS[end])
    with pytest.raises(UsageError, match="directory is too large"):
        open_archive(path)


def test_a_directory_that_would_fill_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = a_zip(tmp_path / "a")
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x05\x06")
    data[place + 12 : place + 16] = (64 << 20).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(UsageError, match="directory is too large"):
        open_archive(path)


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_reader, "MAX_FILES", 3)
    more = tuple((f"a/{number}", b"", stat.S_IFREG) for number in range(4))
    with pytest.raises(UsageError, match="more than 3 files"):
        open_archive(a_zip(tmp_path / "a", *more))


async def test_damage_is_refused_with_words_and_never_a_traceback(tmp_path: Path) -> None:
    whole = a_zip(tmp_path / "a").read_bytes()
    chance = random.Random(7)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        cut = data[: chance.randrange(5, len(data))] if chance.random() < 0.3 else data
        (tmp_path / "b").write_bytes(cut)
        with suppress(UsageError):
            await nodes_of(tmp_path / "b")


def test_the_reader_gives_no_more_than_a_member_says() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        made.writestr("a", b"12345")
    reader = zip_reader.ZipReader(held, "held")
    for member in reader.members():
        assert b"".join(reader.take(member.size_bytes)) == b"12345"
        with pytest.raises(UsageError, match="cut short"):
            list(reader.take(1))
