"""Say the ports of a device plugin's pools by PCI address: the plugin of November 2022 knows only VFs by their PF's name."""

import json
import sys
from pathlib import Path
from typing import Any

NETDEVS = Path("/sys/class/net")


def by_address(settings: dict[str, Any], netdevs: Path) -> dict[str, Any]:
    """Replace the names of ports that are here; a name that is not here, or that means VFs, stays and selects as it did."""
    for pool in settings["resourceList"]:
        names = pool["selectors"].get("pfNames", ())
        ports = [netdevs / name / "device" for name in names]
        if names and all(port.is_dir() for port in ports):
            del pool["selectors"]["pfNames"]
            pool["selectors"]["pciAddresses"] = [port.resolve().name for port in ports]
    return settings


if __name__ == "__main__":
    given, made = (Path(name) for name in sys.argv[1:])
    made.write_text(json.dumps(by_address(json.loads(given.read_text()), NETDEVS)))
