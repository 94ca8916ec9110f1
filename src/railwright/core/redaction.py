"""
Take secrets out of text and objects before they are shown or stored.

A secret is known by the name that it stands under, or by its own form: tokens, keys, certificates, passwords in URLs,
pull secrets, public SSH keys. What it is replaced with says nothing of it.

Text comes from anybody: every pattern is bounded, or begins where a word does, so that no text takes long.
"""

import base64
import binascii
import re
import urllib.parse
import zlib
from collections.abc import Mapping
from typing import Any

REDACTED = "<redacted>"

_SECRET_KEYS = re.compile(
    r"(?i)(token|passw(?:or)?d|passphrase|secret|private[_-]?key|api[_-]?key|access[_-]?key|pullsecret"
    r"|\.?docker(?:config(?:json)?|cfg)$|authorization|credential|cabundle|ssh[_-]?authorized[_-]?keys"
    r"|(?:client-key|client-certificate|certificate-authority)-data)"
)
_NOT_SECRET = re.compile(r"(?i)^(?:true|false|null|nil|none|~)?$")
_BEGIN = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----")
_PEM_BODY = re.compile(r"[A-Za-z0-9+/=\s\\]*")
_PEM_BYTES = 16 << 10
"""More than any key or certificate has."""
_FORMS = re.compile(
    r"sha256~[\w-]{20,}"  # OpenShift's OAuth tokens
    r"|(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"  # JSON web tokens: service accounts
    r"|(?i:bearer|basic)\s{1,8}[\w.~+/=-]{16,}"
    r"|LS0tLS1CRUdJTi[A-Za-z0-9+/=]{20,}"  # PEM in base64
    r"|\bnvapi-[\w-]{20,}"  # NGC
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{30,}|\bglpat-[\w-]{18,}|\bhf_[A-Za-z0-9]{30,}|\bxox[abprs]-[\w-]{10,}"
    r"|\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-[\w-]+) [A-Za-z0-9+/=]{40,}(?: [\w.-]+@[\w.-]+)?"
)
_TELLING = r"token|passw(?:or)?d|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|credentials?"
_VALUE = r"""((?<=["'])[^"'\\\n]{3,}|[^\s"'\\,;{}\[\]&<>]{3,})"""
"""In quotes up to the closing one, else up to where a value ends in YAML, JSON, a shell or a URL."""
_SAID = r"(?!(?:not a value for this key|has no value|wrong type|unknown key|duplicate key|is missing)\b)"
"""What rails.yaml's mistakes say of a key, behind its name and a colon: no values."""
_NAMED = re.compile(
    rf"(?i)((?:{_TELLING}|(?:client-key|client-certificate|certificate-authority)-data|\bauth)"
    rf"""\\*["']?\s{{0,8}}[:=]\s{{0,8}}\\*["']?){_SAID}{_VALUE}"""
)
_NAME_AND_VALUE = re.compile(
    rf"""(?i)(\bname\\*["']?\s{{0,4}}[:=]\s{{0,4}}\\*["']?[\w.-]{{0,48}}(?:{_TELLING})[\w.-]{{0,48}}\\*["']?\s{{0,4}},?\s{{0,40}}"""
    rf"""\\*["']?value\\*["']?\s{{0,4}}[:=]\s{{0,4}}\\*["']?){_VALUE}"""
)
"""An entry of an environment inside text: name and value are words of their own."""
_FLAG = re.compile(
    rf"""(?i)((?<![\w-])--?[\w-]{{0,32}}(?:{_TELLING})[\w-]{{0,32}}["']?,?\s{{1,4}}["']?)(?!-){_VALUE}"""
)
_BARE_FLAG = re.compile(rf"(?i)--?[\w-]{{0,32}}(?:{_TELLING})[\w-]{{0,32}}")
_URL_PASSWORD = re.compile(r"(?<=://)[^/@\s:]{1,256}:[^/@\s]{1,1024}(?=@)")
_DATA_URL = re.compile(r"data:([^,;\s]*)(;base64)?,(.*)", re.DOTALL)
_MAX_DATA_BYTES = 8 << 20


def redact_text(text: str) -> str:
    """Replace tokens, keys, certificates, passwords, and values that stand behind a telling name."""
    if len(text) < 8:
        return text
    if "-----BEGIN" in text:
        text = _without_pem(text)
    text = _FORMS.sub(REDACTED, text)
    if ":" in text or "=" in text:
        text = _NAME_AND_VALUE.sub(_named, _NAMED.sub(_named, _URL_PASSWORD.sub(REDACTED, text)))
    if "-" in text:
        text = _FLAG.sub(_named, text)
    return text


def _without_pem(text: str) -> str:
    """Replace keys and certificates, also those whose end was cut off."""
    parts, at = [], 0
    for match in _BEGIN.finditer(text):
        if match.start() < at:
            continue
        mark = f"-----END {match[1]}-----"
        end = text.find(mark, match.end(), match.end() + _PEM_BYTES)
        body = _PEM_BODY.match(text, match.end())
        parts += [text[at : match.start()], REDACTED]
        at = end + len(mark) if end >= 0 else body.end() if body else match.end()
    return "".join([*parts, text[at:]])


def _named(match: re.Match[str]) -> str:
    return match[0] if _NOT_SECRET.match(match[2]) else f"{match[1]}{REDACTED}"


def redact(value: Any) -> Any:
    """Redact nested data: values under telling keys whole, other strings by their form; references by name stay."""
    if isinstance(value, Mapping):
        told = value.get("name") if isinstance(value.get("value"), str) else None
        return {
            key: REDACTED if is_secret(key, item) or (key == "value" and is_secret(told, item)) else redact(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [REDACTED if hidden else redact(item) for item, hidden in zip(value, after_flags(value), strict=True)]
    return redact_string(value) if isinstance(value, str) else value


def after_flags(words: list[Any] | tuple[Any, ...]) -> list[bool]:
    """Say of each word of a command whether it is the value of a telling flag before it: "--password", "x"."""
    told = [isinstance(word, str) and _BARE_FLAG.fullmatch(word) is not None for word in words]
    return [
        before and isinstance(word, str) and not word.startswith("-")
        for before, word in zip([False, *told][: len(words)], words, strict=True)
    ]


def is_secret(key: Any, item: Any) -> bool:
    """Whether a key says that its value, or each of its values, is a secret; the name of a Secret is none."""
    if isinstance(item, list) and item and all(isinstance(each, str) for each in item):
        return any(is_secret(key, each) for each in item)
    return (
        isinstance(item, str)
        and isinstance(key, str)
        and not key.endswith(("Name", ".name"))
        and _SECRET_KEYS.search(key) is not None
        and _NOT_SECRET.match(item) is None
    )


def redact_string(text: str) -> str:
    """Redact one string of an object: text, or the contents of a file as a data URL."""
    match = _DATA_URL.fullmatch(text) if text.startswith("data:") else None
    return redact_text(text) if match is None else _redact_data(match)


def _redact_data(match: re.Match[str]) -> str:
    """Redact what a data URL holds; what cannot be read is taken out whole. As it was when nothing is in it."""
    try:
        data = base64.b64decode(match[3]) if match[2] else urllib.parse.unquote_to_bytes(match[3])
        is_packed = data.startswith(b"\x1f\x8b")
        if is_packed:
            data = zlib.decompressobj(wbits=31).decompress(data, _MAX_DATA_BYTES)
        text = data.decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError, ValueError):
        return f"data:,{REDACTED}"
    clean = redact_text(text)
    if clean == text:
        return match[0]
    return f"data:,{REDACTED}" if is_packed else f"data:{match[1]},{urllib.parse.quote(clean)}"
