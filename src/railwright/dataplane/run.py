"""Run the half that a request asks for; each probe in a file of its own, loaded when it is asked for."""

from railwright.dataplane.model import (
    EngineRequest,
    EvidenceRequest,
    NcclRequest,
    NixlRequest,
    PerftestRequest,
    Problem,
    Reply,
    Request,
)
from railwright.dataplane.wire import probe_of


def run_half(request: Request) -> Reply:
    """Run it in this process, to its end; whatever goes wrong is the reply's problem."""
    try:
        return _run(request)
    except Exception as error:  # noqa: BLE001 - the edge of a half: its caller gets a reply, whatever happened
        return Reply(probe_of(request), Problem("unexpected", f"{type(error).__name__}: {error}"))


def _run(request: Request) -> Reply:
    match request:
        case EngineRequest():
            from railwright.dataplane.verbs.engine import run_engine

            return run_engine(request)
        case PerftestRequest():
            from railwright.dataplane.perftest import run_perftest

            return run_perftest(request)
        case NixlRequest():
            from railwright.dataplane.nixl import run_nixl

            return run_nixl(request)
        case NcclRequest():
            from railwright.dataplane.nccl import run_nccl

            return run_nccl(request)
        case EvidenceRequest():
            from railwright.dataplane.evidence import run_evidence

            return run_evidence(request)
