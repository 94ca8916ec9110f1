"""What is wrong with simulated rails is found, named, and nothing else is blamed."""

from dataclasses import replace

import pytest
from support.verifying import failing, layout, verified

from railwright.core.verdicts import Verdict
from railwright.verify.claim import claim
from railwright.verify.model import Says
from railwright.verify.planned import Options


async def test_healthy_rails_pass_and_their_way_is_shown_to_be_direct() -> None:
    record = await verified(2)
    assert {cell.verdict for cell in record.cells} == {Verdict.PASS}
    assert (record.summary.verdict, record.summary.direct, record.exit_code) == (Verdict.PASS, Verdict.PASS, 0)
    assert record.culprits == ()
    assert record.coverage.ways == record.coverage.ways_possible == 4
    assert record.summary.claim.startswith("Simulated: no byte was moved")
    for word in ("checked bytes", "GPUDirect withheld", "counters", "emulation forbidden"):
        assert word in record.summary.claim


@pytest.mark.parametrize(
    ("trouble", "nodes", "kind", "where", "words"),
    [
        ("rails-swapped", 4, "swapped-rails", "rail0 and rail1 of worker-1", "the other rail of worker-"),
        ("rails-swapped", 2, "swapped-rails", "rail0 and rail1 of worker-0 or worker-1", "swapped"),
        ("rail-drops", 4, "port", "rail0 of worker-1", "transport retry counter exceeded"),
        ("rail-drops", 2, "pair", "rail0 between worker-0 and worker-1", "can't be told from this pair"),
        ("one-way-slow", 4, "sending", "what rail0 of worker-1 sends", "its peers reach"),
        ("one-way-slow", 2, "direction", "from worker-1 to worker-0 on rail0", "its peers reach"),
        ("corrupt-memory", 4, "receiving", "what rail0 of worker-1 receives", "not those that were sent"),
        ("corrupt-memory", 2, "direction", "from worker-0 to worker-1 on rail0", "not those that were sent"),
        ("packet-loss", 4, "port", "rail0 of worker-1", ""),
        ("packet-loss", 2, "pair", "rail0 between worker-0 and worker-1", "packets were sent again"),
        ("gpu-staged", 2, "node", "worker-1", "every rail of worker-1: GPU memory could not be registered"),
        ("pod-memlock", 2, "node", "worker-1", "may lock 65536 bytes"),
        ("hung-peer", 4, "node", "worker-1", "did not end within"),
    ],
)
async def test_a_fault_is_found_and_narrowed(trouble: str, nodes: int, kind: str, where: str, words: str) -> None:
    record = await verified(nodes, trouble)
    assert record.exit_code == 5
    first = record.culprits[0]
    assert (first.kind, first.where.startswith(where)) == (kind, True), first
    assert words in first.text
    explained = {cell for culprit in record.culprits for cell in culprit.cells}
    assert {cell.id for cell in failing(record)} == explained


async def test_one_slow_node_of_six_is_named_by_a_whole_tournament() -> None:
    record = await verified(6, "packet-loss", options=Options(families=("perftest",)))
    assert [(item.kind, item.where) for item in record.culprits] == [("port", "rail0 of worker-1")]
    assert "5 others" in record.culprits[0].text


async def test_bytes_that_arrive_by_way_of_host_memory_are_right_and_not_direct() -> None:
    record = await verified(2, "gpu-staged", options=Options(families=("nixl", "nccl")))
    assert (record.summary.direct, record.exit_code) == (Verdict.FAIL, 5)
    assert {cell.bytes_checked for cell in record.cells if cell.family == "nixl"} == {Verdict.PASS}
    said = {(item.witness, item.says) for item in record.witnesses if item.memory == "gpu"}
    for witness in ("emulation-forbidden", "gpu-direct-withheld", "rdma-withheld", "nccl"):
        assert (witness, Says.CONTRADICTS) in said, witness
        assert (witness, Says.AGREES) not in said
    texts = {item.text for item in record.witnesses if item.says is Says.CONTRADICTS}
    assert "UCX counts transfers that were not zero-copy" in texts
    assert "with GPUDirect withheld the same transfer passed: it proves nothing" in texts
    assert "directly" not in record.summary.claim


async def test_each_read_is_run_once_more_without_remote_rights_and_must_be_refused() -> None:
    record = await verified(2, options=Options(families=("engine",)))
    said = [item for item in record.witnesses if item.witness == "remote-rights-withheld"]
    assert {item.memory for item in said} == {"host", "gpu"}
    assert {item.way for item in said if item.memory == "host"} == {cell.way for cell in record.cells}
    assert {item.says for item in said} == {Says.AGREES}
    assert all(name in record.raw for item in said for name in item.evidence)
    claim = record.summary.claim
    assert "and the same READ refused when the right to read from afar was withheld on 4" in claim
    assert "RDMA was withheld" not in claim, "nobody withheld it"


async def test_a_transfer_that_was_refused_without_rdma_is_claimed_as_that_alone() -> None:
    record = await verified(2, options=Options(families=("engine",)))
    own = {"remote-rights-withheld": "rdma-withheld"}
    witnesses = tuple(replace(item, witness=own.get(item.witness, item.witness)) for item in record.witnesses)
    said = claim(layout(2), record.cells, witnesses, record.coverage, {})
    assert "and the same transfer refused when RDMA was withheld on 4;" in said
    assert "from afar" not in said


async def test_a_nic_that_lets_everybody_read_fails_every_read_of_it() -> None:
    record = await verified(2, "rights-unchecked", options=Options(families=("engine",)))
    failed = failing(record)
    assert {(cell.source, cell.direction) for cell in failed if cell.memory == "host"} == {("worker-1", "read")}
    assert "passed without remote rights" in failed[0].reason
    assert record.summary.direct is Verdict.FAIL


async def test_what_lies_in_gpu_memory_alone_leaves_host_memory_passing() -> None:
    record = await verified(2, "gpu-staged")
    assert {cell.verdict for cell in record.cells if cell.memory == "host"} == {Verdict.PASS}
    assert {cell.verdict for cell in record.cells if cell.memory == "gpu"} == {Verdict.FAIL}


async def test_a_failure_is_run_again_on_its_own_before_it_counts_as_confirmed() -> None:
    record = await verified(2, "rail-drops")
    confirmed = [cell for cell in failing(record) if cell.confirmed]
    assert confirmed
    assert all(any(".again." in name for name in cell.evidence) for cell in confirmed)
    assert all(name in record.raw for cell in record.cells for name in cell.evidence)
