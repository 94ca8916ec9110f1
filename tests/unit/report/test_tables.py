"""Words and figures of tables."""

import pytest

from railwright.report.tables import moment


@pytest.mark.parametrize(
    ("stamp", "told"),
    [
        ("2026-03-02T08:10:10Z", "2026-03-02 08:10 UTC"),
        ("2026-03-02T08:10:10.5Z", "2026-03-02 08:10 UTC"),
        ("", ""),
        ("yesterday", "yesterday"),
    ],
)
def test_a_stamp_is_written_the_way_people_read_it(stamp, told):
    assert moment(stamp) == told
