"""A pod as an Endpoint: our probes over exec where its image has Python, perftest alone where it has none."""

from dataclasses import dataclass
from typing import Any

from railwright.core.errors import RailwrightError
from railwright.core.foreign_text import whole_number
from railwright.core.ids import NodeName
from railwright.dataplane.model import PerftestRequest, Problem, Reply, Request
from railwright.dataplane.wire import probe_of, read_reply, request_text
from railwright.ports.cluster import Cluster
from railwright.ports.endpoint import HeldRail
from railwright.verify.pods.bundle import START, program, program_kept
from railwright.verify.pods.shell import perftest_reply, perftest_script

EXEC_GRACE_S = 5.0
"""On top of a half's own limit, for the connection to come and go."""

ASK = (
    "sh",
    "-c",
    (
        "python3 -c 'import sys; print(\"python\", *sys.version_info[:2])' 2>/dev/null;"
        " for tool in ib_write_bw ib_read_bw; do command -v $tool; done; true"
    ),
)
"""What an image has."""
OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True)
class PodEndpoint:
    """
    One verification pod that runs.

    Attributes:
        has_python: whether our probes run in it.
        keeps_loaded: whether they stay loaded between halves: where loading takes longer than measuring.
    """

    cluster: Cluster
    namespace: str
    pod: str
    container: str
    node: NodeName
    rails: tuple[HeldRail, ...]
    meeting_address: str
    has_python: bool = True
    keeps_loaded: bool = False

    @property
    def name(self) -> str:
        """The pod."""
        return f"pod {self.namespace}/{self.pod}"

    @property
    def simulated(self) -> bool:
        """As its cluster is."""
        return self.cluster.simulated

    async def run(self, request: Request, *, timeout_s: float) -> Reply:
        """Run one half; an exec that fails is a problem of the reply."""
        try:
            if self.has_python:
                return await self._probe(request, timeout_s)
            if isinstance(request, PerftestRequest):
                return await self._perftest(request, timeout_s)
        except RailwrightError as error:
            return _failed(request, "timed-out" if error.transient else "unexpected", f"{self.name}: {error.message}")
        return _failed(request, "tool-missing", f"the image has no Python {_spelled()}: only perftest runs in it")

    async def _probe(self, request: Request, timeout_s: float) -> Reply:
        command = ("python3", "-c", START, "--timeout-s", f"{timeout_s:.0f}")
        before, after = program_kept(f"railwright-{self.pod}") if self.keeps_loaded else (program(), "")
        text = f"{before}{request_text(request)}\n{after}"
        done = await self.cluster.exec(
            self.namespace, self.pod, self.container, command, stdin=text, timeout_s=timeout_s + EXEC_GRACE_S
        )
        lines = done.stdout.strip().splitlines()
        try:
            return read_reply(lines[-1]) if lines else self._no_reply(request, done.exit_code, done.stderr)
        except ValueError as error:
            return _failed(request, "unexpected", f"{self.name}: its reply can't be read: {error}")

    def _no_reply(self, request: Request, exit_code: int, words: str) -> Reply:
        last = words.strip().splitlines()[-1:] or ["it said nothing"]
        return _failed(request, "died", f"{self.name}: the half ended with exit code {exit_code}: {last[0][:200]}")

    async def _perftest(self, request: PerftestRequest, timeout_s: float) -> Reply:
        script = perftest_script(request, timeout_s)
        done = await self.cluster.exec(
            self.namespace, self.pod, self.container, ("sh", "-c", script), timeout_s=timeout_s + EXEC_GRACE_S
        )
        return perftest_reply(request, done)


def _failed(request: Request, code: str, message: str) -> Reply:
    role: Any = getattr(getattr(request, "meeting", None), "role", "")
    return Reply(probe_of(request), Problem(code, message), role)


def _spelled() -> str:
    return ".".join(str(part) for part in OLDEST_PYTHON)


def has_python(said: str) -> bool:
    """Read the answer to ASK: whether there is a Python that is new enough."""
    for line in said.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "python":
            major, minor = whole_number(words[1]), whole_number(words[2])
            return major is not None and minor is not None and (major, minor) >= OLDEST_PYTHON
    return False
