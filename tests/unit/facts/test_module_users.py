"""Who uses a module, and since when a node is not ready: what the doctor asks of a node beside its lists."""

import pytest

from railwright.facts.node_record import parse_node_record
from railwright.facts.nodes import node_of

RECORD = """=== railwright node-record 2
=== railwright modules
ib_core 458752 9 rdma_ucm,mlx5_ib, Live 0x0000000000000000
mlx5_ib 397312 0 - Live 0x0000000000000000
ko2iblnd 98304 1 - Live 0x0000000000000000
=== railwright end
"""


def test_users_of_a_module_are_those_that_the_kernel_lists() -> None:
    assert parse_node_record(RECORD).module_users == {"ib_core": ("rdma_ucm", "mlx5_ib")}


@pytest.mark.parametrize(
    ("status", "is_ready", "since"), [("True", True, ""), ("Unknown", False, "2026-03-01T08:00:00Z")]
)
def test_a_node_says_since_when_it_is_not_ready(status: str, is_ready: bool, since: str) -> None:
    condition = {"type": "Ready", "status": status, "lastTransitionTime": "2026-03-01T08:00:00Z"}
    node = node_of({"metadata": {"name": "a"}, "status": {"conditions": [condition]}}, has_worker_label=False)
    assert (node.ready, node.not_ready_since) == (is_ready, since)


def test_a_node_that_says_nothing_of_itself_is_not_ready_since_an_unknown_time() -> None:
    node = node_of({"metadata": {"name": "a"}}, has_worker_label=False)
    assert (node.ready, node.not_ready_since) == (False, "")
