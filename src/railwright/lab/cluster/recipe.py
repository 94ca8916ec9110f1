"""What a virtual node is made of; the hash names the cache folder, so that a changed recipe never meets an old disk."""

import hashlib
import os
from pathlib import Path

from railwright.catalog.load import load_catalog
from railwright.lab.cluster.programs import GROUPS
from railwright.lab.controlplane.programs import recipe_hash as programs_hash
from railwright.lab.rdma import recipe as rdma
from railwright.lab.rdma.recipe import cache_root

USERLAND = (
    *rdma.USERLAND,
    *(
        "conntrack",
        "containernetworking-plugins",
        "crun",
        "e2fsprogs",
        "iptables",
        "iputils-ping",
        "kmod",
        "mount",
        "nftables",
    ),
    *("pciutils", "procps", "util-linux"),
)
CONTAINERD = "containerd"
CONTAINERD_SUITE = "sid"
"""
kubelet 1.36 wants containerd 2, and trixie has 1.7. It needs nothing but a C library that bookworm has, too.

Source: Debian packages containerd 1.7.24~ds1-6+deb13u1 (trixie) and 2.1.9+ds1-5 (sid), read 2026-11-30.
"""
MODULE_PATTERNS = ("*/kernel/*", "*/modules.*")
MODULES = (
    *("overlay", "br_netfilter", "bridge", "veth", "macvlan", "dummy", "8021q"),
    *("nf_tables", "nft_compat", "nft_chain_nat", "nf_nat", "xt_comment", "xt_conntrack", "xt_MASQUERADE"),
    *("xt_mark", "xt_multiport", "xt_addrtype", "xt_tcpudp", "xt_nat"),
    *("virtio_net", "virtio_rng", "igb", "igbvf"),
    *("ib_core", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm", "rdma_rxe"),
)
FIRST_MODULES = ("virtio_blk", "virtio_pci", "ext4")
"""Loaded before there is a disk."""
COMPILER = ("bash", "coreutils", "dash", "findutils", "gawk", "gcc-14", "grep", "libc6-dev", "make", "sed")
"""What builds the shim, besides the headers of the node's kernel: gcc-14 built that."""
DISK_MIB = 3072

_FILES = (
    *(
        "recipe.py",
        "disk.py",
        "images.py",
        "root.py",
        "shim.py",
        "userland.py",
        "guest/shim.c",
        "guest/driver.c",
        "guest/init-first",
    ),
)
_RDMA_FILES = ("recipe.py", "kernel.py", "elf.py", "packages.py", "cpio.py")


def image_of_verify() -> str:
    """Name the image that pods of `verify` have where nobody chose another one: our own tools stand for it."""
    return str(load_catalog().default("workload_test_image").value)


def disk_folder() -> Path:
    """Name the folder in which the disk of today's recipe is kept."""
    return cache_root(os.environ, Path.home()).parent / "cluster" / recipe_hash()


def recipe_hash() -> str:
    """Hash everything that decides what the disk is, the code that puts it together included."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for file in (*(here / name for name in _FILES), *(Path(rdma.__file__).parent / name for name in _RDMA_FILES)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    digest.update(image_of_verify().encode())
    for group in GROUPS:
        digest.update(programs_hash(group.pieces).encode())
    return digest.hexdigest()[:16]
