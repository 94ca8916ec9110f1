"""
What a person's `shell NODE` speaks to: takes lines of JSON from the serial port, runs shell text, answers in lines.

The lab's own agent also runs halves of probes, which an emulated processor takes half a minute to load; here pods do.

    {"id": 1, "shell": "ip link", "timeout_s": 5}    {"id": 1, "exit_code": 0, "out": "...", "err": ""}
"""

import json
import os
import signal
import subprocess
import time

PORT = "lab.control"
_READ_BYTES = 1 << 16
_NOBODY_THERE_S = 1.0


def serve(port: int) -> None:
    """Answer for ever, one request after another; a port without a listener is left alone for a while."""
    say(port, {"ready": True, "kernel": os.uname().release})
    left = b""
    while True:
        data = os.read(port, _READ_BYTES)
        if not data:
            time.sleep(_NOBODY_THERE_S)
            left = b""
            continue
        *lines, left = (left + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            if "shell" in request:
                say(port, {"id": request["id"], **run(str(request["shell"]), float(request["timeout_s"]))})


def say(port: int, answer: dict[str, object]) -> None:
    """Write one line."""
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(port, data) :]


def run(text: str, limit_s: float) -> dict[str, object]:
    """Run shell text; no exit code when it took too long and was ended."""
    process = subprocess.Popen(
        ["/bin/sh", "-c", text],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    code: int | None = None
    try:
        out, err = process.communicate(timeout=limit_s)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    return {"exit_code": code, "out": out.decode(errors="replace"), "err": err.decode(errors="replace")}


def main() -> None:
    """Find the port by its name, and serve it."""
    folder = "/sys/class/virtio-ports"
    for device in os.listdir(folder):  # noqa: PTH208 - pathlib takes an emulated processor a second to load
        with open(f"{folder}/{device}/name") as name:  # noqa: PTH123 - the same
            if name.read().strip() == PORT:
                serve(os.open(f"/dev/{device}", os.O_RDWR))


if __name__ == "__main__":
    main()
