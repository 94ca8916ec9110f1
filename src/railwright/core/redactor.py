"""
Everything that leaves a cluster in an archive, redacted: secrets gone, identifying values replaced by pseudonyms.

Names of nodes, namespaces and objects stay, as do private addresses: nothing could be diagnosed without them.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from railwright.core.node_record import HEADER
from railwright.core.pseudonyms import Pseudonyms
from railwright.core.redaction import REDACTED, after_flags, is_secret, redact_string, redact_text

_SERIAL_KEY = re.compile(
    r"(?i)(?:(?:system|board|chassis|product|baseboard)[_-]?)?(?:serial(?:[_-]?n(?:umbers?|o|um)?)?|uuid|asset[_-]?tag)"
    r"|machine-?id|boot-?id|vpd[_-]?sn|sn"
)
_SERIAL_TEXT = re.compile(
    r"(?i)(?<![\w-])((?:(?:system|board|chassis|product|baseboard)[ _]?)?"
    r"(?:serial(?:[ _]?(?:number|no|num)\.?)?|asset[ _]tag|uuid|machine[_-]?id|vpd_sn|sn)"
    r"""\\*["']?[ \t]{0,8}[:=\t][ \t]{0,8}\\*["']?)([\w./+-]*\w)"""
)
_NIC_SERIAL = re.compile(r"(?i)(?<![0-9a-z])MT[0-9]{4}[A-Z]{1,2}[0-9]{5}(?![0-9a-z])")
"""Of NVIDIA's NICs: "MT2116X09299". NicDevices of older operators have it in their names. Source: NicDevice CRD, serialNumber."""
_DEVICE_UUID = re.compile(r"\b((?:GPU|MIG)-)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b")
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]?[0-9])"
_FOUR = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_ADDRESS = re.compile(
    # 6, 8 or 20 bytes, as 0x16 hex digits, or as ibnetdiscover names nodes
    r"(?<![\w:.-])(?P<bytes>[0-9A-Fa-f]{2}(?:(?P<sign>[:-])[0-9A-Fa-f]{2})(?:(?P=sign)[0-9A-Fa-f]{2}){4,18})(?![\w:])(?!-[0-9A-Fa-f]{2}-)"
    r"|(?P<lead>\b0x|(?<![\w])[HSR]-)(?P<digits>(?!ffff)[0-9A-Fa-f]{16})\b"
    r"|(?<![\w:.])(?P<guid>[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){3})(?![\w:.])"
    rf"|(?<![\w:.])(?P<six>[0-9A-Fa-f]{{0,4}}(?::[0-9A-Fa-f]{{0,4}}){{2,8}}(?:(?<=:){_FOUR})?)(?P<six_length>/[0-9]{{1,3}})?(?!\.\d|[\w.]*:)"
    rf"|(?<![\w.-])(?P<four>{_FOUR})(?P<four_length>/[0-9]{{1,2}})?(?:(?P<dash>-)(?P<end>{_FOUR}))?(?![\w]|[.-]\w)"
)
_VERSION = re.compile(r"(?i)(?:version|release|firmware|\bver|\bv)[\s:=\"']{0,4}$")
_ROUTES_4, _ROUTES_6 = "route4", "route6"


class Redactor:
    """Redacts the parts of one archive alike."""

    def __init__(self, key: bytes | None = None) -> None:
        """
        Begin.

        Args:
            key: for the pseudonyms; random when left out, and nowhere written.
        """
        self._pseudonyms = Pseudonyms(key or secrets.token_bytes(32))

    def value(self, value: Any) -> Any:
        """Redact an object, or a part of one; keys too, since addresses stand in them."""
        if isinstance(value, str):
            return self._addresses(redact_string(value)) if len(value) > 3 else value
        if isinstance(value, Mapping):
            told = value.get("name") if isinstance(value.get("value"), str) else None
            return {self._addresses(str(key)): self._item(key, item, told) for key, item in value.items()}
        if isinstance(value, list | tuple):
            hidden = after_flags(value)
            return [REDACTED if hide else self.value(item) for item, hide in zip(value, hidden, strict=True)]
        return value

    def text(self, text: str) -> str:
        """Redact text, as logs."""
        return self._addresses(redact_text(text))

    def node_record(self, text: str) -> str:
        """Redact the raw record of a node: text, but for routes, which the kernel writes as hex digits."""
        section, lines = "", []
        for line in text.splitlines():
            if line.startswith(HEADER):
                section = line.removeprefix(HEADER).strip()
            elif section == _ROUTES_4:
                line = _in_fields(line, self._route_4)  # noqa: PLW2901 - the line as it is to be
            elif section == _ROUTES_6:
                line = _in_fields(line, self._route_6)  # noqa: PLW2901 - the line as it is to be
            lines.append(line)
        return self.text("\n".join(lines)) + ("\n" if text.endswith("\n") else "")

    def _item(self, key: Any, item: Any, told: Any) -> Any:
        if is_secret(key, item) or (key == "value" and is_secret(told, item)):
            return REDACTED
        if isinstance(item, str) and isinstance(key, str) and _SERIAL_KEY.fullmatch(key) and item:
            return self._pseudonyms.serial(item)
        if isinstance(item, list | tuple) and isinstance(key, str) and _SERIAL_KEY.fullmatch(key):
            return [self._pseudonyms.serial(one) if isinstance(one, str) and one else self.value(one) for one in item]
        return self.value(item)

    def _addresses(self, text: str) -> str:
        text = _ADDRESS.sub(self._address, text)
        if "-" in text:
            text = _DEVICE_UUID.sub(lambda match: match[1] + self._pseudonyms.serial(match[2]), text)
        text = _SERIAL_TEXT.sub(lambda match: match[1] + self._pseudonyms.serial(match[2]), text)
        return _NIC_SERIAL.sub(lambda match: self._pseudonyms.serial(match[0]), text)

    def _address(self, match: re.Match[str]) -> str:
        if match["bytes"]:
            return self._bytes(match["bytes"], match["sign"])
        if match["digits"]:
            return match["lead"] + self._pseudonyms.hardware(bytes.fromhex(match["digits"])).hex()
        if match["guid"]:
            new = self._pseudonyms.hardware(bytes.fromhex(match["guid"].replace(":", ""))).hex()
            return ":".join(new[at : at + 4] for at in range(0, 16, 4))
        if match["six"]:
            return self._six(match["six"], match["six_length"] or "")
        if _VERSION.search(match.string, max(0, match.start() - 16), match.start()):
            return match[0]
        end = f"-{self._pseudonyms.address(_without_zeros(match['end']))}" if match["end"] else ""
        return self._with_length(_without_zeros(match["four"]), match["four_length"] or "") + end

    def _bytes(self, text: str, sign: str) -> str:
        data = bytes.fromhex(text.replace(sign, ""))
        if len(data) not in {6, 8, 20}:
            return text
        new = self._pseudonyms.hardware(data).hex(sign)
        return new.upper() if text.upper() == text and text.lower() != text else new

    def _six(self, text: str, length: str) -> str:
        bare = text.rstrip(":") if not text.endswith("::") else text
        try:
            return self._with_length(bare, length) + text[len(bare) :]
        except ValueError:
            return text + length

    def _with_length(self, address: str, length: str) -> str:
        if not length:
            return self._pseudonyms.address(address)
        try:
            return self._pseudonyms.network(address + length)
        except ValueError:
            return self._pseudonyms.address(address) + length

    def _route_4(self, fields: list[str]) -> list[str]:
        r"""Redact a line of /proc/net/route: eth0 000200C0 00000000 0001 0 0 0 00FFFFFF ..., numbers as in memory."""
        if len(fields) < 8 or not all(re.fullmatch(r"[0-9A-Fa-f]{8}", fields[at]) for at in (1, 2, 7)):
            return fields
        target, gateway, mask = (int.from_bytes(bytes.fromhex(fields[at]), "little") for at in (1, 2, 7))
        new = self._pseudonyms.four(target) & mask if target else 0
        fields[1] = new.to_bytes(4, "little").hex().upper()
        fields[2] = self._pseudonyms.four(gateway).to_bytes(4, "little").hex().upper()
        return fields

    def _route_6(self, fields: list[str]) -> list[str]:
        """Redact a line of /proc/net/ipv6_route: target, its prefix length, source, its length, next hop, ..."""
        forms = ("[0-9A-Fa-f]{32}", "[0-9A-Fa-f]{1,2}", "[0-9A-Fa-f]{32}", "[0-9A-Fa-f]{1,2}", "[0-9A-Fa-f]{32}")
        if len(fields) < len(forms) or not all(map(re.fullmatch, forms, fields)):
            return fields
        for at, length in ((0, int(fields[1], 16)), (2, int(fields[3], 16)), (4, 128)):
            value = int(fields[at], 16)
            mask = (1 << 128) - (1 << 128 - min(length, 128))
            new = self._pseudonyms.six(value) & mask if value & mask == value else self._pseudonyms.six(value)
            fields[at] = f"{new:032x}"
        return fields


def _without_zeros(address: str) -> str:
    """Write an IPv4 address without leading zeros, which are refused elsewhere: some read them as octal."""
    return ".".join(str(int(part)) for part in address.split("."))


def _in_fields(line: str, change: Callable[[list[str]], list[str]]) -> str:
    """Change fields of a line and leave the blanks between them as they are."""
    parts = re.split(r"(\s+)", line)
    places = [at for at in range(0, len(parts), 2) if parts[at]]
    for at, new in zip(places, change([parts[at] for at in places]), strict=True):
        parts[at] = new
    return "".join(parts)
