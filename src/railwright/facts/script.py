"""The node script, as text: read-only, POSIX, no dependencies; its output is what the parsers here read."""

from functools import cache
from importlib.resources import files

_PARTS = ("node.sh", "node_network.sh", "node_devices.sh", "node_storage.sh", "node_settings.sh")
"""One script in five files: each goes on where the one before ended."""


@cache
def node_script() -> str:
    """Read the script that a Node runs."""
    folder = files("railwright.facts.sources")
    return "".join(folder.joinpath(part).read_text(encoding="utf-8") for part in _PARTS)
