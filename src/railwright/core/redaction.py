"""Take secrets out of text and objects before they are shown or stored."""

import re
from collections.abc import Mapping
from typing import Any

_SECRET_KEYS = re.compile(
    r"(?i)(token|password|passwd|secret|private_?key|pullsecret|\.dockerconfigjson|authorization)"
)
_TOKENS = re.compile(r"(?:sha256~[\w-]{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}|(?i:bearer)\s+[\w.~+/-]{16,})")
_PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----.*?-----END \1-----", re.DOTALL)
_URL_PASSWORD = re.compile(r"(?<=://)[^/@\s:]+:[^/@\s]+(?=@)")

REDACTED = "<redacted>"


def redact_text(text: str) -> str:
    """Replace tokens, PEM blocks and passwords inside URLs."""
    return _URL_PASSWORD.sub(REDACTED, _TOKENS.sub(REDACTED, _PEM.sub(REDACTED, text)))


def redact(value: Any) -> Any:
    """Redact nested data: values under telling keys whole, other strings by pattern; references by name stay."""
    if isinstance(value, Mapping):
        return {
            key: REDACTED
            if _SECRET_KEYS.search(key) and isinstance(item, str) and not key.endswith("Name")
            else redact(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    return redact_text(value) if isinstance(value, str) else value


class Redactor:
    """Takes secrets out of everything that goes into an archive."""

    def value(self, value: Any) -> Any:
        """Redact an object, or a part of one."""
        return redact(value)

    def text(self, text: str) -> str:
        """Redact text, as logs."""
        return redact_text(text)

    def node_record(self, text: str) -> str:
        """Redact the raw record of a node."""
        return redact_text(text)
