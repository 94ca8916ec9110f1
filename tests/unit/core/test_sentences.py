"""What is left of a text that is too long."""

import pytest

from railwright.core.sentences import first_sentences

LONG = "word " * 30 + "end."


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("Short. And whole.", "Short. And whole."),
        ("Version 26.4.1 passed. " + "x" * 50 + ".", "Version 26.4.1 passed."),
        ("One. Two. " + "x" * 50 + ". Four.", "One. Two."),
        (LONG + " Next.", LONG),
        ("word " * 80, ("word " * 39).strip() + " ..."),
        ("x" * 400, "x" * 196 + " ..."),
    ],
)
def test_the_first_sentence_is_whole_and_none_is_cut(text: str, kept: str) -> None:
    assert first_sentences(text, usual=40, most=200) == kept
