"""A pod of the lab as an Endpoint: halves run in its namespace, through the agent."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from railwright.core.errors import RailwrightError
from railwright.core.ids import NodeName
from railwright.dataplane.model import EngineRequest, PerftestRequest, Problem, Reply, Request
from railwright.dataplane.wire import as_type, probe_of, request_text
from railwright.lab.rdma.machine import Link
from railwright.lab.rdma.topology import Pod
from railwright.ports.endpoint import HeldRail

_TIMEOUT_EXPONENT, _RETRIES = 19, 2
"""
2.1 s for an acknowledgement, asked for three times: an emulated processor that is not alone on its host's takes more
than the usual 268 ms, and a packet that is then sent again looks like loss (seen 2026-11-30).
"""


@dataclass(frozen=True)
class Spoiling:
    """
    What a fault does to halves that run in a pod.

    Attributes:
        place: rights taken away ("user_id", "memlock_bytes").
        change: the request as the pod gets it.
        meanwhile: started beside each half; ended with it.
    """

    place: dict[str, Any] = field(default_factory=dict)
    change: Callable[[Request], Request] = lambda request: request
    meanwhile: Callable[[Request], Awaitable[None]] | None = None


class PodEndpoint:
    """One pod."""

    simulated = False

    def __init__(self, link: Link, pod: Pod, spoiling: Spoiling | None = None) -> None:
        """Run halves in the pod's namespace."""
        self._link, self._pod = link, pod
        self._spoiling = spoiling or Spoiling()

    @property
    def name(self) -> str:
        """Its namespace."""
        return f"namespace {self._pod.namespace}"

    @property
    def node(self) -> NodeName:
        """Its node."""
        return self._pod.node

    @property
    def rails(self) -> tuple[HeldRail, ...]:
        """What it holds."""
        return self._pod.rails

    @property
    def meeting_address(self) -> str:
        """Its address beside the rails."""
        return self._pod.meeting_address

    async def run(self, request: Request, *, timeout_s: float) -> Reply:
        """Run one half; a machine that does not answer is a problem of the reply."""
        probe = json.loads(request_text(self._spoiling.change(_patient(request))))
        place = {"namespace": self._pod.namespace, **self._spoiling.place}
        beside = asyncio.ensure_future(self._spoiling.meanwhile(request)) if self._spoiling.meanwhile else None
        try:
            said = await self._link.probe(probe, place, timeout_s=timeout_s)
            if not said:
                return _gone(request, "died", "this half was killed")
            return as_type(Reply, said)
        except (RailwrightError, ValueError) as error:
            return _gone(request, "timed-out", str(error))
        finally:
            if beside is not None:
                beside.cancel()
                await asyncio.gather(beside, return_exceptions=True)


def _patient(request: Request) -> Request:
    """Give acknowledgements the time that they need here."""
    if isinstance(request, EngineRequest | PerftestRequest):
        wire = replace(request.wire, timeout_exponent=_TIMEOUT_EXPONENT, retry_count=_RETRIES)
        return replace(request, wire=wire)
    return request


def _gone(request: Request, code: str, message: str) -> Reply:
    role = getattr(getattr(request, "meeting", None), "role", "")
    return replace(Reply(probe_of(request)), problem=Problem(code, message), role=role)
