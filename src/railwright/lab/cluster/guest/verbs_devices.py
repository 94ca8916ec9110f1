"""Add the uverbs devices of RDMA devices in a container's network namespace to its runtime settings."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def main(file: Path) -> None:
    """Change the settings in place; nothing when the container has no network namespace of its own."""
    settings: dict[str, Any] = json.loads(file.read_text())
    spaces = [space.get("path") for space in settings["linux"]["namespaces"] if space["type"] == "network"]
    if not spaces or not spaces[0]:
        return
    said = subprocess.run(
        ["/usr/bin/nsenter", f"--net={spaces[0]}", "/usr/bin/rdma", "-j", "link"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    mine = {link["ifname"] for link in json.loads(said or "[]") if link.get("netdev")}
    devices = settings["linux"].setdefault("devices", [])
    rules = settings["linux"].setdefault("resources", {}).setdefault("devices", [])
    given = {device["path"] for device in devices}
    for verbs in sorted(Path("/sys/class/infiniband_verbs").glob("uverbs*")):
        path = f"/dev/infiniband/{verbs.name}"
        if (verbs / "ibdev").read_text().strip() in mine and path not in given:
            number = Path(path).stat().st_rdev
            place = {"type": "c", "major": os.major(number), "minor": os.minor(number)}
            devices.append({**place, "path": path, "fileMode": 0o666, "uid": 0, "gid": 0})
            rules.append({**place, "allow": True, "access": "rwm"})
    file.write_text(json.dumps(settings))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
