"""
Witness 7, the bytes: what arrived is what was born, by checksums that each half made of its own memory.

It proves that the payload is right and whole; alone it says nothing of the way that the bytes took.
"""

from railwright.core.verdicts import Verdict
from railwright.dataplane.model import Digest, Reply
from railwright.verify.model import MemoryKind, Says, Testimony, Way

NAME, NUMBER = "bytes", 7


def compare(replies: tuple[Reply, Reply], way: Way) -> tuple[Verdict, str]:
    """
    Compare the halves' checksums label by label.

    Returns:
        PASS when every label has both ends and they are equal; FAIL for one that differs; UNKNOWN with the reason.
    """
    ends: dict[str, dict[str, Digest]] = {}
    for reply in replies:
        for digest in reply.digests:
            if digest.end in ends.setdefault(digest.label, {}):
                return Verdict.UNKNOWN, f"two checksums of {digest.label!r} were made at one end"
            ends[digest.label][digest.end] = digest
    if not ends:
        return Verdict.UNKNOWN, "no checksum was made"
    for label, pair in ends.items():
        if set(pair) != {"born", "arrived"}:
            missing = next(iter({"born", "arrived"} - set(pair)))
            return Verdict.UNKNOWN, f"the checksum of {label!r} where it {_PAST[missing]} is missing"
        born, arrived = pair["born"], pair["arrived"]
        if not born.sha256 or not born.covered_bytes or born.covered_bytes != arrived.covered_bytes:
            return (
                Verdict.UNKNOWN,
                f"the checksums of {label!r} cover {born.covered_bytes} and {arrived.covered_bytes} bytes",
            )
        if born.sha256 != arrived.sha256:
            text = f"the bytes that arrived at {way.target_rail} of {way.target} are not those that were sent ({label})"
            return Verdict.FAIL, text
    return Verdict.PASS, ""


_PAST = {"born": "was born", "arrived": "arrived"}


def testify(replies: tuple[Reply, Reply], way: Way, memory: MemoryKind, evidence: tuple[str, ...]) -> Testimony:
    """Say what the checksums prove."""
    verdict, reason = compare(replies, way)
    digests = [digest for reply in replies for digest in reply.digests]
    lines = tuple(f"{item.label}: {item.end} {item.sha256} ({item.covered_bytes} bytes)" for item in digests)
    if verdict is Verdict.PASS:
        labels = len({digest.label for digest in digests})
        return Testimony(
            NAME, NUMBER, way, memory, Says.AGREES, f"{labels} checksums equal at both ends", lines, evidence
        )
    says = Says.CONTRADICTS if verdict is Verdict.FAIL else Says.UNCLEAR
    return Testimony(NAME, NUMBER, way, memory, says, reason, lines, evidence)
