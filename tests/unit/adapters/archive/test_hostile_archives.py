"""Whoever made an archive may mean harm: it is refused with words, or what is wrong with it has no effect."""

import gzip
import io
import lzma
import os
import random
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from railwright.adapters.archive import limits, tar_reader, tree, yaml_text
from railwright.adapters.archive.objects import from_json
from railwright.adapters.archive.open import open_archive
from railwright.adapters.archive.tree import open_tree, read_whole
from railwright.adapters.archive.yaml_text import from_yaml, values
from railwright.core.errors import NotCollected, UsageError
from railwright.core.kinds import CLUSTER_POLICY, NODE
from railwright.ports.cluster import Selection

NODE_YAML = b"apiVersion: v1\nkind: Node\nmetadata:\n  name: worker-0\n"
NODE_PATH = "must-gather/image/cluster-scoped-resources/core/nodes/worker-0.yaml"
SECRET = "not to be seen"


def everything(_path: str, size_bytes: int) -> int:
    return size_bytes


def a_tar(path: Path, fill: Callable[[tarfile.TarFile], None], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as tar:  # type: ignore[call-overload]  # one of tarfile's own modes
        fill(tar)
    return path


def add(tar: tarfile.TarFile, name: str, data: bytes = b"", **fields: object) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    tar.addfile(info, io.BytesIO(data))


def hostile(tar: tarfile.TarFile) -> None:
    """Everything that a tar file should not have, around one node."""
    for name in ("../../escape/namespaces/x/core/pods.yaml", "/etc/cluster-scoped-resources/core/nodes/evil.yaml"):
        add(tar, name, NODE_YAML)
    image = "must-gather/image/cluster-scoped-resources/core/nodes"
    add(tar, f"{image}/link.yaml", type=tarfile.SYMTYPE, linkname="/etc/passwd")
    add(tar, f"{image}/hard.yaml", type=tarfile.LNKTYPE, linkname="/etc/passwd")
    add(tar, f"{image}/fifo.yaml", type=tarfile.FIFOTYPE)
    add(tar, f"{image}/device.yaml", type=tarfile.CHRTYPE, devmajor=1, devminor=5)
    add(tar, f"{image}/caf\udce9.yaml", b"\xff\xfe{{{")
    add(tar, NODE_PATH, NODE_YAML)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
async def test_links_devices_and_paths_that_lead_out_have_no_effect(tmp_path: Path, mode: str) -> None:
    async with open_archive(a_tar(tmp_path / "a", hostile, mode)) as world:
        nodes = aiter(world.cluster.list(Selection(NODE)))
        assert (await anext(nodes))["metadata"]["name"] == "worker-0"
        with pytest.raises(UsageError, match=r"no YAML|is no Node"):
            await anext(nodes)
    told = world.notes[-1]
    assert "2 with a path that leads out of the archive" in told
    assert all(word in told for word in ("symbolic link", "hard link", "FIFO", "device"))
    assert os.listdir(tmp_path) == ["a"]  # noqa: PTH208 - one folder, in a test


async def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    folder = tmp_path / "image" / "cluster-scoped-resources" / "core" / "nodes"
    folder.mkdir(parents=True)
    (folder / "worker-0.yaml").write_bytes(NODE_YAML)
    (folder / "link.yaml").symlink_to(tmp_path / "secret")
    (folder / "loop").symlink_to(tmp_path)
    os.mkfifo(folder / "fifo.yaml")
    async with open_archive(tmp_path) as world:
        assert [node["metadata"]["name"] async for node in world.cluster.list(Selection(NODE))] == ["worker-0"]
    assert "2 symbolic links" in world.notes[-1]
    assert "1 device or FIFO" in world.notes[-1]


async def test_a_file_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(NODE_YAML)
    opened = open_tree(tmp_path, everything)
    (tmp_path / "a.yaml").unlink()
    (tmp_path / "a.yaml").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="cannot be read"):
        read_whole(opened, "a.yaml", 1 << 20)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_an_empty_file_is_there_in_a_plain_tar_file_too(tmp_path: Path, mode: str) -> None:
    """Whoever unpacked an archive of ours by one step has a list of no objects still."""
    opened = open_tree(
        a_tar(tmp_path / "a", lambda tar: add(tar, "empty.jsonl"), mode), lambda _, size_bytes: size_bytes
    )
    sizes = dict(opened.sizes)
    opened.close()
    assert sizes == {"empty.jsonl": 0}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x28\xb5\x2f\xfd" + bytes(600), "zstd"),
        (b"PK\x03\x04" + bytes(600), "damaged"),
        (gzip.compress(b"no tar file at all" * 100), "no tar file"),
        (gzip.compress(bytes(600))[:-12], "cut short"),
        (b"\x1f\x8b" + b"\xff" * 600, "damaged"),
        (b"just some text", "nothing in it is known"),
        (b"", "nothing in it is known"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_archive_is_refused_with_words(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(UsageError, match=words) as refused:
        open_archive(tmp_path / "a")
    assert refused.value.hint


@pytest.mark.parametrize("path", ["absent", "fifo"])
def test_what_is_no_file_is_refused(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UsageError):
        open_archive(tmp_path / path)


def test_a_bomb_is_noticed_by_what_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("railwright.adapters.archive.compressed.FREE_EXPANDED_BYTES", 1 << 20)
    path = a_tar(tmp_path / "a", lambda tar: add(tar, "zeros.yaml", bytes(64 << 20)))
    with pytest.raises(UsageError, match="expand to more than"):
        open_archive(path)


def test_an_xz_that_wants_much_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("railwright.adapters.archive.compressed._XZ_MEMORY_BYTES", 1 << 20)
    (tmp_path / "a").write_bytes(lzma.compress(random.Random(1).randbytes(1 << 16), preset=9))
    with pytest.raises(UsageError, match=r"[Mm]emory"):
        open_archive(tmp_path / "a")


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setattr(tar_reader, "MAX_FILES", 50)
    path = a_tar(tmp_path / "a", lambda tar: [add(tar, f"f{n}") for n in range(60)] and None, mode)
    with pytest.raises(UsageError, match="more than 50 files"):
        open_archive(path)


def test_too_many_files_in_a_folder_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_FILES", 5)
    for number in range(6):
        (tmp_path / f"f{number}").touch()
    with pytest.raises(UsageError, match="more than 5 files"):
        open_archive(tmp_path)


def test_what_matters_may_not_be_more_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_KEPT_BYTES", 100)
    path = a_tar(tmp_path / "a", lambda tar: add(tar, "a.yaml", b"x" * 200))
    with pytest.raises(UsageError, match="what matters of it"):
        open_archive(path)


def header(name: bytes, size: bytes, kind: bytes) -> bytes:
    """A tar header by hand."""
    block = bytearray(name.ljust(100, b"\0") + b"0000644\0" * 3 + size.rjust(11, b"0") + b"\0" + b"0" * 11 + b"\0")
    block += b" " * 8 + kind + bytes(100) + b"ustar\x0000"
    block = bytearray(block.ljust(512, b"\0"))
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


@pytest.mark.parametrize("kind", [b"L", b"x", b"g", b"K"])
def test_an_extended_header_that_claims_gigabytes_is_not_read(tmp_path: Path, kind: bytes) -> None:
    (tmp_path / "a").write_bytes(header(b"long", b"77777777777", kind))
    with pytest.raises(UsageError, match="extended header"):
        open_archive(tmp_path / "a")


@pytest.mark.parametrize("size", [b"77777777777", b"00000001000"])
def test_a_file_that_claims_more_than_there_is_is_damage(tmp_path: Path, size: bytes) -> None:
    (tmp_path / "a").write_bytes(header(b"a.yaml", size, b"0") + bytes(100))
    with pytest.raises(UsageError, match="cut short"):
        open_archive(tmp_path / "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[" * 5000, "nested more than|increasing flow level"),
        (b"{a: " * 5000, "nested more than"),
        (b"\n".join(b" " * n + b"a:" for n in range(5000)), "nested more than"),
        (b"a: &x [1]\nb: *x\n", "alias"),
        (b"&a [*a]", "alias"),
        (b"a: [", "no YAML"),
        (b"a: \xff\xfe", "no YAML"),
        (b"a: !!python/object/apply:os.system [id]\n  b", "no YAML"),
    ],
)
def test_yaml_that_means_harm_is_refused(text: bytes, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        from_yaml(text, "here")


def test_a_yaml_tag_makes_nothing_but_a_value() -> None:
    assert from_yaml(b"a: !!python/object/apply:os.system [id]", "here") == {"a": ["id"]}


def test_an_object_with_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_VALUES", 100)
    with pytest.raises(UsageError, match="more than 100 values"):
        from_yaml(b"- a\n" * 200, "here")


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 200 + b"1" + b"}" * 200])
def test_json_that_is_nested_too_deep_is_refused(text: bytes) -> None:
    with pytest.raises(UsageError):
        from_json(text, "here")


def test_one_object_may_not_be_larger_than_etcd_would_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_OBJECT_BYTES", 1000)
    (tmp_path / "a.yaml").write_text("items:\n- a: 1\n  b: >\n" + "    text\n" * 1000)
    with pytest.raises(UsageError, match="one object has more than"):
        list(values(open_tree(tmp_path, everything), "a.yaml"))


async def test_a_broken_list_is_an_error_and_never_an_empty_one(tmp_path: Path) -> None:
    folder = tmp_path / "cluster-scoped-resources" / "nvidia.com"
    folder.mkdir(parents=True)
    (folder / "clusterpolicies.yaml").write_text("items:\n- a: [\n")
    async with open_archive(tmp_path) as world:
        with pytest.raises(UsageError, match="no YAML"):
            [obj async for obj in world.cluster.list(Selection(CLUSTER_POLICY))]
        with pytest.raises(NotCollected):
            [obj async for obj in world.cluster.list(Selection(NODE))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apiVersion: v1\nitems: []\nkind: PodList\n", []),
        ("apiVersion: v1\nitems:\n- a: 1\n- b: 2\nkind: PodList\nmetadata: {}\n", [{"a": 1}, {"b": 2}]),
        ("---\napiVersion: v1\nitems:\n  - a: |\n      x\n  - b:\n    - c\n", [{"a": "x\n"}, {"b": ["c"]}]),
        ("apiVersion: v1\nmetadata:\n  items:\n  - a\n", [{"apiVersion": "v1", "metadata": {"items": ["a"]}}]),
        ("---\na: 1\n---\nitems:\n- b: 2\nkind: List\n---\nc: 3\n", [{"a": 1}, {"b": 2}, {"c": 3}]),
        ('{"kind": "List", "items": [{"a": 1}]}', [{"a": 1}]),
        ("", []),
    ],
)
def test_a_list_is_cut_into_its_items(tmp_path: Path, text: str, expected: list[object]) -> None:
    (tmp_path / "a.yaml").write_text(text)
    assert list(values(open_tree(tmp_path, everything), "a.yaml")) == expected


async def test_something_else_in_a_list_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "cluster-scoped-resources" / "core" / "nodes"
    folder.mkdir(parents=True)
    (folder / "a.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    (folder / "worker-0.yaml").write_bytes(NODE_YAML)
    async with open_archive(tmp_path) as world:
        nodes = aiter(world.cluster.list(Selection(NODE)))
        assert (await anext(nodes))["metadata"]["name"] == "worker-0"
        with pytest.raises(UsageError, match="no Node of v1"):
            await anext(nodes)


def test_limits_are_wide_enough_for_what_is_real() -> None:
    assert limits.MAX_OBJECT_BYTES > 4 * (1536 << 10), "etcd's limit, and room for YAML's blanks"
    assert limits.MAX_RECORD_BYTES >= 8 << 20


GOOD = io.BytesIO()
with tarfile.open(fileobj=GOOD, mode="w") as _tar:
    add(_tar, NODE_PATH, NODE_YAML)
    add(_tar, "must-gather/" + "long/" * 40 + "name.yaml", NODE_YAML)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(GOOD.getvalue()) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_changed_tar_file_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    data = bytearray(GOOD.getvalue())
    for place, byte in changes:
        data[place] = byte
    with suppress(UsageError):
        for member in tar_reader.TarReader(io.BytesIO(bytes(data)), "here").members():
            assert member.left_aside or ".." not in member.path.split("/")


@settings(max_examples=300, deadline=None)
@given(st.text("abc:-[]{}&*!|>'\"#%@\n \t0159.,?", max_size=200))
def test_any_yaml_is_read_or_refused(text: str) -> None:
    with suppress(UsageError):
        from_yaml(text.encode(), "here")
