"""One virtual node: its command line, and the file system that carries what is ours onto its disk."""

from pathlib import Path

from railwright.lab.cluster.disk import Disk
from railwright.lab.cluster.guest.agent import PORT
from railwright.lab.cluster.openshift import OS_RELEASE
from railwright.lab.cluster.shape import MEMORY_MIB, Shape, kubelet_address, segments, settings_text
from railwright.lab.rdma.cpio import Archive
from railwright.lab.rdma.machine import CONTROL
from railwright.lab.rdma.tools import Emulator

_GUEST = Path(__file__).parent / "guest"
_SCRIPTS = ("init", "dress-rails", "cni-rail", "multus", "runtime", "driver", "vfs")
_FILES = ("agent.py", "containerd.toml", "kubelet.yaml", "verbs_devices.py")
_KUBELET_PORT = 10250
_KERNEL = (
    *("console=ttyS0", "quiet", "panic=-1", "mitigations=off", "transparent_hugepage=never"),
    *("highres=off", "preempt=none", "rcupdate.rcu_expedited=1", "damon_stat.enabled=N", "init_on_alloc=0"),
)
"""
Programs written in Go sleep for 20 us at a time while they have work; timers of a millisecond let an emulated processor do it.

Measured: 8.3 s of processor until containerd answers without the second line, 5.5 s with it, 2026-11-30.
"""
_PROCESSOR = "max,-erms,-fsrm"
"""
All that can be emulated, but for fast string instructions: emulated, they move a byte at a time.

Measured: with it and init_on_alloc=0, 40 programs 1.30 s of processor instead of 1.67 s, `kubelet --version` 2.46 s instead of
3.21 s, 64 MiB written to memory 0.88 s instead of 1.59 s; QEMU 10.0.2, 2026-11-30.
"""


def first_file_system(disk: Disk, shape: Shape, number: int, kubeconfig: str) -> bytes:
    """Put together what finds the disk, and what is ours: scripts, settings, the agent."""
    archive = Archive()
    for name in _SCRIPTS:
        archive.file(f"own/usr/lib/railwright/{name}", (_GUEST / name).read_bytes(), 0o755)
    for name in _FILES:
        archive.file(f"own/usr/lib/railwright/{name}", (_GUEST / name).read_bytes())
    archive.file("own/etc/os-release", OS_RELEASE.encode())
    archive.file("own/etc/railwright/node", settings_text(shape, number).encode())
    archive.file("own/etc/railwright/kubeconfig", kubeconfig.encode(), 0o600)
    return disk.first.read_bytes() + archive.close()


def command(emulator: Emulator, disk: Disk, shape: Shape, number: int, folder: Path) -> list[str]:
    """Write QEMU's command line; `folder` holds the node's sockets and console, its parent the networks'."""
    node = folder / f"node-{number}"
    return [
        *emulator.command,
        *("-M", "q35", "-accel", "tcg,thread=single", "-cpu", _PROCESSOR, "-smp", "1", "-m", str(MEMORY_MIB)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{node}/console"),
        *("-device", "virtio-serial-pci", "-chardev", f"socket,id=c0,path={node}/{CONTROL},server=on,wait=off"),
        *("-device", f"virtserialport,chardev=c0,name={PORT}"),
        *("-drive", f"if=none,id=d0,format=raw,file={disk.disk},snapshot=on,cache=unsafe"),
        *("-device", "virtio-blk-pci,drive=d0", "-device", "virtio-rng-pci"),
        *("-kernel", str(disk.kernel), "-initrd", f"{node}/initrd"),
        *("-append", " ".join(_KERNEL)),
        *_networks(shape, number, folder),
    ]


def _networks(shape: Shape, number: int, folder: Path) -> list[str]:
    """
    Give the node its NICs: one to the API server and this machine, one to the other nodes, and the rails.

    A rail is a NIC with VFs on a port of its own; beside each is a device that stands for a GPU.
    """
    pods, *rails = segments(shape, folder)
    forward = f"hostfwd=tcp:{kubelet_address(shape, number)}:{_KUBELET_PORT}-:{_KUBELET_PORT}"
    parts = [
        *("-netdev", f"user,id=api,net=10.0.2.0/24,{forward}"),
        *("-device", f"virtio-net-pci,netdev=api,mac=52:54:00:00:00:{number:02x}"),
        *("-netdev", f"stream,id=pods,server=off,addr.type=unix,addr.path={pods}"),
        *("-device", f"virtio-net-pci,netdev=pods,mac=52:54:00:00:01:{number:02x}"),
    ]
    for rail, socket in enumerate(rails):
        parts += [
            *("-netdev", f"stream,id=rail{rail},server=off,addr.type=unix,addr.path={socket}"),
            *("-device", f"pcie-root-port,id=port{rail},chassis={rail + 1},slot={rail + 1}"),
            *("-device", f"igb,bus=port{rail},netdev=rail{rail},mac=52:54:00:00:1{rail}:{number:02x}"),
            *("-device", f"pcie-root-port,id=gpu{rail},chassis={rail + 101},slot={rail + 101}"),
            *("-device", f"pci-testdev,bus=gpu{rail}"),
        ]
    return parts
