"""Addresses that follow from a MAC: GUIDs and GIDs."""

from railwright.simulator.hardware import Nic

NO_GUID = "00:00:00:00:00:00:00:00"


def guid_bytes(nic: Nic) -> str:
    """Give the GUID of a port as eight bytes: "a0:88:c2:03:00:00:01:10"."""
    parts = nic.mac.split(":")
    return ":".join([*parts[:3], "03", "00", *parts[3:]])


def guid(nic: Nic) -> str:
    """Give it as sysfs writes it: "a088:c203:0000:0110"."""
    return quads(guid_bytes(nic))


def vf_guid(nic: Nic, number: int) -> str:
    """Give the GUID of a virtual function as bytes; zero where nobody set one."""
    if not nic.vf_guids:
        return NO_GUID
    parts = guid_bytes(nic).split(":")
    return ":".join(["02", *parts[1:7], f"{number:02x}"])


def quads(text: str) -> str:
    """Write a GUID of bytes as sysfs does."""
    plain = text.replace(":", "")
    return ":".join(plain[start : start + 4] for start in range(0, 16, 4))


def link_local(mac: str) -> str:
    """Give the GID of the link-local IPv6 address."""
    parts = [int(part, 16) for part in mac.split(":")]
    parts[0] ^= 2
    text = "".join(f"{part:02x}" for part in [*parts[:3], 0xFF, 0xFE, *parts[3:]])
    return "fe80:0000:0000:0000:" + ":".join(text[start : start + 4] for start in range(0, 16, 4))


def mapped(address: str) -> str:
    """Give the GID of an IPv4 address."""
    parts = [int(part) for part in address.partition("/")[0].split(".")]
    return f"0000:0000:0000:0000:0000:ffff:{parts[0]:02x}{parts[1]:02x}:{parts[2]:02x}{parts[3]:02x}"
