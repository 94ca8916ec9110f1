"""Completion, as a person installs it for the shell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPTS = {
    "bash": ".local/share/bash-completion/completions/railwright",
    "zsh": ".zsh/completions/_cyclopts_railwright",
    "fish": ".config/fish/completions/railwright.fish",
}


@pytest.mark.parametrize("shell", _SCRIPTS)
def test_each_shell_gets_a_script_that_knows_the_commands(shell: str, tmp_path: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "ZDOTDIR"))}
    subprocess.run(
        [sys.executable, "-m", "railwright", "--install-completion", "--shell", shell],
        env={**kept, "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    script = (tmp_path / _SCRIPTS[shell]).read_text()
    assert [name for name in ("discover", "verify", "doctor", "--method") if name.lstrip("-") not in script] == []
