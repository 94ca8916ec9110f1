"""The node script, as text: read-only, POSIX, no dependencies; its output is what the parsers here read."""

from functools import cache
from importlib.resources import files


@cache
def node_script() -> str:
    """Read the script that a Node runs."""
    return files("railwright.facts.sources").joinpath("node.sh").read_text(encoding="utf-8")
