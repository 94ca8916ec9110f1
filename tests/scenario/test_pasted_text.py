"""Log lines without a cluster: from a file, from stdin, of anything."""

import io
import json
import sys
from pathlib import Path

import pytest

from railwright.cli.app import main

LINE = b"gpu-7:41:88 [3] NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n"


class Stdin:
    """What a shell pipes in."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def test_a_line_on_stdin_is_diagnosed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(LINE))
    assert main(["doctor", "--log", "-", "-o", "json"]) == 5
    found = json.loads(capsys.readouterr().out)
    assert [item["rule"] for item in found["findings"]] == ["log-container-limit-reached"]
    assert found["simulated"] is False


def test_a_file_is_diagnosed_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nccl.log").write_bytes(LINE)
    assert main(["doctor", "--log", str(tmp_path / "nccl.log")]) == 5
    assert "log-container-limit-reached" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "exit_code"),
    [(b"nothing to see here\n", 0), (b"\xff\xfe\x00\x01", 0), (b"", 6), (b"\x1b[2J" * 1000, 6)],
)
def test_text_in_which_nothing_is_wrong_passes_and_no_text_is_unknown(
    content: bytes, exit_code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(content))
    assert main(["doctor", "--log", "-"]) == exit_code
    assert "\x1b" not in capsys.readouterr().out


def test_a_file_that_is_not_there_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--log", "nowhere.log"]) == 2
    assert "nowhere.log" in capsys.readouterr().err
