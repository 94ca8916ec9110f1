"""
The one program of ours inside the machine: takes lines of JSON, runs shell text and halves of probes, answers in lines.

It talks over a virtio serial port, or over its standard input and output where the lab runs on the host itself.
Requests run at the same time, each in a process of its own; "end" kills one. Every one of them has a limit.

    {"id": 1, "shell": "ip link", "timeout_s": 5}              {"id": 1, "exit_code": 0, "out": "...", "err": ""}
    {"id": 2, "probe": {...}, "place": {...}, "timeout_s": 9}  {"id": 2, "reply": {...}}
    {"id": 3, "end": 2}                                        {"id": 3, "ended": true}
"""

import contextlib
import gc
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from railwright.dataplane import evidence, run
from railwright.dataplane.bounded import end_with_parent, run_bounded
from railwright.dataplane.problems import HalfFailed
from railwright.dataplane.verbs import engine
from railwright.dataplane.verbs.library import Library
from railwright.dataplane.wire import read_request
from railwright.lab.rdma.guest.place import enter

PORT_NAME = "lab.control"
LOADED_AHEAD = (engine, evidence, run)
"""Loaded before the first request, so that a half begins without loading anything: an emulated processor is slow."""
_READ_BYTES = 1 << 16
_NOBODY_THERE_S = 0.05


class Agent:
    """Serves one connection for as long as it is there."""

    def __init__(self, reading: int, writing: int, nobody_there_s: float = _NOBODY_THERE_S) -> None:
        """Serve over two descriptors, which may be the same; how long to leave a port alone that has no listener."""
        self._nobody_there_s = nobody_there_s
        self._reading, self._writing = reading, writing
        self._left = b""
        self._running: dict[int, tuple[int, int, bytearray]] = {}
        """Descriptor of its answer -> request id, process id, answer so far."""

    def serve(self) -> None:
        """Greet, then answer until standard input ends; a serial port without a listener is waited for."""
        self._say({"ready": True, "kernel": os.uname().release, "python": sys.version.split()[0]})
        while True:
            ready, _, _ = select.select([self._reading, *self._running], [], [])
            for descriptor in ready:
                if descriptor == self._reading:
                    if not self._hear():
                        return
                else:
                    self._collect(descriptor)

    def _hear(self) -> bool:
        data = os.read(self._reading, _READ_BYTES)
        if not data:
            if self._reading == 0:
                return False
            time.sleep(self._nobody_there_s)
        *lines, self._left = (self._left + data).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):
                self._begin(json.loads(line))
        return True

    def _begin(self, request: dict[str, Any]) -> None:
        if "end" in request:
            self._end(request)
            return
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _work(request, writing)
        os.close(writing)
        self._running[reading] = (int(request["id"]), child, bytearray())

    def _end(self, request: dict[str, Any]) -> None:
        known = next((child for number, child, _ in self._running.values() if number == request["end"]), None)
        if known is not None:
            # A half dies of it at once; a shell takes along what it has started.
            os.kill(known, signal.SIGTERM)
        self._say({"id": request["id"], "ended": known is not None})

    def _collect(self, descriptor: int) -> None:
        data = os.read(descriptor, _READ_BYTES)
        number, child, answer = self._running[descriptor]
        answer += data
        if data:
            return
        os.close(descriptor)
        del self._running[descriptor]
        os.waitpid(child, 0)
        said = json.loads(answer) if answer else {"died": True}
        self._say({"id": number, **said})

    def _say(self, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode() + b"\n"
        while data:
            data = data[os.write(self._writing, data) :]


def _work(request: dict[str, Any], writing: int) -> None:
    """Do what one request asks, in a child; never returns."""
    try:
        end_with_parent()
        limit_s = float(request.get("timeout_s", 60.0))
        if "shell" in request:
            answer = _shell(str(request["shell"]), limit_s)
        else:
            place = request.get("place", {})
            asked = read_request(json.dumps(request["probe"]))
            said = run_bounded(asked, limit_s, lambda: enter(place))
            answer = {"reply": json.loads(said)}
        data = json.dumps(answer).encode()
        while data:
            data = data[os.write(writing, data) :]
    finally:
        os._exit(0)


def _shell(text: str, limit_s: float) -> dict[str, Any]:
    process = subprocess.Popen(
        ["/bin/sh", "-c", text],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509 - the agent has one thread
    )
    signal.signal(signal.SIGTERM, lambda *_: _end_group(process.pid))
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return {"exit_code": None, "out": out.decode(errors="replace"), "err": err.decode(errors="replace")}
    return {"exit_code": process.returncode, "out": out.decode(errors="replace"), "err": err.decode(errors="replace")}


def _end_group(group: int) -> None:
    """End a shell with all that it has started, and this child of the agent."""
    os.killpg(group, signal.SIGKILL)
    os._exit(0)


def main(nobody_there_s: float = _NOBODY_THERE_S) -> None:
    """Serve the serial port of that name, or standard input and output where there is none."""
    with contextlib.suppress(HalfFailed):
        Library()
    # Halves are forks: what is loaded here is not loaded there, and memory that is not touched is not copied.
    gc.freeze()
    for port in Path("/sys/class/virtio-ports").glob("*/name"):
        if port.read_text().strip() == PORT_NAME:
            descriptor = os.open(f"/dev/{port.parent.name}", os.O_RDWR)
            Agent(descriptor, descriptor, nobody_there_s).serve()
            return
    Agent(0, 1).serve()


if __name__ == "__main__":
    main()
