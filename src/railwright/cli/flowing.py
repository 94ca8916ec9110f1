"""
How `--help` sets text: docstrings are wrapped where their source is, and flow anew in the reader's terminal.

The parser's own setting keeps the source's line ends, so that a sentence breaks in its middle.
"""

import re
from typing import TYPE_CHECKING, Any

from cyclopts.help import DefaultFormatter

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions

_LINE_END = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")
"""One that ends no paragraph."""


class Flowing(DefaultFormatter):
    """The parser's setting, with paragraphs that fill the line."""

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Write one panel."""
        for entry in panel.entries:
            _flow(entry.description)
        super().__call__(console, options, panel)

    def render_description(self, console: "Console", options: "ConsoleOptions", description: Any) -> None:
        """Write what a command does."""
        _flow(description)
        super().render_description(console, options, description)


def _flow(description: Any) -> None:
    text: Any = getattr(description, "primary_renderable", None)
    if hasattr(text, "plain"):
        text.plain = _LINE_END.sub(" ", text.plain)
