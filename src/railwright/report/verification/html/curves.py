"""Bandwidth by message size against the floor: the slowest, the middle and the fastest way of each kind, as inline SVG."""

from collections import defaultdict
from collections.abc import Callable
from math import floor, log2, log10
from statistics import median

from railwright.report.verification.html.element import Element, Node, el
from railwright.verify.model import Cell

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 640, 260, 60, 36, 22, 36
_Kind = tuple[str, str, str]


def curves(cells: tuple[Cell, ...]) -> tuple[Element, ...]:
    """Draw one picture a family, direction and memory that was measured at more than one size."""
    kinds: dict[_Kind, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.sizes and cell.average_gbps is not None:
            kinds[cell.family, cell.direction.value, cell.memory.value].append(cell)
    shown = [
        (kind, own)
        for kind, own in kinds.items()
        if len({point.size_bytes for cell in own for point in cell.sizes}) > 1
    ]
    return tuple(_figure(kind, own) for kind, own in shown)


def _figure(kind: _Kind, cells: list[Cell]) -> Element:
    family, direction, memory = kind
    by_size: dict[int, list[float]] = defaultdict(list)
    floors: dict[int, list[float]] = defaultdict(list)
    for cell in cells:
        for point in cell.sizes:
            by_size[point.size_bytes].append(point.average_gbps)
            if point.floor_gbps is not None:
                floors[point.size_bytes].append(point.floor_gbps)
    sizes = sorted(by_size)
    top = (
        max([*(max(rates) for rates in by_size.values()), *(max(rates) for rates in floors.values())], default=1.0)
        * 1.08
    )

    def x(size: int) -> float:
        low, high = log2(sizes[0]), log2(sizes[-1])
        return _LEFT + (log2(size) - low) / ((high - low) or 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(rate: float) -> float:
        return _TOP + (1 - rate / (top or 1)) * (_HEIGHT - _TOP - _BOTTOM)

    upper = [(x(size), y(max(by_size[size]))) for size in sizes]
    lower = [(x(size), y(min(by_size[size]))) for size in sizes]
    middle = [(x(size), y(median(by_size[size]))) for size in sizes]
    least = [(x(size), y(min(floors[size]))) for size in sizes if size in floors]
    drawn: list[Node] = [
        *_axes(sizes, top, x, y),
        el("polygon", points=_points([*upper, *reversed(lower)]), class_="band"),
        el("polyline", points=_points(middle), class_="middle"),
        *(el("circle", cx=one, cy=other, r="3", class_="dot") for one, other in middle),
    ]
    if least:
        drawn.append(el("polyline", points=_points(least), class_="floor"))
        drawn.append(el("text", "floor", x=least[-1][0] - 4, y=least[-1][1] + 14, class_="label bad end"))
    title = f"{family} {direction}, {memory} memory: {len(cells)} ways"
    said = f"{title}; at {_size(sizes[-1])} the slowest reaches {min(by_size[sizes[-1]]):.3g} Gb/s"
    svg = el(
        "svg", el("title", said), *drawn, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=said, class_="curve"
    )
    return el("figure", el("figcaption", title), svg)


def _axes(sizes: list[int], top: float, x: Callable[[int], float], y: Callable[[float], float]) -> list[Node]:
    step = _nice(top / 4)
    nodes: list[Node] = []
    value = 0.0
    while value <= top:
        nodes.append(el("line", x1=_LEFT, y1=y(value), x2=_WIDTH - _RIGHT, y2=y(value), class_="grid"))
        nodes.append(el("text", f"{value:g}", x=_LEFT - 6, y=y(value) + 4, class_="small end"))
        value += step
    nodes += [el("text", _size(size), x=x(size), y=_HEIGHT - 14, class_="small middle-text") for size in sizes]
    nodes.append(el("text", "Gb/s", x=4, y=12, class_="small"))
    return nodes


def _nice(rough: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(rough)) if rough > 0 else 1.0
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)


def _size(size: int) -> str:
    return f"{size // 2**20} MiB" if size >= 2**20 else f"{size // 1024} KiB" if size >= 1024 else f"{size} B"


def _points(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{one:.1f},{other:.1f}" for one, other in points)
