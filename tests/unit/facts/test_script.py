"""The node script, run for real by every shell that is named here, on a made-up /proc and /sys."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support import uncovered

from railwright.facts.node_record import parse_node_record
from railwright.facts.record import split_record
from railwright.facts.script import node_script
from railwright.facts.uplinks import Surroundings

SHELLS = [["sh"], ["dash"], ["bash", "--posix"], ["busybox", "ash"]]
PROGRAMS = {
    "ethtool": r"printf '%s\n' 'NIC statistics:' '     rx_discards_phy: 7' '     rx0_cache_full: 1' '     tx_prio3_pause: 5'",
    "dcb": r"""case "$*" in
'-N pfc show dev ens3f0np0') printf '%s\n' 'pfc-cap 8 macsec-bypass off delay 0' 'prio-pfc 0:off 1:off 2:off 3:on' ;;
'-N app show dev ens3f0np0') echo 'dscp-prio 24:3 26:3' ;;
esac""",
    "devlink": r"""echo "$4: mode legacy inline-mode none encap-mode basic" """,
    "dmesg": r"printf '%s\n' '[ 1.0] usb 1-1: new device' '[ 2.0] mlx5_core 0000:1a:00.0: Port module event'",
}
IP = r"""#!/bin/sh
case "$*" in
'-o addr show') printf '%s\n' '4: br-ex    inet 10.0.0.20/24 scope global br-ex\       valid_lft forever' ;;
'-o -d link show') printf '%s\n' \
  '4: br-ex: <UP> mtu 1500\    link/ether 0c:42:a1:00:00:01 promiscuity 0 \    openvswitch addrgenmode none' \
  '5: bond0.120@bond0: <UP> mtu 1500\    link/ether 0c:42:a1:00:00:01 \    vlan protocol 802.1Q id 120 <REORDER_HDR>' \
  '7: flannel.1: <UP> mtu 1450\    link/ether 02:00:00:00:00:07 \    vxlan id 1 local 10.0.0.20 dev bond0 srcport 0 0' \
  '6: ens3f0np0: <UP> mtu 1500\    vf 0     link/ether 02:00:00:00:00:01, link-state disable, trust off, query_rss off' ;;
'-4 rule show') printf '%s\n' '0:	from all lookup local' ;;
'-o -4 route show table all') printf '%s\n' 'default via 10.0.0.1 dev br-ex' 'local 10.0.0.20 dev br-ex table local' ;;
'-o -6 route show table all') printf '%s\n' 'fd01::/64 dev br-ex metric 5' 'multicast ff00::/8 dev br-ex table local' ;;
esac
"""
SOCKETS = """  sl  local_address rem_address   st tx_queue rx_queue
   0: 00000000:0CBC 00000000:0000 0A 00000000:00000000 00:00000000
   1: 0100007F:1A90 0100007F:C3A4 01 00000000:00000000 00:00000000
   2: 0400010A:1A91 00000000:0000 0A 00000000:00000000 00:00000000
   3: 0400010A:1A91 0900010A:C3A4 01 00000000:00000000 00:00000000
   4: 0400010A:C3A6 0A00000A:192B 01 00000000:00000000 00:00000000
   5: 0400010A:01BB 0900010A:C3A4 01 00000000:00000000 00:00000000
   6: 0400010A:C3A8 0900010A:0801 06 00000000:00000000 00:00000000
   7: 0400010A:C3AA 0100010A:00B3 01 00000000:00000000 00:00000000
"""
SOCKETS_6 = """  sl  local_address rem_address   st
   0: 000001FD000000000000000004000000:0CBC 000001FD000000000000000009000000:C3A4 01 0:0
"""


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def pci_device(sys: Path, path: str, **files: str) -> Path:
    folder = sys / "devices" / path
    for name, text in files.items():
        put(folder / name, text + "\n")
    link(sys / "bus/pci/devices" / folder.name, folder)
    return folder


def config_space(*, acs_control: int, relaxed_ordering: bool, length: int = 4096) -> bytes:
    """Configuration space of a switch port: PCI Express at 0x40, ACS at 0x100, ATS at 0x148."""
    space = bytearray(4096)
    words = {
        0x00: 0xC0301000,
        0x04: 0x00100000,
        0x34: 0x40,
        0x40: 0x0062_0010,
        0x44: 0x2,
        0x4C: 0x105,
        0x50: 0x0085 << 16,
    }
    words[0x48] = 0x2020 | (0x10 if relaxed_ordering else 0)
    words |= {0x100: 0x1481_000D, 0x104: acs_control << 16 | 0x5F, 0x148: 0x0001_000F, 0x14C: 0x8000_0000}
    for offset, word in words.items():
        space[offset : offset + 4] = word.to_bytes(4, "little")
    return bytes(space[:length])


def vital_product_data(**fields: str) -> bytes:
    """Of a NIC as vendors order it: name, then read-only fields, among them serial numbers, up to the checksum RV."""
    name = b"Nvidia BlueField-3 B3140H E-series HHHL SuperNIC  "
    rows = {"PN": "900-9D3D4-00EN-HA0", "EC": "A5", "V2": "900-9D3D4-00EN-HA0", "SN": SERIAL, "V3": UUID, **fields}
    body = b"".join(key.encode() + bytes([len(text)]) + text.encode() for key, text in rows.items()) + b"RV\x01\x9c"
    return b"".join(
        tag + len(part).to_bytes(2, "little") + part for tag, part in ((b"\x82", name), (b"\x90", body))
    ) + (b"\x91\x00\x00\x78")


SERIAL, UUID = "MT2242X00123", "a5b1c2d3e4f5ec11800008c0eb123456"
INFORMATION = """Model: \t\t NVIDIA H200
GPU UUID: \t GPU-11111111-2222-3333-4444-555555555555
Video BIOS: \t 96.00.a5.00.1a
Bus Location: \t 0000:19:00.0
GPU Firmware: \t 580.159.04
"""


def netdev(sys: Path, name: str, *, device: Path | None = None, lowers: tuple[str, ...] = (), **files: str) -> Path:
    folder = (device or sys / "devices/virtual") / "net" / name
    for key, text in {"type": "1", "mtu": "1500", "operstate": "up", **files}.items():
        put(folder / key, text + "\n")
    if device is not None:
        link(folder / "device", device)
    for lower in lowers:
        link(folder / f"lower_{lower}", sys / "class/net" / lower)
    link(sys / "class/net" / name, folder)
    return folder


def a_machine(top: Path) -> Path:
    """A node: GPU and ConnectX with a virtual function below one switch, uplink over br-ex, VLAN and bond."""
    proc, root, sys = top / "proc", top / "tree", top / "tree/sys"
    put(proc / "2/comm", "kthreadd\n")
    put(proc / "77/limits", "Limit  Soft Limit  Hard Limit  Units\nMax locked memory  8388608  8388608  bytes\n")
    for process in ("self", "1"):
        link(proc / process / "ns/net", Path("net:[4026531840]"))
    link(proc / "1/root", root)
    put(proc / "1/mounts", "overlay /a overlay rw 0 0\n10.1.0.9:/e /data nfs4 rw,addr=10.1.0.9 0 0\n")
    put(proc / "self/net/route", "Iface\tDestination\nbr-ex\t00000000\t0100000A\t0003\t0\t0\t48\t00000000\t0\t0\t0\n")
    put(proc / "cmdline", "quiet iommu=pt\n")
    put(proc / "modules", "mlx5_core 2158592 1 mlx5_ib, Live 0x0\n")
    put(root / "etc/os-release", 'ID="rhcos"\n')
    put(sys / "module/ib_core/parameters/netns_mode", "N\n")
    switch = "pci0000:16/0000:16:01.0/0000:17:00.0"
    ids = {"vendor": "0x15b3", "device": "0x1021", "class": "0x020000", "numa_node": "0"}
    gpu = pci_device(
        sys, f"{switch}/0000:18:00.0/0000:19:00.0", vendor="0x10de", device="0x2335", **{"class": "0x030200"}
    )
    put(gpu / "resource", "0x0000380000000000 0x0000383fffffffff 0x000000000014220c\n0x0 0x0 0x0\n")
    port = pci_device(sys, f"{switch}/0000:18:01.0", vendor="0x1000", device="0xc030", **{"class": "0x060400"})
    (port / "config").write_bytes(config_space(acs_control=0x1D, relaxed_ordering=True))
    link(port / "iommu_group", sys / "kernel/iommu_groups/17")
    put(sys / "kernel/iommu_groups/17/type", "DMA-FQ\n")
    pci_device(sys, "pci0000:00/0000:00:1f.0", vendor="0x8086", device="0x1b81", **{"class": "0x060100"})
    nic = pci_device(sys, f"{switch}/0000:18:01.0/0000:1a:00.0", **ids, sriov_totalvfs="16", sriov_numvfs="1")
    vf = pci_device(sys, f"{switch}/0000:18:01.0/0000:1a:00.2", **{**ids, "device": "0x101e"})
    link(vf / "physfn", nic)
    names_of(top, nic, vf, gpu)
    for name, device in (("mlx5_0", nic), ("mlx5_1", vf)):
        folder = device / "infiniband" / name
        put(folder / "node_guid", "a088:c203:00ab:cdef\n")
        put(folder / "ports/1/state", "4: ACTIVE\n")
        put(folder / "ports/1/link_layer", "Ethernet\n")
        put(folder / "ports/1/rate", "400 Gb/sec (4X NDR)\n")
        put(folder / "ports/1/phys_state", "5: LinkUp\n")
        put(folder / "ports/1/pkeys/0", "0xffff\n")
        put(folder / "ports/1/pkeys/1", "0x0000\n")
        put(folder / "ports/1/counters/link_downed", "3\n")
        put(folder / "ports/1/hw_counters/out_of_sequence", "12\n")
        put(folder / "ports/1/gids/0", "0000:0000:0000:0000:0000:ffff:c0a8:0105\n")
        put(folder / "ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n")
        put(folder / "ports/1/gid_attrs/types/0", "RoCE v2\n")
        put(folder / "ports/1/gid_attrs/ndevs/0", "ens3f0np0\n")
        link(folder / "device", device)
        link(sys / "class/infiniband" / name, folder)
    netdev(sys, "ens3f0np0", device=nic, speed="400000", carrier="1", phys_port_name="p0", carrier_changes="4")
    bond = netdev(sys, "bond0", lowers=("ens3f0np0",))
    (bond / "bonding").mkdir()
    vlan = netdev(sys, "bond0.120", lowers=("bond0",))
    for name in ("br-ex", "flannel.1"):
        netdev(sys, name)
    link(vlan / "master", netdev(sys, "ovs-system"))
    what_runs(proc)
    storage_of(top)
    a_setup(top)
    return top


def names_of(top: Path, *devices: Path) -> None:
    """What devices call themselves: vital product data, and the words of the GPU driver."""
    for device in devices:
        (device / "vpd").write_bytes(vital_product_data())
    put(top / "proc/driver/nvidia/gpus/0000:19:00.0/information", INFORMATION)


def what_runs(proc: Path) -> None:
    """Kubelet and container runtime with mounts of their own, and the connections of the node."""
    for process, number in (("1", 4026531841), ("77", 4026532200), ("88", 4026532200)):
        link(proc / process / "ns/mnt", Path(f"mnt:[{number}]"))
    put(proc / "77/comm", "crio\n")
    put(proc / "88/comm", "kubelet\n")
    for process in ("77", "88"):
        put(proc / process / "mounts", "10.1.0.8:/v /var/lib/kubelet/pods/x nfs4 rw,addr=10.1.0.8 0 0\n")
    put(proc / "self/net/tcp", SOCKETS)
    put(proc / "self/net/tcp6", SOCKETS_6)
    put(proc / "self/net/if_inet6", "")
    put(proc / "self/net/ipv6_route", "")


def storage_of(top: Path) -> None:
    """What a node mounts, maps and serves, and where the tunnels of its cluster network start."""
    root, sys = top / "tree", top / "tree/sys"
    rows = ['"external_ids":["map",[["ovn-encap-ip","10.9.9.9"]]]', '["ovn-encap-ip","10.0.0.20,10.1.0.4"]']
    put(root / "etc/openvswitch/conf.db", "\n".join(rows) + "\n")
    put(sys / "bus/rbd/devices/0/config_info", "10.2.0.5:6789,10.2.0.6:6789 name=admin pool image -\n")
    put(sys / "block/nbd0/pid", "7\n")
    put(sys / "class/scsi_host/host7/local_ib_device", "mlx5_0\n")
    put(sys / "kernel/config/nvmet/ports/1/addr_trtype", "rdma\n")
    put(sys / "kernel/config/nvmet/ports/1/addr_traddr", "10.1.0.4\n")
    (sys / "kernel/config/target/iscsi/iqn.2003-01.x/tpgt_1/np/10.1.0.4:3260").mkdir(parents=True)


def a_setup(top: Path) -> None:
    """What an administrator, a vendor and an image decided, and the programs that are there to ask."""
    proc, root, sys = top / "proc", top / "tree", top / "tree/sys"
    put(proc / "cpuinfo", "vendor_id\t: GenuineIntel\nmodel name\t: Xeon\nflags\t\t: fpu vme\n\nvendor_id\t: x\n")
    put(proc / "uptime", "86400.25 100.0\n")
    put(proc / "sys/net/ipv4/conf/all/arp_ignore", "1\n")
    put(proc / "driver/nvidia/params", "EnableStreamMemOPs: 1\n")
    put(root / "etc/modprobe.d/ib.conf", "# a word\noptions ib_core netns_mode=0\noptions snd_hda_intel power_save=1\n")
    put(root / "opt/cni/bin/macvlan", "")
    put(root / "etc/cni/net.d/00-multus.conf", "{}\n")
    put(root / "dev/infiniband/uverbs0", "")
    put(root / "var/opt/mofed-container/inventory/5.14.0-1/x", "")
    put(sys / "class/nvme/nvme2/transport", "rdma\n")
    put(sys / "class/nvme/nvme2/address", "traddr=10.1.0.30,trsvcid=4420\n")
    iscsi_sessions(sys)
    put(sys / "devices/system/cpu/online", "0-3,8\n")
    put(sys / "devices/system/node/node0/cpulist", "0-3,8\n")
    put(sys / "devices/system/node/node0/meminfo", "Node 0 MemTotal:       1024 kB\n")
    put(sys / "devices/system/node/node0/distance", "10\n")
    put(sys / "kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "8\n")
    put(sys / "kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "6\n")
    for key, text in {"product_name": "PowerEdge XE9680", "bios_date": "09/10/2024", "product_serial": SERIAL}.items():
        put(sys / "class/dmi/id" / key, f"{text}\n")
    put(sys / "module/ib_core/parameters/netns_mode", "N\n")
    for name, body in {"ip": IP, **{name: f"#!/bin/sh\n{body}\n" for name, body in PROGRAMS.items()}}.items():
        put(top / "bin" / name, body)
        (top / "bin" / name).chmod(0o755)


def iscsi_sessions(sys: Path) -> None:
    """One session over TCP, whose host lies below nothing, and one over RDMA, whose host lies below the NIC."""
    port = next((sys / "devices").rglob("0000:1a:00.0"))
    for number, below, driver in ((1, sys / "devices/platform", "iscsi_tcp"), (2, port, "iscsi_iser")):
        session = below / f"host{number}/session{number}/iscsi_session/session{number}"
        session.mkdir(parents=True)
        link(sys / f"class/iscsi_session/session{number}", session)
        put(sys / f"class/scsi_host/host{number}/proc_name", f"{driver}\n")
    put(sys / "class/iscsi_connection/connection1:0/address", "10.2.0.30\n")


def skip_without(program: str) -> None:
    """Say what this run cannot show where a shell is not here."""
    if shutil.which(program) is None:
        uncovered.record(f"the node script under {program}", f"{program} is not on this machine")
        pytest.skip(f"{program} is not on this machine")


def run(top: Path, shell: list[str], *, limit: int = 8192, program_s: str = "10") -> str:
    script = node_script().replace("/proc /host/proc /rootfs/proc", f"{top}/proc").replace("/host /rootfs", f"{top}/x")
    script = script.replace("PROGRAM_S=10", f"PROGRAM_S={program_s}")
    script = script.replace("LIMIT=8192", f"LIMIT={limit}").replace("sys=/sys", f"sys={top}/tree/sys")
    script = script.replace("{proc:-/proc}", f"{{proc:-{top}/none}}")
    skip_without(shell[0])
    done = subprocess.run(
        shell,
        input=script,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": f"{top}/bin:{os.environ['PATH']}"},
    )
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    return a_machine(tmp_path)


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_every_shell_reads_the_same_node(machine, shell):
    text = run(machine, shell)
    hardware = parse_node_record(text)
    assert hardware.netns_is_host is True
    assert [(gpu.pci, gpu.root, gpu.pci_path[0]) for gpu in hardware.gpus] == [
        ("0000:19:00.0", "pci0000:16", "0000:16:01.0")
    ]
    port, vf = hardware.ports
    assert (port.netdev, port.rdma, port.rate_gbps, port.sriov_total_vfs, port.sriov_vfs, port.carrier) == (
        "ens3f0np0",
        "mlx5_0",
        400.0,
        16,
        1,
        True,
    )
    assert (vf.parent, vf.rdma, vf.gids) == ("0000:1a:00.0", "mlx5_1", ())
    assert [(gid.index, gid.type, gid.netdev) for gid in port.gids] == [(0, "RoCE v2", "ens3f0np0")]
    assert (hardware.memlock_limit, hardware.kernel_arguments) == ("8192", "quiet iommu=pt")
    assert hardware.modules == {"mlx5_core": 1}
    assert hardware.os_release == {"ID": "rhcos"}
    kinds = {netdev.name: netdev.kind for netdev in hardware.netdevs}
    assert kinds == {
        "bond0": "bond",
        "bond0.120": "vlan",
        "br-ex": "openvswitch",
        "ens3f0np0": "",
        "flannel.1": "vxlan",
        "ovs-system": "openvswitch",
    }


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_every_shell_reads_registers_of_the_bridges_above_what_matters(machine, shell):
    hardware = parse_node_record(run(machine, shell))
    (bridge,) = hardware.bridges
    assert (bridge.pci, bridge.driver) == ("0000:18:01.0", "")
    config = bridge.config
    assert (config.relaxed_ordering, config.ats_enabled) == (True, True)
    assert (config.max_payload_bytes, config.max_read_request_bytes) == (256, 512)
    assert (config.max_link_speed_gts, config.link_speed_gts, config.link_width_lanes) == (32.0, 32.0, 8)
    assert config.acs.request_redirect
    assert not config.acs.direct_translated
    assert (hardware.iommu.present, hardware.iommu.groups) == (True, {"0000:18:01.0": 17})
    assert hardware.iommu.group_types == {17: "DMA-FQ"}
    assert hardware.gpus[0].bar_bytes == (256 << 30,)


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_every_shell_reads_how_a_port_is_set_and_what_it_counted(machine, shell):
    port, _ = parse_node_record(run(machine, shell)).ports
    assert (port.pkeys, port.phys_state, port.eswitch_mode) == ((0xFFFF,), "LinkUp", "legacy")
    assert (port.counters, port.hw_counters) == ({"link_downed": 3}, {"out_of_sequence": 12})
    assert port.ethtool == {"rx_discards_phy": 7, "tx_prio3_pause": 5}
    assert (port.qos.pfc_priorities, port.qos.trust, port.qos.dscp_to_priority) == ((3,), "dscp", {24: 3, 26: 3})
    (vf,) = port.vfs
    assert (vf.pci, vf.link_state, vf.trust, vf.mac) == ("0000:1a:00.2", "disable", False, "02:00:00:00:00:01")


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_every_shell_reads_what_cards_call_themselves_and_prints_no_serial_number(machine, shell):
    text = run(machine, shell)
    port, vf = parse_node_record(text).ports
    assert (port.card_name, port.part_number, port.part_revision) == (
        "Nvidia BlueField-3 B3140H E-series HHHL SuperNIC",
        "900-9D3D4-00EN-HA0",
        "A5",
    )
    assert vf.card_name == ""
    (gpu,) = parse_node_record(text).gpus
    assert (gpu.model, gpu.vbios, gpu.firmware) == ("NVIDIA H200", "96.00.a5.00.1a", "580.159.04")
    for secret in (SERIAL, UUID, "GPU-11111111"):
        assert secret not in text
        assert secret.encode().hex() not in text


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
@pytest.mark.parametrize(
    ("data", "name", "part"),
    [
        (b"", "", ""),
        (b"\xff" * 64, "", ""),
        (b"\x82\x40\x00ConnectX", "", ""),
        (vital_product_data()[:60], "Nvidia BlueField-3 B3140H E-series HHHL SuperNIC", ""),
        (vital_product_data(V5="x" * 250, V6="y" * 250, V7="z" * 250, V8="w" * 250), "Nvidia", "900-9D3D4-00EN-HA0"),
        (b"\x82\x00\x00\x90\x04\x00PN\x01" + b"\x09", "", ""),
    ],
    ids=["nothing", "no-device", "cut-in-its-name", "cut-in-a-field", "longer-than-is-read", "no-letters"],
)
def test_what_cannot_be_read_of_a_card_is_left_out(machine, shell, data, name, part):
    (machine / "tree/sys/bus/pci/devices/0000:1a:00.0/vpd").write_bytes(data)
    hardware = parse_node_record(run(machine, shell))
    port = hardware.ports[0]
    assert (port.card_name[: len(name) or None], port.part_number) == (name, part)
    assert [item.why for item in hardware.unseen if item.what == "vpd"] == (
        [] if data else ["nothing could be read of 0000:1a:00.0"]
    )


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_every_shell_reads_how_the_node_is_set_up(machine, shell):
    hardware = parse_node_record(run(machine, shell))
    system = hardware.system
    assert system.modprobe == ("/etc/modprobe.d/ib.conf: options ib_core netns_mode=0",)
    assert system.module_parameters == {"ib_core.netns_mode": "N"}
    assert system.sysctls == {"net.ipv4.conf.all.arp_ignore": "1"}
    assert (system.uptime_s, system.rules, system.nvidia_parameters) == (
        86400.25,
        ("4 0: from all lookup local",),
        {"EnableStreamMemOPs": "1"},
    )
    assert (system.cni_plugins, system.cni_configs) == ({"/opt/cni/bin": ("macvlan",)}, ("00-multus.conf",))
    assert (system.rdma_char_devices, system.gpu_char_devices) == (("uverbs0",), ())
    assert system.mofed_inventories == ("5.14.0-1",)
    assert system.dmesg == ("[ 2.0] mlx5_core 0000:1a:00.0: Port module event",)
    assert (hardware.runtime.name, hardware.runtime.memlock_origin) == ("cri-o", "limits of crio")
    assert (hardware.processor.count, hardware.processor.under_hypervisor) == (5, False)
    (node,) = hardware.numa_nodes
    assert (node.cpus, node.distances) == ("0-3,8", (10,))
    assert [(item.size_bytes, item.total, item.free) for item in hardware.huge_pages] == [(2 << 20, 8, 6)]
    assert (hardware.chassis.product, hardware.chassis.bios_date) == ("PowerEdge XE9680", "09/10/2024")


def test_a_config_space_that_is_closed_is_named(machine):
    closed = next((machine / "tree/sys/devices").rglob("config"))
    closed.write_bytes(config_space(acs_control=0, relaxed_ordering=True, length=64))
    hardware = parse_node_record(run(machine, ["sh"]))
    assert hardware.bridges[0].config is None
    assert any(item.what == "pci-config 0000:18:01.0" and "64 bytes" in item.why for item in hardware.unseen)


def test_a_program_that_does_not_end_is_left_behind_and_named(machine):
    (machine / "bin/dmesg").write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    hardware = parse_node_record(run(machine, ["sh"], program_s="0.1"))
    assert hardware.system.dmesg is None
    assert any(item.what == "dmesg" for item in hardware.unseen)


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_what_the_script_prints_is_enough_to_follow_the_nodes_traffic(machine, shell):
    hardware = parse_node_record(run(machine, shell))
    assert hardware.uplinks_problem == "network block device nbd0: what carries it can't be told"
    down = ("bond0.120", "bond0", "ens3f0np0")
    br_ex = ("br-ex", *down)
    assert [(item.what, item.path, item.pci) for item in hardware.carried] == [
        (what, path, "0000:1a:00.0")
        for what, path in (
            ("default route (IPv4)", br_ex),
            ("cluster network (Open vSwitch)", ("ovs-system", *down)),
            ("cluster network (OVN tunnels) at 10.0.0.20", br_ex),
            ("cluster network (OVN tunnels) at 10.1.0.4", br_ex),
            ("tunnel flannel.1", ("bond0", "ens3f0np0")),
            ("NFS mount /data from 10.1.0.9", br_ex),
            ("NFS mount /var/lib/kubelet/pods/x from 10.1.0.8", br_ex),
            ("NVMe-oF nvme2 (rdma)", br_ex),
            ("iSCSI session1", br_ex),
            ("iSER session2", ("ens3f0np0",)),
            ("Ceph block device rbd0", br_ex),
            ("SRP target at host7", ("ens3f0np0",)),
            ("NVMe-oF served at port 1", br_ex),
            ("iSCSI served at 10.1.0.4:3260", br_ex),
            ("Ceph (TCP 6801) at 10.1.0.4", br_ex),
            ("API server (TCP 6443) at 10.1.0.4", br_ex),
            ("BGP (TCP 179) at 10.1.0.4", br_ex),
            ("iSCSI (TCP 3260) at fd01::4", br_ex),
        )
    ]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("bin/ip", "route4_tables could not be read (ip -o -4 route show table all failed)"),
        ("proc/88/comm", "no kubelet was seen"),
        ("proc/88/mounts", "proc/88/mounts can't be read"),
        ("proc/self/net/tcp", "sockets could not be read"),
        ("tree/etc/openvswitch/conf.db", "where Open vSwitch's tunnels start is not known"),
        ("tree/sys/kernel/config/nvmet/ports/1/addr_traddr", "NVMe-oF served at port 1: what carries it can't be told"),
    ],
)
def test_what_the_script_does_not_find_makes_uplinks_unknown(machine, path, problem):
    (machine / path).unlink()
    if path == "bin/ip":  # or the machine's own would be asked
        put(machine / path, "#!/bin/sh\nexit 1\n")
        (machine / path).chmod(0o755)
    hardware = parse_node_record(run(machine, ["sh"]), Surroundings(("10.0.0.20",)))
    assert problem in hardware.uplinks_problem
    assert not hardware.uplinks_known


@pytest.mark.parametrize(
    ("module", "folder"), [("nvmet", "nvmet"), ("iscsi_target_mod", "target"), ("ib_srpt", "target")]
)
def test_a_server_whose_settings_are_hidden_makes_uplinks_unknown(machine, module, folder):
    shutil.rmtree(machine / "tree/sys/kernel/config" / folder)
    (machine / "tree/sys/module" / module).mkdir(parents=True)
    assert f"{module} is loaded" in parse_node_record(run(machine, ["sh"])).uplinks_problem


@pytest.mark.parametrize("module", ["iscsi_target_mod", "ib_srpt"])
def test_a_target_that_is_loaded_and_serves_nothing_is_no_problem(machine, module):
    target = machine / "tree/sys/kernel/config/target"
    shutil.rmtree(target)
    target.mkdir()
    (machine / "tree/sys/module" / module).mkdir(parents=True)
    assert "is loaded" not in parse_node_record(run(machine, ["sh"])).uplinks_problem


@pytest.mark.parametrize("status", [2, 124])
@pytest.mark.parametrize(
    ("section", "file"), [("storage", "nfsd/portlist"), ("sockets", "net/tcp"), ("ovs", "openvswitch/conf.db")]
)
def test_a_search_that_fails_does_not_pass_for_one_that_found_nothing(machine, section, file, status):
    put(machine / "proc/fs/nfsd/portlist", "tcp 2049\n")
    put(
        machine / "bin/grep",
        f'#!/bin/sh\ncase "$*" in *{file}) exit {status} ;; esac\nexec {shutil.which("grep")} "$@"\n',
    )
    (machine / "bin/grep").chmod(0o755)
    record = split_record(run(machine, ["sh"]))
    assert f"{file} failed with status {status}" in record.missing(section)


def test_a_setting_of_the_container_runtime_beats_its_own_limit(machine):
    put(machine / "tree/etc/crio/crio.conf.d/10-custom", '[crio.runtime]\ndefault_ulimits = ["memlock=-1:-1"]\n')
    assert parse_node_record(run(machine, ["sh"])).memlock_limit == "unlimited"


def test_another_network_namespace_is_told_and_makes_uplinks_unknown(machine):
    own = machine / "proc/self/ns/net"
    own.unlink()
    own.symlink_to("net:[4026532999]")
    hardware = parse_node_record(run(machine, ["sh"]))
    assert hardware.netns_is_host is False
    assert not hardware.uplinks_known


def test_a_container_with_a_process_1_of_its_own_does_not_pass_for_the_node(machine):
    (machine / "proc/2/comm").write_text("bash\n")
    hardware = parse_node_record(run(machine, ["sh"]))
    assert hardware.netns_is_host is None
    assert not hardware.uplinks_known
    assert {"mounts", "route4"} <= {item.what for item in hardware.unseen}


def test_a_section_that_is_too_long_is_cut_and_says_so(machine):
    text = run(machine, ["sh"], limit=3)
    hardware = parse_node_record(text)
    assert len(hardware.netdevs) == 3
    assert any(item.what == "net" and "more than 3 lines" in item.why for item in hardware.unseen)
    assert "net could not be read (more than 3 lines)" in hardware.uplinks_problem


def test_secure_boot_is_read_from_its_efi_variable(machine):
    variable = machine / "tree/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    variable.parent.mkdir(parents=True)
    variable.write_bytes(bytes([6, 0, 0, 0, 1]))
    assert parse_node_record(run(machine, ["sh"])).secure_boot is True
    variable.write_bytes(bytes([6, 0, 0, 0, 0]))
    assert parse_node_record(run(machine, ["sh"])).secure_boot is False


def test_the_script_writes_nothing(machine):
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in machine.rglob("*"))
    run(machine, ["sh"])
    assert before == sorted((str(path), path.lstat().st_mtime_ns) for path in machine.rglob("*"))


def test_rdma_devices_that_are_hidden_do_not_pass_for_none(machine):
    shutil.rmtree(machine / "tree/sys/class/infiniband")
    hidden = parse_node_record(run(machine, ["sh"]))
    assert [item.why.endswith("/class/infiniband") for item in hidden.unseen if item.what == "infiniband"] == [True]
    shutil.rmtree(machine / "tree/sys/module/ib_core")
    without_the_stack = parse_node_record(run(machine, ["sh"]))
    assert not any(item.what == "infiniband" for item in without_the_stack.unseen)


def test_the_script_holds_no_redirection_to_a_file():
    for line in node_script().splitlines():
        code = line.partition(" # ")[0]
        assert ">" not in code.replace(">/dev/null", "").replace("2>&1", "").replace("<REORDER_HDR>", ""), line
