"""What a hostile or unlucky person gives us: a clear error, the right exit code, no traceback, nothing lost."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from railwright.cli.app import main
from railwright.ports.progress import Event, Progress, Wrote

RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec:
  method: shared
  fabric: roce
  workloadNamespaces: [training]
"""
SIM = ["--cluster", "sim:h200-roce", "--quiet"]
FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "only comments": (b"# nothing\n---\n---\n", "the file is empty"),
    "unknown key": (RAILS.replace("method:", "methd:").encode(), 'did you mean "method"?'),
    "wrong type": (RAILS.replace("[training]", "7").encode(), "wrong type (expected a list of strings"),
    "duplicate key": (f"{RAILS}  method: sriov\n".encode(), "duplicate key (first at line 5)"),
    "a list": (b"- a\n", "a document must be a mapping"),
    "binary": (bytes(range(128)), "a character that YAML does not allow"),
    "not UTF-8": (b"\xff\xfe\x00", "is not UTF-8 text"),
    "bomb": (
        b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 10)) for i in range(9)),
        "the file holds too much",
    ),
    "deep": (b"[" * 100_000, "exceeded maximum nesting depth"),
    "holds itself": (b"&a [*a]", "holds itself"),
    "code": (b"!!python/object/apply:os.system ['true']", "is not supported"),
    "another kind": (RAILS.replace("RailFabric", "Pod").encode(), 'expected RailFabric, seen "Pod"'),
    "a path as name": (RAILS.replace("east-west", "../../etc").encode(), "metadata.name: not a value"),
}
FILE_COMMANDS = ("plan", "render --to out", "apply --yes", "status", "clean --yes", "workload", "images", "explain all")

Told = Callable[[], str]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    Path("good.yaml").write_text(RAILS)


def refused(told: pytest.CaptureFixture[str], arguments: list[str], code: int = 2) -> str:
    """Run a command that must fail; give its words."""
    assert main(arguments) == code
    out, words = told.readouterr()
    assert out == ""
    assert "Traceback" not in words
    assert "a bug of railwright" not in words
    assert f"(exit {code}" in words.splitlines()[0] or code == 7
    return words


def test_render_without_any_cluster_names_the_way_that_needs_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--openshift 4.20" in refused(capsys, ["render", "-f", "good.yaml", "--to", "out"])
    assert "--openshift" not in refused(capsys, ["plan", "-f", "good.yaml"])
    assert "--openshift" not in refused(capsys, ["render", "-f", "good.yaml", "--to", "out", "--cluster", "sim:none"])


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_named_with_what_is_wrong_in_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    content, expected = FILES[name]
    Path("bad.yaml").write_bytes(content)
    words = refused(capsys, ["plan", "-f", "bad.yaml", *SIM])
    assert "bad.yaml:" in words
    assert expected in words


def test_a_file_of_100_mb_is_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("huge.yaml").open("wb") as file:
        file.truncate(100 << 20)
    assert "is too large" in refused(capsys, ["plan", "-f", "huge.yaml", *SIM])


@pytest.mark.parametrize("command", FILE_COMMANDS)
def test_every_command_says_that_its_file_is_missing_or_a_folder(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("folder.yaml").mkdir()
    assert "there is no such file" in refused(capsys, [*command.split(), "-f", "missing.yaml", *SIM])
    assert "is a folder" in refused(capsys, [*command.split(), "-f", "folder.yaml", *SIM])


@pytest.mark.parametrize("content", [RAILS, RAILS.replace("method:", "methd:"), ""])
def test_a_hyphen_stands_for_stdin(
    content: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file.yaml").write_text(content)
    code = main(["plan", "-f", "file.yaml", *SIM])
    from_file = capsys.readouterr()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    assert main(["plan", "-f", "-", *SIM]) == code
    from_stdin = capsys.readouterr()
    assert from_stdin.out == from_file.out
    assert from_stdin.err == from_file.err.replace("file.yaml", "stdin")


@pytest.mark.parametrize("command", ["plan", "render --to out", "apply --yes", "images"])
def test_without_a_file_the_way_out_is_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no ./rails.yaml" in refused(capsys, [*command.split(), *SIM])


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    plans = []
    for content in (RAILS, RAILS.replace("\n", "\r\n"), f"\ufeff{RAILS}"):
        Path("rails.yaml").write_bytes(content.encode())
        assert main(["plan", *SIM]) == 0
        plans.append(capsys.readouterr().out)
    assert plans[0] == plans[1] == plans[2]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["plan", "--nope"], "Unknown option"),
        (["nosuch"], "Unknown command"),
        (["plan", "extra"], "extra"),
        (["plan", "-o", "xml"], 'Choose from: "text", "json", "yaml"'),
        (["explain"], "explain takes a key"),
        (["explain", "nosuch"], "nothing is named 'nosuch'"),
        (["plan", "-f", "good.yaml", "--cluster", "sim:h200"], "did you mean 'h200-"),
        (["plan", "-f", "good.yaml", "--cluster", "sim:h200-roce+mlx5-uplnk"], "did you mean 'mlx5-uplink'?"),
        (["plan", "-f", "good.yaml", "--cluster", "sim:h200-roce@"], "names no file after the @"),
        (["plan", "-f", "good.yaml", "--cluster", "bundle:x"], "x cannot be read"),
        (["plan", "-f", "good.yaml", "--cluster", "nosuch"], "no kubeconfig"),
        (["plan", "-f", "good.yaml", "--name", "other", *SIM], "no RailFabric is named 'other'"),
        (["apply", "-f", "good.yaml", "--until", "nosuch", "--yes", *SIM], "no stage is named 'nosuch'"),
        (["discover", "--node-timeout-s", "-1", *SIM], "expected a number of seconds above 0"),
        (["discover", "--node-timeout-s", "nan", *SIM], "expected a number of seconds above 0"),
        (["workload", "-f", "good.yaml", "--gpus", "0", *SIM], "--gpus 0"),
        (["workload", *SIM], "none was applied to this cluster"),
        (["demo", "--world", "nosuch"], "there is no simulated world"),
        (["render", "-f", "good.yaml", "--to", "out", "--openshift", "banana"], "not an OpenShift version"),
        (["report", "diff", "a", "b", "--to", "c"], "report diff has no use for --to"),
        (["report", "show", "a", "--cluster", "sim:h200-roce"], "report has no use for --cluster"),
        (["demo", "--cluster", "sim:h200-roce"], "demo has no use for --cluster"),
        (["verify", "-f", "good.yaml", "--image", "", *SIM], "--image '': expected the reference"),
        (["plan", "-f", "--quiet", "--cluster", "sim:h200-roce"], "-f needs a file, and --quiet is an option"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_use_is_exit_2_with_what_was_wrong(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert expected in refused(capsys, arguments)


# --- the file that keeps a simulated world -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{bad",
        b"[]",
        b"null",
        b"{}",
        b'{"format": "other/1"}',
        b'{"format": "railwright-simulated-world/1"}',
        b'{"format": "railwright-simulated-world/1", "world": "h200-roce", "now": "x", "elapsed_s": 0, "version": 1, "objects": []}',
        b'{"format": "railwright-simulated-world/1", "world": "h200-roce", "now": "2026-03-02T08:00:00+00:00", "elapsed_s": 0, "version": 1, "objects": [{}]}',
    ],
)
def test_a_state_file_that_is_none_is_refused_and_left_as_it_is(
    content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("state.json").write_bytes(content)
    words = refused(capsys, ["plan", "-f", "good.yaml", "--cluster", "sim:h200-roce@state.json"])
    assert "state.json" in words
    assert "remove this one to begin anew" in words
    assert "NoneType" not in words
    assert "indices" not in words
    assert Path("state.json").read_bytes() == content


def test_a_state_file_of_another_world_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--cluster", "sim:h200-roce@state.json"]) == 0
    capsys.readouterr()
    words = refused(capsys, ["status", "--cluster", "sim:h200-ib@state.json"])
    assert "holds world h200-roce, not h200-ib" in words


def test_a_state_file_that_cannot_be_written_is_an_error_before_anything_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = refused(capsys, ["apply", "-f", "good.yaml", "--yes", "--cluster", "sim:h200-roce@no/such/folder.json"])
    assert "cannot be written" in words


def at_write(number: int, act: Callable[[], None]) -> Callable[..., Progress]:
    """Make a Progress that acts when the so-manieth object was written."""

    class Acting:
        def __init__(self) -> None:
            self.writes = 0

        def emit(self, event: Event) -> None:
            if isinstance(event, Wrote):
                self.writes += 1
                if self.writes == number:
                    act()

    return lambda **_: Acting()


def test_of_two_commands_on_one_state_file_the_later_stops_and_undoes_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = b"what another command wrote"

    def another_command() -> None:
        Path("beside").write_bytes(foreign)
        Path("beside").replace("state.json")

    monkeypatch.setattr("railwright.cli.apply.progress", at_write(3, another_command))
    assert main(["apply", "-f", "good.yaml", "--yes", "--cluster", "sim:h200-roce@state.json"]) == 2
    assert "another command changed state.json" in capsys.readouterr().err
    assert Path("state.json").read_bytes() == foreign


# --- interrupts and consent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 9, 40])
def test_an_interrupted_apply_says_so_and_goes_on_where_it_stopped(
    number: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["apply", "-f", "good.yaml", "--yes", "-o", "json", "--cluster", "sim:h200-roce@state.json"]
    # A run in the background of a shell inherits an ignored SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with monkeypatch.context() as patched:
        patched.setattr("railwright.cli.apply.progress", at_write(number, lambda: signal.raise_signal(signal.SIGINT)))
        assert main(command) == 130
    assert "Traceback" not in capsys.readouterr().err
    assert main(command) == 0
    capsys.readouterr()
    assert main(["status", "--cluster", "sim:h200-roce@state.json", "-o", "json"]) == 0
    stages = json.loads(capsys.readouterr().out)["stages"]
    assert {stage["verdict"] for stage in stages} == {"PASS", "SKIP"}


def test_without_a_terminal_and_without_yes_nothing_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        words = refused(capsys, ["apply", "-f", "good.yaml", "--cluster", "sim:h200-roce@state.json", "-q"], 7)
    assert "nothing was done" in words
    assert "--yes" in words
    assert main(["status", "--cluster", "sim:h200-roce@state.json", "-q"]) == 0
    assert "PASS" not in capsys.readouterr().out


# --- render -------------------------------------------------------------------------------------------------------


def rendered(folder: str, method: str = "shared") -> dict[str, bytes]:
    assert main(["render", "-f", "good.yaml", "--to", folder, "--method", method, *SIM]) == 0
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()
    }


def test_render_twice_gives_the_same_bytes_and_what_is_no_longer_wanted_goes() -> None:
    first = rendered("out")
    assert rendered("out") == first
    other = rendered("out", "sriov")
    assert other.keys() != first.keys()
    Path("out/mine.yaml").write_text("a person's own")
    again = rendered("out")
    assert again.pop("mine.yaml") == b"a person's own"
    assert again == first
    assert [path for path in Path("out").rglob("*") if path.is_dir() and not any(path.iterdir())] == []


def test_verify_leaves_an_earlier_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run1").mkdir()
    Path("run1/record.json").write_text("the proof")
    words = refused(capsys, ["verify", "-f", "good.yaml", "--to", "run1", *SIM])
    assert "holds an earlier run" in words
    assert Path("run1/record.json").read_text() == "the proof"


def test_the_path_of_a_refusal_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "-f", "good.yaml", "--cluster", "sim:h200-roce+mlx5-uplink"])
    lines = capsys.readouterr().out.splitlines()
    refusals = sum("uplink-would-be-cut  worker" in line for line in lines)
    assert sum("ovs-system > eno1" in line for line in lines) == refusals > 0


@pytest.mark.parametrize("folder", ["foreign", "foreign/file", "foreign/file/below"])
def test_render_leaves_what_it_did_not_write(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("foreign").mkdir()
    Path("foreign/file").write_text("precious")
    refused(capsys, ["render", "-f", "good.yaml", "--to", folder, *SIM])
    assert Path("foreign/file").read_text() == "precious"
    assert len(list(Path("foreign").iterdir())) == 1


@pytest.mark.parametrize("listed", ["../precious", "{here}/precious", "link/precious", "a/../../precious"])
def test_render_believes_no_list_that_leads_out_of_its_folder(listed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder from somebody else's repository could else name any file of ours for removal."""
    here = Path.cwd()
    Path("precious").write_text("precious")
    Path("out").mkdir()
    Path("out/link").symlink_to(here)
    Path("out/.railwright-render").write_text(listed.format(here=here) + "\n")
    words = refused(capsys, ["render", "-f", "good.yaml", "--to", "out", *SIM])
    assert "lies outside the folder" in words
    assert Path("precious").read_text() == "precious"


# --- streams ------------------------------------------------------------------------------------------------------


def process(command: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a shell, as a person would."""
    line = command.replace("railwright", f"{sys.executable} -m railwright", 1)
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("railwright explain all | true", 0),
        ("railwright explain all >&-", 2),
        ("railwright explain --help >&-", 2),
        ("railwright --version >&-", 2),
        ("railwright --help >/dev/full", 2),
        ("railwright explain all 2>&-", 0),
        ("railwright --help | true", 0),
        ("railwright plan -f good.yaml --cluster sim:h200-roce 2>/dev/full", 0),
        ("railwright explain all >/dev/full", 2),
        ("railwright apply -f good.yaml --cluster sim:h200-roce <&-", 7),
    ],
)
def test_streams_that_are_closed_or_full_are_no_bug_of_ours(command: str, code: int) -> None:
    ended = process(command)
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "a bug of railwright" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
