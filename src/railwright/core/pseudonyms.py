"""
Pseudonyms for what identifies a cluster: public addresses, hardware addresses, serial numbers.

The same value always becomes the same pseudonym under one key, whatever it is met in, and relations survive: addresses
of one network stay in one network, however long its prefix, so that overlaps and routes can still be judged; the MAC
address, GUID and link-local GID of one port still belong together, and still name their vendor. Private, link-local
and other special addresses stay as they are. Without the key nothing leads back.
"""

import hashlib
import ipaddress
from functools import lru_cache

_SPECIAL_4 = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
)
_SPECIAL_6 = ("::/32", "64:ff9b::/96", "100::/64", "2001:db8::/32", "fc00::/6", "fe00::/7")
"""
Addresses that identify nobody: private, shared, link-local, for documentation and tests, multicast, reserved.

Source: IANA IPv4 and IPv6 Special-Purpose Address Registries (2026-11); fec0::/10 is InfiniBand's site-local prefix.
"""
_LINK_LOCAL = (ipaddress.IPv6Network("fe80::/10"), ipaddress.IPv6Network("fec0::/10"))
_MAPPED_4 = ipaddress.IPv6Network("::ffff:0:0/96")
_SMALL_HOST = 1 << 32
"""Interface identifiers below this were written by hand (fe80::1) and identify nothing."""
_HALF_BITS = 12
_ROUNDS = 4


def _blocks(networks: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Give prefix and its length of each."""
    parsed = [ipaddress.ip_network(text) for text in networks]
    return tuple((int(net.network_address) >> (net.max_prefixlen - net.prefixlen), net.prefixlen) for net in parsed)


_BLOCKS = {32: _blocks(_SPECIAL_4), 128: _blocks(_SPECIAL_6)}


class Pseudonyms:
    """One set of pseudonyms; another key makes another set."""

    def __init__(self, key: bytes) -> None:
        """
        Prepare.

        Args:
            key: at least 16 random bytes, to be forgotten when the archive is written.
        """
        self._key = key
        self.address = lru_cache(maxsize=1 << 16)(self._address)
        self.last_bytes = lru_cache(maxsize=1 << 16)(self._last_bytes)

    def _address(self, text: str) -> str:
        """
        Give the pseudonym of an IPv4 or IPv6 address, written the way it was (all digits of an IPv6 GID).

        Raises:
            ValueError: no address.
        """
        address = ipaddress.ip_address(text)
        if isinstance(address, ipaddress.IPv4Address):
            return str(ipaddress.IPv4Address(self.four(int(address))))
        value = ipaddress.IPv6Address(self.six(int(address)))
        if value == address:
            return text
        return value.exploded if len(text) == len(value.exploded) else str(value)

    def four(self, value: int) -> int:
        """Give the pseudonym of an IPv4 address as a number."""
        return self._in_trie(value, 32)

    def six(self, value: int) -> int:
        """Give the pseudonym of an IPv6 address as a number."""
        address = ipaddress.IPv6Address(value)
        if address in _MAPPED_4:
            return value & ~0xFFFFFFFF | self.four(value & 0xFFFFFFFF)
        host = value & 0xFFFFFFFFFFFFFFFF
        is_of_hardware = (host >> 24) & 0xFFFF == 0xFFFE or (
            any(address in network for network in _LINK_LOCAL) and host >= _SMALL_HOST
        )
        if not is_of_hardware:
            return self._in_trie(value, 128)
        upper = self._in_trie(value >> 64 << 64, 128) >> 64 << 64
        return upper | host & ~0xFFFFFF | self.last_bytes(host & 0xFFFFFF)

    def network(self, text: str) -> str:
        """Give the pseudonym of a network or of an interface address, "192.0.2.0/24". Raises ValueError for neither."""
        interface = ipaddress.ip_interface(text)
        address = text.partition("/")[0]
        new = self.address(address)
        if interface.ip == interface.network.network_address and new != address:
            new = str(ipaddress.ip_interface(f"{new}/{interface.network.prefixlen}").network.network_address)
        return f"{new}/{text.partition('/')[2]}"

    def hardware(self, data: bytes) -> bytes:
        """Give the pseudonym of a MAC address, GUID or IPoIB address: its last three bytes, the vendor's own, change."""
        if not any(data) or all(byte == 0xFF for byte in data) or data[0] in {0x01, 0x33}:
            return data
        return data[:-3] + self.last_bytes(int.from_bytes(data[-3:], "big")).to_bytes(3, "big")

    def serial(self, text: str) -> str:
        """Give the pseudonym of a serial number or another name of one thing; the form of a UUID stays."""
        digest = hashlib.blake2b(
            text.strip().lower().encode(), key=self._key, digest_size=16, person=b"serial"
        ).hexdigest()
        bare = text.strip().replace("-", "")
        if len(bare) == 32 and all(digit in "0123456789abcdefABCDEF" for digit in bare):
            return digest if "-" not in text else "-".join(digest[a:b] for a, b in _UUID_PARTS)
        return f"serial-{digest[:12]}"

    def _in_trie(self, value: int, bits: int) -> int:
        """
        Walk down the tree of prefixes and turn the way at some of its forks: the same at each fork for all addresses.

        No way is turned above or inside a special block, so these stay where they are and nothing gets into them.
        """
        result = 0
        blocks = _BLOCKS[bits]
        for depth in range(bits):
            prefix = value >> (bits - depth)
            bit = value >> (bits - depth - 1) & 1
            blocks = tuple(block for block in blocks if _meets(block, prefix, depth))
            turned = 0 if blocks else self._coin(prefix, depth, bits)
            result = result << 1 | bit ^ turned
        return result

    def _coin(self, prefix: int, depth: int, bits: int) -> int:
        text = f"{bits}/{depth}/{prefix:x}".encode()
        return hashlib.blake2b(text, key=self._key, digest_size=1, person=b"address").digest()[0] & 1

    def _last_bytes(self, value: int) -> int:
        """Permute 24 bits: a Feistel network, so that no two values meet."""
        left, right = value >> _HALF_BITS, value & (1 << _HALF_BITS) - 1
        for turn in range(_ROUNDS):
            text = f"{turn}/{right}".encode()
            mixed = hashlib.blake2b(text, key=self._key, digest_size=2, person=b"hardware").digest()
            left, right = right, left ^ int.from_bytes(mixed, "big") & (1 << _HALF_BITS) - 1
        return left << _HALF_BITS | right


_UUID_PARTS = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))


def _meets(block: tuple[int, int], prefix: int, depth: int) -> bool:
    """Whether a prefix lies above or inside a block."""
    base, length = block
    return base >> (length - depth) == prefix if depth <= length else prefix >> (depth - length) == base
