"""Text cut where a sentence ends, so that what is left still says something."""

import re

_END = re.compile(r"(?<=[.!?])\s+")


def first_sentences(text: str, usual: int, most: int) -> str:
    """
    Keep the first sentences, whole.

    Args:
        usual: no sentence after the first goes beyond this many characters.
        most: a first sentence that is longer is cut between two words, and ends in "...".
    """
    first, *rest = _END.split(text.strip())
    if len(first) > most:
        return first[: most - 4].rsplit(" ", 1)[0] + " ..."
    kept = first
    for sentence in rest:
        if len(kept) + 1 + len(sentence) > usual:
            break
        kept += f" {sentence}"
    return kept
