"""
The virtual cluster as a person has it: up, a device resource from a policy, bytes between two pods, down, and killed.

Real here: the control plane, kubelets, containerd, Multus, CNI, the shared device plugin, verbs. Not: NVIDIA's operators,
NICs, GPUs; and no command of railwright but `lab cluster` is tried.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.uncovered import record

from railwright.adapters.clock import RealClock
from railwright.lab.cluster import standing
from railwright.lab.rdma.tools import why_no_machine

pytestmark = pytest.mark.cluster
EXAMPLES = Path(__file__).parents[2] / "examples" / "virtual-cluster"
UP_LIMIT_S, STEP_LIMIT_S, LOOK_AGAIN_S = 5400, 1200, 2.0
RAILS = ("rdma/rail0", "rdma/rail1")


def railwright(*argv: str, limit_s: float = STEP_LIMIT_S) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "railwright", "lab", "cluster", *argv],
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_s,
    )


def must(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def kubectl(*argv: str) -> str:
    kubeconfig = must(railwright("kubeconfig")).strip()
    return must(
        subprocess.run(
            ["kubectl", "--kubeconfig", kubeconfig, *argv],
            capture_output=True,
            text=True,
            check=False,
            timeout=STEP_LIMIT_S,
        )
    )


async def until(holds: Callable[[], bool]) -> None:
    clock = RealClock()
    until_s = clock.monotonic_s() + STEP_LIMIT_S
    while not holds():
        assert clock.monotonic_s() < until_s, "not in time"
        await clock.sleep(LOOK_AGAIN_S)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    missing = why_no_machine(build_needed=True)
    if missing:
        record("the virtual cluster", missing)
        pytest.skip(missing)
    must(railwright("up", limit_s=UP_LIMIT_S))
    yield
    must(railwright("down"))


def device_of(pod: str) -> str:
    """The RDMA device whose netdev is the pod's first rail."""
    links = kubectl("exec", pod, "--", "rdma", "link").splitlines()
    return next(line.split()[1].partition("/")[0] for line in links if line.split()[-1] == "net1")


@pytest.mark.usefixtures("cluster")
async def test_bytes_move_between_pods_once_they_have_a_network_and_a_resource() -> None:
    assert must(railwright("status")).count("no device resources") == 2
    kubectl("apply", "-f", str(EXAMPLES / "rails.yaml"))
    await until(lambda: all(must(railwright("status")).count(f"{rail} 63") == 2 for rail in RAILS))
    kubectl("apply", "-f", str(EXAMPLES / "pods.yaml"))
    kubectl("wait", "--for=condition=Ready", "pod/pod-1", "pod/pod-2", f"--timeout={STEP_LIMIT_S}s")
    test = ("timeout", "300", "ib_write_bw", "-F", "-x", "1", "-s", "65536", "-n", "20")
    address = kubectl("exec", "pod-1", "--", "ip", "-4", "-o", "addr", "show", "net1").split()[3].partition("/")[0]
    server = asyncio.create_task(asyncio.to_thread(kubectl, "exec", "pod-1", "--", *test, "-d", device_of("pod-1")))
    await until(lambda: ":18515" in kubectl("exec", "pod-1", "--", "ss", "-ltn"))
    said = kubectl("exec", "pod-2", "--", *test, "-d", device_of("pod-2"), address)
    await server
    assert "65536      20" in said


@pytest.mark.usefixtures("cluster")
async def test_what_a_killed_keeper_started_ends_with_it() -> None:
    found = standing.standing()
    assert found is not None
    os.kill(found.process, signal.SIGKILL)
    own = str(found.folder).encode()
    await until(lambda: not any(own in line for line in command_lines()))
    assert must(railwright("status")).startswith("no virtual cluster is up")


def command_lines() -> list[bytes]:
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(process.read_bytes())
        except OSError:
            continue
    return found
