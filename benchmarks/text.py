"""
Print how long 10 MB of text take through every rule on text: an ordinary log, and texts made to be hard.

`python benchmarks/text.py`; CPU seconds, so that what else the machine does counts for little.
"""

import json
import random
import time

from railwright.doctor.text.diagnose import diagnose_text
from railwright.doctor.text.table import TEXT_RULES

_CHARACTERS = 10_000_000
_WORDS = [
    "info",
    "worker",
    "pod",
    "reconcile",
    "status",
    "updated",
    "node",
    "device",
    "plugin",
    "kubelet",
    "mlx5_0",
    "event",
    "started",
    "channel",
    "ring",
]


def texts() -> dict[str, str]:
    """Make the texts."""
    dice = random.Random(1)  # noqa: S311 - no secret
    log = "\n".join(
        f"2026-03-02T08:00:{number % 60:02d}.{dice.randrange(10**6):06d}Z {' '.join(dice.choices(_WORDS, k=6))} "
        f"id={dice.getrandbits(64):x} took {dice.random():.4f}s"
        for number in range(110_000)
    )
    own = [word for rule in TEXT_RULES for signal in rule.signals for group in signal.groups for word in group]
    return {
        "ordinary log": log,
        "words of the rules at random": "\n".join(" ".join(dice.choices(own, k=3)) for _ in range(230_000)),
        "one line": "ib_core nccl mlx5 failed error " * (_CHARACTERS // 31),
        "escape characters": "\x1b[" * (_CHARACTERS // 2),
        "line breaks": "\n" * _CHARACTERS,
        "digits": "0" * _CHARACTERS,
    }


def main() -> None:
    """Measure each text once."""
    figures = {}
    for name, text in texts().items():
        began = time.process_time()
        found = len(diagnose_text(text[:_CHARACTERS]).findings)
        figures[name] = {"cpu_s": round(time.process_time() - began, 2), "findings": found}
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
