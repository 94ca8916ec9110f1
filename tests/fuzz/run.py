"""
What `make fuzz` runs: every target's kept inputs, then new mutations of its corpus, spread over the processors.

    RAILWRIGHT_MUTATIONS=N        mutations a target; 100,000 unless it is given
    RAILWRIGHT_FUZZ_LIMIT_S=N     no new work after so many seconds; what was left out is told
    RAILWRIGHT_FUZZ_TARGETS=A,B   only these
    RAILWRIGHT_FUZZ_PROCESSES=N   as many as there are processors unless it is given
    RAILWRIGHT_SEED=N             the seed to begin with; others every day unless it is given

An input that ends badly is made small and kept in tests/cases/fuzz, where every later run and `make test` find it.
"""

import os
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import count

from fuzz.loop import Tally, defect_of, fuzz, keep, kept
from fuzz.targets.table import TARGETS
from support.seeds import rotating

MUTATIONS = 100_000
_PART = 2_000
"""Mutations of one piece of work: a minute or less, so that a limit of time is kept and every target has its turn."""
_MEMORY_BYTES = 4 << 30
"""Of one process: an input that wants more is a defect, and no reason for the machine to stop."""


@dataclass(frozen=True)
class Part:
    """Some mutations of one target; `seed` is of this part alone."""

    target: str
    seed: int
    mutations: int
    ends_s: float


def main() -> int:
    """Run, and print a line a target."""
    names = [name for name in os.environ.get("RAILWRIGHT_FUZZ_TARGETS", "").split(",") if name] or list(TARGETS)
    mutations = int(os.environ.get("RAILWRIGHT_MUTATIONS", MUTATIONS))
    limit_s = float(os.environ.get("RAILWRIGHT_FUZZ_LIMIT_S", "inf"))
    processes = int(os.environ.get("RAILWRIGHT_FUZZ_PROCESSES", os.cpu_count() or 1))
    (first,) = rotating(1)
    say(f"fuzz: {len(names)} targets, {mutations:,} mutations each, from seed {first}")
    broken = [line for name in names for line in _replayed(name)]
    found = {name: Tally(name) for name in names}
    with ProcessPoolExecutor(processes, initializer=_bounded) as pool:
        parts = _parts(names, mutations, first, time.monotonic() + limit_s)
        for done in as_completed([pool.submit(_work, part) for part in parts]):
            broken += _taken(done, found)
    for tally in found.values():
        left = f", {mutations - tally.mutations:,} left out" if tally.mutations < mutations else ""
        say(f"  {tally.target:24} {tally.mutations:>9,} mutations, {len(tally.defects)} defects{left}")
    say("\n".join(broken) or f"fuzz: {sum(item.mutations for item in found.values()):,} mutations, no defect")
    return 1 if broken else 0


def say(line: str) -> None:
    """Write a line at once: such a run is watched."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _parts(names: list[str], mutations: int, first: int, ends_s: float) -> Iterator[Part]:
    """Cut the work up, a part of every target at a time."""
    seeds = count(first)
    for done in range(0, mutations, _PART):
        for name in names:
            yield Part(name, next(seeds), min(_PART, mutations - done), ends_s)


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def _work(part: Part) -> Tally:
    return fuzz(TARGETS[part.target], part.seed, part.mutations, ends_s=part.ends_s)


def _replayed(name: str) -> list[str]:
    """Give what kept inputs still end badly."""
    target = TARGETS[name]
    ends = ((file, defect_of(target, data)) for file, data in kept(target).items())
    return [f"{name}: {file} still ends as {defect.key}\n{defect.told}" for file, defect in ends if defect is not None]


def _taken(done: Future[Tally], found: dict[str, Tally]) -> list[str]:
    """Add up one part; keep what is new."""
    tally = done.result()
    known = found[tally.target]
    known.mutations += tally.mutations
    told = []
    for key, (data, words) in tally.defects.items():
        if key not in known.defects:
            known.defects[key] = (data, words)
            told.append(f"{tally.target}: {key}, kept as {keep(TARGETS[tally.target], key, data)}\n{words}")
    return told


if __name__ == "__main__":
    sys.exit(main())
