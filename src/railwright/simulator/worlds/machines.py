"""
Servers that worlds are built of.

The eight-GPU server has one PCIe switch for each GPU and its NIC, as HGX baseboards do; the kernel numbered the RDMA
devices in another order than the GPUs, which is what pairing by index gets wrong.
"""

from dataclasses import replace

from railwright.simulator.hardware import Gpu, Machine, Nic, Virtual

_SLOTS = (
    # root bridge, NIC bus, GPU bus, NUMA node, RDMA index
    (0x15, 0x18, 0x1B, 0, 3),
    (0x37, 0x3A, 0x43, 0, 0),
    (0x48, 0x4B, 0x52, 0, 1),
    (0x59, 0x5C, 0x61, 0, 2),
    (0x97, 0x9A, 0x9D, 1, 6),
    (0xB7, 0xBA, 0xC3, 1, 7),
    (0xC7, 0xCA, 0xD1, 1, 4),
    (0xD7, 0xDA, 0xDF, 1, 5),
)


def control_plane(number: int, *, worker: bool = False) -> Machine:
    """Spell a control-plane node without GPUs or fast NICs."""
    roles = ("master", "control-plane", "worker") if worker else ("master", "control-plane")
    return _with_uplink(Machine(name=f"master-{number}", roles=roles, address=f"10.0.0.{10 + number}"), 200 + number)


def worker(number: int, *, infiniband: bool = False, gpu: str = "2335", rails: int = 8) -> Machine:
    """Spell a server with eight GPUs and as many ConnectX-7, a management NIC and a storage NIC of other makers."""
    gpus, nics = [], []
    for slot, (root, nic_bus, gpu_bus, numa, index) in enumerate(_SLOTS):
        upstream = f"pci0000:{root:02x}/0000:{root:02x}:01.0/0000:{root + 1:02x}:00.0"
        gpu_pci, nic_pci = f"0000:{gpu_bus:02x}:00.0", f"0000:{nic_bus:02x}:00.0"
        gpus.append(Gpu(gpu_pci, f"{upstream}/0000:{root + 2:02x}:02.0/{gpu_pci}", numa, gpu))
        if slot >= rails:
            continue
        base = Nic(
            pci=nic_pci,
            path=f"{upstream}/0000:{root + 2:02x}:00.0/{nic_pci}",
            numa=numa,
            netdev=f"enp{nic_bus}s0np0",
            mac=f"a0:88:c2:{number:02x}:{slot:02x}:10",
            rdma=f"mlx5_{index}",
        )
        nics.append(_as_infiniband(base, number, slot) if infiniband else base)
    storage = Nic(
        pci="0000:2b:00.0",
        path="pci0000:26/0000:26:02.0/0000:2b:00.0",
        numa=0,
        netdev="eno2np0",
        mac=f"bc:97:e1:{number:02x}:00:20",
        vendor_id="14e4",
        device_id="1750",
        driver="bnxt_en",
        rate_gbps=100,
        total_vfs=0,
        ips=(f"10.1.0.{20 + number}/24",),
        is_rail=False,
    )
    mount = "10.1.0.9:/export/data /var/mnt/data nfs4 rw,relatime,vers=4.2,hard,proto=tcp,addr=10.1.0.9 0 0"
    machine = Machine(
        name=f"worker-{number}",
        gpus=tuple(gpus),
        nics=(*nics, storage),
        mounts=(mount,),
        address=f"10.0.0.{20 + number}",
    )
    return _with_uplink(machine, number)


def _as_infiniband(nic: Nic, number: int, slot: int) -> Nic:
    bus = int(nic.pci[5:7], 16)
    return replace(nic, netdev=f"ibp{bus}s0", link_layer="InfiniBand", lid=16 * number + slot + 2, mtu=2044)


def _with_uplink(machine: Machine, number: int) -> Machine:
    """Add a management NIC that carries br-ex through Open vSwitch."""
    uplink = Nic(
        pci="0000:2a:00.0",
        path="pci0000:26/0000:26:01.0/0000:2a:00.0",
        numa=0,
        netdev="eno1",
        mac=f"b4:96:91:{number:02x}:00:01",
        vendor_id="8086",
        device_id="1593",
        driver="ice",
        rate_gbps=25,
        total_vfs=0,
        master="ovs-system",
        is_rail=False,
    )
    bridges = (
        Virtual("ovs-system", "openvswitch", lowers=("eno1",)),
        Virtual("br-ex", "openvswitch", ips=(f"{machine.address}/24",)),
    )
    return replace(machine, nics=(*machine.nics, uplink), virtuals=bridges)


def arm_worker(number: int) -> Machine:
    """Spell a Grace server: four GPUs, each on a root complex of its own, NICs on others; 64 KiB pages."""
    gpus, nics = [], []
    for slot in range(4):
        gpu_pci, nic_pci = f"{8 + slot:04x}:01:00.0", f"{slot:04x}:03:00.0"
        gpus.append(Gpu(gpu_pci, f"pci{8 + slot:04x}:00/{8 + slot:04x}:00:00.0/{gpu_pci}", slot // 2, "2941"))
        nics.append(
            Nic(
                pci=nic_pci,
                path=f"pci{slot:04x}:00/{slot:04x}:00:00.0/{nic_pci}",
                numa=slot // 2,
                netdev=f"enP{slot}p3s0np0",
                mac=f"a0:88:c2:{number:02x}:{slot:02x}:30",
                rdma=f"mlx5_{slot}",
            )
        )
    machine = Machine(
        name=f"worker-{number}",
        gpus=tuple(gpus),
        nics=tuple(nics),
        architecture="aarch64",
        page_size_bytes=65536,
        kernel="5.14.0-570.62.1.el9_6.aarch64+64k",
        address=f"10.0.0.{20 + number}",
    )
    return _with_uplink(machine, number)
