"""
Faults of wiring on a ConnectX-7 beside the rails: each lets it carry something else of the node's own.

No rail lies on it, so every configuration has the fault; the DOCA driver restarts it with the rails.
"""

from collections.abc import Callable
from dataclasses import replace

from railwright.simulator.faults.uplinks import as_connectx, management_nic, on_gpu_nodes
from railwright.simulator.hardware import Machine, Virtual
from railwright.simulator.worlds.model import Draft

_PORT, _PCI, _VF = "ens9np0", "0000:2c:00.0", "0000:2c:00.2"
_STORAGE = "10.7.0.9"

_Change = Callable[[Machine, str], Machine]
"""What is done to a machine that has the port; the port's own address comes with it."""


def _beside(change: _Change) -> Callable[[Draft], Draft]:
    """Give every GPU node the port, near no GPU, and let it carry something."""

    def on_machine(machine: Machine) -> Machine:
        own = f"10.7.0.{machine.address.rpartition('.')[2]}"
        base = replace(as_connectx(management_nic(machine), 9), pci=_PCI, netdev=_PORT, master="", ips=(f"{own}/24",))
        port = replace(base, path=f"pci0000:26/0000:26:03.0/{_PCI}", mac=base.mac.removesuffix("01") + "02")
        return change(replace(machine, nics=(*machine.nics, port)), own)

    return lambda draft: on_gpu_nodes(draft, on_machine)


def _gateway(own: str) -> str:
    return f"{own.rpartition('.')[0]}.1"


def _without_address(machine: Machine, master: str = "") -> Machine:
    """Take the port's address away, for what lies on it has that."""
    nics = tuple(replace(nic, ips=(), master=master) if nic.pci == _PCI else nic for nic in machine.nics)
    return replace(machine, nics=nics)


def _second_table(machine: Machine, own: str) -> Machine:
    rules = ("100:\tfrom all to 10.9.0.0/16 lookup 100", *machine.settings.rules)
    return replace(
        machine,
        other_routes=(f"default via {_gateway(own)} dev {_PORT} table 100 proto static",),
        settings=replace(machine.settings, rules=rules),
    )


def _over(name: str, kind: str, *, is_master: bool) -> _Change:
    """Let the default route leave through a device of some kind on top of the port."""

    def change(machine: Machine, own: str) -> Machine:
        top = Virtual(name, kind, lowers=(_PORT,), ips=(f"{own}/24",))
        below = _without_address(machine, master=name if is_master else "")
        virtuals = (*machine.virtuals, top)
        return replace(below, virtuals=virtuals, default_route=name, gateway=_gateway(own))

    return change


def _over_virtual_function(machine: Machine, own: str) -> Machine:
    below = _without_address(machine)
    port = below.nics[-1]
    virtual = replace(
        port,
        pci=_VF,
        path=port.path.removesuffix(_PCI) + _VF,
        netdev="ens9v0",
        mac=port.mac.removesuffix("02") + "03",
        device_id="101e",
        rdma="mlx5_10",
        ips=(f"{own}/24",),
        total_vfs=0,
        physfn=_PCI,
    )
    nics = (*below.nics, virtual)
    return replace(below, nics=nics, default_route=virtual.netdev, gateway=_gateway(own))


BESIDE = tuple(
    (name, description, "DOCA driver; plan", _beside(change))
    for name, description, change in (
        (
            "tunnel-uplink",
            "Open vSwitch's tunnels start at a ConnectX port",
            lambda machine, own: replace(machine, tunnel_address=own),
        ),
        ("table-uplink", "a second routing table leaves through a ConnectX port", _second_table),
        (
            "ceph-uplink",
            "Ceph serves at a ConnectX port's address",
            lambda machine, own: replace(machine, connections=((own, 6801),)),
        ),
        ("team-uplink", "the default route lies on a team of a ConnectX port", _over("team0", "team", is_master=True)),
        (
            "bridge-uplink",
            "the default route lies on a bridge of a ConnectX port",
            _over("br0", "bridge", is_master=True),
        ),
        (
            "macvlan-uplink",
            "the default route lies on a macvlan child of a ConnectX port",
            _over("mac0", "macvlan", is_master=False),
        ),
        ("vf-uplink", "the default route lies on a virtual function of a ConnectX port", _over_virtual_function),
        (
            "ipv6-uplink",
            "the one default route is of IPv6 and leaves through a ConnectX port",
            lambda machine, _: replace(machine, default_route="", default_route6=_PORT),
        ),
        (
            "nvmeof-uplink",
            "an NVMe-oF disk comes over a ConnectX port",
            lambda machine, own: replace(
                machine, nvme=(f"nvme1\trdma\ttraddr={_STORAGE},trsvcid=4420,src_addr={own}",)
            ),
        ),
        (
            "iscsi-uplink",
            "an iSCSI disk comes over a ConnectX port",
            lambda machine, _: replace(machine, iscsi=(f"session1\t{_STORAGE}\tiscsi_tcp\t",)),
        ),
        (
            "iser-uplink",
            "an iSER disk comes over a ConnectX port, from an address that cannot be read",
            lambda machine, _: replace(machine, iscsi=(f"session1\t\tiscsi_iser\t{_PCI}",)),
        ),
    )
)
"""Name, one line, where it matters, and what it does."""
