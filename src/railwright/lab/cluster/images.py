"""
Container images of the virtual cluster: one layer each, made of files, imported before any node starts.

No registry and no builder: an image is a tar archive in OCI's layout, and a containerd of our own imports all of them on
this machine into the folder that becomes the node's. In an emulated node the same takes minutes.
"""

import asyncio
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from railwright.core.errors import UsageError
from railwright.lab.cluster.shim import with_own_mounts
from railwright.lab.rdma.packages import run

PAUSE = "localhost/railwright/pause:1"
TOOLS = "localhost/railwright/tools:1"
SHARED_DEVICE_PLUGIN = "localhost/railwright/shared-device-plugin:1"
SRIOV_DEVICE_PLUGIN = "localhost/railwright/sriov-device-plugin:1"
_PATH = "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_OCI = "application/vnd.oci.image"
_IMPORTER = """version = 3
root = "{root}"
state = "{state}"
disabled_plugins = [
  "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime",
  "io.containerd.snapshotter.v1.native", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.blockfile",
  "io.containerd.snapshotter.v1.erofs", "io.containerd.nri.v1.nri",
]
[grpc]
  address = "{socket}"
[ttrpc]
  address = "{socket}.ttrpc"
"""
_READY_STEPS, _READY_STEP_S = 200, 0.1


@dataclass(frozen=True)
class ImageFiles:
    """
    An image: its name, and its files by the path that they have inside.

    Attributes:
        stands_for: names of images that it is taken for, too, since no registry is reached from a node.
    """

    name: str
    files: Mapping[str, Path]
    entrypoint: Sequence[str] = ()
    command: Sequence[str] = ()
    stands_for: Sequence[str] = ()


def write_image(image: ImageFiles, target: Path) -> None:
    """Write an archive that `ctr images import` takes."""
    layer = _layer(image.files)
    blobs: dict[str, bytes] = {}

    def blob(data: bytes) -> dict[str, str | int]:
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"digest": f"sha256:{digest}", "size": len(data)}

    layer_blob = blob(layer)
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Env": [_PATH], "Entrypoint": list(image.entrypoint), "Cmd": list(image.command)},
        "rootfs": {"type": "layers", "diff_ids": [layer_blob["digest"]]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_OCI}.manifest.v1+json",
        "config": {"mediaType": f"{_OCI}.config.v1+json", **blob(json.dumps(config).encode())},
        "layers": [{"mediaType": f"{_OCI}.layer.v1.tar", **layer_blob}],
    }
    entry = {
        "mediaType": f"{_OCI}.manifest.v1+json",
        **blob(json.dumps(manifest).encode()),
        "platform": {"architecture": "amd64", "os": "linux"},
    }
    entries = [{**entry, "annotations": {"io.containerd.image.name": name}} for name in (image.name, *image.stands_for)]
    index = {"schemaVersion": 2, "mediaType": f"{_OCI}.index.v1+json", "manifests": entries}
    with tarfile.open(target, "w") as archive:
        _add(archive, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        _add(archive, "index.json", json.dumps(index).encode())
        for digest, data in blobs.items():
            _add(archive, f"blobs/sha256/{digest}", data)


def _layer(files: Mapping[str, Path]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in ("tmp", "proc", "sys", "dev", "etc"):
            archive.addfile(_folder(name))
        for name, source in sorted(files.items()):
            archive.add(source, name, recursive=True, filter=_nobodys)
    return out.getvalue()


def _folder(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
    return info


def _nobodys(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who built it, and when: the same files give the same image."""
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = ""
    return info


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


async def import_images(images: Sequence[Path], programs: Path, work: Path) -> Path:
    """
    Import archives with a containerd of our own.

    Args:
        programs: the folder that holds containerd and ctr.

    Returns:
        The folder that is /var/lib/containerd on a node.
    """
    root, state = work / "containerd", work / "containerd-state"
    state.mkdir()
    socket, file = state / "socket", work / "containerd.toml"
    file.write_text(_IMPORTER.format(root=root, state=state, socket=socket))
    with (work / "containerd.log").open("wb") as log:
        daemon = await asyncio.create_subprocess_exec(
            *with_own_mounts(),
            *(str(programs / "containerd"), "-c", str(file)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        await _wait_for(socket, daemon, work / "containerd.log")
        for image in images:
            await run(
                *(str(programs / "ctr"), "-a", str(socket), "-n", "k8s.io", "images", "import", "--local"),
                *("--snapshotter", "overlayfs", "--label", "io.cri-containerd.image=managed", str(image)),
            )
    finally:
        if daemon.returncode is None:
            daemon.terminate()
        await daemon.wait()
    return root


async def _wait_for(socket: Path, daemon: asyncio.subprocess.Process, log: Path) -> None:
    for _ in range(_READY_STEPS):
        if await asyncio.to_thread(socket.exists):
            return
        if daemon.returncode is not None:
            break
        await asyncio.sleep(_READY_STEP_S)
    said = await asyncio.to_thread(log.read_text, errors="replace")
    words = " | ".join(said.strip().splitlines()[-3:])
    raise UsageError(f"images of the virtual cluster could not be imported: containerd said {words or 'nothing'}")
