"""What `--help` says, and how it is set."""

from itertools import pairwise

import pytest

from railwright.cli.app import main
from railwright.cli.overview import COMMANDS

_CLUSTER = ("up", "status", "kubeconfig", "shell", "down")
_PAGES = (*COMMANDS, "lab cluster", *(f"lab cluster {each}" for each in _CLUSTER))
_WIDE = "2000"


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*command.split(), "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", _PAGES)
def test_no_sentence_is_broken_where_the_terminal_has_room(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", _WIDE)
    lines = [line.rstrip() for line in help_of(command, capsys).splitlines()]
    begin = next((number for number, line in enumerate(lines) if line.startswith("╭")), len(lines))
    words = lines[:begin]
    assert len(words) > 2
    assert [(a, b) for a, b in pairwise(words) if a and b] == []
    rows = [line.removeprefix("│ ").removeprefix("*  ") for line in lines[begin:] if line.startswith("│")]
    with_stars = any(line.startswith("│ *") for line in lines)
    indent = "    " if with_stars else " "
    assert [row for row in rows if row.removeprefix("   ").startswith(indent)] == []


def test_the_virtual_cluster_has_a_help_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    said = help_of("lab cluster", capsys)
    assert [name for name in _CLUSTER if f"│ {name} " not in said] == []
    assert "--bare" in help_of("lab cluster up", capsys)
    assert "NODE" in help_of("lab cluster shell", capsys)


def test_a_file_that_is_given_twice_is_answered_with_how_several_fabrics_are_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["plan", "-f", "a.yaml", "--file", "b.yaml"]) == 2
    assert "several fabrics go into one file, parted by lines of ---" in capsys.readouterr().err
    assert main(["plan", "--name", "a", "--name", "b"]) == 2
    assert "plan --help" in capsys.readouterr().err
