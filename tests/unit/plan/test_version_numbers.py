"""Versions as numbers: what stands behind them, and what anybody wrote into a label, does no harm."""

import pytest

from railwright.plan.version_numbers import version_numbers


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ("25.10.0", (25, 10, 0)),
        ("5.14.0-570.12.1.el9_6", (5, 14, 0)),
        ("4.20.0-rc.1", (4, 20, 0)),
        ("1.6.0+build.7", (1, 6, 0)),
        ("5.14.\u00b2", (5, 14)),
        ("4.9" + "9" * 5000, (4,)),
        ("", ()),
    ],
    ids=[
        "plain",
        "a-kernel",
        "before-a-release",
        "a-build",
        "no-number-to-int",
        "more-digits-than-int-reads",
        "nothing",
    ],
)
def test_numbers_are_those_before_a_build_or_a_pre_release(version: str, numbers: tuple[int, ...]) -> None:
    assert version_numbers(version) == numbers
