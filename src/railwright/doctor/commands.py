"""Exact commands, spelled so that they can be copied."""

import json
import shlex
from typing import Any

from railwright.core.objects import Ref
from railwright.doctor.model import Patch


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
