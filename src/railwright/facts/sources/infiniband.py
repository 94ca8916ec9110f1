r"""
The `infiniband`, `gids` and `pkeys` sections: RDMA devices, InfiniBand and Ethernet alike.

Samples: "mlx5_0\t1\tpci=0000:1a:00.0\tlink_layer=InfiniBand\tstate=4: ACTIVE\trate=400 Gb/sec (4X NDR)\tlid=0x12\tsm_lid=0x1"
and "mlx5_2\t1\t3\tRoCE v2\tens3f0np0\t0000:0000:0000:0000:0000:ffff:c0a8:0105", "mlx5_0\t1\t0xffff,0x7fff".
"""

from dataclasses import dataclass

from railwright.core.ids import NetDevice, PciAddress, RdmaDevice
from railwright.facts.model import Gid, LinkLayer, Unseen
from railwright.facts.record import Record, fields_of, leading_decimal, pci_address, whole_number, wrong_line

_LAYERS = {"ethernet": LinkLayer.ETHERNET, "infiniband": LinkLayer.INFINIBAND}
_TYPES = {"roce v1": "RoCE v1", "roce v2": "RoCE v2", "ib/roce v1": "IB", "ib": "IB"}


@dataclass(frozen=True)
class RdmaPort:
    """One port of one RDMA device; `pci` is None for a software device (rxe, siw)."""

    device: RdmaDevice
    port: int
    pci: PciAddress | None
    link_layer: LinkLayer
    state: str
    rate_gbps: float | None
    node_guid: str
    lid: int | None
    sm_lid: int | None
    firmware: str
    board_id: str
    gids: tuple[Gid, ...]
    phys_state: str = ""
    pkeys: tuple[int, ...] = ()
    card_guid: str = ""


def parse_infiniband(record: Record) -> tuple[tuple[RdmaPort, ...], tuple[Unseen, ...]]:
    """Read RDMA ports with their GIDs; a line that can't be read is named and left out."""
    unseen: list[Unseen] = []
    layers: dict[tuple[str, int], LinkLayer] = {}
    rows: dict[tuple[str, int], dict[str, str]] = {}
    for line in record.lines("infiniband"):
        device, *rest = line.split("\t")
        port = whole_number(rest[0]) if rest else None
        if not device.strip() or port is None:
            unseen.append(wrong_line("infiniband", line, "device or port can't be read"))
            continue
        fields = fields_of(rest[1:])
        rows[device.strip(), port] = fields
        layers[device.strip(), port] = _LAYERS.get(fields.get("link_layer", "").lower(), LinkLayer.UNKNOWN)
        if fields.get("pci") and pci_address(fields["pci"]) is None:
            unseen.append(wrong_line("infiniband", line, "its PCI address can't be read"))
    gids, gid_unseen = _gids(record, layers)
    keys, key_unseen = _pkeys(record)
    ports = tuple(
        _port(device, port, rows[device, port], layers[device, port], gids.get((device, port), []), keys)
        for device, port in sorted(rows)
    )
    return ports, (*unseen, *gid_unseen, *key_unseen)


def _port(
    device: str,
    port: int,
    fields: dict[str, str],
    layer: LinkLayer,
    gids: list[Gid],
    keys: dict[tuple[str, int], tuple[int, ...]],
) -> RdmaPort:
    return RdmaPort(
        device=RdmaDevice(device),
        port=port,
        pci=pci_address(fields.get("pci")),
        link_layer=layer,
        state=fields.get("state", "").rpartition(":")[2].strip().upper(),
        rate_gbps=leading_decimal(fields.get("rate")),
        node_guid=fields.get("node_guid", ""),
        lid=whole_number(fields.get("lid")),
        sm_lid=whole_number(fields.get("sm_lid")),
        firmware=fields.get("fw_ver", ""),
        board_id=fields.get("board_id", ""),
        gids=tuple(sorted(gids, key=lambda gid: gid.index)),
        phys_state=fields.get("phys_state", "").rpartition(":")[2].strip(),
        pkeys=keys.get((device, port), ()),
        card_guid=fields.get("sys_image_guid", ""),
    )


def _pkeys(record: Record) -> tuple[dict[tuple[str, int], tuple[int, ...]], list[Unseen]]:
    keys: dict[tuple[str, int], tuple[int, ...]] = {}
    unseen: list[Unseen] = []
    for line in record.lines("pkeys"):
        parts = [part.strip() for part in line.split("\t")]
        port = whole_number(parts[1]) if len(parts) > 1 else None
        values = [whole_number(text) for text in parts[2].split(",")] if len(parts) > 2 and parts[2] else []
        if port is None or None in values:
            unseen.append(wrong_line("pkeys", line, "not device, port, keys"))
        else:
            keys[parts[0], port] = tuple(value for value in values if value is not None)
    return keys, unseen


def _gids(
    record: Record, layers: dict[tuple[str, int], LinkLayer]
) -> tuple[dict[tuple[str, int], list[Gid]], list[Unseen]]:
    """Read GIDs; sysfs says "IB/RoCE v1" for both, so the port's link layer tells which of the two it is."""
    gids: dict[tuple[str, int], list[Gid]] = {}
    unseen: list[Unseen] = []
    for line in record.lines("gids"):
        parts = [part.strip() for part in line.split("\t")]
        numbers = [whole_number(part) for part in parts[1:3]]
        if len(parts) != 6 or None in numbers or parts[5].count(":") != 7:
            unseen.append(wrong_line("gids", line, "not device, port, index, type, netdev, gid"))
            continue
        port, index = int(numbers[0] or 0), int(numbers[1] or 0)
        kind = _TYPES.get(parts[3].lower(), parts[3])
        if kind == "IB" and layers.get((parts[0], port)) is LinkLayer.ETHERNET:
            kind = "RoCE v1"
        gids.setdefault((parts[0], port), []).append(
            Gid(index=index, gid=parts[5].lower(), type=kind, netdev=NetDevice(parts[4]) if parts[4] else None)
        )
    return gids, unseen
