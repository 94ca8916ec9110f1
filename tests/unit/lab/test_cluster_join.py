"""When a virtual cluster counts as up."""

from typing import Any

import pytest

from railwright.core.errors import ClusterUnreachable
from railwright.core.kinds import DAEMON_SET
from railwright.core.objects import KubeObject, Ref
from railwright.lab.cluster import join
from railwright.lab.cluster.shape import Shape

READY = {"type": "Ready", "status": "True"}


class Plane:
    """Answers with Ready nodes, and a DaemonSet that gets one pod more ready each time that it is looked at."""

    def __init__(self) -> None:
        self.looks = 0

    async def read(self, ref: Ref) -> KubeObject:
        if ref.kind == DAEMON_SET:
            self.looks += 1
            return {"status": {"numberReady": self.looks - 1}}
        return {"status": {"conditions": [READY]}}

    async def merge(self, ref: Ref, patch: KubeObject, *, status: bool = False) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(("bare", "looks"), [(True, 3), (False, 0)])
async def test_a_bare_one_is_up_when_every_node_can_be_looked_into(
    bare: bool, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(join, "_STEP_S", 0.0)
    plane = Plane()
    await join.join_all(plane, Shape(bare=bare), lambda: None)
    assert plane.looks == looks


async def test_what_is_waited_for_in_vain_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "_STEP_S", 0.0)
    monkeypatch.setattr(join, "READY_LIMIT_S", 0.05)
    plane = Plane()
    plane.looks = -1_000_000
    with pytest.raises(ClusterUnreachable, match="of 2 nodes can be looked into: machine-config-daemon"):
        await join.join_all(plane, Shape(bare=True), lambda: None)
