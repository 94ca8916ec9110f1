"""
The Node port through a pod of our own, for nodes that no other privileged pod is on: the one write that looking can do.

Only where a person allowed it. The pod lives as long as the reading and is deleted by its uid, on errors and interrupts
too. What a killed run left behind is removed by the next one: at once when its process on this machine is gone, else as
soon as it cannot be in use any more. Kubernetes ends it by itself at its deadline.
"""

import asyncio
import os
import platform
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from railwright.adapters.nodes import Place, in_container
from railwright.core.errors import NotFound, RailwrightError
from railwright.core.ids import NodeName
from railwright.core.kinds import IMAGE_STREAM, POD
from railwright.core.marks import MANAGED_BY, MANAGED_BY_LABEL
from railwright.core.objects import KubeObject, Ref, dig, ref_of
from railwright.ports.cluster import Cluster, Selection
from railwright.ports.node import NodeAnswer

NAMESPACE = "default"
"""Where `oc debug node` puts its pods unless told otherwise; it always exists, so nothing else must be made."""
RUN_LABEL = "railwright.dev/debug-run"
HOLDER = "railwright.dev/holder"
LIFETIME_S = 300
_CONTAINER = "look"
_SHELL = ("chroot", "/host", "sh", "-s")
_TOOLS = Ref(IMAGE_STREAM, "openshift", "tools")
_POLL_S = 0.5
_CLEAN_UP_S = 10.0


class Reads(Protocol):
    """Another way into nodes, tried first."""

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        """Run the script on the node."""


class DebugPods:
    """Reads through pods that are there, and starts one where there is none."""

    def __init__(self, cluster: Cluster, first: Reads, image: str = "") -> None:
        """Try `first`; `image` "" is OpenShift's tools image."""
        self._cluster = cluster
        self._first = first
        self._image = image
        self._run = secrets.token_hex(4)
        self._ready: asyncio.Task[None] | None = None

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        """Run the script on the node."""
        answer = await self._first.read(node, script, timeout_s=timeout_s)
        if not answer.problem:
            return answer
        try:
            if self._ready is None:
                self._ready = asyncio.ensure_future(self._prepare())
            await asyncio.shield(self._ready)
            async with asyncio.timeout(timeout_s):
                own = await self._through_a_new_pod(node, script, timeout_s)
        except TimeoutError:
            return NodeAnswer("", "", f"{answer.problem}; a debug pod did not answer within {timeout_s:g} s")
        except RailwrightError as error:
            return NodeAnswer("", "", f"{answer.problem}; debug pod: {error.message}")
        return replace(own, problem=f"{answer.problem}; debug pod: {own.problem}") if own.problem else own

    async def _prepare(self) -> None:
        """Remove what earlier runs left behind, and find out which image to run."""
        await remove_leftovers(self._cluster)
        if not self._image:
            try:
                stream = await self._cluster.get(_TOOLS)
            except RailwrightError as error:
                message = "which image to run is not known: name one that holds sh and chroot with --debug-image"
                raise NotFound(f"{message} ({error.message})") from error
            self._image = str(dig(stream, "status", "tags", 0, "items", 0, "dockerImageReference", default=""))
        if not self._image:
            message = f"which image to run is not known: {_TOOLS} names none; expected one that holds sh and chroot"
            raise NotFound(message, hint="name one with --debug-image")

    async def _through_a_new_pod(self, node: NodeName, script: str, timeout_s: float) -> NodeAnswer:
        pod: KubeObject = debug_pod(node, self._image, self._run)
        name = str(pod["metadata"]["name"])
        try:
            # Inside: where no answer comes in time, the pod may have been made all the same.
            pod = await self._cluster.apply(pod)
            await self._wait(Ref(POD, NAMESPACE, name))
            place = Place(NAMESPACE, name, _CONTAINER, _SHELL)
            answer = await in_container(self._cluster, place, script, timeout_s=timeout_s)
        except RailwrightError as error:
            answer = NodeAnswer("", "", error.message)
        finally:
            left = await self._removed(pod)
        if answer.problem:
            return replace(answer, problem=f"{answer.problem}{f'; pod {name}{left}' if left else ''}")
        return replace(answer, via=f"{answer.via}{left}")

    async def _removed(self, made: KubeObject) -> str:
        """Delete the pod, which is sought by its name where no uid is known, after an interrupt too, with a deadline of its own; say so when it stays behind."""
        deletion = asyncio.ensure_future(_remove(self._cluster, made))
        await asyncio.wait({deletion}, timeout=_CLEAN_UP_S)
        if not deletion.done():
            deletion.cancel()
            return f", which could not be deleted within {_CLEAN_UP_S:g} s and ends by itself"
        error = deletion.exception()
        return f", which could not be deleted and ends by itself: {error}" if error is not None else ""

    async def _wait(self, ref: Ref) -> None:
        """Wait until its container runs; raises NotFound when it ended instead."""
        while True:
            live = await self._cluster.get(ref)
            state = dig(live, "status", "containerStatuses", 0, "state", default={})
            if "running" in state:
                return
            reason = dig(state, "waiting", "reason", default="")
            if dig(live, "status", "phase") in {"Failed", "Succeeded"} or "Image" in reason:
                words = dig(state, "waiting", "message") or dig(live, "status", "message") or "it ended"
                raise NotFound(f"{ref} does not run: {reason} {words}".replace("  ", " "))
            await asyncio.sleep(_POLL_S)


def debug_pod(node: NodeName, image: str, run: str) -> dict[str, Any]:
    """Spell the pod: on this node whatever its taints, privileged, in the node's own namespaces, its root at /host."""
    return {
        "apiVersion": POD.api_version,
        "kind": POD.kind,
        "metadata": {
            "name": f"railwright-debug-{run}-{secrets.token_hex(3)}",
            "namespace": NAMESPACE,
            "labels": {MANAGED_BY_LABEL: MANAGED_BY, RUN_LABEL: run},
            "annotations": {HOLDER: _holder(), "railwright.dev/node": node},
        },
        "spec": {
            "nodeName": node,
            "hostPID": True,
            "hostNetwork": True,
            "restartPolicy": "Never",
            "activeDeadlineSeconds": LIFETIME_S,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "tolerations": [{"operator": "Exists"}],
            "containers": [
                {
                    "name": _CONTAINER,
                    "image": image,
                    "command": ["sh", "-c", f"sleep {LIFETIME_S}"],
                    "securityContext": {"privileged": True, "runAsUser": 0},
                    "volumeMounts": [{"name": "host", "mountPath": "/host", "readOnly": True}],
                }
            ],
            "volumes": [{"name": "host", "hostPath": {"path": "/", "type": "Directory"}}],
        },
    }


async def remove_leftovers(cluster: Cluster) -> tuple[str, ...]:
    """
    Remove debug pods that nobody uses any more.

    Returns:
        Names of those that were removed.
    """
    selection = Selection(POD, namespace=NAMESPACE, labels=RUN_LABEL)
    found = [pod async for pod in cluster.list(selection) if _is_left_over(pod)]
    for pod in found:
        await _remove(cluster, pod)
    return tuple(str(pod["metadata"]["name"]) for pod in found)


async def _remove(cluster: Cluster, pod: KubeObject) -> None:
    try:
        await cluster.delete(
            ref_of({"apiVersion": "v1", "kind": "Pod", **pod}), uid=str(dig(pod, "metadata", "uid", default=""))
        )
    except NotFound:
        return


def _is_left_over(pod: KubeObject) -> bool:
    if dig(pod, "metadata", "deletionTimestamp"):
        return False
    if dig(pod, "status", "phase") in {"Failed", "Succeeded"}:
        return True
    annotations: Mapping[str, str] = dig(pod, "metadata", "annotations", default={})
    machine, _, process = annotations.get(HOLDER, "").rpartition("/")
    if machine == platform.node() and process.isdecimal() and not Path(f"/proc/{process}").exists():
        return True
    created = str(dig(pod, "metadata", "creationTimestamp", default=""))
    try:
        age_s = (datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds()
    except (ValueError, TypeError):
        return False
    return age_s > LIFETIME_S


def _holder() -> str:
    return f"{platform.node()}/{os.getpid()}"
