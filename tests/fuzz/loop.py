"""One reader against many inputs: what ends badly is told apart by where, made small, and kept."""

import hashlib
import json
import random
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fuzz.model import Form, Target, to_bytes, to_text
from fuzz.mutate import mutated

CPU_LIMIT_S = 5.0
"""Of one input; the slowest takes 0.3 s. Time of this process only, so that a busy machine makes no hang."""
WALL_LIMIT_S = 120.0
"""For what waits without computing."""
_AGAIN_S = 0.5
"""Then as often: an error in a finalizer, or in a callback of asyncio, is lost, and the input would go on."""
MOST_TRIES = 400
"""To make one input smaller."""


class Hung(BaseException):
    """An input was not done in time; no reader may catch it."""


@dataclass(frozen=True)
class Defect:
    """How an input ended; `key` is the same for inputs that meet the same mistake."""

    key: str
    told: str


@dataclass
class Tally:
    """What came of some mutations; `defects` by key, with the input that was made small."""

    target: str
    mutations: int = 0
    defects: dict[str, tuple[bytes, str]] = field(default_factory=dict)


def defect_of(target: Target, data: bytes) -> Defect | None:
    """Let the target read one input; None when it ended as it should."""
    try:
        with _limited():
            target.call(data)
    except target.allowed:
        return None
    except Hung as error:
        return Defect("hang", f"not done after {CPU_LIMIT_S:.0f} s\n{_shown(error)}")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what was looked for
        return Defect(_key(error), _shown(error))
    return None


def fuzz(target: Target, seed: int, count: int, *, ends_s: float = float("inf")) -> Tally:
    """Mutate so often, or until a moment of the monotonic clock; the same seed gives the same inputs."""
    chance = random.Random(f"{target.name} {seed}")
    corpus = target.corpus()
    tally = Tally(target.name)
    for _ in range(count):
        if time.monotonic() > ends_s:
            break
        data = mutated(chance.choice(corpus), target.form, chance)
        tally.mutations += 1
        defect = defect_of(target, data)
        if defect is not None and defect.key not in tally.defects:
            tally.defects[defect.key] = (smaller(target, data, defect.key), defect.told)
    return tally


def keep(target: Target, key: str, data: bytes) -> str:
    """Write an input to where every later run finds it; its path."""
    name = "".join(letter if letter.isalnum() else "-" for letter in key).strip("-")[:60]
    target.folder.mkdir(parents=True, exist_ok=True)
    path = target.folder / f"{name}-{hashlib.sha256(data).hexdigest()[:8]}.{target.form.value}"
    path.write_bytes(data)
    return str(path)


def kept(target: Target) -> dict[str, bytes]:
    """Read the inputs that were kept, by name."""
    return {path.name: path.read_bytes() for path in sorted(target.folder.glob(f"*.{target.form.value}"))}


def smaller(target: Target, data: bytes, key: str) -> bytes:
    """Take out of an input what its end does not need, as long as it ends the same way."""
    left = MOST_TRIES if key != "hang" else 4

    def still(candidate: bytes) -> bool:
        nonlocal left
        left -= 1
        found = defect_of(target, candidate) if left >= 0 else None
        return found is not None and found.key == key

    if target.form is Form.TREE:
        return _smaller_tree(data, still, lambda: left > 0)
    if target.form is Form.TEXT:
        text = to_text(data)
        return to_bytes(_smaller_sequence(text, lambda part: still(to_bytes(part)), lambda: left > 0))
    part: bytes = _smaller_sequence(data, still, lambda: left > 0)
    return part


def _smaller_sequence(whole: Any, still: Callable[[Any], bool], goes_on: Callable[[], bool]) -> Any:
    """Take out halves, quarters, ... of a text."""
    step = max(1, len(whole) // 2)
    while step and goes_on():
        at = 0
        while at < len(whole) and goes_on():
            candidate = whole[:at] + whole[at + step :]
            if still(candidate):
                whole = candidate
            else:
                at += step
        step //= 2
    return whole


def _smaller_tree(data: bytes, still: Callable[[bytes], bool], goes_on: Callable[[], bool]) -> bytes:
    """Take out values, the outermost first."""
    value = json.loads(data)
    done: set[str] = set()
    while goes_on():
        path = next((path for path in _paths(value) if json.dumps(path) not in done), None)
        if path is None:
            break
        done.add(json.dumps(path))
        candidate = json.loads(json.dumps(value))
        holder = candidate
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
        if still(to_bytes(json.dumps(candidate, ensure_ascii=False))):
            value = candidate
            # What stood behind an item of a list stands elsewhere now.
            done = {item for item in done if not item.startswith(json.dumps(path[:-1])[:-1])}
    return to_bytes(json.dumps(value, ensure_ascii=False, indent=1))


def _paths(value: Any) -> Iterator[tuple[Any, ...]]:
    level: list[tuple[tuple[Any, ...], Any]] = [((), value)]
    while level:
        inner = []
        for path, holder in level:
            keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
            for key in keys:
                yield (*path, key)
                inner.append(((*path, key), holder[key]))
        level = inner


def _key(error: BaseException) -> str:
    """Name a mistake: the error, and the last place of ours that it passed."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/railwright/" in frame.filename] or list(frames)
    place = ours[-1]
    return f"{type(error).__name__} {place.filename.rpartition('/railwright/')[2]} {place.name}"


def _shown(error: BaseException) -> str:
    lines = traceback.format_exception(error, limit=-6)
    return "".join(lines)[-3000:]


@contextmanager
def _limited() -> Iterator[None]:
    def stop(_signal: int, _frame: object) -> None:
        raise Hung

    before = [(number, signal.signal(number, stop)) for number in (signal.SIGPROF, signal.SIGALRM)]
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S, _AGAIN_S)
    signal.setitimer(signal.ITIMER_REAL, WALL_LIMIT_S, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before:
            signal.signal(number, handler)
