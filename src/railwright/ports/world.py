"""The ports of one world, together: a live cluster, a simulated one, or an archive."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Self

from railwright.ports.clock import Clock
from railwright.ports.cluster import Cluster
from railwright.ports.node import Node


async def nothing_to_close() -> None:
    """Close nothing: what a world without connections does at its end."""


@dataclass(frozen=True)
class World:
    """
    Everything the pipeline needs of the outside; as an async context manager it is closed at the end.

    Attributes:
        close: ends its connections; it cannot be used afterwards.
        notes: what a person should know of it, a sentence each: which kind of archive it is.
        read_only: it can be looked at and nothing else.
    """

    cluster: Cluster
    node: Node
    clock: Clock
    close: Callable[[], Awaitable[None]] = nothing_to_close
    notes: tuple[str, ...] = ()
    read_only: bool = False

    async def __aenter__(self) -> Self:
        """Use it."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it, whatever happened."""
        await self.close()
