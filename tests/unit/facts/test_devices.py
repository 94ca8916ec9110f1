"""How GPUs, ports, bridges and functions are put together, where the node-record cases do not say it."""

import pytest

from railwright.facts.model import NodeHardware
from railwright.facts.node_record import NODE_NETWORK, parse_node_record
from railwright.facts.pci import distance

SWITCH = "pci0000:16/0000:16:01.0/0000:17:00.0"
NIC = f"0000:1a:00.0\tvendor=15b3\tdevice=1023\tclass=020700\tnuma=0\tpath={SWITCH}/0000:18:01.0/0000:1a:00.0"
GPU = f"0000:19:00.0\tvendor=10de\tdevice=2335\tclass=030200\tnuma=0\tpath={SWITCH}/0000:18:00.0/0000:19:00.0"


def read(netns: str = "host", **sections: str) -> NodeHardware:
    text = f"=== railwright meta\nrecord_version\t2\nnetns\t{netns}\n"
    text += "".join(f"=== railwright {name.replace('_', '-')}\n{body}\n" for name, body in sections.items())
    return parse_node_record(f"{text}=== railwright end\n")


def test_a_data_direct_function_is_no_port_and_lies_beside_the_gpu():
    direct = f"0000:1b:00.0\tvendor=15b3\tdevice=2100\tclass=080101\tnuma=0\tpath={SWITCH}/0000:18:02.0/0000:1b:00.0"
    far = NIC.replace(SWITCH, "pci0000:a0/0000:a0:01.0/0000:a1:00.0").replace("numa=0", "numa=1")
    hardware = read(pci=f"{GPU}\n{far}\n{direct}")
    (function,) = hardware.data_direct
    assert function.pci == "0000:1b:00.0"
    assert [port.pci for port in hardware.ports] == ["0000:1a:00.0"]
    assert (distance(hardware.gpus[0], function), distance(hardware.gpus[0], hardware.ports[0])) == ("PIX", "SYS")


def test_on_grace_a_gpu_and_a_nic_of_one_socket_are_nearer_than_of_two():
    gpu = "0008:01:00.0\tvendor=10de\tdevice=2941\tclass=030200\tnuma=0\tpath=pci0008:00/0008:00:00.0/0008:01:00.0"
    nics = [
        f"000{root}:03:00.0\tvendor=15b3\tdevice=1023\tclass=020000\tnuma={numa}\tpath=pci000{root}:00/000{root}:00:00.0/"
        f"000{root}:03:00.0"
        for root, numa in ((0, 0), (2, 1))
    ]
    hardware = read(pci="\n".join([gpu, *nics]))
    assert [distance(hardware.gpus[0], port) for port in hardware.ports] == ["NODE", "SYS"]


def test_only_bridges_above_something_that_matters_are_kept():
    bridge = "0000:{}:00.0\tvendor=1000\tdevice=c030\tclass=060400\tpath={}/0000:{}:00.0"
    lines = [GPU, bridge.format("18", SWITCH, "18"), bridge.format("99", "pci0000:99", "99")]
    assert [item.pci for item in read(pci="\n".join(lines)).bridges] == ["0000:18:00.0"]


def test_a_port_has_its_guid_keys_and_quality_of_service():
    hardware = read(
        pci=NIC,
        net="ens3\ttype=1\tmtu=9000\tcarrier=1\tpci=0000:1a:00.0",
        infiniband="mlx5_0\t1\tpci=0000:1a:00.0\tlink_layer=InfiniBand\tstate=4: ACTIVE\tphys_state=5: LinkUp",
        gids="mlx5_0\t1\t0\tIB/RoCE v1\t\tfe80:0000:0000:0000:a088:c203:0000:0010",
        pkeys="mlx5_0\t1\t0xffff,0x8012",
        qos="ens3\tpfc\tprio-pfc 0:off 3:on\nmlx5_0\ttraffic_class\tGlobal tclass=106\nmlx5_0\troce_tos\t104",
    )
    (port,) = hardware.ports
    assert (port.port_guid, port.pkeys, port.phys_state) == ("a088:c203:0000:0010", (0xFFFF, 0x8012), "LinkUp")
    assert (port.qos.pfc_priorities, port.qos.traffic_class, port.qos.default_roce_tos) == ((3,), 106, 104)


def test_what_the_driver_of_doca_shows_of_functions_fills_what_ip_does_not():
    function = NIC.replace("0000:1a:00.0", "0000:1a:00.1", 1).replace("/0000:1a:00.0", "/0000:1a:00.1")
    hardware = read(
        pci=f"{NIC}\n{function}\tdriver=mlx5_core\tphysfn=0000:1a:00.0",
        sriov="0000:1a:00.0\t0\t\tnode=00:11:22:33:44:55:66:77\tport=00:11:22:33:44:55:66:88\tpolicy=Down",
        eswitch="pci/0000:1a:00.0: mode switchdev inline-mode none encap-mode basic",
    )
    port = hardware.ports[0]
    (vf,) = port.vfs
    assert (vf.node_guid, vf.link_state, vf.trust) == ("00:11:22:33:44:55:66:77", "disable", None)
    assert port.eswitch_mode == "switchdev"


def test_interfaces_of_a_pod_do_not_pass_for_the_node_s():
    net = "eth0\ttype=1\tmtu=1400\tcarrier=1\tpci=0000:1a:00.0"
    hardware = read("other", pci=NIC, net=net)
    assert hardware.netdevs == ()
    assert (hardware.ports[0].netdev, hardware.ports[0].mtu_bytes) == (None, None)
    assert NODE_NETWORK in [item.what for item in hardware.unseen]


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ({17: "identity", 18: "identity"}, "identity"),
        ({17: "identity", 18: "DMA"}, "mixed"),
        ({17: "identity"}, ""),
        ({17: "identity", 99: "identity"}, ""),
        ({99: "DMA"}, ""),
    ],
)
def test_the_iommu_type_is_known_only_when_every_gpu_and_nic_tells_it(types, expected):
    lines = [
        "=== railwright pci",
        "0000:19:00.0\tvendor=10de\tdevice=2335\tclass=030200\tpath=pci0000:17/0000:19:00.0\tiommu_group=17",
        "0000:1a:00.0\tvendor=15b3\tdevice=1021\tclass=020000\tpath=pci0000:17/0000:1a:00.0\tiommu_group=18",
        "=== railwright iommu",
        *(f"group\t{number}\t{kind}" for number, kind in types.items()),
        "=== railwright end",
    ]
    assert parse_node_record("\n".join(lines)).iommu.default_type == expected


@pytest.mark.parametrize(
    ("lines", "trust"),
    [
        (["app\tdefault-prio ETHERTYPE:0", "app\tdscp-prio 26:3"], "dscp"),
        (["app\tdscp-prio 26:3", "app\tdefault-prio ETHERTYPE:0"], "dscp"),
        (["app\tdefault-prio ETHERTYPE:0"], "pcp"),
        (["app\tdscp-prio 26:3", "apptrust\torder: pcp dscp"], "pcp"),
        (["pfc\tprio-pfc 3:on"], ""),
    ],
)
def test_what_a_port_trusts_does_not_depend_on_the_order_of_its_lines(lines, trust):
    rows = "\n".join(f"ens0\t{line}" for line in lines)
    (port,) = read(pci=NIC, net="ens0\ttype=1\tmtu=1500\tpci=0000:1a:00.0", qos=rows).ports
    assert port.qos.trust == trust


def test_what_a_gpu_has_not_been_asked_yet_is_empty():
    (gpu,) = read(pci=GPU, nvidia_gpus="0000:19:00.0\tmodel=NVIDIA H200\tvbios=??.??.??.??.??\tfirmware=N/A").gpus
    assert (gpu.model, gpu.vbios, gpu.firmware) == ("NVIDIA H200", "", "")


def test_letters_that_nobody_can_print_are_left_out_of_a_cards_name():
    (port,) = read(pci=NIC, vpd="0000:1a:00.0\tname=41000b1b5b33316d42ff2020\tpart=2020").ports
    assert (port.card_name, port.part_number) == ("A [31mB", "")
