"""Distances against what nvidia-smi would say of the same trees."""

from dataclasses import dataclass

import pytest

from railwright.facts.model import Distance
from railwright.facts.pci import distance


@dataclass(frozen=True)
class Place:
    pci_path: tuple[str, ...]
    root: str = "pci0000:16"
    numa: int | None = 0


GPU = Place(("0000:16:01.0", "0000:17:00.0", "0000:18:00.0", "0000:19:00.0"))


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        (Place(("0000:16:01.0", "0000:17:00.0", "0000:18:01.0", "0000:1a:00.0")), Distance.PIX),
        (Place(("0000:16:01.0", "0000:17:00.0", "0000:18:00.0", "0000:19:00.1")), Distance.PIX),
        (
            Place(("0000:16:01.0", "0000:17:00.0", "0000:18:01.0", "0000:1a:00.0", "0000:1b:00.0", "0000:1c:00.0")),
            Distance.PXB,
        ),
        (Place(("0000:16:03.0", "0000:20:00.0")), Distance.PHB),
        (Place(("0000:16:05.0",)), Distance.PHB),
        (Place(("0000:28:01.0", "0000:29:00.0"), root="pci0000:28"), Distance.NODE),
        (Place(("0000:28:01.0", "0000:29:00.0"), root="pci0000:28", numa=1), Distance.SYS),
        (Place(("0000:28:01.0", "0000:29:00.0"), root="pci0000:28", numa=None), Distance.SYS),
    ],
    ids=[
        "same-switch",
        "same-port",
        "two-switches",
        "root-ports",
        "on-the-root-bus",
        "same-numa",
        "other-numa",
        "numa-unknown",
    ],
)
def test_distance_follows_the_paths(port, expected):
    assert distance(GPU, port) is expected
    assert distance(port, GPU) is expected


def test_two_devices_without_numa_nodes_on_different_host_bridges_count_as_far_apart():
    one = Place(("0000:00:01.0",), root="pci0000:00", numa=None)
    other = Place(("0000:80:01.0",), root="pci0000:80", numa=None)
    assert distance(one, other) is Distance.SYS
