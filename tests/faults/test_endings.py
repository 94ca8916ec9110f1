"""
A process that is told to end, has no terminal, no disk or no home: clear words, its exit code, and nothing lost.

Each command is a process of its own, as a person or a scheduler starts it.
"""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec: {method: shared, fabric: roce, workloadNamespaces: [training]}
"""
CLUSTER = ("--cluster", "sim:h200-roce@state.json")
APPLY = ("apply", "--yes", "--skip-verify", "--until", "operators-installed", *CLUSTER)
SEED = 20261130
WRITES = 9
"""Objects that this apply writes, before which or after which a signal may come."""
SMALL_DISK = "ulimit -f 8; exec "
"""Files end after 8 KiB, which a writer meets as it meets a full disk: in the middle of a file."""


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    Path("rails.yaml").write_text(RAILS)


def started(*arguments: str, in_background: bool = False) -> "subprocess.Popen[str]":
    """Start railwright; its result goes to result.txt. In the background of a script (`cmd &`) SIGINT is ignored."""
    command = [sys.executable, "-m", "railwright", *arguments]
    if in_background:
        command = ["bash", "-c", 'trap "" INT; exec "$@"', "bash", *command]
    with Path("result.txt").open("w") as result:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=result, stderr=subprocess.PIPE, text=True)


def shell(line: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a line in a shell; `railwright` in it is ours."""
    words = line.replace("railwright", f"{sys.executable} -m railwright", 1)
    exports = "".join(f"export {name}={value}; " for name, value in environment.items())
    return subprocess.run(["bash", "-c", exports + words], capture_output=True, text=True, check=False)


def signalled_after(writes: int, number: signal.Signals, *, in_background: bool) -> tuple[int, str]:
    """Tell an apply to end once it has written so many objects; its exit code and result."""
    with started(*APPLY, in_background=in_background) as process:
        assert process.stderr is not None
        said, written = "", 0
        while written < writes:
            line = process.stderr.readline()
            assert line, f"it ended after {written} writes: {said}"
            said += line
            written += line.startswith("    create ")
        process.send_signal(number)
        process.stderr.read()
        return process.wait(), Path("result.txt").read_text()


# Ctrl-C at more moments: tests/scenario/test_bad_input.py, in this process.
@pytest.mark.parametrize("in_background", [False, True])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_tells_an_apply_to_end_is_answered_and_the_next_apply_goes_on(
    number: signal.Signals, *, in_background: bool
) -> None:
    writes = random.Random(f"{SEED}/{number}").randint(1, WRITES)
    code, result = signalled_after(writes, number, in_background=in_background)
    assert (code, result.splitlines()[-1]) == (
        130,
        "interrupted: what was done is in the ledger; run railwright apply again to go on",
    )
    with started(*APPLY) as again:
        assert again.stderr is not None
        told = again.stderr.read()
    # Nobody has to wait for the claim of the first: it was given back.
    assert (again.returncode, "another railwright" in told) == (0, False), told


def test_a_command_that_only_reads_says_nothing_of_the_ledger() -> None:
    program = (
        "import asyncio, os, signal\n"
        "from railwright.cli.edge import run\n"
        "from railwright.cli.options import Common\n"
        "async def reads():\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    await asyncio.Event().wait()\n"
        "raise SystemExit(run(reads, Common()))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, "interrupted: run the same command again\n")


@pytest.mark.parametrize("words", ["--help", "plan --help", "lab verify --help"])
def test_a_reader_of_help_may_go_away(words: str) -> None:
    ended = shell(f"railwright {words} | true; exit ${{PIPESTATUS[0]}}")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_a_parent_ignores_stays_ignored() -> None:
    line = f"trap '' HUP; exec railwright {' '.join(APPLY)}"
    with subprocess.Popen(
        ["bash", "-c", line.replace("railwright", f"{sys.executable} -m railwright", 1)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("    create "):
            assert process.poll() is None
        process.send_signal(signal.SIGHUP)
        process.stderr.read()
    assert process.returncode == 0


def test_a_closed_terminal_costs_the_result_and_not_what_was_done() -> None:
    ended = shell(f"railwright {' '.join(APPLY)} >&-")
    assert ended.returncode == 2
    assert "the result cannot be written to stdout: it is closed" in ended.stderr
    assert "what the command did stays done" in ended.stderr
    assert "operators-installed" in shell("railwright status --cluster sim:h200-roce@state.json").stdout


FULL = {
    "collect --to gathered.tgz --cluster sim:h200-roce": "gathered.tgz",
    "discover --to raw --cluster sim:h200-roce": "raw",
    "status --cluster sim:h200-roce@state.json": "state.json",
}


@pytest.mark.parametrize("command", FULL)
def test_a_full_disk_is_named_with_the_file_and_leaves_no_half_of_one(command: str) -> None:
    ended = shell(f"{SMALL_DISK} railwright {command}")
    assert ended.returncode == 2, ended.stderr
    assert "Traceback" not in ended.stderr
    assert FULL[command] in ended.stderr
    assert {path.name for path in Path.cwd().iterdir()} <= {"rails.yaml", "raw"}


def test_a_home_that_cannot_be_used_is_not_needed() -> None:
    nowhere = {"HOME": "/dev/null/home", "XDG_CACHE_HOME": "/dev/null/cache", "TMPDIR": "/dev/null/tmp"}
    ended = shell("railwright plan --cluster sim:h200-roce", **nowhere)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr


def test_a_bug_is_told_in_full_where_no_file_can_be_written() -> None:
    """A bug that a test can make: an adapter that is no adapter."""
    program = (
        "import tempfile; tempfile.tempdir = '/dev/null/tmp'\n"
        "from railwright.cli.edge import run\n"
        "from railwright.cli.options import Common\n"
        "async def broken(): raise ZeroDivisionError('by nobody')\n"
        "raise SystemExit(run(broken, Common()))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "a bug of railwright: ZeroDivisionError: by nobody" in ended.stderr
    assert "no file could be written (Not a directory)" in ended.stderr
    assert "in broken" in ended.stderr
    assert "During handling" not in ended.stderr
