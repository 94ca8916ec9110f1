"""What the lab needs of this machine, and how to get it where it is missing."""

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import UsageError
from railwright.lab.rdma.packages import KEYRING

_VERSION_LIMIT_S = 10.0
HOST_LIMIT_S = 20.0
_IGB_SINCE = (8, 0)
_RXE_IN_NAMESPACES_SINCE = (7, 3)
"""The oldest that was seen working; 6.12 was seen not working (see recipe.py)."""


@dataclass(frozen=True)
class Emulator:
    """QEMU: how to start it, and its version."""

    command: tuple[str, ...]
    version: tuple[int, int]

    @property
    def has_igb(self) -> bool:
        """Whether it has a NIC with VFs."""
        return self.version >= _IGB_SINCE


_PACKAGES = {
    "qemu-system-x86_64": (
        "apt-get install --no-install-recommends qemu-system-x86",
        "dnf install qemu-system-x86-core",
    ),
    "apt-get": ("", "dnf install apt"),
    "dpkg-deb": ("apt-get install dpkg", "dnf install dpkg"),
}


def why_no_machine(build_needed: bool) -> str:
    """Say what is missing for the lab's machine, each with its install command; "" when nothing is."""
    if platform.machine() != "x86_64":
        return f"the lab's machine is x86-64 and this host is {platform.machine()}: not supported yet"
    wanted = ["qemu-system-x86_64", *(["apt-get", "dpkg-deb"] if build_needed else [])]
    missing = [name for name in wanted if shutil.which(name) is None]
    words = [f"{name} is missing: {_install(name)}" for name in missing]
    if build_needed and not KEYRING.exists():
        words.append(f"{KEYRING} is missing: apt-get install debian-archive-keyring")
    return "; ".join(words)


def emulator() -> Emulator:
    """Find QEMU. Raises UsageError with the install command."""
    path = shutil.which("qemu-system-x86_64")
    if path is None:
        raise UsageError("the lab's machine needs QEMU", hint=_install("qemu-system-x86_64"))
    return emulator_at((path,))


def emulator_at(command: tuple[str, ...]) -> Emulator:
    """Ask a QEMU for its version."""
    said = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, check=False, timeout=_VERSION_LIMIT_S
    ).stdout
    match = re.search(r"version (\d+)\.(\d+)", said)
    if match is None:
        raise UsageError(f"{command[0]} --version says {said[:80]!r}")
    return Emulator(command, (int(match[1]), int(match[2])))


def has_own_soft_roce() -> bool:
    """Say whether this host can be the lab itself: rdma_rxe is loaded, works between namespaces, and we are root."""
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    new_enough = release is not None and (int(release[1]), int(release[2])) >= _RXE_IN_NAMESPACES_SINCE
    loaded = Path("/sys/module/rdma_rxe").is_dir() and shutil.which("rdma") is not None
    return loaded and new_enough and os.geteuid() == 0


def _install(name: str) -> str:
    apt, dnf = _PACKAGES[name]
    return apt if shutil.which("apt-get") and apt else dnf
