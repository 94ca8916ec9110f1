"""What was shown, in words: exactly what was witnessed, and how much of the fabric. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from railwright.core.verdicts import Verdict
from railwright.verify.directness import NAMES, Directness
from railwright.verify.layout import Layout
from railwright.verify.model import Cell, Coverage, Culprit, MemoryKind, Says, Testimony, Way
from railwright.verify.witnesses import counters, emulation, rights

_MOST_NAMED = 3


def claim(
    layout: Layout,
    cells: tuple[Cell, ...],
    witnesses: tuple[Testimony, ...],
    coverage: Coverage,
    direct: Mapping[Way, Directness],
    apart: Collection[Culprit] = (),
) -> str:
    """
    Word the claim; a failure or a gap comes first.

    Args:
        apart: where partition keys keep ports apart that should talk.
    """
    verdicts = Counter(cell.verdict for cell in cells)
    parts = []
    if layout.simulated:
        parts.append("Simulated: no byte was moved, and nothing of this is proof.")
    if apart:
        parts.append(
            f"Not proven: partition keys cut off {', '.join(item.where for item in tuple(apart)[:_MOST_NAMED])}."
        )
    if verdicts[Verdict.FAIL]:
        parts.append(f"Not proven: {verdicts[Verdict.FAIL]} of {len(cells)} cells failed.")
    elif verdicts[Verdict.UNKNOWN]:
        parts.append(f"Not proven: of {verdicts[Verdict.UNKNOWN]} of {len(cells)} cells it is not known.")
    elif not verdicts[Verdict.PASS]:
        parts.append("Nothing was verified.")
    parts += [text for text in (_gpu(direct), _host(cells, witnesses, gpu=bool(direct))) if text]
    if verdicts[Verdict.PASS]:
        parts.append(
            f"Looked at: {coverage.ways} of {coverage.ways_possible} ways on {coverage.nodes} of"
            f" {coverage.nodes_possible} nodes."
        )
    return " ".join(parts)


def _gpu(direct: Mapping[Way, Directness]) -> str:
    proven = [item for item in direct.values() if item.verdict is Verdict.PASS]
    if not proven:
        return ""
    shared = set(proven[0].witnessed_by).intersection(*(item.witnessed_by for item in proven))
    names = ", ".join(NAMES[name] for name in NAMES if name in shared)
    return (
        f"NICs read and wrote GPU memory directly, without host memory in the way, on {len(proven)} of"
        f" {len(direct)} ways: witnessed by {names}."
    )


def _host(cells: Iterable[Cell], witnesses: tuple[Testimony, ...], *, gpu: bool) -> str:
    host = [cell for cell in cells if cell.memory is MemoryKind.HOST and cell.verdict is Verdict.PASS]
    ways = {cell.way for cell in host}
    if not ways:
        return ""
    checked = {cell.way for cell in host if cell.bytes_checked is Verdict.PASS}
    said = {
        name: {item.way for item in witnesses if _agrees_for_host(item, name)} & ways
        for name in (counters.NAME, emulation.CONTROLS["rdma"], rights.NAME)
    }
    text = f"RDMA moved bytes between host memories on {len(ways)} ways"
    details = []
    if checked:
        details.append(f"checked at both ends on {len(checked)}")
    if said[counters.NAME]:
        details.append(f"with the ports' counters risen by the payload on {len(said[counters.NAME])}")
    if refused := said[emulation.CONTROLS["rdma"]]:
        details.append(f"the same transfer refused when RDMA was withheld on {len(refused)}")
    if refused := said[rights.NAME]:
        details.append(f"the same READ refused when the right to read from afar was withheld on {len(refused)}")
    end = "" if gpu else "; nothing is claimed of GPU memory"
    joined = ", and ".join(text for text in (", ".join(details[:-1]), *details[-1:]) if text)
    return text + (": " + joined if joined else "") + end + "."


def _agrees_for_host(item: Testimony, name: str) -> bool:
    return item.witness == name and item.says is Says.AGREES and item.memory is MemoryKind.HOST
