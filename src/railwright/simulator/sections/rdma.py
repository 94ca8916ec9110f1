"""RDMA devices of a simulated node: ports, GIDs, partition keys, counters, as the node script prints them."""

from collections.abc import Iterator

from railwright.simulator.addresses import NO_GUID, guid, link_local, mapped, quads, vf_guid
from railwright.simulator.hardware import Machine, Nic
from railwright.simulator.running import Running

_GENERATIONS = {100: "4X EDR", 200: "4X HDR", 400: "4X NDR", 800: "4X XDR"}
_NUMBERS = {"DOWN": "1: DOWN", "INIT": "2: INIT", "ARMED": "3: ARMED", "ACTIVE": "4: ACTIVE"}
_NO_LID = 0xFFFF


def with_rdma(machine: Machine) -> Iterator[Nic]:
    """Give the NICs that have an RDMA device."""
    return (nic for nic in machine.nics if nic.rdma)


def infiniband(machine: Machine, running: Running) -> list[str]:
    """Print the `infiniband` section."""
    lines = []
    cards: dict[str, str] = {}
    for nic in with_rdma(machine):
        card = cards.setdefault((nic.same_card_as or nic.pci).rpartition(".")[0], guid(nic))
        lines.append(_port(nic, card))
        lines += [
            _vf_port(nic, card, number, str(vf["pciAddress"])) for number, vf in enumerate(running.vfs.get(nic.pci, ()))
        ]
    return lines


def _state(nic: Nic) -> str:
    if nic.state:
        return nic.state
    waiting = nic.is_ib and not nic.sm_lid
    return "DOWN" if not nic.carrier else "INIT" if waiting else "ACTIVE"


def _row(nic: Nic, name: str, pci: str, **fields: str) -> str:
    return "\t".join(
        [
            name,
            "1",
            f"pci={pci}",
            f"link_layer={nic.link_layer}",
            *(f"{key}={value}" for key, value in fields.items()),
            f"fw_ver={nic.firmware}",
            f"board_id={nic.psid}",
        ]
    )


def _rate(nic: Nic) -> str:
    return f"{nic.rate_gbps} Gb/sec ({_GENERATIONS.get(nic.rate_gbps, '4X EDR')})"


def _port(nic: Nic, card: str) -> str:
    is_managed = nic.is_ib and bool(nic.sm_lid)
    return _row(
        nic,
        nic.rdma,
        nic.pci,
        state=_NUMBERS[_state(nic)],
        phys_state="5: LinkUp" if nic.carrier else "3: Disabled",
        rate=_rate(nic),
        node_guid=guid(nic),
        sys_image_guid=card,
        lid=f"0x{nic.lid if is_managed else 0:x}",
        sm_lid=f"0x{nic.sm_lid if nic.is_ib else 0:x}",
    )


def _vf_port(nic: Nic, card: str, number: int, pci: str) -> str:
    """Print a virtual function: on Ethernet nobody has raised its netdev yet; on InfiniBand it has what the port has."""
    bytes_of = vf_guid(nic, number)
    lid = nic.lid if nic.vf_lid is None else nic.vf_lid
    is_up = nic.is_ib and bytes_of != NO_GUID and lid != _NO_LID and nic.vf_link_state != "disable"
    return _row(
        nic,
        f"{nic.rdma}v{number}",
        pci,
        state=_NUMBERS[_state(nic) if is_up else "DOWN"],
        phys_state="5: LinkUp" if nic.is_ib and nic.carrier else "3: Disabled",
        rate=_rate(nic),
        node_guid=quads(bytes_of),
        sys_image_guid=card,
        lid=f"0x{lid if nic.is_ib and nic.sm_lid else 0:x}",
        sm_lid=f"0x{nic.sm_lid if nic.is_ib else 0:x}",
    )


def gids(machine: Machine) -> list[str]:
    """Print the `gids` section."""
    lines = []
    for nic in with_rdma(machine):
        if nic.is_ib:
            lines.append(f"{nic.rdma}\t1\t0\tIB/RoCE v1\t\tfe80:0000:0000:0000:{guid(nic)}")
            continue
        index = 0
        local = (link_local(nic.mac),) if nic.link_local else ()
        for gid in (*local, *(mapped(address) for address in nic.ips)):
            for kind in ("IB/RoCE v1", "RoCE v2"):
                lines.append(f"{nic.rdma}\t1\t{index}\t{kind}\t{nic.netdev}\t{gid}")
                index += 1
    return lines


def pkeys(machine: Machine) -> list[str]:
    """Print the `pkeys` section."""
    return [f"{nic.rdma}\t1\t{','.join(f'0x{key:04x}' for key in nic.pkeys)}" for nic in with_rdma(machine)]


def counters(machine: Machine) -> list[str]:
    """Print the `counters` section."""
    return [
        "\t".join([nic.rdma, "1", kind, *(f"{name}={value}" for name, value in pairs)])
        for nic in with_rdma(machine)
        for kind, pairs in (("port", nic.counters), ("hw", nic.hw_counters))
    ]


def char_devices(machine: Machine, *, has_umad: bool) -> list[str]:
    """Name what is in /dev/infiniband; issm is there only where a port may run a subnet manager."""
    usable = [nic for nic in with_rdma(machine) if nic.has_char_device]
    names = [f"uverbs{number}" for number, _ in enumerate(usable)]
    if has_umad:
        names += [f"umad{number}" for number, _ in enumerate(usable)]
        names += [f"issm{number}" for number, nic in enumerate(usable) if nic.is_ib]
    return ["rdma_cm", *names] if usable else []
