"""Raw replies for a folder or a page: what a half printed may hold what nobody meant to pass on, so it is redacted."""

import json
from typing import Any

from railwright.core.redaction import redact_text

FREE_TEXTS = ("raw", "raw_errors", "command")
"""Words of tools, the only parts of a reply that are not our own values."""


def redacted_reply(text: str) -> dict[str, Any]:
    """Read a raw reply and redact the tools' words in it, and the sections that a place printed."""
    reply: dict[str, Any] = json.loads(text)
    for key in FREE_TEXTS:
        if reply.get(key):
            reply[key] = redact_text(reply[key])
    sections = (reply.get("evidence") or {}).get("sections")
    if sections:
        reply["evidence"] = {
            **reply["evidence"],
            "sections": {key: redact_text(value) for key, value in sections.items()},
        }
    return reply
