"""Turn the settings of sriov-cni on standard input into those of host-device; refuse what that cannot do."""

import json
import sys


def main() -> int:
    """Write the settings, or a CNI error for a VLAN: host-device sets none, and a wrong VLAN must not pass for a right one."""
    settings = json.load(sys.stdin)
    vlan = settings.get("vlan") or 0
    if vlan:
        error = {"cniVersion": "1.0.0", "code": 999, "msg": f"the virtual cluster sets no VLAN on a VF (vlan {vlan})"}
        sys.stdout.write(json.dumps(error))
        return 1
    kept = {
        key: settings[key] for key in ("cniVersion", "name", "deviceID", "ipam", "runtimeConfig") if key in settings
    }
    sys.stdout.write(json.dumps({**kept, "type": "host-device"}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
