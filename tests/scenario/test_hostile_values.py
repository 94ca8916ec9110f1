"""
Whatever stands in names, labels, annotations, messages and logs: no output of a reading command obeys it.

A terminal is told nothing, JSON and YAML stay what they are, no line is forged, and a value of a megabyte does not bury
the rest; pages and XML are in tests/unit/report. There is no output in CSV, where a value that begins with "=" would be a formula.
"""

import io
import json
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from support.scenarios import rails

from railwright.adapters.archive.objects import whole
from railwright.cli.app import main
from railwright.cli.consent import Consent
from railwright.cli.discover import _keep
from railwright.cli.edge import show_error
from railwright.cli.options import Common
from railwright.cli.progress import Lines
from railwright.core import kinds
from railwright.core.errors import Refused, UsageError
from railwright.core.foreign_text import is_inert
from railwright.core.ids import NodeName, StageName
from railwright.core.objects import Ref
from railwright.core.risk import Risk
from railwright.core.verdicts import Verdict
from railwright.ports.approval import Question
from railwright.ports.progress import Event, Measuring, Note, Reading, StageEnded, Waiting, Wrote

FORGED = "PASS  everything is proven"
HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp.exe\u2066\r</td><script>alert(1)</script><img src=x onerror=alert(1)>"
    f"&a [*a] !!python/object/apply:os.system [id] =cmd|'/C calc'!A0 {{{{7*7}}}} ]]> \n{FORGED}\n---\n"
)
NAME = "worker-1\u202e<b>&a=1"
"""What stands in for a node's name: only an archive can hold it."""
PORT = "enp24\x1b[31m<b>"
MEGABYTE = "A" * (1 << 20)
MOST_TEXT = 200_000
READING = {
    "discover": ["discover"],
    "plan": ["plan", "-f", "rails.yaml"],
    "status": ["status", "-f", "rails.yaml"],
    "doctor": ["doctor"],
}
REFUSED = {
    "apply": ["apply", "-f", "rails.yaml", "--yes"],
    "clean": ["clean", "--yes"],
    "workload": ["workload", "-f", "rails.yaml", "-n", "training"],
    "images": ["images", "-f", "rails.yaml"],
}


def checked(told: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    """Run a command; give its output, which is inert, as are its words on stderr."""
    code = main(arguments)
    out, words = told.readouterr()
    assert code != 1, words
    assert "Traceback" not in words
    assert "a bug of railwright" not in words
    assert is_inert(out)
    assert is_inert(words)
    assert FORGED not in [line.strip() for line in (out + words).splitlines()]
    return out


def hostile_values(value: object) -> object:
    """Put words of its own into every place of an object that its writer chooses freely."""
    if isinstance(value, list):
        return [hostile_values(item) for item in value]
    if not isinstance(value, dict):
        return value
    free = {"message", "reason", "osImage", "phase", "displayName", "description", "manager"}
    changed = {
        key: f"{item}{HOSTILE}" if key in free and isinstance(item, str) else item for key, item in value.items()
    }
    changed = {key: hostile_values(item) for key, item in changed.items()}
    if value.get("type") in {"Degraded", "NodeDegraded", "MemoryPressure"}:
        changed |= {"status": "True", "reason": HOSTILE, "message": HOSTILE}
    if isinstance(value.get("metadata"), dict):
        own = {"team.example.com/note": HOSTILE, "team.example.com/long": MEGABYTE}
        metadata = changed["metadata"]
        changed["metadata"] = {
            **metadata,
            "annotations": {**metadata.get("annotations", {}), **own},
            "labels": {**metadata.get("labels", {}), "note": HOSTILE},
        }
    return changed


def hostile_file(name: str, content: bytes) -> bytes:
    """One file of an archive of ours, rewritten by somebody who means harm."""
    text = content.decode()
    if name.endswith(".jsonl") and "/objects/" in name:
        lines = [json.dumps(hostile_values(json.loads(line))) + "\n" for line in text.splitlines()]
        return "".join(line.replace('"worker-1"', json.dumps(NAME)) for line in lines).encode()
    if name.endswith("/manifest.json"):
        manifest = json.loads(text)
        nodes = [{**item, "node": NAME if item["node"] == "worker-1" else item["node"]} for item in manifest["nodes"]]
        return json.dumps({**manifest, "nodes": nodes}).encode()
    if "/nodes/" in name:
        return text.replace("enp24s0np0", PORT).encode()
    return content + HOSTILE.encode("utf-8", "replace") if name.endswith(".log") else content


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of a simulated cluster in which everything is hostile that can be."""
    folder = tmp_path_factory.mktemp("hostile")
    collected, changed = folder / "collected.tgz", folder / "hostile.tar"
    assert main(["collect", "--to", str(collected), "--no-redact", "-q", "--cluster", "sim:h200-roce"]) == 0
    with tarfile.open(collected) as old, tarfile.open(changed, "w") as new:
        for member in old.getmembers():
            content = old.extractfile(member)
            data = hostile_file(member.name, content.read()) if content else b""
            member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    return changed


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    Path("rails.yaml").write_text(rails("shared", "roce"))


@pytest.mark.parametrize("command", READING)
def test_a_command_over_a_hostile_archive_shows_text(command: str, archive: Path, capsys: pytest.CaptureFixture[str]):
    cluster = ["--cluster", f"bundle:{archive}"]
    text = checked(capsys, [*READING[command], *cluster])
    assert len(text) < MOST_TEXT
    as_json = checked(capsys, [*READING[command], *cluster, "-o", "json"])
    as_yaml = checked(capsys, [*READING[command], *cluster, "-o", "yaml"])
    assert yaml.safe_load(as_yaml) == json.loads(as_json)
    assert text


@pytest.mark.parametrize("command", REFUSED)
@pytest.mark.parametrize("output", ["text", "json"])
def test_what_a_hostile_archive_does_not_allow_is_refused_in_plain_words(
    command: str, output: str, archive: Path, capsys
):
    """Nothing can be written to an archive, and this one's plan is refused: in words, and with nothing to be piped on."""
    assert checked(capsys, [*REFUSED[command], "--cluster", f"bundle:{archive}", "-o", output]) == ""


@pytest.mark.parametrize("output", ["text", "json", "yaml"])
def test_a_hostile_log_is_shown_as_text(output: str, capsys, monkeypatch: pytest.MonkeyPatch):
    log = f"{HOSTILE} modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument {HOSTILE}{MEGABYTE}"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(log.encode("utf-8", "replace"))))
    out = checked(capsys, ["doctor", "--log", "-", "-o", output])
    assert "log-module-does-not-fit" in out
    assert len(out) < MOST_TEXT


STAGE = StageName("vfs-ready")
EVENTS = (
    Note(HOSTILE),
    Reading(HOSTILE, 1, 1),
    Measuring(HOSTILE, 1, 2, 0),
    Waiting(STAGE, HOSTILE, 1.0, 2.0, 3.0),
    Wrote(STAGE, Ref(kinds.NODE, "", HOSTILE), "update"),
    StageEnded(STAGE, HOSTILE, Verdict.FAIL, HOSTILE, 1.0),
)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_progress_is_shown_as_text(event: Event):
    stream = io.StringIO()
    Lines(stream).emit(event)
    assert is_inert(stream.getvalue())
    assert "gnp.exe" in stream.getvalue()


@pytest.mark.parametrize("output", ["text", "json"])
def test_an_error_is_shown_as_text(output: str, capsys: pytest.CaptureFixture[str]):
    show_error(Refused(HOSTILE, hint=HOSTILE, context={HOSTILE: HOSTILE}), Common(output=output))
    words = capsys.readouterr().err
    assert is_inert(words)
    if output == "json":
        assert json.loads(words)["error"]["message"] == HOSTILE


def test_a_question_is_shown_as_text(capsys: pytest.CaptureFixture[str]):
    Consent(yes=True, take_over=True).approve(
        Question(Risk.REBOOT, HOSTILE, nodes=(NodeName(HOSTILE),), details=(HOSTILE,))
    )
    assert is_inert(capsys.readouterr().err)


def test_a_record_of_a_node_is_never_written_outside_its_folder(tmp_path: Path):
    """An API server takes no such name, and an archive with one is refused before; this is the last door."""
    with pytest.raises(UsageError, match="outside"):
        _keep(tmp_path / "records", {"../../owned": "x"})
    assert not (tmp_path.parent / "owned.txt").exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "..", ".", "", "a%2fb", "a\0b", "a\nb", 7, None])
def test_what_no_api_server_would_call_an_object_is_no_object_of_an_archive(name: object):
    for metadata in ({"name": name}, {"name": "a", "namespace": name}):
        obj = whole({"metadata": metadata}, kinds.POD)
        assert obj is None or metadata == {"name": "a", "namespace": ""}
