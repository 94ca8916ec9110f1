"""Whatever is in a file, the answer is an intent or a clear error, and it comes soon."""

from pathlib import Path

import pytest
import yaml

from railwright.core.errors import IntentError, UsageError
from railwright.intent import check_shape
from railwright.intent.parse import parse_intents, read_intents
from railwright.intent.read_yaml import MAX_BYTES, scalar_value

RIGHT = (
    "apiVersion: railwright.dev/v1alpha1\nkind: RailFabric\nmetadata: {name: east-west}\n"
    "spec: {method: sriov, fabric: roce}\n"
)


def message_of(text):
    with pytest.raises(IntentError) as caught:
        parse_intents(text, "f.yaml")
    return caught.value.message


def bomb(levels, width):
    lines = [f"a0: &a0 [{', '.join(['x'] * width)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (bomb(9, 9), "the file holds too much"),
        ("a: &a [*a]", "the alias *a is not defined before, or holds itself"),
        ("a: *b", "the alias *b is not defined before"),
        ("[" * 100_000, "nest"),
        ("{a: " * 10_000, "nested too deeply"),
        ("- " * 300_000, "nested too deeply"),
        ("a: " * 100_000, "not YAML"),
        ("\n".join(f"k{n}: 1" for n in range(20_000)), "the file holds too much"),
        ("x" * (MAX_BYTES + 1), "the file is too large"),
        ("\u00e9" * (MAX_BYTES // 2 + 1), "the file is too large"),
        ("\ud800", "a character that YAML does not allow"),
        ("%YAML 9.9\n---\na: b", "not YAML"),
        ("a: !!binary aaaa", "the tag"),
        ("? {a: b}\n: c", "a key must be a string"),
        ("a: 'b", "not YAML"),
        ("k: " + "9" * 5000, "unknown key"),
    ],
)
def test_hostile_text_is_refused(text, problem):
    assert problem in message_of(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("no", "no"),
        ("yes", "yes"),
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("-5", -5),
        ("9" * 19, "9" * 19),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("-.inf", float("-inf")),
        ("1_000", "1_000"),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_plain_scalars_are_read_as_yaml_1_2_says(text, value):
    assert scalar_value(text) == value
    assert type(scalar_value(text)) is type(value)


def test_a_file_is_read(tmp_path: Path):
    file = tmp_path / "rails.yaml"
    file.write_text(RIGHT)
    assert read_intents(file)[0].place("spec") is not None
    assert str(read_intents(str(file))[0].place("spec")) == f"{file}:4:1"


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path):
    file = tmp_path / "rails.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + RIGHT.encode())
    assert read_intents(file)[0].name == "east-west"


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match="there is no such file") as caught:
        read_intents(tmp_path / "rails.yaml")
    assert caught.value.exit_code == 2
    assert str(tmp_path) in caught.value.message


def test_a_folder_is_no_file(tmp_path: Path):
    with pytest.raises(UsageError, match="is a folder"):
        read_intents(tmp_path)


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(UsageError, match="cannot be read"):
        read_intents("a\x00b")


def test_a_file_that_may_not_be_read_is_named(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match="may not be read: Permission denied"):
        read_intents("rails.yaml")


def test_a_large_file_is_refused_without_being_read_whole(tmp_path: Path):
    file = tmp_path / "rails.yaml"
    with file.open("wb") as opened:
        opened.truncate(100 * MAX_BYTES)
    with pytest.raises(UsageError, match="too large"):
        read_intents(file)


def test_bytes_that_are_no_utf_8_are_named_with_their_place(tmp_path: Path):
    file = tmp_path / "rails.yaml"
    file.write_bytes(b"a: b\nc: \xff\n")
    with pytest.raises(UsageError, match=r":2:4: is not UTF-8 text \(seen byte 0xff\)"):
        read_intents(file)


def test_what_the_parser_says_without_a_place_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise yaml.YAMLError("no reason")

    monkeypatch.setattr(yaml, "parse", refuse)
    assert message_of("a: b").startswith("f.yaml:1:1: not YAML: no reason")


def test_the_slow_parser_of_yaml_gives_the_same(monkeypatch: pytest.MonkeyPatch):
    quick = parse_intents(RIGHT)
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert parse_intents(RIGHT) == quick
    assert "f.yaml:2:1: not YAML" in message_of("a:\n\tb: c")
    assert "nested too deeply" in message_of("[" * 1000)


def test_mistakes_are_said_even_if_cutting_them_out_does_not_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(check_shape, "MAX_ROUNDS", 1)
    assert message_of(RIGHT.replace("sriov", "other")).startswith("f.yaml:4:16: spec.method: not a value")
