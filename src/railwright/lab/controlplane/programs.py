"""
Build programs from their Go modules, once a recipe.

By default etcd, kube-apiserver and kube-controller-manager; others of a cluster bring their own list. The recipe is
package data (`recipe/`): go.mod and go.sum pin every module. Programs that are wanted together are kept in a cache
folder named by the hash of their part of the recipe, so that a changed recipe never meets an old program.
"""

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from railwright.ports.progress import Note, Progress

RECIPE = Path(__file__).parent / "recipe"
KUBERNETES_VERSION = "v1.36.3"
"""As in recipe/kubernetes/go.mod; the programs say it when asked, which a build out of a module does not do by itself."""
FLAGS = (
    "-trimpath",
    "-buildvcs=false",
    f"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}",
)
BUILD_LIMIT_S = 3600.0
"""Five minutes on two quiet cores when nothing is cached (measured 2026-11-30); an hour where they are shared."""
LOOK_AGAIN_S = 1.0


@dataclass(frozen=True)
class Program:
    """One program: the folder of its module in the recipe, its file name, and its package."""

    module: str
    name: str
    package: str


@dataclass(frozen=True)
class Linked(Program):
    """A program in which a variable is set when it is linked, as "IMPORT-PATH.NAME=VALUE"."""

    variable: str


@dataclass(frozen=True)
class Files:
    """A folder that a program reads at run time, out of the module `source` that the recipe pins."""

    module: str
    name: str
    source: str


Piece = Program | Files

PROGRAMS = (
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    Program("kubernetes", "kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    Program("kubernetes", "kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
)


@dataclass(frozen=True)
class Unavailable:
    """The control plane cannot run here; `reason` says why, in words for a person."""

    reason: str


def cache_folder(environment: Mapping[str, str], home: Path, programs: tuple[Piece, ...] = PROGRAMS) -> Path:
    """Choose where built programs are kept: RAILWRIGHT_CACHE, else XDG_CACHE_HOME, else ~/.cache."""
    own = environment.get("RAILWRIGHT_CACHE")
    root = Path(own) if own else Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "railwright"
    return root / "controlplane" / recipe_hash(programs)


def recipe_hash(programs: tuple[Piece, ...] = PROGRAMS) -> str:
    """Hash everything that decides what these programs are."""
    digest = hashlib.sha256(repr((FLAGS, programs)).encode())
    modules = {RECIPE / program.module for program in programs}
    for file in sorted(path for module in modules for path in module.rglob("*") if path.is_file()):
        digest.update(file.relative_to(RECIPE).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def built_programs(programs: tuple[Piece, ...] = PROGRAMS) -> Path | None:
    """Give the folder of these programs if they are built already."""
    folder = cache_folder(os.environ, Path.home(), programs)
    return folder if all((folder / program.name).exists() for program in programs) else None


async def ensure_programs(progress: Progress, programs: tuple[Piece, ...] = PROGRAMS) -> Path | Unavailable:
    """Give the folder of these programs; build what is missing, or say why that is not possible."""
    built = built_programs(programs)
    if built is not None:
        return built
    go = shutil.which("go")
    if go is None:
        return Unavailable("Go is not installed, and the programs are not in the cache")
    folder = cache_folder(os.environ, Path.home(), programs)
    folder.mkdir(parents=True, exist_ok=True)
    async with _sole_builder(folder, progress):
        for program in programs:
            if not (folder / program.name).exists():
                progress.emit(Note(f"building {program.name} (minutes when nothing is cached)"))
                problem = await _build(go, program, folder)
                if problem:
                    return Unavailable(f"{program.name} could not be built: {problem}")
    return folder


@asynccontextmanager
async def _sole_builder(folder: Path, progress: Progress) -> AsyncIterator[None]:
    """Wait until no other process builds here: two that begin together would each build everything."""
    with (folder / "building").open("w") as lock:
        told = False
        while not _locked(lock):
            if not told:
                progress.emit(Note("another process builds the same programs: waiting for it"))
                told = True
            await asyncio.sleep(LOOK_AGAIN_S)
        yield


def _locked(lock: IO[str]) -> bool:
    """Take the lock unless somebody has it; the kernel gives it back when its holder ends, however that was."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _build(go: str, piece: Piece, folder: Path) -> str:
    """Build one program or copy one folder; it gets its name only when it is whole. Returns the problem, or ""."""
    with tempfile.TemporaryDirectory(dir=folder) as work:
        module, target = Path(work) / "module", Path(work) / "made"
        shutil.copytree(RECIPE / piece.module, module)
        if isinstance(piece, Files):
            problem, said = await _go(module, go, "mod", "download", "-json", piece.source)
            if not problem:
                shutil.copytree(Path(json.loads(said)["Dir"]) / piece.name, target)
        else:
            problem, _ = await _go(module, go, "build", *build_flags(piece), "-o", str(target), piece.package)
        if problem:
            return problem
        target.replace(folder / piece.name)
    return ""


def build_flags(program: Program) -> tuple[str, ...]:
    """Give the flags of a build; the last one is the linker's."""
    *others, linker = FLAGS
    return (*others, f"{linker} -X {program.variable}" if isinstance(program, Linked) else linker)


async def _go(module: Path, *argv: str) -> tuple[str, str]:
    """Run Go in a module. Returns the problem, or "", and what it wrote to its output."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=module,
        env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(BUILD_LIMIT_S):
            said, complained = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return f"not done after {BUILD_LIMIT_S:.0f} s", ""
    if process.returncode == 0:
        return "", said.decode()
    return " | ".join((said + complained).decode(errors="replace").strip().splitlines()[-3:]) or "Go said nothing", ""
