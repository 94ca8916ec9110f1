"""Every shell script of the project is clean by shellcheck, as the shell that runs it."""

import subprocess
import sys
from pathlib import Path

import pytest

from railwright.facts.script import node_script

ROOT = Path(__file__).resolve().parents[2]
SHELLCHECK = Path(sys.executable).with_name("shellcheck")
SHELLS = {"#!/bin/sh": "sh", "#!/usr/bin/dash": "dash", "#!/bin/busybox sh": "busybox", "#!/usr/bin/env bash": "bash"}

ON_PURPOSE = {
    "SC2012": "names below /sys are never odd",
    "SC2013": "lists of module names are read word by word",
    "SC1091": "a file that is written when a node boots",
    "SC2153": "its names come from that file",
}


def shell_of(path: Path) -> str:
    """The shell that a script's first line names; "" for what is no script of a shell."""
    with path.open("rb") as file:
        line = file.readline().decode(errors="replace").strip()
    return next((shell for beginning, shell in SHELLS.items() if line.startswith(beginning)), "")


SCRIPTS = [
    path
    for folder in (".ci", "images", "src", "tests", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.is_file() and shell_of(path) and path.name != "node.sh"
]
"""node.sh is the beginning of the node script, which is looked at as a whole."""


def complaints(text: str, shell: str) -> str:
    """What shellcheck says of a script."""
    return subprocess.run(
        [SHELLCHECK, f"--shell={shell}", f"--exclude={','.join(ON_PURPOSE)}", "--format=gcc", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def test_the_node_script_is_clean_as_a_whole() -> None:
    assert complaints(node_script(), "sh") == ""


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.name for path in SCRIPTS])
def test_a_script_is_clean(path: Path) -> None:
    assert complaints(path.read_text(), shell_of(path)) == ""


def test_a_mistake_is_seen() -> None:
    assert "SC2086" in complaints("#!/bin/sh\nrm $1\n", "sh")
