"""Versions as numbers that can be compared, whatever stands behind them. Pure."""

from railwright.core.foreign_text import whole_number


def version_numbers(version: str) -> tuple[int, ...]:
    """
    Read the numbers of a version before its build or pre-release: "5.14.0-570.el9" -> (5, 14, 0).

    Returns:
        Empty for a text that has none; a part that is no number is left out.
    """
    parts = version.partition("-")[0].partition("+")[0].split(".")
    return tuple(number for part in parts if (number := whole_number(part)) is not None)
