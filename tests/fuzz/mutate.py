"""Change an input a little: text, bytes, or the values of a JSON document."""

import json
import random
from typing import Any

from fuzz.model import Form, to_bytes, to_text

PIECES = (
    "\t", " ", "=", ",", ":", "/", "\\", "-1", "0x", "0xffffffffffffffffffff", "99999999999999999999", "é", "\0",
    "\x1b[4m", "pci=", "path=pci0000:00/", "0000:1a:00.0", "vf 0 ", "exp=", "acs=1,2", "inet ", "1e999", "NaN", "=== ",
    "\n", "\r", "\u2028", "\u202e", "\ud800", "[" * 3000, "{", "}", "]", '"', "'", "<", ">", "&", "&a ", "*a", "!!", "- ",
    "null", "true", "²", "٣", "1.0", "%", "$", "9" * 5000, "::", "::1%", "10.0.0.0/33",
)  # fmt: skip
WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 1.5, 10**30, -(10**30), float("inf"), float("nan"), "", "x", "0", "-1", "1k", "²",
    "9" * 5000, "a/b", "/", "\0", "\x1b[31m", "\u202e", "[" * 3000, "{", "[1]", '{"a": 1}', "0000:1a:00.0", "10.0.0.0/33",
    "2026-13-45T99:99:99Z", [], [None], [[]], [0], ["x"], [{}], {}, {"": None}, {"a": []}, {"x": {"y": {}}}, {"0": "x"},
)  # fmt: skip


def mutated(data: bytes, form: Form, chance: random.Random) -> bytes:
    """Change an input once to four times."""
    if form is Form.BYTES:
        return _bytes(data, chance)
    if form is Form.TEXT:
        return to_bytes(mutated_text(to_text(data), chance))
    return to_bytes(json.dumps(_tree(json.loads(data), chance), ensure_ascii=False))


def mutated_text(text: str, chance: random.Random) -> str:
    """Cut, double, swap and put in pieces."""
    for _ in range(chance.randint(1, 4)):
        at, to = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        to = min(to, at + chance.choice((1, 3, 20, 200)))
        what = chance.random()
        if what < 0.3:
            text = text[:at] + text[to:]
        elif what < 0.5:
            text = text[:to] + text[at:]
        elif what < 0.9:
            text = text[:at] + chance.choice(PIECES) + text[to:]
        else:
            text = text[:at] + text[at:to][::-1] + text[to:]
    return text


def _bytes(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(changed))
        to = min(len(changed), at + chance.choice((1, 4, 64, 512)))
        what = chance.random()
        if what < 0.5 and changed:
            changed[min(at, len(changed) - 1)] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randint(0, 255)))
        elif what < 0.65:
            del changed[at:to]
        elif what < 0.8:
            changed[at:at] = changed[at:to]
        elif what < 0.9:
            changed[at:to] = chance.randbytes(to - at)
        else:
            changed[at:to] = bytes(to - at)
    return bytes(changed)


def _tree(value: Any, chance: random.Random) -> Any:
    """Change some places of a document; the document itself stays of its kind."""
    for _ in range(chance.randint(1, 4)):
        places = _places(value)
        if not places:
            return _anew(chance.choice(WRONG))
        holder, key = chance.choice(places)
        what = chance.random()
        if what < 0.6:
            holder[key] = _anew(chance.choice(WRONG))
        elif what < 0.7:
            del holder[key]
        elif what < 0.8:
            other, place = chance.choice(places)
            holder[key] = _anew(other[place])
        elif what < 0.85 and isinstance(holder, list):
            holder.insert(key, _anew(holder[key]))
        elif what < 0.95 and isinstance(holder[key], str):
            holder[key] = mutated_text(holder[key], chance)
        elif isinstance(holder, dict):
            holder[mutated_text(str(key), chance)] = holder.pop(key)
    return value


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Give every place of a document, as its holder and key, outermost first."""
    found: list[tuple[Any, Any]] = []
    level = [value]
    while level:
        inner = []
        for holder in level:
            keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
            found += [(holder, key) for key in keys]
            inner += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
        level = inner
    return found


def _anew(value: Any) -> Any:
    """Copy a value: one that stood in two places, or in itself, would be changed in both."""
    return json.loads(json.dumps(value))
