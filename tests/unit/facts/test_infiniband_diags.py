"""`ibstat` and `smpquery pkeys`, as ibsim-utils and infiniband-diags of Debian 12 printed them on 2026-11-30."""

import pytest

from railwright.facts.sources.infiniband_diags import parse_ibstat, parse_pkey_table

IBSTAT = """CA 'ibsim0'
	CA type: simulator
	Number of ports: 1
	Firmware version: 1
	Hardware version: a1
	Node GUID: 0x0000000000100006
	System image GUID: 0x0000000000100006
	Port 1:
		State: {state}
		Physical state: LinkUp
		Rate: 10
		Base lid: {lid}
		LMC: 0
		SM lid: {sm_lid}
		Capability mask: 0x0050c048
		Port GUID: 0x0000000000100007
		Link layer: IB
"""
_ROW = "  {}: 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
PKEYS = (
    "   0: 0xffff 0x8001 0x0000 0x0000 0x0000 0x0000 0x0000 0x0000\n"
    + "".join(_ROW.format(f"{start:2}") for start in range(8, 64, 8))
    + "64 pkeys capacity for this port\n"
)


def test_a_port_of_a_subnet_that_is_up() -> None:
    (port,) = parse_ibstat(IBSTAT.format(state="Active", lid=6, sm_lid=1))
    assert (port.device, port.port, port.state, port.physical_state) == ("ibsim0", 1, "ACTIVE", "LinkUp")
    assert (port.lid, port.sm_lid, port.guid) == (6, 1, "0x0000000000100007")


def test_before_the_subnet_is_up_a_port_has_no_lid() -> None:
    (port,) = parse_ibstat(IBSTAT.format(state="Initializing", lid=0, sm_lid=0))
    assert (port.state, port.lid, port.sm_lid) == ("INITIALIZING", None, None)


def test_several_devices_and_ports_are_kept_apart() -> None:
    text = IBSTAT.format(state="Active", lid=6, sm_lid=1)
    second = text.replace("ibsim0", "mlx5_1").replace("Port 1:", "Port 2:")
    assert [(port.device, port.port) for port in parse_ibstat(text + second)] == [("ibsim0", 1), ("mlx5_1", 2)]


@pytest.mark.parametrize("text", ["", "ibwarn: [1] sim_connect: attached\n", IBSTAT[: IBSTAT.index("State")]])
def test_a_text_without_a_state_has_no_port(text: str) -> None:
    assert parse_ibstat(text) == ()


def test_keys_that_are_set_are_read_with_their_membership() -> None:
    assert parse_pkey_table("ibwarn: [1] sim_connect: attached\n" + PKEYS) == (0xFFFF, 0x8001)


@pytest.mark.parametrize("text", ["", PKEYS[:90], PKEYS[: PKEYS.index("64 pkeys")], "ibwarn: timed out\n"])
def test_a_table_that_was_cut_short_is_not_known(text: str) -> None:
    assert parse_pkey_table(text) is None
