"""
Why pods of verify run as UID 0: the capability that they are given has no effect for any other user.

Shown on this machine's kernel with a child that has what a container runtime leaves a pod: IPC_LOCK, and a low limit.
"""

import subprocess
import sys

import pytest
from support import uncovered

from railwright.core.ids import FabricName, NodeName
from railwright.manifests.verifiers import Run, Verifier, pod_of

RUN = Run("0302080000", "training", FabricName("east-west"), "image", 60.0, has_scc=True)
NOBODY = 65534
LOCK = """
import ctypes, errno, os, resource, sys
user, capability, size = int(sys.argv[1]), 14, 1 << 20
libc = ctypes.CDLL(None, use_errno=True)
resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
if user:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
else:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    only = (ctypes.c_uint32 * 6)(1 << capability, 1 << capability)
    if libc.capset(header, only):
        sys.exit("no capability to give")
memory = ctypes.create_string_buffer(size)
print("locked" if libc.mlock(memory, size) == 0 else errno.errorcode[ctypes.get_errno()])
"""


def locking(user: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LOCK, str(user)], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        why = "the tests are not run as root with IPC_LOCK"
        uncovered.record("that IPC_LOCK takes effect for UID 0 alone", why)
        pytest.skip(why)
    return done.stdout.strip()


def test_the_user_of_a_verification_pod_may_lock_memory_and_another_user_may_not() -> None:
    (container,) = pod_of(RUN, 0, Verifier(NodeName("w0"), (), {}))["spec"]["containers"]
    security = container["securityContext"]
    assert security["capabilities"]["add"] == ["IPC_LOCK"]
    assert locking(security["runAsUser"]) == "locked"
    assert locking(NOBODY) in {"ENOMEM", "EPERM", "EAGAIN"}
