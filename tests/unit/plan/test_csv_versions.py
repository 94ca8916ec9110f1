"""Which of two CSVs of one package is newer."""

import pytest

from railwright.plan.versions import is_newer_csv


@pytest.mark.parametrize(
    ("csv", "other", "newer"),
    [
        ("nno.v26.4.10", "nno.v26.4.9", True),
        ("nno.v26.4.1", "nno.v26.4.1", False),
        ("nfd.v4.20.0-202511191710", "nfd.v4.20.0-202510", True),
        ("nfd.v4.20.0-202511191710", "nfd.v4.20.0", True),
        ("nno.v1.0.0-rc1", "nno.v1.0.0", False),
        ("nno.v1.0.0", "nno.v1.0.0-rc1", True),
        ("nno.v1.0.0-rc2", "nno.v1.0.0-rc1", True),
        ("nno.v1.0.1-rc1", "nno.v1.0.0", True),
    ],
)
def test_a_candidate_is_older_than_its_release_and_a_build_is_not(csv, other, newer):
    assert is_newer_csv(csv, other) is newer
