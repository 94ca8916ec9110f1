"""The shape of what `collect` prints: the manifest of the archive that it wrote."""

from typing import Literal

from railwright.report.schemas.base import Shape


class CollectedListShape(Shape):
    """Everything of a kind in a namespace ("" for all), with these labels ("" for any)."""

    api_version: str
    kind: str
    namespace: str
    labels: str
    objects: int
    file: str
    name: str
    reduced: int


class CollectedNodeShape(Shape):
    """The inside of one node, or why it could not be had."""

    node: str
    via: str
    problem: str
    file: str


class CollectedLogShape(Shape):
    """The end of one log."""

    namespace: str
    pod: str
    container: str
    previous: bool
    size_bytes: int
    cut: bool
    file: str


class MissingShape(Shape):
    """What could not be had; `kind` is empty when it is no list of objects."""

    what: str
    why: str
    api_version: str
    kind: str
    namespace: str


class ManifestShape(Shape):
    """manifest.json of an archive."""

    format: Literal["railwright-archive/1"]
    railwright: str
    taken_at: str
    cluster: str
    simulated: bool
    redacted: bool
    kubernetes_version: str
    served_kinds: int | None
    lists: list[CollectedListShape]
    single_objects: int
    nodes: list[CollectedNodeShape]
    logs: list[CollectedLogShape]
    missing: list[MissingShape]


class CollectPayload(Shape):
    """What was collected, and where it is."""

    file: str
    size_bytes: int
    manifest: ManifestShape
