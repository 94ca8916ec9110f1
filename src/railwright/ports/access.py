"""How the inside of nodes may be reached, as a person allows it; the ways themselves are adapters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from railwright.core.ids import NodeName

Way = Literal["pods", "ssh"]


@dataclass(frozen=True)
class NodeAccess:
    """
    Ways into nodes.

    Attributes:
        via: through privileged pods that are there already, or with the OpenSSH client.
        ssh_user: who to log in as; must be root, or may use sudo without a password.
        ssh_hosts: where to log in for a node, "HOST" or "USER@HOST"; for the others its internal address.
        allow_debug_pod: a node without such a pod gets one for as long as it is read, and only then.
        debug_image: what that pod runs; must hold sh and chroot. Empty for OpenShift's own tools image.
    """

    via: Way = "pods"
    ssh_user: str = "core"
    ssh_hosts: Mapping[NodeName, str] = field(default_factory=dict)
    allow_debug_pod: bool = False
    debug_image: str = ""


DEFAULT_ACCESS = NodeAccess()
