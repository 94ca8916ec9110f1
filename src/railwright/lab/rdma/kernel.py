"""Kernel modules in the order in which they load, and a kernel that needs no unpacking when it starts."""

import lzma
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SMALLEST_KERNEL_BYTES = 5_000_000
_UNPACK_LIMIT_S = 60.0


@dataclass
class ModuleTree:
    """
    The modules of one kernel, picked with everything that they depend on.

    Attributes:
        files: module name (with "_") -> its .ko or .ko.xz.
        order: picked so far, a module after what it needs.
        contents: of the picked ones, unpacked.
    """

    files: dict[str, Path]
    order: list[str] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)

    def pick(self, names: Iterable[str]) -> None:
        """Pick modules by name; one that is not there is built in, or missing, which the start of the machine shows."""
        for name in names:
            self._visit(name.replace("-", "_"))

    def _visit(self, name: str) -> None:
        if name in self.contents or name not in self.files:
            return
        file = self.files[name]
        content = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
        self.contents[name] = content
        for before in _wanted_before(content):
            self._visit(before)
        self.order.append(name)


def module_tree(folder: Path) -> ModuleTree:
    """Find every module below a folder."""
    found = (path for path in folder.rglob("*.ko*") if path.name.endswith((".ko", ".ko.xz")))
    return ModuleTree({path.name.split(".ko")[0].replace("-", "_"): path for path in found})


def _wanted_before(module: bytes) -> list[str]:
    """Read "depends=" and "softdep=pre:" of a module's own description."""
    wanted = []
    depends = re.search(rb"\0depends=([^\0]*)\0", module)
    if depends:
        wanted += [name for name in depends[1].decode().split(",") if name]
    for softly in re.findall(rb"\0softdep=pre: ([^\0]*)\0", module):
        wanted += softly.decode().split()
    return [name.replace("-", "_") for name in wanted]


def unpacked_kernel(vmlinuz: Path) -> bytes | None:
    """
    Take the kernel proper out of a zstd-compressed vmlinuz, which saves the emulated processor a second.

    Returns:
        None where the program zstd is missing or the kernel is packed another way: the machine boots it as it is.
    """
    zstd = shutil.which("zstd")
    data = vmlinuz.read_bytes()
    start = data.find(_ZSTD_MAGIC)
    while zstd and start >= 0:
        done = subprocess.run(
            [zstd, "-dc"], input=data[start:], capture_output=True, check=False, timeout=_UNPACK_LIMIT_S
        )
        if done.stdout[:4] == b"\x7fELF" and len(done.stdout) > _SMALLEST_KERNEL_BYTES:
            return done.stdout
        start = data.find(_ZSTD_MAGIC, start + 1)
    return None
