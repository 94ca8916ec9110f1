"""
Strings that hold entries of several owners: a device plugin's config, NFD's configData, a network's ipam.

A `Format` takes such a string apart into entries, each under one step of a field path, and puts one back or takes
one out; everything else in the string keeps its meaning. Unreadable text is a ValueError, never an empty config.

    rdma-shared          {"periodicUpdateInterval": 300, "configList": [{"resourceName": "a", ...}]}
                         -> "{periodicUpdateInterval}", "{resourceName=a}"
    sriov-device-plugin  {"resourceList": [{"resourcePrefix": "nvidia.com", "resourceName": "b", ...}]}
                         -> "{resourceName=nvidia.com/b}"
    nfd-config           YAML; "{sources.pci.deviceLabelFields}", and one entry for each class of the white list:
                         "{sources.pci.deviceClassWhitelist=0207}"
    ipam                 {"type": "whereabouts", "range": ...} -> "{type}", "{range}"

Source: OpenShift 4.22 docs, Hardware accelerators 5 (NFD, whereabouts); Mellanox/k8s-rdma-shared-dev-plugin 410b0f3,
pkg/types/types.go:46-52; Mellanox/network-operator b06827e0, webhook-schemas; Mellanox/nvidia-k8s-ipam 3ce4a34.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from railwright.changes.model import MISSING
from railwright.changes.tree import thaw
from railwright.core import kinds
from railwright.core.foreign_text import parse_json, parse_yaml
from railwright.core.objects import Kind

Entries = dict[str, Any]
"""Entries of a string by their step, in the order of the string."""

SHARED_STRINGS: Mapping[tuple[Kind, str], str] = {
    (kinds.NIC_CLUSTER_POLICY, "spec.rdmaSharedDevicePlugin.config"): "rdma-shared",
    (kinds.NIC_CLUSTER_POLICY, "spec.sriovDevicePlugin.config"): "sriov-device-plugin",
    (kinds.NODE_FEATURE_DISCOVERY, "spec.workerConfig.configData"): "nfd-config",
}
"""Fields that others may hold entries of, even when no manifest of ours sets them any more."""


@dataclass(frozen=True)
class Format:
    """One kind of string: text to data, data to entries and back, data to text."""

    load: Callable[[str], dict[str, Any]]
    dump: Callable[[dict[str, Any]], str]
    split: Callable[[Mapping[str, Any]], Entries]
    join: Callable[[Entries], dict[str, Any]]

    def entries(self, text: str) -> Entries:
        """
        Take a string apart; an empty one has no entries.

        Raises:
            ValueError: the text is not what its reader expects.
        """
        return self.split(self.load(text)) if text.strip() else {}

    def text(self, entries: Entries) -> str:
        """Write entries as one string."""
        return self.dump(self.join(entries))


def format_named(name: str) -> Format:
    """Find a format. Raises KeyError for a name that no manifest may use (a bug of ours)."""
    return _FORMATS[name]


def merge(fmt: Format, live: str, wanted: Entries, dropped: Mapping[str, Any]) -> tuple[str, Entries]:
    """
    Put our entries into a live string.

    Args:
        wanted: our entries.
        dropped: entries that we no longer want, with the value each gets back (MISSING takes it out).

    Returns:
        The merged string (the live one, byte for byte, when nothing changes), and the entries of the live one.

    Raises:
        ValueError: the live string cannot be read.
    """
    before = fmt.entries(live)
    after = thaw(before)
    for step, value in {**wanted, **dropped}.items():
        if value is MISSING:
            after.pop(step, None)
        else:
            after[step] = value
    return (live if after == before else fmt.text(after)), before


def _load_json(text: str) -> dict[str, Any]:
    value = parse_json(text)
    if not isinstance(value, dict):
        message = f"expected a JSON object, seen {type(value).__name__}"
        raise ValueError(message)  # noqa: TRY004 - the text is wrong, not a type of ours
    return value


def _dump_json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2)


def _load_yaml(text: str) -> dict[str, Any]:
    value = parse_yaml(text)
    if value is None:
        return {}
    if not isinstance(value, dict):
        message = f"expected a YAML mapping, seen {type(value).__name__}"
        raise ValueError(message)  # noqa: TRY004 - the text is wrong, not a type of ours
    return value


def _dump_yaml(value: dict[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=False, default_flow_style=False) if value else ""


def _pool_format(list_key: str) -> Format:
    """Make the format of a device plugin's config: pools in one list, settings beside it."""

    def split(data: Mapping[str, Any]) -> Entries:
        entries: Entries = {f"{{{key}}}": value for key, value in data.items() if key != list_key}
        pools = data.get(list_key) or []
        if not isinstance(pools, list) or not all(isinstance(pool, dict) for pool in pools):
            message = f"expected a list of pools under {list_key!r}"
            raise ValueError(message)
        for pool in pools:
            prefix = f"{pool['resourcePrefix']}/" if pool.get("resourcePrefix") else ""
            name = f"{prefix}{pool.get('resourceName', '')}"
            step, count = f"{{resourceName={name}}}", 1
            while step in entries:
                count += 1
                step = f"{{resourceName={name}#{count}}}"
            entries[step] = pool
        return entries

    def join(entries: Entries) -> dict[str, Any]:
        data = {step[1:-1]: value for step, value in entries.items() if not step.startswith("{resourceName=")}
        data[list_key] = [value for step, value in entries.items() if step.startswith("{resourceName=")]
        return data

    return Format(_load_json, _dump_json, split, join)


_CLASS_LIST = ("sources", "pci", "deviceClassWhitelist")
_KEY_SEPARATOR = "."


def _split_nfd(data: Mapping[Any, Any], path: tuple[str, ...] = ()) -> Entries:
    entries: Entries = {}
    for key, value in data.items():
        if not isinstance(key, str):
            message = f"expected text as a key, seen {key!r}"
            raise ValueError(message)  # noqa: TRY004 - the text is wrong, not a type of ours
        below = (*path, key.replace(_KEY_SEPARATOR, "\\."))
        name = _KEY_SEPARATOR.join(below)
        if isinstance(value, dict) and value:
            entries |= _split_nfd(value, below)
        elif below == _CLASS_LIST and isinstance(value, list) and value:
            entries |= {f"{{{name}={item}}}": item for item in value}
        else:
            entries[f"{{{name}}}"] = value
    return entries


def _join_nfd(entries: Entries) -> dict[str, Any]:
    data: dict[str, Any] = {}
    class_list = f"{{{_KEY_SEPARATOR.join(_CLASS_LIST)}="
    for step, value in entries.items():
        in_list = step.startswith(class_list)
        path = _CLASS_LIST if in_list else _nfd_path(step[1:-1])
        parent = data
        for key in path[:-1]:
            inner = parent.get(key)
            if inner is None:
                inner = parent[key] = {}
            elif not isinstance(inner, dict):
                message = f"{key!r} holds {inner!r}, and something below it is wanted"
                raise ValueError(message)
            parent = inner
        if in_list:
            parent[path[-1]] = [*(parent.get(path[-1]) or []), value]
        else:
            parent[path[-1]] = thaw(value)
    return data


def _nfd_path(name: str) -> tuple[str, ...]:
    return tuple(part.replace("\0", _KEY_SEPARATOR) for part in name.replace("\\.", "\0").split(_KEY_SEPARATOR))


def _split_top(data: Mapping[str, Any]) -> Entries:
    return {f"{{{key}}}": value for key, value in data.items()}


def _join_top(entries: Entries) -> dict[str, Any]:
    return {step[1:-1]: value for step, value in entries.items()}


_FORMATS: Mapping[str, Format] = {
    "rdma-shared": _pool_format("configList"),
    "sriov-device-plugin": _pool_format("resourceList"),
    "nfd-config": Format(_load_yaml, _dump_yaml, _split_nfd, _join_nfd),
    "ipam": Format(_load_json, _dump_json, _split_top, _join_top),
}
