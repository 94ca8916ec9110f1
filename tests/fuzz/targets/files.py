"""Files that people give or that lie about: rails.yaml, kubeconfig, records of verify, the ledger, saved worlds."""

import asyncio
import json
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml
from fuzz.model import Form, Target, to_bytes
from fuzz.targets.objects import CASES, EXAMPLES, NOW
from support.verifying import verified

from railwright.adapters.archive.clock import ArchiveClock
from railwright.adapters.archive.cluster import ArchiveCluster
from railwright.adapters.archive.holdings import Holdings, Shelf
from railwright.adapters.credentials import parse_credential
from railwright.adapters.kubeconfig import read_login
from railwright.apply.ledger import LedgerStore
from railwright.changes.embedded import SHARED_STRINGS, format_named, merge
from railwright.core import kinds
from railwright.core.marks import LEDGER_LABEL, LEDGER_NAMESPACE
from railwright.core.multus import networks_of, plugins_of
from railwright.core.objects import dig
from railwright.intent.parse import read_intents
from railwright.pipeline.prepare import earlier_intents
from railwright.pipeline.records import open_record
from railwright.report.formats import to_json, to_text
from railwright.report.verification.compare import diff_document
from railwright.report.verification.document import verify_document
from railwright.report.verification.html import to_html
from railwright.report.verification.junit import to_junit
from railwright.report.verification.keep import RAW, RECORD, record_files
from railwright.simulator.open import open_simulator
from railwright.verify.baseline import compared

_KUBECONFIG = {
    "current-context": "one",
    "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u", "namespace": "ns"}}],
    "clusters": [{"name": "c", "cluster": {"server": "https://one:6443/", "certificate-authority": "ca.crt"}}],
    "users": [
        {
            "name": "u",
            "user": {"exec": {"command": "./login", "args": ["a"], "env": [{"name": "A", "value": "b"}]}, "token": "t"},
        }
    ],
}
_CREDENTIAL = '{"kind": "ExecCredential", "status": {"token": "t", "expirationTimestamp": "2026-11-30T12:00:00Z"}}'


@cache
def _folder() -> Path:
    """One folder a process, in memory where there is such a place; it goes with the process."""
    memory = Path("/dev/shm")
    made = tempfile.TemporaryDirectory(prefix="railwright-fuzz-", dir=memory if memory.is_dir() else None)
    _HELD.append(made)
    return Path(made.name)


_HELD: list[Any] = []


def file_of(data: bytes, name: str) -> Path:
    """Write an input to where a reader of files finds it."""
    path = _folder() / name
    path.write_bytes(data)
    return path


_WIDE = """apiVersion: railwright.dev/v1alpha1
kind: RailFabric
metadata: {name: east-west}
spec:
  method: sriov
  fabric: roce
  rails:
  - {name: rail0, netdev: ens1, gpu: 0}
  - {name: rail1, pciAddress: "0000:1a:00.0"}
  network: {subnets: [192.168.0.0/16, 'fd00::/48'], mtu: 9000, routes: [{destination: 10.0.0.0/8}], gateway: true}
  nodes: {labels: {a: 'b'}}
  driver: {nic: doca, memory: dma-buf}
  operators: {approval: Manual, channels: {nfd: stable}}
  upgrade: {auto: true, maxParallel: 2}
  tolerations: [{key: a, value: b}]
"""


def _intents() -> tuple[bytes, ...]:
    return (to_bytes(_WIDE), *(path.read_bytes() for path in EXAMPLES))


def _login(data: bytes) -> None:
    read_login(None, {"KUBECONFIG": str(file_of(data, "config"))}, _folder())


@cache
def _record_files() -> tuple[tuple[str, bytes], ...]:
    record = asyncio.run(verified(2, "rail-drops", rails=1))
    return tuple((file.path, to_bytes(file.text)) for file in record_files(record))


def _records() -> tuple[bytes, ...]:
    return tuple(text for name, text in _record_files() if name == RECORD)


@cache
def _baseline() -> Any:
    return open_record(file_of(dict(_record_files())[RECORD], "before.json"))


def _record(data: bytes) -> None:
    """Read a run, and show it in every form and beside another one."""
    record = open_record(file_of(data, RECORD))
    for document in (verify_document(record), diff_document(record, _baseline()), diff_document(_baseline(), record)):
        to_json(document)
        to_text(document)
    to_html(record)
    to_junit(record)
    compared(_baseline(), record)


def _raw(data: bytes) -> None:
    file_of(dict(_record_files())[RECORD], RECORD)
    file_of(data, RAW)
    try:
        open_record(_folder())
    finally:
        (_folder() / RAW).unlink()


def _raws() -> tuple[bytes, ...]:
    lines = dict(_record_files())[RAW].splitlines(keepends=True)
    return (b"".join(lines[:3]), lines[0])


def _ledgers() -> tuple[bytes, ...]:
    """ConfigMaps of a ledger: a shard with one entry and a fabric, of each form."""
    made = []
    for path in sorted((CASES / "ledger").glob("form-*.json")):
        case = json.loads(path.read_text())
        shard = _map("railwright-ledger-0000", "entries", {"000017.Node.0": case["entry"]})
        made.append(to_bytes(json.dumps([shard, _map("railwright-fabric-east-west", "fabric", case["note"])])))
    return tuple(made)


def _map(name: str, kind: str, data: dict[str, str]) -> dict[str, Any]:
    metadata = {
        "namespace": LEDGER_NAMESPACE,
        "name": name,
        "labels": {LEDGER_LABEL: kind},
        "resourceVersion": "1",
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _ledger(data: bytes) -> None:
    """Read it off a cluster; a ConfigMap's data are strings there, so others are written as text."""
    maps = [_map_as_served(item) for item in json.loads(data) if isinstance(item, dict)]
    holdings = Holdings(shelves=(Shelf(kinds.CONFIG_MAP, partial(iter, maps)),))
    ledger = asyncio.run(LedgerStore(ArchiveCluster("fuzz", holdings), ArchiveClock(NOW)).load())
    earlier_intents(ledger)


def _map_as_served(item: dict[str, Any]) -> dict[str, Any]:
    data = item.get("data")
    plain = {str(key): _text(value) for key, value in data.items()} if isinstance(data, dict) else {}
    name, kind = (dig(item, "metadata", *path, default="entries") for path in (("name",), ("labels", LEDGER_LABEL)))
    return _map(_text(name), _text(kind), plain)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@cache
def _worlds() -> tuple[bytes, ...]:
    path = _folder() / "world.json"
    path.unlink(missing_ok=True)
    open_simulator(f"vanilla@{path}")
    saved = json.loads(path.read_bytes())
    few = {json.dumps([item["kind"]]): item for item in saved["objects"]}
    return (to_bytes(json.dumps({**saved, "objects": list(few.values())[:6]})),)


def _world(data: bytes) -> None:
    open_simulator(f"vanilla@{file_of(data, 'state.json')}")


def _annotations() -> tuple[bytes, ...]:
    return (
        b"training/a@net1, b",
        b'[{"name": "a", "namespace": "b"}]',
        b'{"type": "macvlan", "plugins": [{"type": "x"}]}',
    )


def _multus(data: bytes) -> None:
    text = data.decode("utf-8", "surrogatepass")
    networks_of.__wrapped__(text, "default")
    plugins_of.__wrapped__(text)


@cache
def _shared() -> tuple[bytes, ...]:
    """Configuration that operators keep as one string, of the recorded policies."""
    pools = {
        "resourceList": [{"resourceName": "a", "resourcePrefix": "nvidia.com", "selectors": {"vendors": ["15b3"]}}]
    }
    shared = {"periodicUpdateInterval": 300, "configList": [{"resourceName": "a", "rdmaHcaMax": 63}]}
    nfd = {"sources": {"pci": {"deviceClassWhitelist": ["02"], "deviceLabelFields": ["vendor"]}}}
    texts = (json.dumps(pools), json.dumps(shared), yaml.safe_dump(nfd), yaml.safe_dump(shared))
    return tuple(map(to_bytes, texts))


_FORMATS = tuple(sorted(set(SHARED_STRINGS.values())))


def _merged(data: bytes) -> None:
    for name in _FORMATS:
        merge(
            format_named(name), data.decode("utf-8", "surrogatepass"), {"{resourceName=b}": {"resourceName": "b"}}, {}
        )


TARGETS = (
    Target("rails-yaml", Form.TEXT, _intents, lambda data: read_intents(file_of(data, "rails.yaml")), short=30),
    Target("rails-yaml-bytes", Form.BYTES, _intents, lambda data: read_intents(file_of(data, "rails.yaml")), short=10),
    Target("kubeconfig", Form.TREE, lambda: (to_bytes(json.dumps(_KUBECONFIG)),), _login),
    Target("kubeconfig-text", Form.TEXT, lambda: (to_bytes(yaml.safe_dump(_KUBECONFIG)),), _login, short=30),
    Target(
        "login-plugin",
        Form.TREE,
        lambda: (to_bytes(_CREDENTIAL),),
        lambda data: parse_credential(data.decode("utf-8", "surrogatepass"), "login"),
    ),
    Target("verify-record", Form.TREE, _records, _record, short=10),
    Target("verify-record-text", Form.TEXT, _records, _record, short=10),
    Target("verify-raw", Form.TEXT, _raws, _raw, short=20),
    Target("ledger", Form.TREE, _ledgers, _ledger),
    Target("saved-world", Form.TREE, _worlds, _world, short=10),
    Target("multus", Form.TEXT, _annotations, _multus, allowed=()),
    Target("shared-strings", Form.TEXT, _shared, _merged, allowed=(ValueError,)),
)
