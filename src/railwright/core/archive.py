"""What a railwright archive says of itself: the manifest, and the format that it is written in."""

from dataclasses import dataclass

FORMAT = "railwright-archive/1"
FORMAT_FILE = "format.json"
MANIFEST_FILE = "manifest.json"
TOP = "railwright-archive"
"""The one folder of the archive; everything is in it."""


@dataclass(frozen=True)
class CollectedList:
    """
    One list of objects: everything of a kind in a namespace ("" for all) with these labels ("" for any).

    Attributes:
        file: a JSON object a line.
        reduced: how many of them were cut down to what matters, or hold no file contents any more.
    """

    api_version: str
    kind: str
    namespace: str
    labels: str
    objects: int
    file: str
    name: str = ""
    reduced: int = 0


@dataclass(frozen=True)
class CollectedNode:
    """The inside of one node: `file` is its raw record, or `problem` says why there is none."""

    node: str
    via: str
    problem: str
    file: str


@dataclass(frozen=True)
class CollectedLog:
    """The end of one container's log; `cut` when its beginning is not there."""

    namespace: str
    pod: str
    container: str
    previous: bool
    size_bytes: int
    cut: bool
    file: str


@dataclass(frozen=True)
class Missing:
    """Something that could not be had, and why; for a list of objects also which one."""

    what: str
    why: str
    api_version: str = ""
    kind: str = ""
    namespace: str = ""


@dataclass(frozen=True)
class ArchiveManifest:
    """
    What is in an archive, and what could not be had.

    Attributes:
        railwright: the version that collected.
        taken_at: when, by the clock of the world that was read, as "2026-11-30T10:00:00Z".
        cluster: what the person called the cluster.
        simulated: nothing of it is real.
        redacted: secrets are taken out and identifying values are pseudonyms.
        kubernetes_version: "" when the API server did not say.
        served_kinds: how many kinds the API server serves; None when it did not say.
        single_objects: objects that were asked for by name, those that do not exist included.
    """

    format: str
    railwright: str
    taken_at: str
    cluster: str
    simulated: bool
    redacted: bool
    kubernetes_version: str
    served_kinds: int | None
    lists: tuple[CollectedList, ...]
    single_objects: int
    nodes: tuple[CollectedNode, ...]
    logs: tuple[CollectedLog, ...]
    missing: tuple[Missing, ...]
