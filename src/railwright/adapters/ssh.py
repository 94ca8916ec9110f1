"""
The Node port with the OpenSSH client: keys, agents, jump hosts and known hosts are the person's own configuration.

Nothing is asked on the terminal (BatchMode): a host key that is not known, or a key with a passphrase that no agent
holds, is an answer.
"""

import re
from collections.abc import Sequence

from railwright.adapters.programs import say
from railwright.core.errors import RailwrightError
from railwright.core.ids import NodeName
from railwright.core.kinds import NODE
from railwright.core.objects import Ref, dig
from railwright.ports.access import NodeAccess
from railwright.ports.cluster import Cluster
from railwright.ports.node import NodeAnswer

_PLACE = re.compile(r"(?:[\w.][\w.-]*@)?(?:[\w.][\w.-]*|[0-9a-fA-F:]+(?:%\w+)?|\[[0-9a-fA-F:]+\])")
"""What may stand for a host: never anything that ssh would take for an option."""
_AS_ROOT = 'if [ "$(id -u)" = 0 ]; then exec sh -s; else exec sudo -n sh -s; fi'
_CONNECT_S = 10
_NO_CONNECTION = 255
"""How ssh itself ends when it could not connect or log in. Source: ssh(1), EXIT STATUS."""


class SshNodes:
    """Reads nodes over ssh; where a node is comes from the person, else from its Node object."""

    def __init__(self, cluster: Cluster, access: NodeAccess, *, client: Sequence[str] = ("ssh",)) -> None:
        """
        Prepare; nothing is sent yet.

        Args:
            client: the program and its first arguments.
        """
        self._cluster = cluster
        self._access = access
        self._client = tuple(client)

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:
        """Run the script on the node as root."""
        try:
            place = self._access.ssh_hosts.get(node) or await self._address(node)
        except RailwrightError as error:
            return NodeAnswer("", "", error.message)
        if not _PLACE.fullmatch(place):
            return NodeAnswer("", "", f"not a host to log in to: {place!r} (expected HOST or USER@HOST)")
        target = place if "@" in place else f"{self._access.ssh_user}@{place}"
        options = ("-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={_CONNECT_S}", "-o", "ServerAliveInterval=5")
        said = await say((*self._client, *options, "--", target, _AS_ROOT), script, timeout_s=timeout_s)
        if said.exit_code == _NO_CONNECTION:
            return NodeAnswer("", "", f"ssh {target}: {said.problem.partition('said: ')[2]}")
        if said.problem:
            return NodeAnswer("", "", f"ssh {target}: {said.problem}")
        return NodeAnswer(said.text, f"ssh {target}")

    async def _address(self, node: NodeName) -> str:
        """Give the node's internal address, or its name where it has none."""
        obj = await self._cluster.get(Ref(NODE, "", node))
        addresses = {
            str(dig(item, "type")): str(dig(item, "address")) for item in dig(obj, "status", "addresses", default=())
        }
        return addresses.get("InternalIP") or addresses.get("Hostname") or node
