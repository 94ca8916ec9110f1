"""Log lines without a cluster: from a file, from stdin, of anything."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import random
import sys
import tarfile
from pathlib import Path

import pytest

from railwright.cli import pasted
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
    [(b"nothing to see here\n", 0), (b"", 6), (b"\x1b[2J" * 1000, 6)],
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


def packed(name: str) -> bytes:
    return {"gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress}[name](LINE * 100)


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("a.log"))
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "said", "hint"),
    [
        (random.Random(1).randbytes(300_000), "is no text: ", "iconv"),
        (LINE.decode().encode("utf-16-le"), "it begins with the bytes 67 00", "iconv"),
        (LINE.decode().encode("utf-32"), "is no text", "iconv"),
        (packed("gzip"), "is gzip, not text", "gzip -dc"),
        (packed("xz"), "is xz, not text", "xz -dc"),
        (packed("bzip2"), "is bzip2, not text", "bzip2 -dc"),
        (b"\x28\xb5\x2f\xfd" + LINE, "is zstd, not text", "zstd -dc"),
        (b"PK\x03\x04" + LINE, "is zip, not text", "unzip -p"),
        (tarred(), "is tar, not text", "bundle:FILE"),
    ],
    ids=["random", "utf-16 without a mark", "utf-32", "gzip", "xz", "bzip2", "zstd", "zip", "tar"],
)
@pytest.mark.parametrize("piped", [False, True], ids=["file", "stdin"])
def test_what_is_no_text_is_refused_with_the_next_step(
    content, said, hint, piped, tmp_path, monkeypatch, capsys
) -> None:
    (tmp_path / "a log").write_bytes(content)
    monkeypatch.setattr(sys, "stdin", Stdin(content))
    assert main(["doctor", "--log", "-" if piped else str(tmp_path / "a log")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert said in told
    assert hint in told
    assert piped or "not text" not in said or f"'{tmp_path}/a log' | railwright doctor --log -" in told


@pytest.mark.parametrize(
    "content",
    [
        LINE.decode().encode("utf-16"),
        codecs.BOM_UTF16_BE + LINE.decode().encode("utf-16-be"),
        codecs.BOM_UTF8 + LINE,
        b"\0" * 100_000 + LINE,
        b"\x1b[31m" + LINE.replace(b" ", b"\x1b[0m "),
        LINE + "Ger\xe4t nicht verf\xfcgbar\n".encode("latin-1"),
    ],
    ids=["utf-16", "utf-16 big end first", "marked utf-8", "a hole", "colours", "latin-1"],
)
def test_text_in_the_forms_that_it_has_is_read(content, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(content))
    assert main(["doctor", "--log", "-"]) == 5
    assert "log-container-limit-reached" in capsys.readouterr().out


@pytest.mark.parametrize("content", [LINE, LINE.decode().encode("utf-16")], ids=["utf-8", "utf-16"])
@pytest.mark.parametrize("piped", [False, True], ids=["file", "stdin"])
def test_the_end_of_a_long_log_is_read(content, piped, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(pasted, "LIMIT_BYTES", 1001)
    monkeypatch.setattr(pasted, "_CHUNK_BYTES", 333)
    before = (
        codecs.BOM_UTF16_LE + "quiet\n".encode("utf-16-le") * 999 if content[:2] == codecs.BOM_UTF16_LE else b"q" * 9999
    )
    whole = before + b"\n".ljust(len(before) % 2 + 1) + content if before[:1] == b"q" else before + content[2:]
    (tmp_path / "log").write_bytes(whole)
    monkeypatch.setattr(sys, "stdin", Stdin(whole))
    assert main(["doctor", "--log", "-" if piped else str(tmp_path / "log")]) == 5


def test_nothing_wrong_is_said_of_the_text_only(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(b"nothing to see here\n"))
    assert main(["doctor", "--log", "-"]) == 0
    assert capsys.readouterr().out.startswith("nothing wrong found in this text; ")
