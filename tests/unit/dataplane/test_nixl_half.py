"""One half of NIXL where NIXL is not installed."""

import pytest

from railwright.dataplane import nixl
from railwright.dataplane.model import Meeting, NixlRequest, RailEnd


def test_no_program_is_started_where_nixl_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two Pythons a rail cost an emulated processor half a minute, to say what one look tells."""
    monkeypatch.setattr(nixl, "MODULES", ("a_package_that_nobody_has",))
    monkeypatch.setattr(nixl, "run_child", None)
    reply = nixl.run_nixl(NixlRequest(Meeting("listen", "", 20000), RailEnd()))
    assert reply.problem is not None
    assert (reply.problem.code, reply.role) == ("tool-missing", "listen")
