"""What the ledger keeps of a run, and what verify says before any apply."""

from dataclasses import replace

import pytest
from support.scenarios import Yes, intents_for, open_for
from support.verifying import verified

from railwright import api
from railwright.core.errors import Refused
from railwright.pipeline.verify import note_of


async def test_the_reason_ends_where_a_sentence_ends() -> None:
    record = await verified(2)
    sentence = "Not proven: 3 of 9 cells failed. "
    claim = sentence + "RDMA moved bytes between host memories on many ways, " * 12 + "and so on."
    record = replace(record, culprits=(), summary=replace(record.summary, claim=claim))
    assert note_of(record, "now").reason == sentence.strip()


async def test_before_any_apply_the_next_step_is_apply() -> None:
    async with await open_for("roce") as world:
        with pytest.raises(Refused, match="no node is admitted") as refused:
            await api.verify(world, intents_for("shared", "roce"), approval=Yes())
    assert refused.value.hint.startswith("railwright apply")
    assert "--include-busy" not in refused.value.hint
