"""Options on how the inside of nodes is reached, and of how many at once."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from railwright import api

_INTO_NODES = Group("Into nodes", sort_key=80)


@Parameter(name="*")
@dataclass(frozen=True)
class Ways:
    """How nodes are looked into."""

    via: Annotated[Literal["pods", "ssh"], Parameter(group=_INTO_NODES)] = "pods"
    """Through privileged pods that are there already, or with the OpenSSH client."""
    ssh_user: Annotated[str | None, Parameter(group=_INTO_NODES)] = None
    """Who to log in as: root, or one who may use sudo without a password. Default: core."""
    ssh_host: Annotated[tuple[str, ...] | None, Parameter(group=_INTO_NODES)] = None
    """NODE=HOST or NODE=USER@HOST, where a node is not at its own address; may be given several times."""
    allow_debug_pod: Annotated[bool, Parameter(group=_INTO_NODES)] = False
    """Start a privileged pod, for as long as it is read, on a node that no other way leads into."""
    debug_image: Annotated[str | None, Parameter(group=_INTO_NODES)] = None
    """What that pod runs; must hold sh and chroot. Default: the tools image of OpenShift."""

    @property
    def access(self) -> api.NodeAccess:
        """The same as an argument of the library. Raises UsageError for what is no NODE=HOST."""
        pairs = [text.partition("=") for text in self.ssh_host or ()]
        wrong = next(("".join(pair) for pair in pairs if not (pair[0] and pair[2])), None)
        if wrong is not None:
            message = f"--ssh-host {wrong!r}: expected NODE=HOST or NODE=USER@HOST"
            raise api.UsageError(message, hint="for instance --ssh-host worker-0=core@10.0.0.20")
        if (self.ssh_host or self.ssh_user) and self.via != "ssh":
            message = "--ssh-host and --ssh-user mean nothing without --via ssh"
            raise api.UsageError(message, hint="add --via ssh")
        if self.debug_image and not self.allow_debug_pod:
            message = "--debug-image means nothing without --allow-debug-pod"
            raise api.UsageError(message, hint="add --allow-debug-pod")
        return api.NodeAccess(
            via=self.via,
            ssh_user=self.ssh_user or "core",
            ssh_hosts={api.NodeName(name): place for name, _, place in pairs},
            allow_debug_pod=self.allow_debug_pod,
            debug_image=self.debug_image or "",
        )


def scope_of(node: list[str] | None, parallel: int, node_timeout_s: float) -> api.Scope:
    """Say which nodes are read, and how. Raises UsageError for a limit that leaves nothing to do."""
    if not 0 < node_timeout_s < math.inf:
        message = f"--node-timeout-s {node_timeout_s:g}: expected a number of seconds above 0"
        raise api.UsageError(message, hint="leave it out for 30 seconds")
    if parallel < 1:
        raise api.UsageError(f"--parallel {parallel}: expected 1 or more", hint="leave it out for 16")
    names = tuple(api.NodeName(name) for name in node or ())
    return api.Scope(nodes=names, node_timeout_s=node_timeout_s, parallel_nodes=parallel)
