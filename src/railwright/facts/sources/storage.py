r"""
The `mounts`, `nvme`, `iscsi` and `storage` sections: storage that the node reaches, or serves, over a network.

Samples: "10.1.0.9:/export /data nfs4 rw,relatime,vers=4.2,proto=rdma,port=20049,addr=10.1.0.9 0 0";
"nvme2\trdma\ttraddr=10.1.0.9,trsvcid=4420,src_addr=10.1.0.4"; "session1\t10.1.0.9\tiscsi_tcp\t",
"session2\t10.1.0.9\tiscsi_iser\t0000:1a:00.0"; "rbd\trbd0\t10.2.0.5:6789",
"srp\thost7\tmlx5_0", "nvmet\t1\t10.1.0.4", "iscsi-target\t10.1.0.4:3260\t10.1.0.4:3260", "nbd\tnbd0\t".
"""

import ipaddress
import re
from dataclasses import dataclass

from railwright.core.ids import PciAddress, RdmaDevice
from railwright.facts.model import Unseen
from railwright.facts.record import Record, pci_address, wrong_line

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_KINDS = {
    "nfs": "NFS",
    "nfs4": "NFS",
    "ceph": "Ceph",
    "lustre": "Lustre",
    "cifs": "SMB",
    "smb3": "SMB",
    "gpfs": "GPFS",
    "beegfs": "BeeGFS",
    "wekafs": "WekaFS",
    "pvfs2": "OrangeFS",
    "afs": "AFS",
    "9p": "9P",
    "ocfs2": "OCFS2",
    "gfs2": "GFS2",
    "fuse.glusterfs": "GlusterFS",
    "fuse.ceph": "Ceph",
    "fuse.ceph-fuse": "Ceph",
    "fuse.sshfs": "SSHFS",
    "fuse.juicefs": "JuiceFS",
    "fuse.mount-s3": "S3",
}
"""Filesystems whose data comes over a network, by their type in /proc/mounts."""
_NO_IP = frozenset({"pcie", "loop", "apple-nvme", "fc"})
"""
Transports of NVMe that no NIC port carries: inside the node, or over Fibre Channel's own adapters.

Source: Linux 6.12, drivers/nvme/host (fc.c is driven by HBA drivers, which are lpfc and qla2xxx).
"""
_ISER = "iscsi_iser"
"""
Driver of the SCSI hosts of iSCSI over RDMA; each lies below the device that carries it.

Source: Linux 6.12, drivers/infiniband/ulp/iser/iscsi_iser.c, iscsi_iser_sht and iscsi_iser_session_create.
"""
_LOCAL_9P = re.compile(r"(?:^|,)trans=(?:virtio|fd|xen)")
_ADDRESS_OPTION = re.compile(r"(?:^|,)(?:addr|mon_addr|mountaddr|ip)=([^,\s]+)")
_PLACE = re.compile(r"\[[0-9a-fA-F:.]+\]|\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]+")
_TRADDR = re.compile(r"(?:^|[,\s])traddr=([^,\s]+)")


@dataclass(frozen=True)
class RemoteStorage:
    """
    Storage behind a network; with neither servers, own addresses nor a device it can't be told what carries it.

    Attributes:
        servers: where it comes from.
        own: addresses of this node that it is served at.
        rdma: the RDMA device that carries it, whatever the addresses.
        pci: the PCI function that carries it, likewise.
    """

    what: str
    servers: tuple[Address, ...] = ()
    own: tuple[Address, ...] = ()
    rdma: RdmaDevice | None = None
    pci: PciAddress | None = None


def parse_storage(record: Record) -> tuple[tuple[RemoteStorage, ...], tuple[Unseen, ...]]:
    """Read all storage that needs the network; a line that can't be read is named."""
    unseen: list[Unseen] = []
    devices = _devices(record, unseen)
    found: list[RemoteStorage] = []
    for line in record.lines("mounts"):
        words = line.split()
        if len(words) < 4:
            unseen.append(wrong_line("mounts", line, "is no mount"))
        elif words[0] not in devices and (mount := _mount(*words[:4])) is not None:
            found.append(mount)
    for section, minimum in (("nvme", 2), ("iscsi", 1)):
        for line in record.lines(section):
            parts = [part.strip() for part in line.split("\t")]
            if len(parts) < minimum or not parts[0]:
                unseen.append(wrong_line(section, line, "name or transport is missing"))
            elif section == "iscsi":
                found.append(_session(*parts[:4]))
            elif parts[1] not in _NO_IP:
                target = _TRADDR.search(parts[2]) if len(parts) > minimum else None
                found.append(RemoteStorage(f"NVMe-oF {parts[0]} ({parts[1]})", _addresses(target[1] if target else "")))
    return tuple(dict.fromkeys((*found, *devices.values()))), tuple(unseen)


def _devices(record: Record, unseen: list[Unseen]) -> dict[str, RemoteStorage]:
    """Read the `storage` section, by the file that a block device has in /dev: its mount needs no second look."""
    found: dict[str, RemoteStorage] = {}
    for line in record.lines("storage"):
        kind, *rest = (part.strip() for part in line.split("\t"))
        if kind not in _DEVICES or len(rest) != 2 or not rest[0]:
            unseen.append(wrong_line("storage", line, "not kind, name, address"))
        else:
            found[f"/dev/{rest[0]}" if kind in _IN_DEV else line] = _device(kind, *rest)
    return found


_DEVICES = {
    "rbd": "Ceph block device",
    "nbd": "network block device",
    "drbd": "DRBD block device",
    "srp": "SRP target at",
    "nvmet": "NVMe-oF served at port",
    "iscsi-target": "iSCSI served at",
    "srp-target": "SRP served at",
    "nfsd": "NFS served over",
}
_IN_DEV = frozenset({"rbd", "nbd", "drbd"})
_SERVED = frozenset({"nvmet", "iscsi-target"})


def _device(kind: str, name: str, place: str) -> RemoteStorage:
    """Judge one block device or server."""
    what = f"{_DEVICES[kind]} {name}"
    if kind == "srp":
        return RemoteStorage(what, rdma=RdmaDevice(place) if place else None)
    if kind in _SERVED:
        # Served at every address (0.0.0.0) is served at none that can be told.
        return RemoteStorage(what, own=tuple(item for item in _addresses(place) if not item.is_unspecified))
    return RemoteStorage(what, _addresses(place))


def _session(name: str, address: str = "", driver: str = "", carrier: str = "") -> RemoteStorage:
    """Judge one iSCSI session; records made by earlier versions end behind its address."""
    kind = "iSER" if driver == _ISER else "iSCSI"
    return RemoteStorage(f"{kind} {name}", _addresses(address), pci=pci_address(carrier))


def _mount(device: str, directory: str, kind: str, options: str) -> RemoteStorage | None:
    """Judge one mount; None when it needs no network."""
    if re.match(r"/dev/(rbd|drbd|nbd)\d", device):
        return RemoteStorage(f"block device {device} at {directory}", ())
    if kind not in _KINDS or (kind == "9p" and _LOCAL_9P.search(options)):
        return None
    servers = dict.fromkeys(
        address for option in _ADDRESS_OPTION.findall(options) for address in _addresses(option)
    ) or dict.fromkeys(_addresses(_source(device, kind)))
    named = f" from {', '.join(map(str, servers))}" if servers else f" ({device})"
    return RemoteStorage(f"{_KINDS[kind]} mount {directory}{named}", tuple(servers))


def _source(device: str, kind: str) -> str:
    """Cut the path off a mount's source, so that nothing in it is taken for an address."""
    if kind in {"cifs", "smb3"}:
        return device.removeprefix("//").partition("/")[0]
    return device.partition(":/")[0]


def _addresses(text: str) -> tuple[Address, ...]:
    """Find every IP address in a text such as "10.0.0.1:6789/10.0.0.2:6789", "10.0.0.1@o2ib" or "fd00::9"."""
    found: dict[Address, None] = {}
    for part in re.split(r"[,/\s]", text):
        for match in _PLACE.findall(part):
            try:
                found[ipaddress.ip_address(match.strip("[]"))] = None
            except ValueError:
                continue
    return tuple(found)
