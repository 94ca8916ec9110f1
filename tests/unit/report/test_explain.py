"""`explain`: names of every kind are found, and a fault is no rule."""

import pytest

from railwright import api
from railwright.core.errors import UsageError


def test_the_name_of_a_fault_is_said_to_be_one() -> None:
    document = api.explain("gpu-staged")
    assert "a fault of simulated clusters" in document.text
    assert "GPU memory of one node can't be registered" in document.text
    assert document.payload["rule"] is None


def test_a_fault_written_wrong_is_guessed() -> None:
    with pytest.raises(UsageError) as refused:
        api.explain("gpu-stagd")
    assert "gpu-staged" in refused.value.hint
