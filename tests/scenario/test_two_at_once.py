"""Two runs on one cluster, and a person who stops one while it waits: one wins, nothing is lost, and each says what is."""

import asyncio
import json
import signal

import pytest
from support.scenarios import Heard, Yes, applied, intents_for, open_for, rails
from support.traces import OUR_NAMESPACE, differences, lasting_objects

from railwright import api
from railwright.apply.lease import HEAD, HOLDER_ANNOTATION, LEASE_S
from railwright.apply.ledger import LedgerStore
from railwright.cli.app import main
from railwright.core.errors import WriteConflict
from railwright.core.objects import annotations_of
from railwright.ports.progress import Waiting

SETTLE_S = 1800.0
SIM = ["-o", "json", "--cluster", "sim:h200-roce@state.json"]
APPLY, CLEAN = ["apply", "-f", "rails.yaml", "--yes", *SIM], ["clean", "--yes", *SIM]


async def one_won(world, *jobs):
    """Run jobs at once: the record of the one that won, and the error of the other."""
    ended = await asyncio.gather(*jobs, return_exceptions=True)
    (record,) = [item for item in ended if not isinstance(item, BaseException)]
    (told,) = [item for item in ended if isinstance(item, BaseException)]
    await world.clock.sleep(SETTLE_S)
    return record, told


async def test_of_two_applies_at_once_one_ends_as_if_alone_and_the_other_names_the_holder():
    alone, world = await open_for("roce"), await open_for("roce")
    await applied(alone, intents_for("shared", "roce"))
    await alone.clock.sleep(SETTLE_S)
    first = applied(world, intents_for("shared", "roce"))
    second = applied(world, intents_for("shared", "roce"))
    record, told = await one_won(world, first, second)
    assert record.exit_code == 0
    assert isinstance(told, WriteConflict)
    assert told.exit_code == 3
    assert f"another railwright is writing to this cluster (ledger {HEAD.namespace}/{HEAD.name}" in told.message
    assert told.context["holder"] in told.message
    assert differences(await lasting_objects(alone.cluster), await lasting_objects(world.cluster)) == []


async def test_a_clean_beside_an_apply_touches_nothing():
    world, heard = await open_for("roce"), Heard()
    await applied(world, intents_for("shared", "roce"))
    other = applied(world, intents_for("host-device", "roce"))
    record, told = await one_won(world, other, api.clean(world, approval=Yes(), progress=heard))
    assert (record.exit_code, heard.writes) == (0, [])
    assert isinstance(told, WriteConflict)


async def test_a_holder_that_died_is_waited_out_and_when_it_comes_back_it_writes_nothing():
    world = await open_for("roce")
    dead = LedgerStore(world.cluster, world.clock)
    await dead.open()
    holder, began_s = annotations_of(await world.cluster.get(HEAD))[HOLDER_ANNOTATION], world.clock.monotonic_s()
    assert (await applied(world, intents_for("shared", "roce"), until="operators-installed")).exit_code == 0
    assert world.clock.monotonic_s() - began_s > LEASE_S
    assert annotations_of(await world.cluster.get(HEAD)).get(HOLDER_ANNOTATION) != holder
    with pytest.raises(WriteConflict, match="another railwright is writing"):
        await dead.note_fabric(api.FabricName("east-west"), "something else")
    assert {name for name, _ in (await api.status(world)).applied} == {"east-west"}
    assert HEAD.namespace == OUR_NAMESPACE


# --- stopped by a person while it waits ---------------------------------------------------------------------------


class Stopping:
    """Raises SIGINT at the so-manieth time that something is waited for."""

    def __init__(self, number):
        self.left = number

    def emit(self, event):
        if isinstance(event, Waiting):
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGINT)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    # A run in the background of a shell inherits an ignored SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    (tmp_path / "rails.yaml").write_text(rails("shared", "roce"))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("number", [1, 12])
def test_an_apply_and_a_clean_that_are_stopped_while_they_wait_say_so_and_go_on(number, monkeypatch, capsys):
    for job, command in (("apply", APPLY), ("clean", CLEAN)):
        with monkeypatch.context() as patched:
            patched.setattr(f"railwright.cli.{job}.progress", lambda **_: Stopping(number))
            assert main(command) == 130
        out, words = capsys.readouterr()
        assert "Traceback" not in words
        assert json.loads(out)["interrupted"] is True
        assert main(command) == 0
        capsys.readouterr()
    assert main(["status", *SIM]) == 0
    assert {stage["reason"] for stage in json.loads(capsys.readouterr().out)["stages"]} >= {"not applied yet"}
