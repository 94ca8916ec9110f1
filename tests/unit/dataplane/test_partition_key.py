"""Which entry of the partition key table is used: the wanted partition's, the IPoIB device's, or the first full one."""

from pathlib import Path

import pytest

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane.partition import PartitionKey, find_key, read_keys
from railwright.dataplane.port import Port
from railwright.dataplane.problems import HalfFailed

IB0 = NetDevice("ib0")


def _port(*keys: int, layer: str = "InfiniBand") -> Port:
    return Port(RdmaDevice("mlx5_4"), 1, "4: ACTIVE", "5: LinkUp", layer, "", "0x7", None, (), (), keys)


def _ipoib(folder: Path, key: int) -> None:
    (folder / IB0).mkdir()
    (folder / IB0 / "pkey").write_text(f"0x{key:04x}\n")


@pytest.mark.parametrize(
    ("table", "wanted", "device_key", "index"),
    [
        ((0xFFFF,), None, None, 0),
        ((0x7FFF, 0x8001), 1, None, 1),
        ((0x0001, 0, 0x8001), 1, None, 2),
        ((0x7FFF, 0x0001), 1, None, 1),
        ((0xFFFF, 0x8001), None, 0x8001, 1),
        ((0xFFFF, 0x8001, 0x8002), 2, 0x8001, 2),
        ((0x7FFF, 0x8001), None, None, 1),
        ((0x7FFF, 0x0001), None, None, 0),
        ((0, 0xFFFF), None, None, 1),
    ],
    ids=[
        "the only one",
        "the wanted one",
        "the wanted one, where it is a full member",
        "the wanted one, though limited",
        "that of the IPoIB device",
        "the wanted one before that of the IPoIB device",
        "the first full one",
        "the first, where none is full",
        "behind an empty entry",
    ],
)
def test_the_key_that_is_meant_is_found(
    tmp_path: Path, table: tuple[int, ...], wanted: int | None, device_key: int | None, index: int
) -> None:
    if device_key is not None:
        _ipoib(tmp_path, device_key)
    assert find_key(_port(*table), IB0, wanted, tmp_path) == PartitionKey(index, table[index])


@pytest.mark.parametrize(
    ("table", "wanted", "device_key", "code", "words"),
    [
        (
            (0xFFFF, 0x8002),
            1,
            None,
            "no-pkey",
            "not in partition 0x0001, the partition that is wanted; its table: 0 0xffff, 1 0x8002",
        ),
        ((0xFFFF,), None, 0x8003, "no-pkey", "not in partition 0x0003, that of ib0"),
        ((), None, None, "pkeys-unread", "partition keys of port 1 of mlx5_4 cannot be read"),
        ((0x8000,), None, None, "no-pkey", "port 1 of mlx5_4 is in no partition"),
        ((0,), None, None, "no-pkey", "port 1 of mlx5_4 is in no partition"),
    ],
    ids=["not the wanted one", "not that of the IPoIB device", "no table", "an invalid key", "an empty table"],
)
def test_without_the_key_that_is_meant_nothing_is_tried(
    tmp_path: Path, table: tuple[int, ...], wanted: int | None, device_key: int | None, code: str, words: str
) -> None:
    if device_key is not None:
        _ipoib(tmp_path, device_key)
    with pytest.raises(HalfFailed, match=words) as failed:
        find_key(_port(*table), IB0, wanted, tmp_path)
    assert failed.value.problem.code == code


def test_ethernet_has_no_partitions(tmp_path: Path) -> None:
    assert find_key(_port(layer="Ethernet"), IB0, 1, tmp_path) is None


def test_a_table_is_read_by_index_with_its_holes(tmp_path: Path) -> None:
    (tmp_path / "pkeys").mkdir()
    for index, key in enumerate([0xFFFF, 0, 0x8001, *[0] * 9]):
        (tmp_path / "pkeys" / str(index)).write_text(f"0x{key:04x}\n")
    assert read_keys(tmp_path) == (0xFFFF, 0, 0x8001)
    assert read_keys(tmp_path / "nowhere") == ()


def test_an_empty_table_was_read_and_one_with_an_entry_that_cannot_be_was_not(tmp_path: Path) -> None:
    (tmp_path / "pkeys").mkdir()
    (tmp_path / "pkeys" / "0").write_text("0x0000\n")
    assert read_keys(tmp_path) == (0,)
    (tmp_path / "pkeys" / "1").write_text("")
    assert read_keys(tmp_path) == ()
