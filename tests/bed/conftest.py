"""A fresh control plane for each file: what one leaves behind is not the next one's world."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.plane import crds_folder, session_plane
from support.uncovered import record

from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.programs import Unavailable

SHARE_A_PLANE = frozenset({"test_whole_job", "test_faulty_network"})


@pytest.fixture(scope="module")
def plane() -> Iterator[Plane]:
    with session_plane(crds_folder()) as answer:
        if isinstance(answer, Unavailable):
            record("tests/bed: the pipeline on a real control plane", answer.reason)
            pytest.skip(answer.reason)
        yield answer


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one process, for they share what a module sets up; long ones share only a plane."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.path.stem not in SHARE_A_PLANE:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
