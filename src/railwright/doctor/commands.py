"""Exact commands, spelled so that they can be copied."""

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from railwright.core.objects import Ref
from railwright.doctor.model import Finding, Patch


def oc(ref: Ref, verb: str, *more: str) -> str:
    """Spell `oc VERB` for one object: kinds with their group, so that no other kind of that name is meant."""
    place = f"-n {ref.namespace} " if ref.namespace else ""
    kind = ref.kind.kind.lower() + (f".{ref.kind.group}" if ref.kind.group else "")
    return " ".join((f"oc {place}{verb} {kind} {ref.name}", *more))


def oc_patch(ref: Ref, **fields: Any) -> str:
    """Spell a merge patch of top-level fields: `oc_patch(ref, spec={"paused": False})`."""
    return oc(ref, "patch", "--type merge -p", shlex.quote(json.dumps(fields)))


def patch_of(ref: Ref, **fields: Any) -> Patch:
    """Make the same as an object patch."""
    metadata = {"name": ref.name} | ({"namespace": ref.namespace} if ref.namespace else {})
    return Patch(ref, {"apiVersion": ref.kind.api_version, "kind": ref.kind.kind, "metadata": metadata, **fields})


_ON_A_CLUSTER = frozenset({"apply", "discover", "doctor", "images", "plan", "status", "verify", "workload"})
_TAKE_A_FILE = frozenset({"apply", "images", "plan", "verify", "workload"})
_NEED_A_FILE = frozenset({"apply", "images", "plan"})
"""The others go by the ledger."""


@dataclass(frozen=True)
class Typed:
    """
    How a person calls railwright: what must stand in the commands that are printed.

    Attributes:
        cluster: --cluster as it was given; empty for the current context.
        file: -f as it was given; empty where ./rails.yaml is taken by itself, or there is none.
        has_file: there is a wanted state in a file.
    """

    cluster: str = ""
    file: str = ""
    has_file: bool = False


def as_typed(findings: Iterable[Finding], typed: Typed) -> tuple[Finding, ...]:
    """Spell the commands of railwright in remedies with the person's own options."""
    return tuple(
        replace(
            item,
            remedy=replace(item.remedy, commands=tuple(_spelled(command, typed) for command in item.remedy.commands)),
        )
        for item in findings
    )


def _spelled(command: str, typed: Typed) -> str:
    """Add options to one command; what is no command of railwright stays as it is."""
    words, mark, remark = command.partition("#")
    name, _, rest = words.partition(" ")
    verb = rest.partition(" ")[0].strip()
    if name != "railwright" or verb not in _ON_A_CLUSTER:
        return command
    options = [f"--cluster {shlex.quote(typed.cluster)}"] if typed.cluster else []
    remarks = [remark.strip()] if mark else []
    if verb in _TAKE_A_FILE and typed.file:
        options.append(f"-f {shlex.quote(typed.file)}")
    elif verb in _NEED_A_FILE and not typed.has_file:
        options.append("-f rails.yaml")
        remarks.insert(0, "write rails.yaml first (docs/rails-yaml.md)")
    spelled = " ".join((words.strip(), *options))
    return f"{spelled}   # {'; '.join(remarks)}" if remarks else spelled
