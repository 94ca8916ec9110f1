"""Which device and GID a half uses: found by its own netdev, from the kernel's own files."""

import ipaddress
from pathlib import Path

import pytest

from railwright.core.ids import NetDevice, RdmaDevice
from railwright.dataplane import rail
from railwright.dataplane.model import RailEnd
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.rail import find_rail, mtu_bytes, read_ports, verbs_mtu

EMPTY = "0000:0000:0000:0000:0000:0000:0000:0000"
LINK_LOCAL = "fe80:0000:0000:0000:ec0d:9aff:fe01:0203"
FOURS = {"net1": "10.1.0.2", "net2": "10.2.0.2"}


def _mapped(address: str) -> str:
    return ipaddress.IPv6Address(f"::ffff:{address}").exploded


def _device(
    folder: Path, name: str, gids: list[tuple[str, str, str]], *, layer: str = "Ethernet", state: str = "4: ACTIVE"
) -> None:
    port = folder / name / "ports" / "1"
    for each in ("gids", "gid_attrs/types", "gid_attrs/ndevs"):
        (port / each).mkdir(parents=True)
    files = {
        "state": state,
        "phys_state": "5: LinkUp",
        "link_layer": layer,
        "rate": "100 Gb/sec (4X EDR)",
        "lid": "0x7",
    }
    for file, text in files.items():
        (port / file).write_text(text + "\n")
    for index, (gid, kind, netdev) in enumerate(gids):
        (port / "gids" / str(index)).write_text(gid + "\n")
        if gid != EMPTY:
            (port / "gid_attrs" / "types" / str(index)).write_text(kind + "\n")
            (port / "gid_attrs" / "ndevs" / str(index)).write_text(netdev + "\n")


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[RdmaDevice, int], NetDevice]:
    """What netlink says; addresses are those of FOURS, with a link-local one in front."""
    found: dict[tuple[RdmaDevice, int], NetDevice] = {}
    monkeypatch.setattr(rail, "netdev_by_port", lambda: found)
    monkeypatch.setattr(
        rail,
        "addresses_of",
        lambda netdev: (
            (ipaddress.IPv4Address(FOURS[netdev]), ipaddress.IPv6Address(LINK_LOCAL)) if netdev in FOURS else ()
        ),
    )
    return found


Named = dict[tuple[RdmaDevice, int], NetDevice]
NET1 = RailEnd(netdev=NetDevice("net1"))


def test_the_gid_is_the_roce_v2_one_of_our_address(tmp_path: Path, named: Named) -> None:
    v4 = _mapped("10.1.0.2")
    _device(tmp_path, "mlx5_7", [(LINK_LOCAL, "RoCE v2", "net1"), (v4, "IB/RoCE v1", "net1"), (v4, "RoCE v2", "net1")])
    named[RdmaDevice("mlx5_7"), 1] = NetDevice("net1")
    found = find_rail(NET1, folder=tmp_path)
    assert found.gid is not None
    assert (found.port.device, found.gid.index, found.gid.type) == ("mlx5_7", 2, "RoCE v2")


def test_a_hole_in_the_table_does_not_hide_the_gid(tmp_path: Path, named: Named) -> None:
    _device(
        tmp_path,
        "a",
        [(LINK_LOCAL, "RoCE v2", "net1"), (EMPTY, "", ""), (EMPTY, "", ""), (_mapped("10.1.0.2"), "RoCE v2", "net1")],
    )
    named[RdmaDevice("a"), 1] = NetDevice("net1")
    found = find_rail(NET1, folder=tmp_path)
    assert found.gid is not None
    assert found.gid.index == 3


def test_the_device_whose_netdev_is_ours_wins_over_one_that_lists_our_gid(tmp_path: Path, named: Named) -> None:
    """On a parent device the child's GID is listed too, and traffic on it hangs."""
    _device(tmp_path, "a_parent", [(_mapped("10.1.0.2"), "RoCE v2", "net1")])
    _device(tmp_path, "b_child", [(_mapped("10.1.0.2"), "RoCE v2", "net1")])
    named[RdmaDevice("b_child"), 1] = NetDevice("net1")
    assert find_rail(NET1, folder=tmp_path).port.device == "b_child"


def test_a_shared_device_is_found_by_the_gid_of_our_address(tmp_path: Path) -> None:
    _device(tmp_path, "mlx5_0", [(_mapped("10.9.0.9"), "RoCE v2", "net1")])
    _device(tmp_path, "mlx5_1", [(_mapped("10.1.0.2"), "RoCE v2", "net1")])
    assert find_rail(NET1, folder=tmp_path).port.device == "mlx5_1"


def test_no_device_names_what_is_there(tmp_path: Path) -> None:
    _device(tmp_path, "mlx5_0", [])
    with pytest.raises(HalfFailed, match="mlx5_0/1") as failed:
        find_rail(NET1, folder=tmp_path)
    assert failed.value.problem.code == "no-device"


def test_a_named_device_that_is_not_here_is_no_device(tmp_path: Path) -> None:
    with pytest.raises(HalfFailed, match="here are: none") as failed:
        find_rail(RailEnd(device=RdmaDevice("mlx5_9")), folder=tmp_path)
    assert failed.value.problem.code == "no-device"


def test_an_address_without_a_gid_is_no_gid(tmp_path: Path, named: Named) -> None:
    _device(tmp_path, "a", [(LINK_LOCAL, "RoCE v2", "net1"), (_mapped("10.1.0.2"), "IB/RoCE v1", "net1")])
    named[RdmaDevice("a"), 1] = NetDevice("net1")
    with pytest.raises(HalfFailed, match=r"net1 \(10.1.0.2") as failed:
        find_rail(NET1, folder=tmp_path)
    assert failed.value.problem.code == "no-gid"


def test_a_fixed_index_is_used_as_it_is_and_an_empty_one_refused(tmp_path: Path, named: Named) -> None:
    _device(tmp_path, "a", [(LINK_LOCAL, "RoCE v2", "net1")])
    named[RdmaDevice("a"), 1] = NetDevice("net1")
    found = find_rail(RailEnd(NetDevice("net1"), gid_index=0), folder=tmp_path)
    assert found.gid is not None
    assert found.gid.gid == LINK_LOCAL
    with pytest.raises(HalfFailed, match="GID index 3 of a is empty"):
        find_rail(RailEnd(NetDevice("net1"), gid_index=3), folder=tmp_path)


def test_a_port_that_is_down_is_said_with_its_state(tmp_path: Path, named: Named) -> None:
    _device(tmp_path, "a", [], state="1: DOWN")
    named[RdmaDevice("a"), 1] = NetDevice("net1")
    with pytest.raises(HalfFailed, match="1: DOWN") as failed:
        find_rail(NET1, folder=tmp_path)
    assert failed.value.problem.code == "port-down"


def test_infiniband_needs_no_gid(tmp_path: Path) -> None:
    _device(tmp_path, "mlx5_0", [(LINK_LOCAL, "IB", "")], layer="InfiniBand")
    keys = tmp_path / "mlx5_0" / "ports" / "1" / "pkeys"
    keys.mkdir()
    for index, key in enumerate(("0x7fff", "0x8001")):
        (keys / str(index)).write_text(f"{key}\n")
    found = find_rail(RailEnd(device=RdmaDevice("mlx5_0")), 1, folder=tmp_path)
    assert (found.gid, found.port.link_layer, str(found.key)) == (None, "InfiniBand", "0x8001")
    with pytest.raises(HalfFailed, match="not in partition 0x0002"):
        find_rail(RailEnd(device=RdmaDevice("mlx5_0")), 2, folder=tmp_path)


def _ipoib(folder: Path, name: str, address: str, pkey: str = "0xffff") -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "address").write_text(f"{address}\n")
    (folder / name / "pkey").write_text(f"{pkey}\n")


QUEUE_PAIR = "00:00:10:29:"
PREFIX, OTHER_PREFIX = "fe:80:00:00:00:00:00:00:", "fe:c0:00:00:00:00:00:01:"


@pytest.mark.parametrize(
    ("address", "device"),
    [
        (f"{QUEUE_PAIR}{PREFIX}ec:0d:9a:ff:fe:01:02:03", "mlx5_1"),
        (f"00:00:11:07:{PREFIX}ec:0d:9a:ff:fe:01:02:03", "mlx5_1"),
        (f"{QUEUE_PAIR}{OTHER_PREFIX}ec:0d:9a:ff:fe:01:02:03", "mlx5_1"),
        (f"{QUEUE_PAIR}{PREFIX}ec:0d:9a:ff:fe:01:02:04", "mlx5_0"),
        (f"{QUEUE_PAIR}{PREFIX}ec:0d:9a:ff:fe:01:02:05", ""),
        (f"{QUEUE_PAIR}{PREFIX}00:00:00:00:00:00:00:00", ""),
        ("ec:0d:9a:01:02:03", ""),
        ("", ""),
    ],
    ids=["its-own", "a-child's", "another-prefix", "the-other-port's", "nobody's", "no-guid", "ethernet", "no-address"],
)
def test_on_infiniband_the_port_is_the_one_whose_guid_the_netdev_has(tmp_path: Path, address: str, device: str) -> None:
    """Nothing else tells it there: netlink names no IPoIB device, and GIDs are made of no IP address."""
    for name, last in (("mlx5_0", "0204"), ("mlx5_1", "0203")):
        _device(tmp_path / "rdma", name, [(f"{LINK_LOCAL[:-4]}{last}", "IB", "")], layer="InfiniBand")
        (tmp_path / "rdma" / name / "ports" / "1" / "pkeys").mkdir()
        (tmp_path / "rdma" / name / "ports" / "1" / "pkeys" / "0").write_text("0xffff\n")
    _device(tmp_path / "rdma", "mlx5_2", [(EMPTY, "", "")], layer="InfiniBand")
    _ipoib(tmp_path / "net", "net1", address)
    seen = [port.device for port in read_ports(tmp_path / "rdma", tmp_path / "net") if "net1" in port.netdevs]
    assert seen == ([device] if device else [])
    if device:
        assert find_rail(NET1, folder=tmp_path / "rdma", netdevs=tmp_path / "net").port.device == device


def test_a_place_without_rdma_has_no_ports(tmp_path: Path) -> None:
    assert read_ports(tmp_path / "none") == ()


@pytest.mark.parametrize(("size", "mtu"), [(256, 1), (1023, 2), (1024, 3), (4096, 5), (9000, 5)])
def test_path_mtu_is_the_largest_that_fits(size: int, mtu: int) -> None:
    assert verbs_mtu(size) == mtu
    assert mtu_bytes(mtu) <= size


def test_a_path_mtu_below_the_smallest_is_refused() -> None:
    with pytest.raises(HalfFailed, match="below 256"):
        verbs_mtu(255)
