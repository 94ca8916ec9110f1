"""Archives that strangers send: their containers, the layouts that are known, and text of objects in them."""

import asyncio
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from functools import cache, partial

import yaml
from fuzz.model import Form, Target, to_bytes
from fuzz.targets.files import file_of
from fuzz.targets.node_records import RECORDS

from railwright.adapters.archive.block_yaml import Unusual, from_block
from railwright.adapters.archive.open import open_archive
from railwright.adapters.archive.plurals import known_kinds
from railwright.adapters.archive.yaml_text import from_any_yaml, from_yaml
from railwright.core.archive import FORMAT, FORMAT_FILE, MANIFEST_FILE, TOP
from railwright.core.errors import RailwrightError, UsageError
from railwright.core.ids import NodeName
from railwright.core.objects import ref_of
from railwright.ports.cluster import Selection

_NODE = "apiVersion: v1\nkind: Node\nmetadata:\n  name: worker-0\n  labels: {a: b}\nstatus:\n  addresses: []\n"
_PODS = "apiVersion: v1\nitems:\n- metadata:\n    name: one\n    namespace: ns\n- metadata: {name: two, namespace: ns}\nkind: PodList\n"
_RECORD = (RECORDS / "no-default-route.txt").read_text()
_MANIFEST = {
    "format": FORMAT,
    "railwright": "1",
    "taken_at": "2026-11-30T10:00:00Z",
    "cluster": "one",
    "simulated": True,
    "redacted": True,
    "kubernetes_version": "v1.33.4",
    "served_kinds": 1,
    "lists": [
        {"api_version": "v1", "kind": "Node", "namespace": "", "labels": "", "objects": 1, "file": "objects/n.jsonl"}
    ],
    "single_objects": 1,
    "nodes": [{"node": "worker-0", "via": "exec", "problem": "", "file": "nodes/worker-0.txt"}],
    "logs": [
        {
            "namespace": "ns",
            "pod": "one",
            "container": "c",
            "previous": False,
            "size_bytes": 3,
            "cut": False,
            "file": "logs/c.log",
        }
    ],
    "missing": [{"what": "x", "why": "y", "api_version": "v1", "kind": "Pod", "namespace": ""}],
}
_OURS = {
    FORMAT_FILE: json.dumps({"format": FORMAT}),
    "served-kinds.json": '[["v1", "Node", "nodes", false]]',
    "objects/n.jsonl": '{"metadata": {"name": "worker-0"}}\n',
    "objects/by-name.jsonl": '{"ref": {"apiVersion": "v1", "kind": "Pod", "namespace": "ns", "name": "one"}, "object": null}\n',
    "nodes/worker-0.txt": _RECORD,
    "logs/c.log": "one\n",
    MANIFEST_FILE: json.dumps(_MANIFEST),
}
_IMAGE = "must-gather/quay-io-image"
_LAYOUTS: tuple[dict[str, str], ...] = (
    {f"{TOP}/{path}": text for path, text in _OURS.items()},
    {
        f"{_IMAGE}/version": "openshift/must-gather\n4.20.0\n",
        f"{_IMAGE}/timestamp": "2026-03-02 08:00:00.5 +0000 UTC m=+0.1\n2026-03-02 08:30:00.5 +0000 UTC m=+1800.1\n",
        f"{_IMAGE}/cluster-scoped-resources/core/nodes/worker-0.yaml": _NODE,
        f"{_IMAGE}/namespaces/ns/core/pods.yaml": _PODS,
        f"{_IMAGE}/namespaces/ns/pods/one/one.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: one, namespace: ns}\n",
        f"{_IMAGE}/namespaces/ns/pods/one/c/c/logs/current.log": "2026-03-02T08:29:00Z started\n",
        f"{_IMAGE}/namespaces/ns/pods/sriov-network-config-daemon-x/kernel-cmdline": "BOOT_IMAGE=x iommu=pt\n",
    },
    {
        "gather/gpu_operand_pods.yaml": _PODS,
        "gather/gpu_operand_ds.yaml": "apiVersion: v1\nkind: List\nitems: []\n",
        "gather/cluster_policy.missing": "",
        "gather/gpu_operand_pod_one.log": "[pod/one/c] first\n",
    },
    {
        "sos/metadata/cluster-version.yaml": "serverVersion: {gitVersion: v1.33.4}\n",
        "sos/metadata/collection-info.txt": "Collection Time: Mon Mar  2 08:30:00 UTC 2026\nOperator Namespace: ns\n",
        "sos/metadata/api-resources.txt": "NAME  SHORTNAMES  APIVERSION  NAMESPACED  KIND\nnodes  no  v1  false  Node\n",
        "sos/nodes/all-nodes.yaml": "apiVersion: v1\nkind: List\nitems:\n- {kind: Node, apiVersion: v1, metadata: {name: a}}\n",
        "sos/operator/components/ofed-driver/pods/one.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: one, namespace: ns}\n",
    },
    {
        "sosreport-a/hostname": "worker-0\n",
        "sosreport-a/version.txt": "sosreport: 4.8\n",
        "sosreport-a/proc/cmdline": "BOOT_IMAGE=x\n",
        "sosreport-a/sos_commands/kernel/lsmod": "Module Size Used by\nmlx5_core 1 0\n",
    },
    {"worker-0.txt": _RECORD, "objects.yaml": _NODE},
)


def _tar(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name.replace("\0", "").encode("utf-8", "replace").decode() or "x")
            content = to_bytes(text)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def _zip(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return out.getvalue()


def _containers(make: Callable[[dict[str, str]], bytes]) -> Callable[[], tuple[bytes, ...]]:
    return cache(lambda: tuple(make(files) for files in _LAYOUTS[:2]))


def _open(data: bytes) -> None:
    """Open it and read everything that there is; each refusal by itself, since the next reading must not need it."""
    asyncio.run(_read_all(data))


async def _read_all(data: bytes) -> None:
    async with open_archive(file_of(data, "archive")) as world:
        for read in (world.cluster.version, world.cluster.served_kinds):
            await _attempt(read)
        for kind in sorted(known_kinds()):
            await _attempt(partial(_list, world.cluster, kind))
        for name in world.node.holdings.nodes:
            answer = await world.node.read(NodeName(name), "", timeout_s=1.0)
            assert isinstance(answer.text, str)
        for key in world.cluster.holdings.logs:
            await _attempt(partial(world.cluster.logs, key.namespace, key.pod, key.container, tail_lines=10))


async def _attempt(read: Callable[[], object]) -> None:
    try:
        await read()  # type: ignore[misc]  # each of them is a coroutine function
    except RailwrightError:
        return


async def _list(cluster: object, kind: object) -> None:
    async for obj in cluster.list(Selection(kind)):  # type: ignore[attr-defined]  # a Cluster
        assert ref_of(obj).kind == kind


def _layouts() -> tuple[bytes, ...]:
    return tuple(to_bytes(json.dumps(files)) for files in _LAYOUTS)


def _layout(data: bytes) -> None:
    """An archive with other files, or other text in them."""
    files = json.loads(data)
    texts = files if isinstance(files, dict) else {}
    _open(_tar({name: text if isinstance(text, str) else json.dumps(text) for name, text in texts.items()}))


def _yamls() -> tuple[bytes, ...]:
    return tuple(map(to_bytes, (_NODE, _PODS, *(yaml.safe_dump(files) for files in _LAYOUTS[2:4]))))


def _yaml(data: bytes) -> None:
    """Both readers; the quick one never disagrees with the whole one."""
    try:
        quick = from_block(data.decode())
    except (Unusual, UnicodeDecodeError):
        from_yaml(data, "here")
        return
    told: object = None
    try:
        told = from_any_yaml(data, "here")
    except UsageError as refused:
        # Only the limits are the whole reader's own.
        told = quick if "more than" in refused.message else refused
    assert repr(quick) == repr(told)


TARGETS = (
    Target("archive-tar", Form.BYTES, _containers(_tar), _open, short=20),
    Target("archive-gzip", Form.BYTES, _containers(lambda files: gzip.compress(_tar(files), mtime=0)), _open, short=20),
    Target("archive-xz", Form.BYTES, _containers(lambda files: lzma.compress(_tar(files))), _open, short=20),
    Target("archive-zip", Form.BYTES, _containers(_zip), _open, short=20),
    Target("archive-layout", Form.TREE, _layouts, _layout, short=20),
    Target("archive-objects", Form.TEXT, _yamls, _open, short=20),
    Target("archive-yaml", Form.TEXT, _yamls, _yaml),
)
