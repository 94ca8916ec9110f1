"""What is fuzzed: a reader of foreign text, texts that it is known to read, and how they are changed."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from railwright.core.errors import RailwrightError

KEPT = Path(__file__).parents[1] / "cases" / "fuzz"
"""A folder a target, of inputs that once ended badly; every run replays them first."""


class Form(StrEnum):
    """How inputs are changed, and made small again."""

    TEXT = "txt"
    BYTES = "bin"
    TREE = "json"
    """JSON: values are replaced, moved and taken out, so that most of it still means something."""


@dataclass(frozen=True)
class Target:
    """
    One reader.

    Attributes:
        corpus: what it reads today; called once a process.
        call: reads one input; what it raises beside `allowed`, assertions included, is a defect.
        short: mutations in a run of the tests, about 0.1 s of them.
    """

    name: str
    form: Form
    corpus: Callable[[], tuple[bytes, ...]]
    call: Callable[[bytes], object]
    allowed: tuple[type[Exception], ...] = (RailwrightError,)
    short: int = 100

    @property
    def folder(self) -> Path:
        """Where its kept inputs are."""
        return KEPT / self.name


def text_target(
    name: str, corpus: Callable[[], tuple[str, ...]], read: Callable[[str], object], *, short: int = 100
) -> Target:
    """Make a target of a function that takes text, and may raise nothing at all."""
    return Target(
        name,
        Form.TEXT,
        cache(lambda: tuple(to_bytes(text) for text in corpus())),
        lambda data: read(to_text(data)),
        allowed=(),
        short=short,
    )


def to_text(data: bytes) -> str:
    """Read an input back."""
    return data.decode("utf-8", "surrogatepass")


def to_bytes(text: str) -> bytes:
    """Write an input; lone surrogates are text in Python, too."""
    return text.encode("utf-8", "surrogatepass")
