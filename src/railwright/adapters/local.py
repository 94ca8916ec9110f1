"""The Node port on this machine: the script runs in a shell here, whatever the node is called."""

import asyncio
import os

from railwright.core.ids import NodeName
from railwright.ports.node import NodeAnswer


class LocalNode:
    """Reads this machine."""

    def __init__(self, shell: str = "sh") -> None:
        """Use this shell, which must be POSIX."""
        self._shell = shell

    async def read(self, node: NodeName, script: str, *, timeout_s: float) -> NodeAnswer:  # noqa: ARG002 - one machine
        """Run the script here, in a session of its own, so that all of it can be ended."""
        try:
            process = await asyncio.create_subprocess_exec(
                self._shell,
                "-s",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return NodeAnswer("", "", f"{self._shell} cannot be run: {error.strerror}")
        try:
            async with asyncio.timeout(timeout_s):
                out, err = await process.communicate(script.encode())
        except TimeoutError:
            os.killpg(process.pid, 9)
            await process.communicate()
            return NodeAnswer("", "", f"the script did not end within {timeout_s:g} s")
        if process.returncode != 0:
            said = err.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
            return NodeAnswer("", "", f"the script ended with {process.returncode} and said: {said[0]}")
        return NodeAnswer(out.decode(errors="replace"), "local")
