"""Put a process into a network namespace as `ip netns exec` does, and take rights away from it as a pod has them."""

import contextlib
import ctypes
import os
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_NAMED = Path("/run/netns")
_NEW_NETWORK, _NEW_MOUNTS = 0x40000000, 0x00020000
_MS_REC, _MS_SLAVE, _MNT_DETACH = 0x4000, 0x80000, 2
_DROP_BOUNDING = 24
_LAST_CAPABILITY = 40


def enter(place: Mapping[str, Any]) -> None:
    """
    Go where the description says; raises OSError where the kernel refuses.

    Args:
        place: `namespace` (a name, or ""), `memlock_bytes` and `user_id` (absent: as they are).
    """
    library = ctypes.CDLL(None, use_errno=True)
    namespace = place.get("namespace")
    if namespace:
        with (_NAMED / str(namespace)).open() as file:
            _must(library.setns(file.fileno(), _NEW_NETWORK), f"entering {namespace}")
        # /sys shows the devices of the namespace in which it was mounted.
        _must(library.unshare(_NEW_MOUNTS), "taking mounts of our own")
        _must(library.mount(b"none", b"/", None, _MS_REC | _MS_SLAVE, None), "keeping mounts to ourselves")
        library.umount2(b"/sys", _MNT_DETACH)
        _must(library.mount(b"sysfs", b"/sys", b"sysfs", 0, None), "mounting /sys")
    if place.get("memlock_bytes") is not None:
        limit = int(place["memlock_bytes"])
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
    if place.get("user_id"):
        with contextlib.suppress(OSError):
            for device in Path("/dev/infiniband").iterdir():
                device.chmod(0o666)
        for capability in range(_LAST_CAPABILITY + 1):
            library.prctl(_DROP_BOUNDING, capability, 0, 0, 0)
        os.setgroups([])
        os.setgid(int(place["user_id"]))
        os.setuid(int(place["user_id"]))


def _must(answer: int, doing: str) -> None:
    if answer != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{doing}: {os.strerror(number)}")
