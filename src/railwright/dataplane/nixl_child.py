"""The program that loads NIXL: registers memory, meets the other half, transfers, checks. Runs only where nixl is."""

import base64
import contextlib
import importlib
import time
from dataclasses import dataclass
from typing import Any

from railwright.dataplane.child import be_child
from railwright.dataplane.local_memory import LocalMemory
from railwright.dataplane.meeting import Talk, meet
from railwright.dataplane.model import Digest, NixlRequest, Reply, Request, Sample
from railwright.dataplane.nixl import MISSING, MODULES
from railwright.dataplane.problems import HalfFailed

_MEMORY_NAMES = {"host": "DRAM", "gpu": "VRAM"}
_TRANSFER_LIMIT_S = 30.0
_WARM_UP = 3


@dataclass
class _Ends:
    """What is needed to transfer: the agent, the peer's name, and both buffers."""

    agent: Any
    peer: str
    kind: str
    own: LocalMemory
    their: tuple[int, int]
    """Address and device number."""


def transfer_all(request: Request) -> Reply:
    """Be one half. Raises HalfFailed: "tool-missing", "refused" with NIXL's own words."""
    if not isinstance(request, NixlRequest):
        raise HalfFailed("broken-request", "this program runs NIXL halves only")
    size = max(request.sizes_bytes)
    memory = LocalMemory(request.memory, size)
    with contextlib.ExitStack() as cleanup:
        talk = cleanup.enter_context(meet(request.meeting, request.meeting.patience_s + _TRANSFER_LIMIT_S))
        ends = _connect(request, memory, size, talk)
        samples: list[Sample] = []
        digests: list[Digest] = []
        for each in request.sizes_bytes:
            _one_size(request, ends, talk, each, samples, digests)
        talk.together("end")
    return Reply("nixl", role=request.meeting.role, samples=tuple(samples), digests=tuple(digests))


def _connect(request: NixlRequest, memory: LocalMemory, size: int, talk: Talk) -> _Ends:
    api = _api()
    name = f"railwright-{request.meeting.role}"
    kind = _MEMORY_NAMES[request.memory.kind]
    try:
        # The half that only answers needs a thread that does so; the one that drives polls, and a thread beside it
        # cost it 40 % at 256 MiB. Measured: two H200, NIXL 1.5.1, 2026-11-30: 238 GB/s with, 389 without.
        answers = request.meeting.role == "listen"
        agent = api.nixl_agent(name, api.nixl_agent_config(backends=[], enable_prog_thread=answers))
        agent.create_backend("UCX", {"ucx_error_handling_mode": "peer"})
        agent.register_memory([(memory.address, size, memory.device, "")], kind)
        said = {
            "metadata": base64.b64encode(agent.get_agent_metadata()).decode(),
            "address": memory.address,
            "device": memory.device,
        }
        heard = talk.exchange(said)
        peer = agent.add_remote_agent(base64.b64decode(heard["metadata"]))
    except HalfFailed:
        raise
    except Exception as error:
        raise HalfFailed("refused", f"NIXL cannot be set up: {type(error).__name__}: {error}") from error
    peer_name = peer.decode() if isinstance(peer, bytes) else str(peer)
    return _Ends(agent, peer_name, kind, memory, (int(heard["address"]), int(heard["device"])))


def _api() -> Any:
    for name in MODULES:
        with contextlib.suppress(ImportError):
            return importlib.import_module(f"{name}._api")
    raise HalfFailed("tool-missing", MISSING)


def _one_size(
    request: NixlRequest, ends: _Ends, talk: Talk, size: int, samples: list[Sample], digests: list[Digest]
) -> None:
    drives = request.meeting.role == "connect"
    gives = drives == (request.operation == "write")
    label = f"{request.operation} {size} timed"
    if gives:
        digests.append(Digest(label, "born", ends.own.fill(size, f"{request.seed} {size}"), size))
    else:
        ends.own.clear(size)
    talk.together(f"before {label}")
    if drives:
        samples.append(_timed(request, ends, size))
    talk.together(f"after {label}", extra_wait_s=_TRANSFER_LIMIT_S * 2)
    if not gives:
        digests.append(Digest(label, "arrived", ends.own.sha256(size), size))


def _timed(request: NixlRequest, ends: _Ends, size: int) -> Sample:
    try:
        own = ends.agent.get_xfer_descs(_cut(ends.own.address, ends.own.device, size, request.pieces), ends.kind)
        their = ends.agent.get_xfer_descs(_cut(*ends.their, size, request.pieces), ends.kind)
        handle = ends.agent.initialize_xfer(request.operation.upper(), own, their, ends.peer, b"")
        for _ in range(_WARM_UP):
            _transfer(ends.agent, handle)
        begin = time.perf_counter()
        for _ in range(request.iterations):
            _transfer(ends.agent, handle)
        elapsed_s = time.perf_counter() - begin
        ends.agent.release_xfer_handle(handle)
    except HalfFailed:
        raise
    except Exception as error:
        raise HalfFailed("refused", f"NIXL refused a {request.operation}: {type(error).__name__}: {error}") from error
    gbps = request.iterations * size * 8 / elapsed_s / 1e9
    return Sample(request.operation, size, 1, request.iterations, elapsed_s, gbps)


def _cut(address: int, device: int, size: int, pieces: int) -> list[tuple[int, int, int]]:
    step = -(-size // pieces)
    return [(address + start, min(step, size - start), device) for start in range(0, size, step)]


def _transfer(agent: Any, handle: Any) -> None:
    state = agent.transfer(handle)
    deadline = time.monotonic() + _TRANSFER_LIMIT_S
    while state == "PROC" and time.monotonic() < deadline:
        state = agent.check_xfer_state(handle)
    if state != "DONE":
        raise HalfFailed("transfer-failed", f"a NIXL transfer ended as {state}", str(state))


if __name__ == "__main__":
    be_child(transfer_all)
