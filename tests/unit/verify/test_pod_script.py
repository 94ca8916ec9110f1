"""The script that runs perftest in an image without Python, on made-up trees of sysfs: device, GID and partition key."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from railwright.core.ids import NetDevice
from railwright.dataplane.model import Meeting, PerftestRequest, RailEnd, Reply, Wire
from railwright.ports.cluster import ExecResult
from railwright.verify.pods.shell import perftest_reply, perftest_script

GUID = "ec:0d:9a:ff:fe:01:02:03"
ADDRESS = f"00:00:10:29:fe:80:00:00:00:00:00:00:{GUID}"
GID = "fe80:0000:0000:0000:ec0d:9aff:fe01:0203"
OTHER = "fe80:0000:0000:0000:ec0d:9aff:fe01:0204"


@dataclass(frozen=True)
class Pod:
    """A pod's sysfs, and a perftest that says what it was given."""

    folder: Path

    def file(self, path: str, text: str) -> None:
        at = self.folder / "sys" / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(f"{text}\n")

    def port(self, device: str, gid: str, *keys: str, layer: str = "InfiniBand") -> None:
        here = f"class/infiniband/{device}/ports/1"
        self.file(f"{here}/link_layer", layer)
        self.file(f"{here}/gids/0", gid)
        self.file(f"{here}/counters/port_xmit_data", "7")
        for index, key in enumerate(keys):
            self.file(f"{here}/pkeys/{index}", key)

    def run(self, partition: int | None = None) -> Reply:
        tools = self.folder / "bin"
        tools.mkdir()
        (tools / "ib_write_bw").write_text('#!/bin/sh\necho "given: $*"\n')
        (tools / "ib_write_bw").chmod(0o755)
        request = PerftestRequest(
            Meeting("listen", "", 20001, 1.0), RailEnd(NetDevice("net1")), wire=Wire(partition=partition)
        )
        script = perftest_script(request, 10, sysfs=str(self.folder / "sys"))
        path = f"{tools}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-c", script], capture_output=True, text=True, timeout=30, check=False, env={"PATH": path}
        )
        assert done.stderr == ""
        return perftest_reply(request, ExecResult(done.stdout, done.stderr, done.returncode))


@pytest.fixture
def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path)


def test_on_infiniband_the_port_is_the_one_whose_guid_the_netdev_has(pod: Pod) -> None:
    pod.file("class/net/net1/address", ADDRESS)
    pod.port("mlx5_0", OTHER, "0xffff")
    pod.port("mlx5_1", GID, "0xffff")
    reply = pod.run()
    assert (reply.problem, reply.used.device, reply.used.pkey_index, reply.used.pkey) == (None, "mlx5_1", 0, "0xffff")
    assert "given: -d mlx5_1 -i 1 --pkey_index=0 -p 20001" in reply.raw
    assert [(item.source, item.value) for item in reply.after] == [("sysfs counters mlx5_1/1", 7)]


@pytest.mark.parametrize(
    ("keys", "wanted", "own", "index"),
    [
        (("0x7fff", "0x8001"), 1, "", 1),
        (("0x0001", "0x0000", "0x8001"), 1, "", 2),
        (("0x7fff", "0x0001"), 1, "", 1),
        (("0xffff", "0x8001"), None, "0x8001", 1),
        (("0xffff", "0x8001", "0x8002"), 2, "0x8001", 2),
        (("0x7fff", "0x8001"), None, "", 1),
        (("0x0000", *("0x7fff",) * 9, "0x0003"), 3, "", 10),
        (("0x0000", *("0x7fff",) * 10), None, "", 1),
    ],
    ids=[
        "the-wanted-one",
        "the-wanted-one-where-it-is-full",
        "the-wanted-one-though-limited",
        "that-of-the-ipoib-device",
        "the-wanted-one-before-that",
        "the-first-full-one",
        "far-behind",
        "the-first-by-number-and-not-by-name",
    ],
)
def test_the_partition_is_the_one_that_our_own_halves_would_take(
    pod: Pod, keys: tuple[str, ...], wanted: int | None, own: str, index: int
) -> None:
    pod.file("class/net/net1/address", ADDRESS)
    if own:
        pod.file("class/net/net1/pkey", own)
    pod.port("mlx5_1", GID, *keys)
    reply = pod.run(wanted)
    assert (reply.used.pkey_index, reply.used.pkey) == (index, keys[index])
    assert f"--pkey_index={index} " in reply.raw


@pytest.mark.parametrize(
    ("gid", "keys", "code"),
    [
        (OTHER, ("0xffff",), "no-device"),
        (GID, ("0xffff",), "no-pkey"),
        (GID, ("0x0000",), "no-pkey"),
        (GID, (), "pkeys-unread"),
    ],
    ids=["another-port", "not-in-it", "in-none", "no-table"],
)
def test_without_the_partition_nothing_is_run(pod: Pod, gid: str, keys: tuple[str, ...], code: str) -> None:
    pod.file("class/net/net1/address", ADDRESS)
    pod.port("mlx5_1", gid, *keys)
    reply = pod.run(1)
    assert reply.problem is not None
    assert (reply.problem.code, "given" in reply.raw) == (code, False)


def test_on_ethernet_the_gid_of_the_netdev_tells_and_there_is_no_key(pod: Pod) -> None:
    pod.file("class/net/net1/address", "ec:0d:9a:01:02:03")
    pod.port("mlx5_1", "0000:0000:0000:0000:0000:ffff:c0a8:0002", "0xffff", layer="Ethernet")
    for name, text in (("ndevs", "net1"), ("types", "RoCE v2")):
        pod.file(f"class/infiniband/mlx5_1/ports/1/gid_attrs/{name}/0", text)
    reply = pod.run()
    assert "given: -d mlx5_1 -i 1 -x 0 -p 20001" in reply.raw
    assert (reply.used.gid_index, reply.used.gid_type, reply.used.pkey_index) == (0, "RoCE v2", None)
