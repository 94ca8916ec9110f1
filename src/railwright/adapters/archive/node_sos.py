"""
The report of sos (`sos report`) of one node: the files of /proc and /etc that a node record holds as they are.

    etc/os-release, proc/cmdline, proc/modules, proc/mounts, proc/driver/nvidia/version, proc/net/route, ...
    sos_commands/kernel/uname_-a, sos_commands/host/hostname
    sos_commands/networking/ip_-o_addr

Source: sosreport/sos 0bc24be3, sos/report/plugins/kernel.py; networking.py, filesys.py and host.py (2026-11-30).
"""

from functools import partial

from railwright.adapters.archive.holdings import Holdings, Shelf
from railwright.adapters.archive.partial_record import partial_record
from railwright.adapters.archive.records import node_shelf
from railwright.adapters.archive.tree import Tree, read_end
from railwright.core.ids import NodeName

_MARKS = ("sos_commands/", "sos_logs/", "sos_reports/")
_FILES = {
    "os-release": ("etc/os-release", "usr/lib/os-release"),
    "cmdline": ("proc/cmdline",),
    "modules": ("proc/modules",),
    "mounts": ("proc/1/mounts", "proc/mounts", "proc/self/mounts"),
    "nvidia-version": ("proc/driver/nvidia/version",),
    "route4": ("proc/net/route", "proc/1/net/route"),
    "route6": ("proc/net/ipv6_route", "proc/1/net/ipv6_route"),
    "addr": ("sos_commands/networking/ip_-o_addr",),
}
_HOSTNAMES = ("sos_commands/host/hostname", "hostname", "etc/hostname")
_UNAMES = ("sos_commands/kernel/uname_-a", "uname")


def folder_of(tree: Tree) -> str | None:
    """Find the folder of a report, with its slash; None when there is none."""
    for path in sorted(tree.sizes, key=len):
        for mark in _MARKS:
            if path.startswith(mark) or f"/{mark}" in path:
                top = path[: path.index(mark)]
                if f"{top}proc/cmdline" in tree.sizes:
                    return top
    return None


def holdings_of(tree: Tree, top: str) -> Holdings:
    """Read the report."""
    uname = _line(tree, top, _UNAMES).split()
    host = _line(tree, top, _HOSTNAMES) or (uname[1] if len(uname) > 2 else "") or "node"
    meta = {"kernel": uname[2], "architecture": uname[-2]} if len(uname) > 4 else {}
    files = {
        section: f"{top}{path}"
        for section, paths in _FILES.items()
        for path in reversed(paths)
        if f"{top}{path}" in tree.sizes
    }
    shelves: tuple[Shelf, ...] = (node_shelf((host,)),)
    return Holdings(
        shelves=shelves,
        nodes={NodeName(host): partial(partial_record, tree, host, files, "sos report", meta)},
        notes=(f"sos report of the node {host}",),
    )


def _line(tree: Tree, top: str, paths: tuple[str, ...]) -> str:
    found = next((f"{top}{path}" for path in paths if f"{top}{path}" in tree.sizes), None)
    text = read_end(tree, found, 4096).decode(errors="replace") if found is not None else ""
    return text.strip().partition("\n")[0].strip()
