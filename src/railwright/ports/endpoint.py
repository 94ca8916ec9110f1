"""A place where half of a probe can run: a pod, a network namespace, this process."""

from dataclasses import dataclass
from typing import Protocol

from railwright.core.ids import NetDevice, NodeName, PciAddress, RailName, RdmaDevice
from railwright.dataplane.model import ANY_DEVICE, ANY_GPU, Reply, Request


@dataclass(frozen=True)
class HeldRail:
    """
    One rail that an endpoint holds.

    Attributes:
        netdev: as the endpoint sees it ("net1").
        device: "" means that the probe finds it by its netdev.
        address: on the rail's own network, without prefix length; "" where it has none.
        gpu: PCI address of the nearest GPU that the endpoint holds; "" when it holds none.
    """

    rail: RailName
    netdev: NetDevice
    device: RdmaDevice = ANY_DEVICE
    address: str = ""
    gpu: PciAddress = ANY_GPU


class Endpoint(Protocol):
    """One such place; it holds its rails from when it was made until whoever made it takes it away."""

    @property
    def name(self) -> str:
        """What a person would call it: "pod railwright-verify/worker-1", "netns n1"."""

    @property
    def node(self) -> NodeName:
        """The node it is on."""

    @property
    def rails(self) -> tuple[HeldRail, ...]:
        """What it holds."""

    @property
    def meeting_address(self) -> str:
        """Where the other half of a probe reaches this one over TCP."""

    @property
    def simulated(self) -> bool:
        """Whether nothing of it is real; soft-RoCE between real kernels is real."""

    async def run(self, request: Request, *, timeout_s: float) -> Reply:
        """
        Run one half of a probe to its end, at most `timeout_s`.

        The caller runs both halves at the same time. A half that cannot be run, hangs or dies is a Reply with a
        problem; an interrupt ends the half and whatever it started. Raises nothing of its own.
        """
