"""
Debian packages, fetched through the machine's own apt into a view of its own, and unpacked; nothing is installed.

Needs apt-get and dpkg-deb; no root. The mirror is the one that this machine already uses for Debian, or
RAILWRIGHT_DEBIAN_MIRROR.
"""

import asyncio
import os
import tarfile
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from railwright.core.errors import UsageError

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_STEP_LIMIT_S = 600.0


class PackageView:
    """Some suites of one mirror, seen through lists and a cache of their own under one folder."""

    def __init__(self, folder: Path, mirror: str, suites: Sequence[str]) -> None:
        """Write what apt needs to know into the folder."""
        self._folder = folder
        for below in ("lists/partial", "cache/archives/partial", "deb"):
            (folder / below).mkdir(parents=True, exist_ok=True)
        lines = (f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for suite in suites)
        (folder / "sources.list").write_text("".join(lines))
        (folder / "status").touch()
        self._options = [
            "-q",
            *(f"-o={option}" for option in self._settings()),
        ]

    def _settings(self) -> tuple[str, ...]:
        return (
            f"Dir::Etc::sourcelist={self._folder}/sources.list",
            "Dir::Etc::sourceparts=-",
            f"Dir::State::lists={self._folder}/lists",
            f"Dir::Cache={self._folder}/cache",
            f"Dir::State::status={self._folder}/status",
            "APT::Install-Recommends=0",
            "APT::Sandbox::User=root",
            "Debug::NoLocking=1",
            "Acquire::Languages=none",
            "Acquire::Retries=2",
        )

    async def update(self) -> None:
        """Read the lists of packages. Raises UsageError with apt's words when the mirror does not answer."""
        await run("apt-get", *self._options, "update")

    async def depends(self, package: str) -> tuple[str, ...]:
        """Give what a package depends on, by name ("linux-image-amd64/trixie-backports" picks a suite)."""
        said = await run("apt-cache", *self._options, "depends", package)
        return tuple(line.split(": ", 1)[1].strip() for line in said.splitlines() if "Depends: " in line)

    async def download(self, packages: Sequence[str]) -> tuple[Path, ...]:
        """Fetch just these packages."""
        target = self._folder / "deb"
        await run("apt-get", *self._options, "download", *packages, folder=target)
        names = [package.split("/")[0] for package in packages]
        return tuple(sorted(file for file in target.glob("*.deb") if file.name.split("_")[0] in names))

    async def download_with_dependencies(self, packages: Sequence[str]) -> tuple[Path, ...]:
        """Fetch these packages and all that they need, as for a machine on which nothing is installed."""
        await run("apt-get", *self._options, "install", "-y", "--download-only", *packages)
        return tuple(sorted((self._folder / "cache" / "archives").glob("*.deb")))


async def unpack(package: Path, target: Path, wanted: Sequence[str] = ("*",)) -> None:
    """Unpack the files of one package that match a pattern, as under "./": "usr/lib/*"."""
    packed = target.parent / f".{package.name}.tar"
    await run("sh", "-c", 'dpkg-deb --fsys-tarfile "$1" > "$2"', "sh", str(package), str(packed))
    try:
        await asyncio.to_thread(_extract, packed, target, wanted)
    finally:
        packed.unlink()


def _extract(packed: Path, target: Path, wanted: Sequence[str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(packed) as archive:
        for member in archive:
            name = member.name.removeprefix("./")
            if (member.isfile() or member.issym()) and any(fnmatch(name, pattern) for pattern in wanted):
                archive.extract(member, target, filter="tar")


async def mirror() -> str:
    """
    Name the Debian mirror of this machine.

    Raises:
        UsageError: it uses none, and RAILWRIGHT_DEBIAN_MIRROR is not set.
    """
    named = os.environ.get("RAILWRIGHT_DEBIAN_MIRROR")
    if named:
        return named
    said = await run("apt-get", "indextargets", "--format", "$(ORIGIN) $(REPO_URI)")
    known = [line.split(" ", 1)[1] for line in said.splitlines() if line.startswith("Debian ")]
    if not known:
        raise UsageError(
            "the lab's machine is made of Debian packages, and this machine uses no Debian mirror",
            hint="set RAILWRIGHT_DEBIAN_MIRROR to one that it can reach (or run apt-get update first)",
        )
    return next((uri for uri in known if "security" not in uri), known[0]).rstrip("/")


async def run(*command: str, folder: Path | None = None) -> str:
    """Run a program to its end; its output. Raises UsageError with its last words when it fails."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
    )
    try:
        async with asyncio.timeout(_STEP_LIMIT_S):
            out, err = await process.communicate()
    except TimeoutError:
        raise UsageError(f"{command[0]} was not done after {_STEP_LIMIT_S:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        words = " | ".join((err or out).decode(errors="replace").strip().splitlines()[-3:])
        raise UsageError(f"{command[0]} ended with {process.returncode}: {words}")
    return out.decode(errors="replace")
