"""Whole jobs on simulated clusters: rails.yaml in, records out, every risk taken."""

from dataclasses import dataclass, field

from railwright import api
from railwright.ports.approval import Question
from railwright.ports.progress import Event, Wrote

SIX = tuple((method, fabric) for fabric in ("roce", "infiniband") for method in ("shared", "host-device", "sriov"))
WORLD = {"roce": "h200-roce", "infiniband": "h200-ib"}

FREE_PORTS = ("enp24s0np0", "enp58s0np0", "enp75s0np0", "enp92s0np0", "enp154s0np0", "enp186s0np0", "enp202s0np0")
"""Every rail but enp218s0np0, of which team A's shared pool hands out shares."""
_RAILS = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {{name: {name}}}
spec:
  method: {method}
  fabric: {fabric}
  workloadNamespaces: [training]
"""


class Yes:
    """Consents to every risk, and to nothing that takes fields from others."""

    def approve(self, question: Question) -> bool:
        return not question.takes_over


@dataclass
class Heard:
    """A Progress that keeps what it is told."""

    events: list[Event] = field(default_factory=list)

    def emit(self, event: Event) -> None:
        self.events.append(event)

    @property
    def writes(self) -> list[str]:
        return [f"{event.action} {event.ref}" for event in self.events if isinstance(event, Wrote)]


def rails(method, fabric, *, name="east-west", more=""):
    """Ten lines of rails.yaml; `more` is added to its spec."""
    return _RAILS.format(method=method, fabric=fabric, name=name) + more


def intents_for(method, fabric, **options):
    return api.parse_intents(rails(method, fabric, **options))


def beside_team_a(method):
    """A fabric that leaves team A's port alone where it would take it away."""
    named = ", ".join(f"{{name: rail{index}, netdev: {port}}}" for index, port in enumerate(FREE_PORTS))
    return intents_for(method, "roce", more="" if method == "shared" else f"  rails: [{named}]\n")


async def open_for(fabric, *faults, world=None):
    return await api.open_cluster("sim:" + "+".join((world or WORLD[fabric], *faults)))


async def applied(world, intents, **options):
    return await api.apply(world, intents, approval=Yes(), **options)


def verdicts(stages):
    """Name, verdict and reason of every stage that is not PASS."""
    return [(stage_name(stage), stage.verdict.value, stage.reason) for stage in stages if stage.verdict.value != "PASS"]


def stage_name(stage):
    return getattr(stage, "stage", None) or stage.name
