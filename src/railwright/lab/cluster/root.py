"""Put together the file system of a node: distribution packages, kernel modules, the programs that were built."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from railwright.lab.cluster.recipe import MODULES
from railwright.lab.rdma.kernel import ModuleTree

_LEFT_OUT = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/include", "usr/share/perl")
_FOLDERS = (
    *("proc", "sys", "dev", "run", "tmp", "root", "var/lib", "var/log", "var/run", "opt/cni/bin", "opt/cni/own"),
    *("etc/cni/net.d", "usr/local/bin", "var/lib/kubelet", "usr/lib/railwright", "usr/lib/modules"),
)
_WRAPPED = ("macvlan", "host-device")
"""CNI plugins that move a rail into a pod: guest/cni-rail stands in their place and calls them."""
_CNI_PACKAGED = ("bridge", "loopback", "host-local", "static", "tuning")
_CNI_BUILT = ("multus", "whereabouts")
_PCI_VENDORS = ("15b3", "8086", "10de", "1af4")
_RUN_LIMIT_S = 120.0


def furnish_root(root: Path, programs: Mapping[str, Path], modules: Mapping[str, bytes]) -> None:
    """Add folders, links, accounts, programs and modules of our own to a root of unpacked packages."""
    for name in _LEFT_OUT:
        shutil.rmtree(root / name, ignore_errors=True)
    for name in _FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        _link(root / name, f"usr/{name}")
    (root / "usr/bin/sh").unlink(missing_ok=True)
    _link(root / "usr/bin/sh", "dash")
    for name in ("iptables", "ip6tables", "iptables-save", "iptables-restore"):
        _link(root / "usr/sbin" / name, "xtables-nft-multi")
    shutil.copy(programs["kubelet"], root / "usr/local/bin/kubelet")
    for name in _CNI_BUILT:
        shutil.copy(programs[name], root / "opt/cni/bin" / name)
    for name in _CNI_PACKAGED:
        shutil.copy(root / "usr/lib/cni" / name, root / "opt/cni/bin" / name)
    for name in _WRAPPED:
        shutil.copy(root / "usr/lib/cni" / name, root / "opt/cni/own" / name)
    shutil.rmtree(root / "usr/lib/cni")
    # The plugin of SR-IOV is in no registry of modules: host-device moves a function by the id that Multus gives it.
    _link(root / "opt/cni/own/sriov", "host-device")
    for name in (*_WRAPPED, "sriov"):
        _link(root / "opt/cni/bin" / name, "/usr/lib/railwright/cni-rail")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")
    for name, content in modules.items():
        file = root / "usr/lib/railwright" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    _busybox_links(root)


def install_modules(root: Path, modules: ModuleTree, tree: Path, version: str) -> None:
    """Write the node's kernel modules unpacked, and the index that modprobe reads."""
    modules.pick(MODULES)
    target = root / "usr/lib/modules" / version
    for name in modules.order:
        file = target / "kernel" / f"{name}.ko"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(modules.contents[name])
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        found = next(tree.rglob(name), None)
        (target / name).write_bytes(found.read_bytes() if found is not None else b"")
    (root / "etc/node-modules").write_text("\n".join(MODULES) + "\n")
    run_from(root, "usr/bin/kmod", "depmod", "-b", str(root), version)


def run_from(root: Path, program: str, *argv: str) -> None:
    """Run a program of the root with the libraries of the root; `argv` begins with the name that it is called by."""
    libraries = root / "usr/lib/x86_64-linux-gnu"
    subprocess.run(
        [
            *(str(libraries / "ld-linux-x86-64.so.2"), "--argv0", argv[0], "--library-path", str(libraries)),
            *(str(root / program), *argv[1:]),
        ],
        check=True,
        capture_output=True,
        timeout=_RUN_LIMIT_S,
    )


def short_pci_ids(root: Path) -> bytes:
    """Cut the list of PCI ids to the vendors of a node and the classes: reading it all takes an emulated processor seconds."""
    kept: list[str] = []
    keep = False
    for line in (root / "usr/share/misc/pci.ids").read_text(errors="replace").splitlines():
        if line[:1] not in ("", "\t", "#"):
            keep = line.startswith("C ") or line[:4] in _PCI_VENDORS
        if keep and (not line.startswith("\t\t") or "C " in kept[-1][:2]):
            kept.append(line)
    return ("\n".join(kept) + "\n").encode()


def _busybox_links(root: Path) -> None:
    """Give what no package brings to busybox."""
    said = subprocess.run(
        [str(root / "usr/bin/busybox"), "--list"], capture_output=True, text=True, check=True, timeout=_RUN_LIMIT_S
    ).stdout
    for name in said.split():
        if not any(os.path.lexists(root / folder / name) for folder in ("usr/bin", "usr/sbin")):
            (root / "usr/bin" / name).symlink_to("busybox")


def _link(path: Path, target: str) -> None:
    if not os.path.lexists(path):
        path.symlink_to(target)
