"""How GPUs and NICs of a node lie: one picture for all nodes that are alike. Drawn here, as inline SVG."""

from collections import defaultdict

from railwright.core.ids import NodeName
from railwright.report.tables import count
from railwright.report.verification.html.element import Element, Node, el
from railwright.verify.model import Seat

_ROW, _BOX_WIDTH, _BOX_HEIGHT = 64, 170, 40
_GPU_X, _SWITCH_X, _SWITCH_WIDTH, _NIC_X, _WIDTH = 10, 230, 160, 470, 790
_NAMES_SHOWN = 6
_NEAR = {"PIX": "near", "PXB": "near", "PHB": "far", "NODE": "far", "SYS": "far"}


def topologies(seats: tuple[Seat, ...]) -> tuple[Element, ...]:
    """Draw each kind of node once."""
    by_node: dict[NodeName, list[Seat]] = defaultdict(list)
    for seat in seats:
        by_node[seat.node].append(seat)
    alike: dict[tuple[tuple[str, ...], ...], list[NodeName]] = defaultdict(list)
    for node, own in by_node.items():
        alike[tuple(_shape(seat) for seat in own)].append(node)
    return tuple(_figure(nodes, by_node[nodes[0]]) for nodes in alike.values())


def _shape(seat: Seat) -> tuple[str, ...]:
    """What makes two seats alike; which obstacles there are, and what was not read, is part of it."""
    return (
        seat.rail,
        str(seat.pci),
        str(seat.gpu),
        seat.distance,
        seat.switch,
        str(seat.rate_gbps),
        str(seat.pcie_gbps),
        str(seat.netdev),
        str(seat.rdma),
        *seat.obstacles,
        *seat.unread,
    )


def _figure(nodes: list[NodeName], seats: list[Seat]) -> Element:
    names = ", ".join(nodes[:_NAMES_SHOWN]) + (
        f" and {len(nodes) - _NAMES_SHOWN} more" if len(nodes) > _NAMES_SHOWN else ""
    )
    height = _ROW * len(seats) + 10
    drawn: list[Node] = []
    for index, seat in enumerate(seats):
        drawn += _row(seat, 10 + index * _ROW)
    title = f"{count(len(nodes), 'node')}: GPU, PCIe switch and NIC of each rail"
    picture = el(
        "svg",
        el("title", title),
        *drawn,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=title,
        class_="topology",
    )
    return el("figure", el("figcaption", names), picture)


def _row(seat: Seat, y: int) -> list[Node]:
    middle = y + _BOX_HEIGHT / 2
    kind = _NEAR.get(seat.distance, "far") if not seat.obstacles else "bad"
    nodes: list[Node] = []
    if seat.gpu is not None:
        nodes.append(el("line", x1=_GPU_X + _BOX_WIDTH, y1=middle, x2=_NIC_X, y2=middle, class_=f"wire {kind}"))
        nodes += _box(_GPU_X, y, "gpu", ("GPU", str(seat.gpu)))
        between = (_GPU_X + _BOX_WIDTH + _NIC_X) / 2
        words = seat.distance or "distance not known"
        if seat.switch:
            nodes += _box(_SWITCH_X, y, "switch", (f"{words}: switch", seat.switch), _SWITCH_WIDTH)
        else:
            nodes.append(el("text", words, x=between, y=middle - 6, class_="label"))
        if seat.obstacles:
            nodes.append(el("text", "obstacle", x=_NIC_X - 36, y=middle - 6, class_="label bad"))
        elif seat.unread:
            nodes.append(el("text", "not all read", x=_NIC_X - 36, y=middle - 6, class_="label"))
    limits = [
        f"{seat.rate_gbps:g} Gb/s" if seat.rate_gbps else "",
        f"PCIe {seat.pcie_gbps:.0f}" if seat.pcie_gbps else "",
    ]
    where = " ".join(str(item) for item in (seat.rdma, seat.netdev) if item) or str(seat.pci or "")
    nodes += _box(
        _NIC_X,
        y,
        "nic",
        (f"{seat.rail}  {where}", ", ".join(item for item in limits if item) or str(seat.pci or "")),
        310,
    )
    known = (*seat.capability, *seat.obstacles, *(f"not read: {text}" for text in seat.unread))
    nodes.append(el("title", "; ".join(known)) if known else "")
    return nodes


def _box(x: float, y: float, kind: str, lines: tuple[str, str], width: float = _BOX_WIDTH) -> list[Node]:
    return [
        el("rect", x=x, y=y, width=width, height=_BOX_HEIGHT, rx="5", class_=f"box {kind}"),
        el("text", lines[0], x=x + 8, y=y + 16, class_="name"),
        el("text", lines[1], x=x + 8, y=y + 32, class_="small"),
    ]
