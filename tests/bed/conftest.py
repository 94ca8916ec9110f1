"""A fresh control plane for each file: what one leaves behind is not the next one's world."""

from collections.abc import Iterator

import pytest
from support.plane import crds_folder, session_plane
from support.uncovered import record

from railwright.lab.controlplane.plane import Plane
from railwright.lab.controlplane.programs import Unavailable


@pytest.fixture(scope="module")
def plane() -> Iterator[Plane]:
    with session_plane(crds_folder()) as answer:
        if isinstance(answer, Unavailable):
            record("tests/bed: the pipeline on a real control plane", answer.reason)
            pytest.skip(answer.reason)
        yield answer
