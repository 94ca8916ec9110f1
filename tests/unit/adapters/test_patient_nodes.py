"""How long a live node may take to answer: what the reader gives it, and at least what the environment says."""

from pathlib import Path

import pytest

from railwright.adapters.live import LEAST_NODE_TIMEOUT_S, Patient, open_live
from railwright.core.errors import UsageError
from railwright.core.ids import NodeName
from railwright.ports.node import NodeAnswer


class Asked:
    def __init__(self) -> None:
        self.limits_s: list[float] = []

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        self.limits_s.append(timeout_s)
        return NodeAnswer("record", "a fake")


async def test_a_node_gets_the_longer_of_both_limits() -> None:
    asked = Asked()
    for timeout_s in (30.0, 600.0):
        await Patient(asked, 300.0).read(NodeName("w1"), "", timeout_s=timeout_s)
    assert asked.limits_s == [300.0, 600.0]


@pytest.mark.parametrize("text", ["soon", "-1", "0", "nan", "inf"])
def test_what_is_no_time_is_refused(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        '{"current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],'
        ' "users": [{"name": "u", "user": {"token": "t"}}],'
        ' "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}'
    )
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    monkeypatch.setenv(LEAST_NODE_TIMEOUT_S, text)
    with pytest.raises(UsageError, match="expected a number of seconds above 0"):
        open_live(None)
