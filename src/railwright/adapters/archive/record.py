"""
The recorder: a World that answers as the one inside it does, and writes every answer into an archive.

It only reads: a write is refused, and Secrets are never asked for. What comes out of it is not changed; what goes into
the archive is first cut down (`keep`), then redacted (`redact`).
"""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Protocol

import msgspec

from railwright.adapters.archive.own import SERVED_FILE, SINGLES_FILE
from railwright.adapters.archive.read_only import ReadOnly
from railwright.adapters.archive.write import ArchiveWriter
from railwright.core.archive import (
    FORMAT,
    FORMAT_FILE,
    MANIFEST_FILE,
    ArchiveManifest,
    CollectedList,
    CollectedLog,
    CollectedNode,
    Missing,
)
from railwright.core.errors import KindNotServed, NotCollected, NotFound, PermissionMissing, RailwrightError
from railwright.core.ids import NodeName
from railwright.core.kinds import SECRET
from railwright.core.objects import Kind, KubeObject, Ref
from railwright.core.version import __version__
from railwright.ports.cluster import Cluster, Selection, ServedKind, Watch
from railwright.ports.node import Node, NodeAnswer

LOG_CHARACTERS = 1 << 20
"""Of one log."""
ALL_LOGS_BYTES = 64 << 20
_NOT_A_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]")


class Redaction(Protocol):
    """Takes out what must not leave the cluster; the same value always becomes the same pseudonym."""

    def value(self, value: Any) -> Any:
        """Redact an object, or a part of one."""

    def text(self, text: str) -> str:
        """Redact text, as logs."""

    def node_record(self, text: str) -> str:
        """Redact the raw record of a node."""


class Plain:
    """No redaction."""

    def value(self, value: Any) -> Any:
        """Give it as it is."""
        return value

    def text(self, text: str) -> str:
        """Give it as it is."""
        return text

    def node_record(self, text: str) -> str:
        """Give it as it is."""
        return text


class Recorder:
    """Takes answers and writes them; `finish` writes the manifest."""

    def __init__(
        self, writer: ArchiveWriter, keep: Callable[[KubeObject], KubeObject], redaction: Redaction | None
    ) -> None:
        """
        Begin an archive.

        Args:
            keep: cuts an object down to what may be in an archive at all.
            redaction: None to leave everything else as it is.
        """
        self._writer = writer
        self._keep = keep
        self._redaction: Redaction = redaction or Plain()
        self._redacted = redaction is not None
        self._lists: dict[Selection, CollectedList] = {}
        self._singles: dict[Ref, KubeObject | None] = {}
        self._nodes: dict[NodeName, CollectedNode] = {}
        self._logs: dict[str, CollectedLog] = {}
        self._missing: dict[tuple[str, str], Missing] = {}
        self.version = ""
        self.served: tuple[ServedKind, ...] | None = None
        writer.add(FORMAT_FILE, msgspec.json.encode({"format": FORMAT, "railwright": __version__}) + b"\n")

    @property
    def log_bytes(self) -> int:
        """How much of logs is in the archive."""
        return sum(item.size_bytes for item in self._logs.values())

    def encode(self, obj: KubeObject) -> tuple[bytes, bool]:
        """Give the line of an object, and whether it was cut down."""
        kept = self._keep(obj)
        return msgspec.json.encode(self._redaction.value(kept)), kept is not obj

    def listed(self, selection: Selection, found: Sequence[tuple[bytes, bool]]) -> None:
        """Take a whole list, unless a wider one is there already: the first answer stays."""
        if any(_holds(wide, selection) for wide in self._lists):
            return
        kind, where = selection.kind, selection.namespace or "all"
        path = "/".join(_file_name(part) for part in ("objects", kind.group or "core", kind.kind, where))
        if any(item.file == f"{path}.jsonl" for item in self._lists.values()):
            # Another version of the kind, other labels, or one name of many.
            path = f"{path}-{len(self._lists)}"
        path = f"{path}.jsonl"
        self._writer.add(path, b"".join(line + b"\n" for line, _ in found))
        self._lists[selection] = CollectedList(
            kind.api_version,
            kind.kind,
            selection.namespace,
            selection.labels,
            len(found),
            path,
            selection.name,
            sum(was_cut for _, was_cut in found),
        )

    def got(self, ref: Ref, obj: KubeObject | None) -> None:
        """Take one object, or that it does not exist."""
        self._singles.setdefault(ref, obj)

    def missed(self, what: str, why: str, kind: Kind | None = None, namespace: str = "") -> None:
        """Take that something could not be had."""
        why = self._redaction.text(why)
        names = (kind.api_version, kind.kind) if kind else ("", "")
        self._missing.setdefault((what, why), Missing(what, why, *names, namespace))

    def node(self, node: NodeName, answer: NodeAnswer) -> None:
        """Take the inside of a node."""
        if node in self._nodes:
            return
        path = ""
        if answer.text:
            path = f"nodes/{_file_name(node)}.txt"
            self._writer.add(path, self._redaction.node_record(answer.text).encode(errors="replace"))
        problem = self._redaction.text(answer.problem)
        self._nodes[node] = CollectedNode(node, self._redaction.text(answer.via), problem, path)

    def log(self, namespace: str, pod: str, container: str, text: str, *, previous: bool, cut: bool) -> None:
        """Take the end of a log."""
        which = "previous" if previous else "current"
        path = "/".join(_file_name(part) for part in ("logs", namespace, pod, container or "_", f"{which}.log"))
        if path in self._logs:
            return
        end = text[-LOG_CHARACTERS:]
        data = self._redaction.text(end).encode(errors="replace")
        self._writer.add(path, data)
        is_cut = cut or len(end) < len(text)
        self._logs[path] = CollectedLog(namespace, pod, container, previous, len(data), is_cut, path)

    def finish(self, taken_at: str, cluster: str, *, simulated: bool) -> ArchiveManifest:
        """Write what is left, and the manifest as the last file."""
        if self.served is not None:
            rows = [(item.kind.api_version, item.kind.kind, item.plural, item.namespaced) for item in self.served]
            self._writer.add(SERVED_FILE, msgspec.json.encode(rows) + b"\n")
        self._writer.add(SINGLES_FILE, b"".join(self._single(ref, obj) for ref, obj in sorted(self._singles.items())))
        manifest = ArchiveManifest(
            format=FORMAT,
            railwright=__version__,
            taken_at=taken_at,
            cluster=self._redaction.text(cluster),
            simulated=simulated,
            redacted=self._redacted,
            kubernetes_version=self.version,
            served_kinds=None if self.served is None else len(self.served),
            lists=tuple(sorted(self._lists.values(), key=lambda item: (item.kind, item.file))),
            single_objects=len(self._singles),
            nodes=tuple(self._nodes[name] for name in sorted(self._nodes)),
            logs=tuple(self._logs[path] for path in sorted(self._logs)),
            missing=tuple(sorted(self._missing.values(), key=lambda item: (item.what, item.why))),
        )
        self._writer.add(MANIFEST_FILE, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        return manifest

    def _single(self, ref: Ref, obj: KubeObject | None) -> bytes:
        names = {
            "apiVersion": ref.kind.api_version,
            "kind": ref.kind.kind,
            "namespace": ref.namespace,
            "name": ref.name,
        }
        line = self.encode(obj)[0] if obj is not None else b"null"
        return b'{"ref":' + msgspec.json.encode(names) + b',"object":' + line + b"}\n"


class RecordingCluster(ReadOnly):
    """A Cluster that records what is read."""

    _when = " while it is made"

    def __init__(self, inner: Cluster, recorder: Recorder) -> None:
        """Read from `inner`."""
        self._inner = inner
        self._recorder = recorder

    @property
    def name(self) -> str:
        """What the person called it."""
        return self._inner.name

    @property
    def simulated(self) -> bool:
        """Whether nothing of it is real."""
        return self._inner.simulated

    async def version(self) -> str:
        """Kubernetes version."""
        self._recorder.version = await self._inner.version()
        return self._recorder.version

    async def served_kinds(self) -> tuple[ServedKind, ...]:
        """Every kind served."""
        self._recorder.served = await self._inner.served_kinds()
        return self._recorder.served

    async def get(self, ref: Ref) -> KubeObject:
        """Read one object."""
        _check_not_secret(ref.kind)
        try:
            obj = await self._inner.get(ref)
        except NotFound:
            self._recorder.got(ref, None)
            raise
        except KindNotServed:
            raise
        except RailwrightError as error:
            self._recorder.missed(str(ref), f"{error.code}: {error.message}", ref.kind, ref.namespace)
            raise
        self._recorder.got(ref, obj)
        return obj

    async def list(self, selection: Selection) -> AsyncIterator[KubeObject]:
        """Read objects, in full even where a brief form would do; a list that breaks off is not in the archive."""
        _check_not_secret(selection.kind)
        selection = replace(selection, brief=False)
        found: list[tuple[bytes, bool]] = []
        try:
            async for obj in self._inner.list(selection):
                found.append(self._recorder.encode(obj))
                yield obj
        except KindNotServed:
            raise
        except RailwrightError as error:
            where = f" in {selection.namespace}" if selection.namespace else ""
            why = f"{error.code}: {error.message}"
            self._recorder.missed(f"{selection.kind}{where}", why, selection.kind, selection.namespace)
            raise
        self._recorder.listed(selection, found)

    def watch(self, selections: Sequence[Selection]) -> AbstractAsyncContextManager[Watch]:
        """Watch; changes are not recorded."""
        return self._inner.watch(selections)

    async def logs(self, namespace: str, pod: str, container: str, *, tail_lines: int, previous: bool = False) -> str:
        """
        Read the end of a log.

        Raises:
            NotCollected: there is no more room for logs in the archive.
        """
        what = f"{'previous ' if previous else ''}log of {namespace}/{pod} container {container}"
        if self._recorder.log_bytes >= ALL_LOGS_BYTES:
            why = f"the logs in the archive have reached {ALL_LOGS_BYTES:,} bytes"
            self._recorder.missed(what, why)
            raise NotCollected(f"{what}: {why}")
        try:
            text = await self._inner.logs(namespace, pod, container, tail_lines=tail_lines, previous=previous)
        except RailwrightError as error:
            self._recorder.missed(what, f"{error.code}: {error.message}")
            raise
        cut = text.count("\n") >= tail_lines
        self._recorder.log(namespace, pod, container, text, previous=previous, cut=cut)
        return text

    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> bool:
        """Ask whether we may."""
        return await self._inner.may(verb, group, plural, namespace, name)


class RecordingNode:
    """A Node that records what is read."""

    def __init__(self, inner: Node, recorder: Recorder) -> None:
        """Read through `inner`."""
        self._inner = inner
        self._recorder = recorder

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        """Read a node."""
        answer = await self._inner.read(node, script, timeout_s=timeout_s)
        self._recorder.node(node, answer)
        return answer


def _check_not_secret(kind: Kind) -> None:
    if kind.kind == SECRET.kind:
        raise PermissionMissing("Secrets are never read for an archive", hint="nothing of railwright needs them there")


def _holds(wide: Selection, narrow: Selection) -> bool:
    pairs = ((wide.namespace, narrow.namespace), (wide.labels, narrow.labels), (wide.name, narrow.name))
    return wide.kind == narrow.kind and all(mine in {"", other} for mine, other in pairs)


def _file_name(text: str) -> str:
    return _NOT_A_FILE_NAME.sub("_", text).lstrip(".") or "_"
