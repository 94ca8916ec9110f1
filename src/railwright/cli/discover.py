"""`railwright discover`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from railwright import api
from railwright.cli.edge import run, show
from railwright.cli.options import Common
from railwright.cli.progress import progress
from railwright.cli.ways import Ways, scope_of


@Parameter(name="*")
@dataclass(frozen=True)
class _CrossChecks:
    """What other tools say of one node."""

    topo: Annotated[Path | None, Parameter(group="Cross-checks of one node")] = None
    """Output of `nvidia-smi topo -m`; differences from our own reading are named."""
    nccl_topo: Annotated[Path | None, Parameter(group="Cross-checks of one node")] = None
    """What NCCL wrote to NCCL_TOPO_DUMP_FILE; likewise."""

    def texts(self) -> tuple[str, str]:
        """Read the files that were given. Raises UsageError for one that cannot be read."""
        return _text_of(self.topo), _text_of(self.nccl_topo)


def discover(
    *,
    node: list[str] | None = None,
    local: bool = False,
    to: Path | None = None,
    parallel: int = 16,
    node_timeout_s: float = 30.0,
    ways: Ways = Ways(),  # noqa: B008 - frozen
    checks: _CrossChecks = _CrossChecks(),
    common: Common = Common(),  # noqa: B008 - frozen
) -> int:
    """Read what is there: cluster, operators, nodes, GPUs, NICs and which is near which; changes nothing.

    Args:
        node: only these nodes; may be given several times.
        local: this machine instead of a cluster.
        to: keep the raw record of each node in this folder, as NODE.txt.
        parallel: how many nodes are read at once.
        node_timeout_s: deadline for each node, in seconds.
        ways: how nodes are looked into.
        checks: what other tools say.
        common: cluster and output.
    """

    async def action() -> int:
        scope = scope_of(node, parallel, node_timeout_s)
        others = checks.texts()
        if local:
            record = await api.read_local(timeout_s=node_timeout_s)
            _keep(to, {"local": record})
            hardware = api.hardware_of(record)
            return show(api.hardware_document(hardware, api.cross_check(hardware, *others)), common)
        async with await api.open_cluster(common.cluster, ways.access) as world:
            snapshot = await api.discover(world, scope, progress=progress(quiet=common.quiet))
        _keep(to, {str(name): record for name, record in snapshot.raw_nodes.items()})
        return show(api.snapshot_document(snapshot, api.cross_check_one(snapshot, *others)), common)

    return run(action, common)


def _text_of(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise api.UsageError(f"{file} cannot be read: {error.strerror}", hint="name a file that can") from error


def _keep(folder: Path | None, records: Mapping[str, str]) -> None:
    """Write raw records; one that is there already is written anew."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in records.items():
            path = folder / f"{name}.txt"
            if path.parent != folder:
                message = f"a node is called {name!r}: its record would lie outside {folder}"
                raise api.UsageError(
                    message, hint="no API server takes such a name; leave --to out to look at the rest"
                )
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"records cannot be written to {folder}: {error.strerror}"
        raise api.UsageError(message, hint="name a folder that can be written") from error
