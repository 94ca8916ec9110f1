"""Pseudonyms keep the relations that a diagnosis needs, and nothing else."""

import ipaddress
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railwright.core.pseudonyms import Pseudonyms
from railwright.core.redactor import Redactor

NAMES = Pseudonyms(b"k" * 32)
REDACTOR = Redactor(b"k" * 32)
V4 = st.integers(0, 2**32 - 1)
V6 = st.integers(0, 2**128 - 1)


def shared(one: int, other: int, bits: int) -> int:
    """How many leading bits two addresses share."""
    return bits - (one ^ other).bit_length()


@given(V4, V4)
def test_addresses_share_as_long_a_prefix_as_before(one: int, other: int) -> None:
    assert shared(NAMES.four(one), NAMES.four(other), 32) == shared(one, other, 32)


@given(V6, st.integers(1, 128))
def test_an_ipv6_address_stays_in_its_network(one: int, length: int) -> None:
    other = one ^ (1 << (128 - length))
    if (one >> 24) & 0xFFFF != 0xFFFE and (other >> 24) & 0xFFFF != 0xFFFE:
        assert shared(NAMES.six(one), NAMES.six(other), 128) >= min(shared(one, other, 128), 64)


@given(V4)
def test_a_public_address_becomes_another_public_one(value: int) -> None:
    address, new = ipaddress.IPv4Address(value), ipaddress.IPv4Address(NAMES.four(value))
    assert new.is_global == address.is_global or not new.is_private


@pytest.mark.parametrize(
    "address",
    ["10.1.2.3", "172.31.0.1", "192.168.9.9", "100.64.0.1", "169.254.1.1", "0.0.0.0", "255.255.255.0", "224.0.0.1"],
)
def test_a_special_address_stays(address: str) -> None:
    assert NAMES.address(address) == address


@given(V4)
def test_nothing_gets_into_a_special_block(value: int) -> None:
    special = [ipaddress.ip_network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
    address, new = ipaddress.IPv4Address(value), ipaddress.IPv4Address(NAMES.four(value))
    assert [address in net for net in special] == [new in net for net in special]


def test_another_key_makes_other_pseudonyms() -> None:
    assert NAMES.address("8.8.8.8") != "8.8.8.8"
    assert {Pseudonyms(bytes([n]) * 32).address("8.8.8.8") for n in range(8)} != {NAMES.address("8.8.8.8")}


@given(st.integers(0, 2**24 - 1), st.integers(0, 2**24 - 1))
def test_no_two_hardware_addresses_meet(one: int, other: int) -> None:
    assert (NAMES.last_bytes(one) == NAMES.last_bytes(other)) == (one == other)


def test_the_names_of_one_port_still_belong_together() -> None:
    text = REDACTOR.text(
        "b8:3f:d2:c9:c0:de b83f:d203:00c9:c0de 0xb83fd20300c9c0de fe80::ba3f:d2ff:fec9:c0de "
        "80:00:01:07:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:c9:c0:de fe80:0000:0000:0000:b83f:d203:00c9:c0de"
    )
    assert "c9" not in text
    ends = {re.sub("[^0-9a-f]", "", word)[-6:] for word in text.split()}
    assert len(ends) == 1
    assert text.startswith("b8:3f:d2:"), "the vendor stays"


def test_a_network_and_the_addresses_in_it_stay_together() -> None:
    text = REDACTOR.text("8.8.8.0/24 8.8.8.7 8.8.8.7/24 8.8.8.1-8.8.8.9")
    network, *rest = re.split("[ -]", text)
    assert "8.8.8" not in text
    assert all(ipaddress.ip_interface(item).ip in ipaddress.ip_network(network) for item in rest)


@pytest.mark.parametrize(
    "text",
    [
        "0000:17:00.0 and pci0000:16/0000:16:01.0",
        "2026-11-30T10:05:44Z",
        "driver 24.10-1.1.4.0",
        "version: 1.14.46.0",
        "firmware 28.43.2026",
        "fe80::1 ::1 :: ff02::1",
        "00:00:00:00:00:00 ff:ff:ff:ff:ff:ff",
        "nvidia 14299136 - - Live 0xffffffffc0400000 (O)",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "1.2.3.4.5",
    ],
)
def test_what_identifies_nobody_stays(text: str) -> None:
    assert REDACTOR.text(text) == text


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("::ffff:8.8.8.8", "8.8.8.8"),
        ("[2a00:1450:4001:81b::200e]:6443", "2a00:1450"),
        ("https://8.8.8.8:6443/api", "8.8.8.8"),
        ("board_serial\tMT2245X01234", "MT2245X01234"),
        ("Serial Number: MT2245X01234, next", "MT2245X01234"),
        ("nicdevice worker-0-101d-mt2245xz01234 ready", "mt2245xz01234"),
        ("GPU-1b2c3d4e-1111-2222-3333-444455556666", "1b2c3d4e"),
        ("Ca : H-b83fd20300c9c0de 1", "c9c0de"),
        ("Device Serial Number b8-3f-d2-ff-ff-c9-c0-de", "c9-c0-de"),
    ],
)
def test_what_identifies_is_gone(text: str, gone: str) -> None:
    assert gone in text
    assert gone not in REDACTOR.text(text)


def test_keys_and_values_of_objects_are_redacted_alike() -> None:
    clean = REDACTOR.value(
        {'k:{"ip":"8.8.8.8"}': {}, "podIP": "8.8.8.8", "systemUUID": "4C4C4544-0051-3510-8051-B8C04F4D"}
    )
    assert f'k:{{"ip":"{clean["podIP"]}"}}' in clean
    assert "4c4c4544" not in str(clean).lower()


def test_a_nic_is_called_by_one_pseudonym_in_its_name_its_status_and_a_selector() -> None:
    clean = REDACTOR.value(
        {
            "metadata": {"name": "worker-0-101d-mt2245x01234"},
            "status": {"serialNumber": "MT2245X01234", "psid": "MT_0000000838"},
            "spec": {"nicSelector": {"serialNumbers": ["MT2245X01234", "other"]}},
        }
    )
    pseudonym = clean["status"]["serialNumber"]
    assert clean["metadata"]["name"] == f"worker-0-101d-{pseudonym}"
    first, second = clean["spec"]["nicSelector"]["serialNumbers"]
    assert (first, second.startswith("serial-"), clean["status"]["psid"]) == (pseudonym, True, "MT_0000000838")


def test_the_form_of_a_uuid_stays() -> None:
    assert re.fullmatch(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", NAMES.serial("4C4C4544-0051-3510-8051-B8C04F4D4D32")
    )


def test_routes_that_the_kernel_writes_in_hex_are_redacted_like_addresses() -> None:
    record = (
        "=== railwright route4\n"
        "eth0\t08080808\t00000000\t0001\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n"
        "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        "=== railwright route6\n"
        "2a001450400100000000000000000000 30 00000000000000000000000000000000 00 "
        "2a0014504001081b000000000000200e 00000100 00000001 00000000 00000001     eth0\n"
        "=== railwright addr\n2: eth0    inet 8.8.8.8/24 scope global eth0\n"
    )
    lines = REDACTOR.node_record(record).splitlines()
    fields = lines[1].split("\t")
    own = re.search(r"inet ([\d.]+)/24", lines[6])
    assert own
    assert ipaddress.IPv4Address(bytes.fromhex(fields[1])[::-1]) == ipaddress.IPv4Address(own[1])
    assert lines[2].split("\t")[1:3] == ["00000000", "010200C0"], "192.0.2.1 is an address for documentation"
    target, hop = (int(lines[4].split()[at], 16) for at in (0, 4))
    assert target & (1 << 80) - 1 == 0
    assert target >> 80 == hop >> 80 != 0x2A0014504001
    assert lines[4].endswith("     eth0")


@given(st.text(max_size=300))
def test_any_text_can_be_redacted(text: str) -> None:
    REDACTOR.text(text)
    REDACTOR.node_record(f"=== railwright route6\n{text}\n=== railwright route4\n{text}")


@given(st.text("0123456789abcdef:.-/ ", max_size=200))
def test_redacting_twice_under_one_key_finds_nothing_new_to_break(text: str) -> None:
    assert len(REDACTOR.text(REDACTOR.text(text)).split()) == len(text.split())
