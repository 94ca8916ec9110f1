"""A move that stopped half way: status says so, and nothing lets the held nodes go by the way."""

import pytest
from support.others import now_is
from support.scenarios import Yes, applied, open_for, rails

from railwright import api
from railwright.core import kinds
from railwright.core.errors import Refused
from railwright.core.ids import FabricName
from railwright.core.objects import Ref, labels_of
from railwright.core.verdicts import Verdict

SKIP = "nvidia.com/ofed-driver-upgrade.skip"
WORKER = Ref(kinds.NODE, "", "worker-1")
NEW = "  driver: {nicVersion: doca3.3.0-26.01-1.0.0.0-0}\n"


def two_fabrics(more=""):
    ports = {"east": "enp24s0np0", "west": "enp218s0np0"}
    texts = (
        rails("shared", "roce", name=name, more=f"  rails: [{{name: rail0, netdev: {port}}}]\n{more}")
        for name, port in ports.items()
    )
    return api.parse_intents("---\n".join(texts))


async def test_a_move_that_stopped_shows_in_status_and_bars_the_removal_of_one_fabric_of_two():
    world = await open_for("roce")
    assert (await applied(world, two_fabrics())).exit_code == 0
    world.cluster.engine.troubles = frozenset({"plugin-finds-nothing"})
    assert (await applied(world, two_fabrics(NEW))).exit_code == 4
    world.cluster.engine.troubles = frozenset()
    await world.clock.sleep(600.0)
    (stage,) = [item for item in (await api.status(world)).stages if item.name == "nic-driver-ready"]
    assert stage.verdict is Verdict.PROGRESSING
    assert "worker-1 keeps its old DOCA driver until apply goes on" in stage.reason
    with pytest.raises(Refused, match="DOCA driver of worker-1"):
        await api.clean(world, (FabricName("east"),), approval=Yes())
    assert labels_of(now_is(world, WORKER))[SKIP] == "true"
